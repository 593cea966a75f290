// Smallest, largest and all bits of random numbers, by atomics on one word each.
#include "kernels/extremes.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

void extremes(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::extremesSource);
  const auto kernel = sample::kernel(program, "extremes");
  const auto numbers = s.buffer(CL_MEM_READ_ONLY, n * sizeof(cl_int));
  const cl_mem_flags inOut = CL_MEM_READ_WRITE;
  const auto least = s.buffer(inOut, sizeof(cl_int)), most = s.buffer(inOut, sizeof(cl_int)),
             bits = s.buffer(inOut, sizeof(cl_uint));
  sample::setArguments(kernel, numbers, least, most, bits);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    std::vector<cl_int> values(n);
    for (std::size_t k = 0; k < n; ++k)
      values[k] = static_cast<cl_int>(sample::randomBits(k, i) >> 32) >> (i + 1);
    std::vector<cl_int> start{CL_INT_MAX}, end{CL_INT_MIN}, none{0};
    sample::write(queue, numbers, values);
    sample::write(queue, least, start);
    sample::write(queue, most, end);
    sample::write(queue, bits, none);
    sample::launch(queue, kernel, {n}, {});
    std::vector<cl_int> result[3] = {start, end, none};
    sample::read(queue, least, result[0]);
    sample::read(queue, most, result[1]);
    sample::read(queue, bits, result[2]);
    cl_int all = 0;
    for (cl_int value : values)
      all |= value;
    sample::require(result[0][0] == *std::min_element(values.begin(), values.end()) &&
                        result[1][0] == *std::max_element(values.begin(), values.end()) &&
                        result[2][0] == all,
                    "wrong extremes");
    for (const auto& word : result)
      s.output(word);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 3}, extremes);
}
