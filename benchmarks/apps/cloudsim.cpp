// `iterations` steps of clouds on `size` x `size` cells: a stencil of nine points whose cells are
// vectors, rich in arithmetic, with edges by clamped indices.
#include "kernels/cloudsim.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace {

constexpr float mixing = 0.3F;

using Cell = std::array<float, 4>; // temperature, vapour, droplets, speed upwards
using Sky = std::vector<Cell>;

Sky step(const Sky& in, std::size_t n) {
  Sky out(in.size());
  apps::forEachRow(n, [&](std::size_t row) {
    const auto last = static_cast<long>(n) - 1, y = static_cast<long>(row);
    auto at = [&](long u, long v) -> const Cell& {
      return in[std::clamp(v, 0L, last) * (last + 1) + std::clamp(u, 0L, last)];
    };
    for (long x = 0; x <= last; ++x) {
      Cell self = at(x, y), around{};
      for (long dy = -1; dy <= 1; ++dy)
        for (long dx = -1; dx <= 1; ++dx)
          for (std::size_t k = 0; k < 4 && (dx != 0 || dy != 0); ++k)
            around[k] += (dx == 0 || dy == 0 ? 0.2F : 0.05F) * at(x + dx, y + dy)[k];
      const float lift = std::clamp(self[3], 0.0F, 0.5F);
      for (std::size_t k = 0; k < 4; ++k) {
        self[k] += mixing * (around[k] - self[k]);
        self[k] += lift * (at(x, y + 1)[k] - self[k]);
      }
      const float excess = self[1] - 0.006F * std::exp(0.07F * self[0]);
      const float condensed = excess > 0 ? 0.5F * excess : std::fmax(0.1F * excess, -self[2]);
      self[0] += 25 * condensed - 0.01F * lift;
      self[1] -= condensed;
      self[2] = std::fmax(0.0F, self[2] + condensed);
      self[3] = 0.9F * self[3] + 0.05F * (self[0] - around[0]) - 0.2F * self[2];
      out[y * (last + 1) + x] = self;
    }
  });
  return out;
}

void cloudsim(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 2);
  Sky sky(n * n);
  for (std::size_t i = 0; i < sky.size(); ++i) {
    const float depth = static_cast<float>(i / n) / static_cast<float>(n);
    sky[i] = {5 + 15 * depth + s.randomFloat(i, -1, 1, 1),
              0.02F * depth + s.randomFloat(i, 0, 0.004F, 2), 0, s.randomFloat(i, 0, 0.1F, 3)};
  }
  const auto queue = s.queue();
  const auto program = s.program(sample::cloudsimSource);
  const auto kernel = sample::kernel(program, "clouds");
  auto now = s.copyOf(sky), next = s.array<Cell>(sky.size());
  const auto side = static_cast<cl_uint>(n);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, side, side, mixing, now, next);
    s.timed(queue, [&] {
      sample::launch(queue, kernel, {sample::roundUp(n, 32), sample::roundUp(n, 4)}, {32, 4});
    });
    std::swap(now, next);
  }
  Sky result(sky.size());
  sample::read(queue, now, result);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sky = step(sky, n);
    for (std::size_t i = 0; i < sky.size(); ++i)
      for (std::size_t k = 0; k < 4; ++k)
        sample::checkClose(result[i][k], sky[i][k], 1e-3, "cell", i);
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 20}, cloudsim);
}
