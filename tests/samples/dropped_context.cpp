// A context that the program gives up while it still has a queue in it, to which it goes on
// enqueuing the same launch; then another context.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/dropped_context.h"
#include "tests/samples/sample.h"

namespace {

constexpr cl_uint factor = 1664525;

void stepInContextOfItsOwn(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_uint> expected(n), result(n);
  const cl_device_id device = s.device();
  cl_int error = CL_SUCCESS;
  sample::Context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  sample::check(error, "clCreateContext");
  sample::Queue queue = clCreateCommandQueue(context, device, 0, &error);
  sample::check(error, "clCreateCommandQueue");
  const char* source = sample::droppedContextSource;
  sample::Program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  sample::check(error, "clCreateProgramWithSource");
  sample::check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  const auto kernel = sample::kernel(program, "advance");
  sample::Memory buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         n * sizeof(cl_uint), expected.data(), &error);
  sample::check(error, "clCreateBuffer");

  sample::setArguments(kernel, buffer, factor);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, kernel, {n}, {64});
    sample::check(clFinish(queue), "clFinish");
    for (std::size_t k = 0; k < n; ++k)
      expected[k] = expected[k] * factor + static_cast<cl_uint>(k);
    if (i == s.options().iterations / 2)
      context.reset();
  }
  sample::read(queue, buffer, result);
  sample::require(result == expected, "the values are wrong");
  s.output(result);
}

void dropContexts(sample::Sample& s) {
  stepInContextOfItsOwn(s);
  stepInContextOfItsOwn(s);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 8}, dropContexts);
}
