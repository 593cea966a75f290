// A program that was released, and is had again from a kernel of it, to make others.
#include "kernels/program_again.h"
#include "tests/samples/sample.h"

namespace {

void programAgain(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  std::vector<cl_int> read(n);
  const auto from = s.copyOf(std::vector<cl_int>(n, 5)), to = s.copyOf(std::vector<cl_int>(n));
  const auto change = sample::kernel(s.program(sample::programAgainSource), "change");
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(change, from, static_cast<cl_int>(i));
    sample::launch(queue, change, {n}, {64});
    cl_program of = nullptr;
    sample::check(clGetKernelInfo(change, CL_KERNEL_PROGRAM, sizeof of, &of, nullptr),
                  "clGetKernelInfo");
    sample::check(clRetainProgram(of), "clRetainProgram");
    {
      const sample::Program program(of);
      const auto copy = sample::kernel(program, "copy");
      sample::setArguments(copy, from, to);
      sample::launch(queue, copy, {n}, {64});
    }
    sample::launch(queue, change, {n}, {64});
    sample::read(queue, to, read);
    s.output(read);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 16384, .iterations = 4}, programAgain);
}
