// Numbers that some build options have flushed to zero: by a program built from source, and by its
// binary built with other options than it was made with.
#include "kernels/denormals.h"
#include "tests/samples/sample.h"

#include <cstdint>
#include <cstring>

namespace {

constexpr const char* flushing = "-cl-denorms-are-zero";

void halve(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  std::vector<float> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint32_t>(i + 1); // all of them are denormal
    std::memcpy(&numbers[i], &bits, sizeof bits);
  }
  const auto queue = s.queue();
  const auto in = s.copyOf(numbers), out = s.array<float>(n);
  const auto kernel = sample::kernel(program, "halve");
  sample::setArguments(kernel, in, out);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    sample::launch(queue, kernel, {n}, {64});
  sample::read(queue, out, numbers);
  s.output(numbers);
}

void denormals(sample::Sample& s) {
  for (const char* options : {"", flushing}) {
    const auto program = s.program(sample::denormalsSource, options);
    halve(s, program);
    for (const char* later : {"", flushing}) {
      const cl_device_id device = s.device();
      const auto again = s.fromBinary(sample::binaryOf(program));
      sample::check(clBuildProgram(again, 1, &device, later, nullptr, nullptr), "clBuildProgram");
      halve(s, again);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 2}, denormals);
}
