// The sum of 2^size numbers by divide and conquer, `iterations` times: `size` launches, of half as
// many work-items each time, down to one. There is less work in all of them than in moving the
// data.
#include "kernels/tree_sum.h"
#include "tests/samples/sample.h"

#include <numeric>
#include <utility>

namespace {

void treeSum(sample::Sample& s) {
  sample::require(s.options().size >= 1 && s.options().size <= 30,
                  "--size is the binary logarithm of the numbers");
  const std::size_t n = std::size_t{1} << s.options().size;
  std::vector<cl_uint> numbers(n), sum(1);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] = static_cast<cl_uint>(s.randomBits(i));

  const auto queue = s.queue();
  const auto program = s.program(sample::treeSumSource);
  const auto kernel = sample::kernel(program, "add_halves");
  const auto input = s.copyOf(numbers, CL_MEM_READ_ONLY);
  auto from = s.array<cl_uint>(n / 2), to = s.array<cl_uint>(n / 2);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed([&] {
      for (std::size_t items = n / 2; items > 0; items /= 2) {
        sample::setArguments(kernel, items == n / 2 ? input : from, to);
        sample::launch(queue, kernel, {items});
        std::swap(from, to);
      }
      sample::read(queue, from, sum);
    });
  s.verify([&] {
    sample::require(sum[0] == std::accumulate(numbers.begin(), numbers.end(), cl_uint{0}),
                    "the sum is wrong");
  });
  s.output(sum);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 22, .iterations = 10}, treeSum);
}
