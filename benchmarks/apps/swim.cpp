// Weather of shallow water on a torus of `size` x `size` points through `iterations` steps: three
// kernels over 13 fields, two of which need halos of several fields at once.
#include "kernels/swim.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace {

constexpr float spacing = 1e5F, alpha = 1e-3F;
constexpr float timeStep = 90;

using Field = std::vector<float>;

/// The same on the host, rounded to single precision as often.
struct Water {
  std::size_t n;
  Field u, v, p, uOld = u, vOld = v, pOld = p;

  void step(float time) {
    Field cu(n * n), cv(n * n), vorticity(n * n), energy(n * n);
    apps::forEachRow(n, [&](std::size_t y) {
      const std::size_t row = y * n, above = apps::before(y, n) * n, below = apps::after(y, n) * n;
      for (std::size_t x = 0; x < n; ++x) {
        const std::size_t left = apps::before(x, n), right = apps::after(x, n), i = row + x;
        cu[i] = 0.5F * (p[i] + p[row + left]) * u[i];
        cv[i] = 0.5F * (p[i] + p[above + x]) * v[i];
        vorticity[i] = 4 / spacing * (v[i] - v[row + left] - u[i] + u[above + x]) /
                       (p[above + left] + p[above + x] + p[i] + p[row + left]);
        energy[i] = p[i] + 0.25F * (u[row + right] * u[row + right] + u[i] * u[i] +
                                    v[below + x] * v[below + x] + v[i] * v[i]);
      }
    });
    apps::forEachRow(n, [&](std::size_t y) {
      const std::size_t row = y * n, above = apps::before(y, n) * n, below = apps::after(y, n) * n;
      for (std::size_t x = 0; x < n; ++x) {
        const std::size_t left = apps::before(x, n), right = apps::after(x, n), i = row + x;
        const float uNew =
            uOld[i] + time * (0.125F * (vorticity[below + x] + vorticity[i]) *
                                  (cv[below + x] + cv[below + left] + cv[row + left] + cv[i]) -
                              (energy[i] - energy[row + left]) / spacing);
        const float vNew =
            vOld[i] - time * (0.125F * (vorticity[row + right] + vorticity[i]) *
                                  (cu[row + right] + cu[i] + cu[above + x] + cu[above + right]) +
                              (energy[i] - energy[above + x]) / spacing);
        const float pNew =
            pOld[i] - time / spacing * (cu[row + right] - cu[i] + cv[below + x] - cv[i]);
        uOld[i] = u[i] + alpha * (uNew - 2 * u[i] + uOld[i]);
        vOld[i] = v[i] + alpha * (vNew - 2 * v[i] + vOld[i]);
        pOld[i] = p[i] + alpha * (pNew - 2 * p[i] + pOld[i]);
        u[i] = uNew;
        v[i] = vNew;
        p[i] = pNew;
      }
    });
  }
};

/// Velocities of a stream function, so that no water piles up at first, and heights to match.
Water atRest(std::size_t n) {
  constexpr double amplitude = 1e6;
  Water water{n, Field(n * n), Field(n * n), Field(n * n)};
  const double turn = 2 * std::numbers::pi / static_cast<double>(n);
  auto stream = [&](double x, double y) {
    return amplitude * std::sin((x + 0.5) * turn) * std::sin((y + 0.5) * turn);
  };
  for (std::size_t i = 0; i < n * n; ++i) {
    const auto x = static_cast<double>(i % n), y = static_cast<double>(i / n);
    water.u[i] = static_cast<float>(-(stream(x, y + 1) - stream(x, y)) / spacing);
    water.v[i] = static_cast<float>((stream(x + 1, y) - stream(x, y)) / spacing);
    water.p[i] =
        static_cast<float>(50000 + 1000 * (std::cos(2 * x * turn) + std::cos(2 * y * turn)));
  }
  water.uOld = water.u;
  water.vOld = water.v;
  water.pOld = water.p;
  return water;
}

void swim(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 4);
  Water water = atRest(n);
  const auto queue = s.queue();
  const auto program = s.program(sample::swimSource);
  const auto fluxes = sample::kernel(program, "fluxes");
  const auto leap = sample::kernel(program, "leap");
  const auto smooth = sample::kernel(program, "smooth");
  const auto u = s.copyOf(water.u), v = s.copyOf(water.v), p = s.copyOf(water.p);
  const auto uOld = s.copyOf(water.u), vOld = s.copyOf(water.v), pOld = s.copyOf(water.p);
  const auto uNew = s.array<float>(n * n), vNew = s.array<float>(n * n),
             pNew = s.array<float>(n * n);
  const auto cu = s.array<float>(n * n), cv = s.array<float>(n * n),
             vorticity = s.array<float>(n * n), energy = s.array<float>(n * n);
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes local = {32, 4}, global = {sample::roundUp(n, 32), sample::roundUp(n, 4)};
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(fluxes, side, spacing, u, v, p, cu, cv, vorticity, energy);
      sample::launch(queue, fluxes, global, local);
      sample::setArguments(leap, side, spacing, i == 0 ? timeStep : 2 * timeStep, cu, cv, vorticity,
                           energy, uOld, vOld, pOld, uNew, vNew, pNew);
      sample::launch(queue, leap, global, local);
      sample::setArguments(smooth, side, alpha, uNew, vNew, pNew, u, v, p, uOld, vOld, pOld);
      sample::launch(queue, smooth, global, local);
    });

  Field height(n * n), speed(n * n);
  sample::read(queue, p, height);
  sample::read(queue, u, speed);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      water.step(i == 0 ? timeStep : 2 * timeStep);
    sample::checkAll(height, [&](std::size_t i) { return water.p[i]; }, 1e-5, "height");
    sample::checkAll(speed, [&](std::size_t i) { return water.u[i]; }, 1e-2, "speed");
  });
  s.output(height);
  s.output(speed);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 20}, swim);
}
