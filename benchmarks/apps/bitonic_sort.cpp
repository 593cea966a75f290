// Sorts 2^size keys in place, `iterations` times, by the bitonic network: size * (size + 1) / 2
// launches, of which most compare keys that lie in different devices' parts of the array.
#include "kernels/bitonic_sort.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

constexpr std::size_t groupSize = 64;

void bitonicSort(sample::Sample& s) {
  sample::require(s.options().size >= 7 && s.options().size <= 30,
                  "--size is the binary logarithm of the keys");
  const std::size_t n = std::size_t{1} << s.options().size;
  std::vector<cl_uint> keys(n), result(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = static_cast<cl_uint>(s.randomBits(i));

  const auto queue = s.queue();
  const auto program = s.program(sample::bitonicSortSource);
  const auto compare = sample::kernel(program, "compare");
  const auto buffer = s.array<cl_uint>(n);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::write(queue, buffer, keys);
    s.timed(queue, [&] {
      for (cl_uint length = 2; length <= n; length *= 2)
        for (cl_uint stride = length / 2; stride > 0; stride /= 2) {
          sample::setArguments(compare, stride, length, buffer);
          sample::launch(queue, compare, {n / 2}, {groupSize});
        }
    });
  }
  sample::read(queue, buffer, result);
  s.verify([&] {
    std::sort(keys.begin(), keys.end());
    sample::require(result == keys, "the keys are not sorted");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20, .iterations = 3}, bitonicSort);
}
