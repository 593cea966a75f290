// A fluid in a periodic cube of `size` cells a side through `iterations` steps of the
// lattice-Boltzmann method, with two buffers that are exchanged (variant two_buffers) or in one
// (in_place), where every second step reads and writes the neighbours' memory.
#include "kernels/lattice_boltzmann.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace {

constexpr float omega = 1.2F;
constexpr int populations = 19;

using Velocity = std::array<double, 3>;

/// As the kernels order them: rest, along an axis, and along diagonals, in opposite pairs.
constexpr std::array<std::array<int, 3>, populations> steps = {{{0, 0, 0},
                                                                {1, 0, 0},
                                                                {-1, 0, 0},
                                                                {0, 1, 0},
                                                                {0, -1, 0},
                                                                {0, 0, 1},
                                                                {0, 0, -1},
                                                                {1, 1, 0},
                                                                {-1, -1, 0},
                                                                {1, -1, 0},
                                                                {-1, 1, 0},
                                                                {1, 0, 1},
                                                                {-1, 0, -1},
                                                                {1, 0, -1},
                                                                {-1, 0, 1},
                                                                {0, 1, 1},
                                                                {0, -1, -1},
                                                                {0, 1, -1},
                                                                {0, -1, 1}}};

double equilibrium(int q, double density, const Velocity& u) {
  double along = 0, square = 0;
  int length = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    along += 3 * steps[q][k] * u[k];
    square += 1.5 * u[k] * u[k];
    length += std::abs(steps[q][k]);
  }
  const double weight = length == 0 ? 1.0 / 3 : length == 1 ? 1.0 / 18 : 1.0 / 36;
  return weight * density * (1 + along + along * along / 2 - square);
}

/// The same on the host, in double precision, with streaming apart from collisions.
class Lattice {
public:
  explicit Lattice(std::size_t side) : n_(side), cells_(side * side * side) {}

  /// Vortices that turn around each other.
  std::vector<double> start() const {
    std::vector<double> f(populations * cells_);
    const double turn = 2 * std::numbers::pi / static_cast<double>(n_);
    apps::forEachRow(cells_, [&](std::size_t i) {
      const double x = turn * static_cast<double>(i % n_),
                   y = turn * static_cast<double>(i / n_ % n_),
                   z = turn * static_cast<double>(i / n_ / n_);
      const Velocity u = {0.05 * std::sin(x) * std::cos(y) * std::cos(z),
                          -0.05 * std::cos(x) * std::sin(y) * std::cos(z), 0.02 * std::sin(x)};
      for (int q = 0; q < populations; ++q)
        f[q * cells_ + i] = equilibrium(q, 1 + 0.01 * std::cos(y + z), u);
    });
    return f;
  }

  std::vector<double> streamed(const std::vector<double>& f) const {
    std::vector<double> result(f.size());
    apps::forEachRow(cells_, [&](std::size_t i) {
      const std::size_t x = i % n_, y = i / n_ % n_, z = i / n_ / n_;
      for (int q = 0; q < populations; ++q) {
        const std::size_t to =
            (((z + n_ + steps[q][2]) % n_) * n_ + (y + n_ + steps[q][1]) % n_) * n_ +
            (x + n_ + steps[q][0]) % n_;
        result[q * cells_ + to] = f[q * cells_ + i];
      }
    });
    return result;
  }

  void collide(std::vector<double>& f) const {
    apps::forEachRow(cells_, [&](std::size_t i) {
      double density = 0;
      Velocity u{};
      for (int q = 0; q < populations; ++q) {
        density += f[q * cells_ + i];
        for (std::size_t k = 0; k < 3; ++k)
          u[k] += steps[q][k] * f[q * cells_ + i];
      }
      for (double& component : u)
        component /= density;
      for (int q = 0; q < populations; ++q) {
        double& at = f[q * cells_ + i];
        at += omega * (equilibrium(q, density, u) - at);
      }
    });
  }

private:
  std::size_t n_, cells_;
};

void latticeBoltzmann(sample::Sample& s) {
  const bool isInPlace = s.options().variant == "in_place";
  sample::require(isInPlace || s.options().variant == "two_buffers",
                  "--variant is two_buffers or in_place");
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  const Lattice lattice(n);
  std::vector<double> expected = lattice.start();
  std::vector<float> f(expected.begin(), expected.end());

  const auto queue = s.queue();
  const auto program = s.program(sample::latticeBoltzmannSource);
  const auto streamCollide = sample::kernel(program, "stream_collide");
  const auto evenStep = sample::kernel(program, "even_step");
  const auto oddStep = sample::kernel(program, "odd_step");
  auto now = s.copyOf(f), next = s.array<float>(isInPlace ? 1 : f.size());
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes local = {16, 4, 1};
  const sample::Sizes global = {sample::roundUp(n, 16), sample::roundUp(n, 4), n};
  // In place, populations are where they belong after every second step.
  const unsigned count = isInPlace ? (s.options().iterations + 1) / 2 * 2 : s.options().iterations;
  for (unsigned i = 0; i < count; ++i) {
    const sample::Kernel& kernel = !isInPlace ? streamCollide : i % 2 == 0 ? evenStep : oddStep;
    sample::setArguments(kernel, side, side, side, omega, now);
    if (!isInPlace)
      sample::setArgument(kernel, 5, next);
    s.timed(queue, [&] { sample::launch(queue, kernel, global, local); });
    if (!isInPlace)
      std::swap(now, next);
  }
  sample::read(queue, now, f);
  s.verify([&] {
    for (unsigned i = 0; i < count; ++i) {
      if (!isInPlace)
        expected = lattice.streamed(expected);
      lattice.collide(expected);
      if (isInPlace)
        expected = lattice.streamed(expected);
    }
    sample::checkAll(f, expected, 1e-5, "population");
  });
  s.output(f);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 96, .iterations = 20, .variant = "two_buffers"},
                     latticeBoltzmann);
}
