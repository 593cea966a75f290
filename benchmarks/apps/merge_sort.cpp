// Bottom-up merge sort of 2^size keys, `iterations` times; each sort is timed as a whole. The
// passes differ by a scalar argument and by their number of work-items, which falls to one.
#include "kernels/merge_sort.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <utility>

namespace {

constexpr std::size_t blockSize = 16; // BLOCK in the kernels

void mergeSort(sample::Sample& s) {
  sample::require(s.options().size >= 6 && s.options().size <= 30,
                  "--size is the binary logarithm of the keys");
  const std::size_t n = std::size_t{1} << s.options().size;
  std::vector<cl_uint> keys(n), result(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = static_cast<cl_uint>(sample::randomBits(i));
  const std::size_t bytes = n * sizeof(cl_uint);

  const auto queue = s.queue();
  const auto program = s.program(sample::mergeSortSource);
  const auto sortBlocks = sample::kernel(program, "sort_blocks");
  const auto mergePass = sample::kernel(program, "merge_pass");
  const auto unsorted = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, keys.data());
  auto from = s.buffer(CL_MEM_READ_WRITE, bytes);
  auto to = s.buffer(CL_MEM_READ_WRITE, bytes);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(sortBlocks, unsorted, from);
      sample::launch(queue, sortBlocks, {n / blockSize});
      for (std::size_t width = blockSize; width < n; width *= 2) {
        sample::setArguments(mergePass, static_cast<cl_uint>(width), from, to);
        sample::launch(queue, mergePass, {n / (2 * width)});
        std::swap(from, to);
      }
    });
  sample::read(queue, from, result);

  std::sort(keys.begin(), keys.end());
  sample::require(result == keys, "the keys are not sorted");
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20, .iterations = 3}, mergeSort);
}
