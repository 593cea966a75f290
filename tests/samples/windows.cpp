// Short launches on a long array: each works on the next 16384 elements of it.
#include "kernels/windows.h"
#include "tests/samples/sample.h"

namespace {

constexpr std::size_t window = 16384; // elements

void windows(sample::Sample& s) {
  const std::size_t n = sample::roundUp(s.options().size, window);
  std::vector<cl_uint> numbers(n);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] = static_cast<cl_uint>(sample::randomBits(i));
  std::vector<cl_uint> expected = numbers;

  const auto queue = s.queue();
  const auto program = s.program(sample::windowsSource);
  const auto kernel = sample::kernel(program, "window");
  const auto buffer =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof(cl_uint), numbers.data());
  for (std::size_t i = 0; i < s.options().iterations; ++i) {
    const std::size_t first = i * window % n;
    sample::setArguments(kernel, buffer, static_cast<cl_uint>(first));
    s.timed([&] {
      sample::launch(queue, kernel, {window}, {64});
      sample::check(clFinish(queue), "clFinish");
    });
    for (std::size_t k = first; k < first + window; ++k)
      expected[k] = 3 * expected[k] + 1;
  }
  sample::read(queue, buffer, numbers);
  sample::require(numbers == expected, "the numbers are wrong");
  s.output(numbers);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 20}, windows);
}
