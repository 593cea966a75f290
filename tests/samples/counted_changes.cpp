// Numbers that a kernel changes in place while it counts them, all without waiting: what was
// counted is brought together from all devices, and what was changed is not. Should a device's
// counts get lost, its part can be done again only from the numbers as they were.
#include "kernels/counted_changes.h"
#include "tests/samples/sample.h"

#include <deque>

namespace {

void countedChanges(sample::Sample& s) {
  constexpr std::size_t bins = 64;
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::countedChangesSource);
  const auto kernel = sample::kernel(program, "count_and_change");
  const auto numbers = s.array<cl_int>(n);
  const auto counts = s.copyOf(std::vector<cl_int>(bins));
  sample::setArguments(kernel, numbers, counts);
  std::deque<std::vector<cl_int>> written, read; // which are the driver's until the end
  const sample::FinishesFirst finishes(queue);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    std::vector<cl_int>& from = written.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k)
      from[k] = static_cast<cl_int>(k * (i + 1));
    sample::write(queue, numbers, from);
    for (unsigned times = 0; times < 2; ++times) {
      sample::launch(queue, kernel, {n}, {64});
      sample::beginRead(queue, numbers, read.emplace_back(n));
      sample::beginRead(queue, counts, read.emplace_back(bins));
    }
  }
  sample::check(clFinish(queue), "clFinish");
  for (const std::vector<cl_int>& each : read)
    s.output(each);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 65536, .iterations = 3}, countedChanges);
}
