// Transposes a matrix twice, plainly and through local memory. Kernels come from
// clCreateKernelsInProgram.
#include "kernels/transpose.h"
#include "tests/samples/sample.h"

namespace {

void transpose(sample::Sample& s) {
  const std::size_t width = sample::roundUp(s.options().size, 16);
  const std::size_t height = sample::roundUp(width * 3 / 4, 16);
  std::vector<cl_uint> in(width * height);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<cl_uint>(sample::randomBits(i));
  const std::size_t bytes = in.size() * sizeof(cl_uint);

  const auto queue = s.queue();
  const auto program = s.program(sample::transposeSource, "-w");
  cl_uint count = 0;
  sample::check(clCreateKernelsInProgram(program, 0, nullptr, &count), "count of kernels");
  sample::require(count == 2, "two kernels expected");
  std::vector<cl_kernel> raw(count);
  sample::check(clCreateKernelsInProgram(program, count, raw.data(), nullptr), "kernels");
  const std::vector<sample::Kernel> kernels = [&] {
    std::vector<sample::Kernel> owned;
    for (cl_kernel kernel : raw)
      owned.emplace_back(kernel);
    return owned;
  }();

  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, in.data());
  for (const sample::Kernel& kernel : kernels) {
    const auto outBuffer = s.buffer(0, bytes);
    const cl_uint zero = 0;
    sample::check(
        clEnqueueFillBuffer(queue, outBuffer, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
    sample::setArguments(kernel, static_cast<cl_uint>(width), static_cast<cl_uint>(height),
                         inBuffer, outBuffer);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sample::launch(queue, kernel, {width, height}, {16, 16});
    std::vector<cl_uint> out(in.size());
    sample::read(queue, outBuffer, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      sample::require(out[i] == in[i % height * width + i / height],
                      "wrong element " + std::to_string(i));
    s.output(out);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 2}, transpose);
}
