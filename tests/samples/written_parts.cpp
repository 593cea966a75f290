// Numbers that the program writes, has a kernel change in place, and reads, all without waiting:
// again and again, so that what each device is going to need may go straight there.
#include "kernels/written_parts.h"
#include "tests/samples/sample.h"

#include <deque>

namespace {

void writtenParts(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::writtenPartsSource);
  const auto kernel = sample::kernel(program, "change");
  const auto numbers = s.array<cl_int>(n);
  sample::setArguments(kernel, numbers);
  std::deque<std::vector<cl_int>> written, read; // which are the driver's until the end
  const sample::FinishesFirst finishes(queue);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    std::vector<cl_int>& from = written.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k)
      from[k] = static_cast<cl_int>(k + i);
    sample::write(queue, numbers, from);
    sample::launch(queue, kernel, {n}, {64});
    for (unsigned times = 0; times < 2; ++times) {
      sample::beginRead(queue, numbers, read.emplace_back(n));
      sample::launch(queue, kernel, {n}, {64});
    }
  }
  sample::check(clFinish(queue), "clFinish");
  for (const std::vector<cl_int>& each : read)
    s.output(each);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 65536, .iterations = 3}, writtenParts);
}
