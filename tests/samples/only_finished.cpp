// Launches that nothing but clFinish is asked about: what it says is all that the program knows of
// whether they ran.
#include "kernels/only_finished.h"
#include "tests/samples/sample.h"

namespace {

void onlyFinished(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::onlyFinishedSource);
  const auto kernel = sample::kernel(program, "count");
  const auto counts = s.copyOf(std::vector<cl_uint>(n, 0));
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, counts, cl_uint{i});
    const std::size_t group = 64; // what this call says is not looked at either
    static_cast<void>(
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, &group, 0, nullptr, nullptr));
    if ((i + 1) % s.options().together == 0)
      sample::check(clFinish(queue), "clFinish");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 4}, onlyFinished);
}
