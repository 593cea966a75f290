// Kernels that find by pointers in memory what other kernels compute: a table of places is made
// once, on the device, and followed from then on. No argument says which buffer that leads to.
#include "kernels/pointer_table.h"
#include "tests/samples/sample.h"

namespace {

void pointerTable(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::pointerTableSource);
  const auto note = sample::kernel(program, "note"), advance = sample::kernel(program, "advance"),
             gather = sample::kernel(program, "gather"),
             scatter = sample::kernel(program, "scatter");
  std::vector<cl_int> expected(n, 1), found(n);
  const auto numbers = s.copyOf(expected), out = s.array<cl_int>(n);
  const auto places = s.array<cl_ulong>(n);
  sample::setArguments(note, numbers, places, static_cast<cl_uint>(n));
  sample::launch(queue, note, {n}, {64});
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(advance, numbers);
    sample::launch(queue, advance, {n}, {64});
    for (std::size_t k = 0; k < n; ++k)
      expected[k] = expected[k] * 3 + static_cast<cl_int>(k);
    sample::setArguments(gather, places, out);
    sample::launch(queue, gather, {n}, {64});
    sample::read(queue, out, found);
    for (std::size_t k = 0; k < n; ++k)
      sample::require(found[k] == expected[n - 1 - k],
                      "number " + std::to_string(k) + " is an old one");
    sample::setArguments(scatter, places, static_cast<cl_int>(i));
    sample::launch(queue, scatter, {n}, {64});
    for (std::size_t k = 0; k < n; ++k)
      expected[n - 1 - k] += static_cast<cl_int>(i + k);
  }
  sample::read(queue, numbers, found);
  sample::require(found == expected, "what was added through pointers is lost");
  s.output(found);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 6}, pointerTable);
}
