// A fluid in a periodic cube of `size` cells a side through `iterations` steps of the
// lattice-Boltzmann method, with two buffers that are exchanged (variant two_buffers) or in one
// (in_place), where every second step reads and writes the neighbours' memory; in_place_half keeps
// populations in 16 bits.
#include "kernels/lattice_boltzmann.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <CL/cl_half.h>

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

/// What a population is at rest.
double weight(int q) {
  return q == 0 ? 1.0 / 3 : q < 7 ? 1.0 / 18 : 1.0 / 36;
}

double equilibrium(int q, double density, const Velocity& u) {
  double along = 0, square = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    along += 3 * steps[q][k] * u[k];
    square += 1.5 * u[k] * u[k];
  }
  return weight(q) * density * (1 + along + along * along / 2 - square);
}

/// How populations lie in memory.
struct Single {
  using Type = float;
  static constexpr const char* buildOptions = "";
  static constexpr double tolerance = 1e-5;
  static float stored(double value, int) { return static_cast<float>(value); }
  static double value(float stored, int) { return stored; }
};
struct Half {
  using Type = cl_half;
  static constexpr const char* buildOptions = "-D HALF";
  static constexpr double tolerance = 1e-4;
  static cl_half stored(double value, int q) {
    return cl_half_from_float(static_cast<float>(value - weight(q)), CL_HALF_RTE);
  }
  static double value(cl_half stored, int q) {
    return double{cl_half_to_float(stored)} + weight(q);
  }
};

/// The same on the host, in double precision, with streaming apart from collisions.
class Lattice {
public:
  explicit Lattice(std::size_t side) : n_(side), cells_(side * side * side) {}

  std::size_t cells() const { return cells_; }

  /// Vortices that turn around each other, each value as `stored` makes it.
  template <typename Type> std::vector<Type> start(Type (*stored)(double, int)) const {
    std::vector<Type> f(populations * cells_);
    const double turn = 2 * std::numbers::pi / static_cast<double>(n_);
    apps::forEachRow(cells_, [&](std::size_t i) {
      const double x = turn * static_cast<double>(i % n_),
                   y = turn * static_cast<double>(i / n_ % n_),
                   z = turn * static_cast<double>(i / n_ / n_);
      const Velocity u = {0.05 * std::sin(x) * std::cos(y) * std::cos(z),
                          -0.05 * std::cos(x) * std::sin(y) * std::cos(z), 0.02 * std::sin(x)};
      for (int q = 0; q < populations; ++q)
        f[q * cells_ + i] = stored(equilibrium(q, 1 + 0.01 * std::cos(y + z), u), q);
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

template <class Storage> void simulate(sample::Sample& s, bool isInPlace) {
  using Population = typename Storage::Type;
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  const Lattice lattice(n);
  std::vector<Population> f = lattice.start(Storage::stored);

  const auto queue = s.queue();
  const auto program = s.program(sample::latticeBoltzmannSource, Storage::buildOptions);
  const auto streamCollide = sample::kernel(program, "stream_collide");
  const auto evenStep = sample::kernel(program, "even_step");
  const auto oddStep = sample::kernel(program, "odd_step");
  auto now = s.copyOf(f), next = s.array<Population>(isInPlace ? 1 : f.size());
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
    std::vector<double> expected = lattice.start<double>([](double value, int) { return value; });
    for (unsigned i = 0; i < count; ++i) {
      if (!isInPlace)
        expected = lattice.streamed(expected);
      lattice.collide(expected);
      if (isInPlace)
        expected = lattice.streamed(expected);
    }
    sample::inParallel(f.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        sample::checkClose(Storage::value(f[i], static_cast<int>(i / lattice.cells())), expected[i],
                           Storage::tolerance, "population", i);
    });
  });
  s.output(f);
}

void latticeBoltzmann(sample::Sample& s) {
  sample::choose(s, {{"two_buffers", [](sample::Sample& each) { simulate<Single>(each, false); }},
                     {"in_place", [](sample::Sample& each) { simulate<Single>(each, true); }},
                     {"in_place_half", [](sample::Sample& each) { simulate<Half>(each, true); }}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 96, .iterations = 20, .variant = "two_buffers"},
                     latticeBoltzmann);
}
