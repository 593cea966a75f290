// Maps fewer bytes than it reads and writes through the pointer: as many bytes as there are
// elements. That is an error which passes unnoticed wherever the pointer is the buffer itself, and
// so stands in programs that were never run elsewhere.
#include "kernels/short_map.h"
#include "tests/samples/sample.h"

namespace {

void shortMap(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::shortMapSource);
  const auto kernel = sample::kernel(program, "short_map");
  std::vector<float> given = sample::randomFloats(n, 0, 1);
  std::vector<float> expected = given;
  for (const cl_mem_flags flags : {CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR}) {
    std::vector<float> memory = given;
    const bool isOurs = flags == CL_MEM_USE_HOST_PTR;
    const auto buffer =
        s.buffer(flags | (isOurs ? 0 : CL_MEM_COPY_HOST_PTR), n * sizeof(float), memory.data());
    expected = given;
    for (unsigned round = 0; round < s.options().iterations; ++round) {
      const float factor = 0.5f;
      sample::setArguments(kernel, buffer, factor);
      sample::launch(queue, kernel, {n}, {64});
      for (std::size_t i = 0; i < n; ++i)
        expected[i] = expected[i] * factor + static_cast<float>(i);
      cl_int error = CL_SUCCESS;
      const cl_bool blocking = round % 2 ? CL_FALSE : CL_TRUE;
      const auto* mapped = static_cast<const float*>(clEnqueueMapBuffer(
          queue, buffer, blocking, CL_MAP_READ, 0, n, 0, nullptr, nullptr, &error));
      sample::check(error, "clEnqueueMapBuffer");
      sample::check(clFinish(queue), "clFinish");
      for (std::size_t i = 0; i < n; ++i)
        sample::checkClose(mapped[i], expected[i], 1e-5, "element", i);
      s.output(mapped, n * sizeof(float));
      sample::check(
          clEnqueueUnmapMemObject(queue, buffer, const_cast<float*>(mapped), 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    }
    sample::check(clFinish(queue), "clFinish");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 4}, shortMap);
}
