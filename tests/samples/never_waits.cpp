// Hundreds of thousands of launches of a microsecond each, by kernel objects that are used once,
// and no wait before the end: what is enqueued must not pile up. (Boost.Compute's random numbers
// come so.)
#include "kernels/never_waits.h"
#include "tests/samples/sample.h"

#include <sys/resource.h>

namespace {

constexpr std::size_t words = 624;
constexpr long mostGrowth = 256 << 10; // KiB

/// KiB of memory that the process had at most.
long mostMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void neverWaits(sample::Sample& s) {
  std::vector<cl_uint> state(words, 1), drawn(words, 0);
  const auto queue = s.queue();
  const auto program = s.program(sample::neverWaitsSource);
  const auto stateBuffer = s.copyOf(state), out = s.copyOf(drawn);
  const auto draw = sample::kernel(program, "draw");
  sample::setArguments(draw, stateBuffer, out);
  // Each has an event, at which nobody looks.
  auto launch = [&](cl_kernel kernel, std::size_t items) {
    sample::Event event;
    sample::check(
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, event.out()),
        "clEnqueueNDRangeKernel");
  };
  auto step = [&] {
    const auto advance = sample::kernel(program, "advance");
    sample::setArguments(advance, stateBuffer);
    launch(draw, words);
    launch(advance, 1);
  };
  constexpr unsigned first = 1000; // until drivers have all that they take
  long before = 0;
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    if (i == first)
      before = mostMemory();
    step();
  }
  sample::read(queue, out, drawn);
  sample::require(before == 0 || mostMemory() - before < mostGrowth,
                  "it took " + std::to_string((mostMemory() - before) >> 10) + " MiB more");
  s.verify([&] {
    for (unsigned i = 1; i < s.options().iterations; ++i)
      for (cl_uint& word : state)
        word = word * 1664525U + 1013904223U;
    for (std::size_t k = 0; k < words; ++k)
      sample::require(drawn[k] == (state[k] ^ (state[k] >> 11)), "a number is wrong");
  });
  s.output(drawn);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.iterations = 2000}, neverWaits);
}
