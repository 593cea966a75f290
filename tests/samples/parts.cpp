// Two kernels take turns on parts of a buffer.
#include "kernels/parts.h"
#include "tests/samples/sample.h"

#include <array>

namespace {

void parts(sample::Sample& s) {
  const std::size_t n = s.options().size, half = n / 2;
  std::vector<cl_int> numbers(n);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] = static_cast<cl_int>(i);
  const auto queue = s.queue();
  const auto program = s.program(sample::partsSource);
  const auto add = sample::kernel(program, "add"), scale = sample::kernel(program, "scale");
  const auto whole = s.copyOf(numbers);
  std::array<sample::Memory, 2> halves;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const cl_buffer_region region{i * half * sizeof(cl_int), half * sizeof(cl_int)};
    cl_int error = CL_SUCCESS;
    halves[i] =
        clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    sample::check(error, "clCreateSubBuffer");
  }
  for (cl_int round = 1; round <= static_cast<cl_int>(s.options().iterations); ++round)
    for (const sample::Memory& part : halves) {
      sample::setArguments(add, part, round);
      sample::launch(queue, add, {half}, {64});
      sample::setArguments(scale, part, cl_int(3));
      sample::launch(queue, scale, {half}, {64});
    }
  sample::read(queue, whole, numbers);
  s.output(numbers);
  for (std::size_t i = 0; i < n; ++i) {
    auto expected = static_cast<cl_int>(i);
    for (cl_int round = 1; round <= static_cast<cl_int>(s.options().iterations); ++round)
      expected = (expected + round) * 3;
    sample::require(numbers[i] == expected, "element " + std::to_string(i) + " is wrong");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 3}, parts);
}
