// Sorts 2^size keys, `iterations` times, in eight passes over four bits each: digits are counted by
// work-groups, the counts summed up by one work-group, and keys scattered to where these sums say.
#include "kernels/radix_sort.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <utility>

namespace {

constexpr std::size_t groupSize = 128, digits = 16;

void radixSort(sample::Sample& s) {
  sample::require(s.options().size >= 8 && s.options().size <= 30,
                  "--size is the binary logarithm of the keys");
  const std::size_t n = std::size_t{1} << s.options().size, counters = n / groupSize * digits;
  std::vector<cl_uint> keys(n), result(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = static_cast<cl_uint>(s.randomBits(i));

  const auto queue = s.queue();
  const auto program = s.program(sample::radixSortSource);
  const auto countDigits = sample::kernel(program, "count_digits");
  const auto scan = sample::kernel(program, "scan");
  const auto scatter = sample::kernel(program, "scatter");
  auto from = s.array<cl_uint>(n), to = s.array<cl_uint>(n);
  const auto counts = s.array<cl_uint>(counters);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::write(queue, from, keys);
    s.timed(queue, [&] {
      for (cl_uint shift = 0; shift < 32; shift += 4) {
        sample::setArguments(countDigits, shift, from, counts);
        sample::launch(queue, countDigits, {n}, {groupSize});
        sample::setArguments(scan, static_cast<cl_uint>(counters), counts,
                             sample::Local{groupSize * sizeof(cl_uint)});
        sample::launch(queue, scan, {groupSize}, {groupSize});
        sample::setArguments(scatter, shift, from, counts, to, sample::Local{groupSize});
        sample::launch(queue, scatter, {n}, {groupSize});
        std::swap(from, to);
      }
    });
  }
  sample::read(queue, from, result);
  s.verify([&] {
    std::sort(keys.begin(), keys.end());
    sample::require(result == keys, "the keys are not sorted");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20, .iterations = 3}, radixSort);
}
