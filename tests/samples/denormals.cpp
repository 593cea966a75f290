// Numbers that some build options have flushed to zero: by a program built from source, and by its
// binary built with other options than it was made with.
#include "kernels/denormals.h"
#include "tests/samples/sample.h"

#include <cstdint>
#include <cstring>

namespace {

constexpr const char* flushing = "-cl-denorms-are-zero";

sample::Program fromBinaryOf(sample::Sample& s, cl_program made, const char* options) {
  std::size_t size = 0;
  sample::check(clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
                "CL_PROGRAM_BINARY_SIZES");
  std::vector<unsigned char> binary(size);
  unsigned char* where = binary.data();
  sample::check(clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof where, &where, nullptr),
                "CL_PROGRAM_BINARIES");
  const cl_device_id device = s.device();
  const unsigned char* bytes = binary.data();
  cl_int error = CL_SUCCESS;
  sample::Program program =
      clCreateProgramWithBinary(s.context(), 1, &device, &size, &bytes, nullptr, &error);
  sample::check(error, "clCreateProgramWithBinary");
  sample::check(clBuildProgram(program, 1, &device, options, nullptr, nullptr), "clBuildProgram");
  return program;
}

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
    for (const char* later : {"", flushing})
      halve(s, fromBinaryOf(s, program, later));
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 2}, denormals);
}
