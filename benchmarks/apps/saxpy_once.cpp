// y = alpha x + y for vectors of `size` elements that come from the host and go back, in as many
// kernels and buffers as `iterations` says, each of which is used just once. There is nothing to
// learn from, and nothing to gain where data moves more slowly than one device computes (variant
// saxpy). Variant relax does so many times as much with each element that computing takes longer.
#include "kernels/saxpy_once.h"
#include "tests/samples/sample.h"

#include <cmath>

namespace {

constexpr std::size_t groupSize = 64;
constexpr float alpha = 0.75F;

constexpr cl_uint times = 6000;

void saxpyOnce(sample::Sample& s) {
  const bool relaxes = s.options().variant == "relax";
  sample::require(relaxes || s.options().variant == "saxpy", "--variant is saxpy or relax");
  const std::size_t n = s.options().size;
  const std::vector<float> x = s.randomFloats(n, -1, 1, 1), y = s.randomFloats(n, -1, 1, 2);
  std::vector<float> result(n);
  const auto queue = s.queue();
  const auto program = s.program(sample::saxpyOnceSource);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    s.timed([&] {
      const auto kernel = sample::kernel(program, relaxes ? "relax" : "add_multiple");
      const auto xBuffer = s.array<float>(n), yBuffer = s.array<float>(n);
      sample::write(queue, xBuffer, x);
      sample::write(queue, yBuffer, y);
      if (relaxes)
        sample::setArguments(kernel, static_cast<cl_uint>(n), alpha, times, xBuffer, yBuffer);
      else
        sample::setArguments(kernel, static_cast<cl_uint>(n), alpha, xBuffer, yBuffer);
      sample::launch(queue, kernel, {sample::roundUp(n, groupSize)}, {groupSize});
      sample::read(queue, yBuffer, result);
    });
    const double left = relaxes ? std::pow(alpha, times) : 1;
    const double added = relaxes ? (1 - left) / (1 - alpha) : alpha;
    s.verify([&] {
      sample::checkAll(
          result, [&](std::size_t k) { return added * x[k] + left * y[k]; }, 1e-6, "y");
    });
  }
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 24, .iterations = 1, .variant = "saxpy"}, saxpyOnce);
}
