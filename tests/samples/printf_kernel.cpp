// A kernel that prints. Where the lines go and in which order is for the driver to say, so the
// same kernel must print the same with and without company.
#include "kernels/printf_kernel.h"
#include "tests/samples/sample.h"

#include <numeric>

namespace {

void printfKernel(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> values(n);
  std::iota(values.begin(), values.end(), 0);
  const std::size_t bytes = n * sizeof(cl_int);

  const auto queue = s.queue();
  const auto program = s.program(sample::printfKernelSource);
  const auto kernel = sample::kernel(program, "printf_kernel");
  const auto in = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
  const auto out = s.buffer(CL_MEM_READ_WRITE, bytes);
  sample::setArguments(kernel, in, out);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, kernel, {n}, {50});
    sample::check(clFinish(queue), "clFinish");
  }
  sample::read(queue, out, values);
  for (std::size_t i = 0; i < n; ++i)
    sample::require(values[i] == static_cast<cl_int>(i) * 3 + 1, "wrong value");
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4000, .iterations = 2}, printfKernel);
}
