// Pressure on `size` x `size` x `size` points by `iterations` Jacobi steps with coefficients by
// point: a step reads 14 fields and writes one, so that moving a part of the grid moves a lot. Each
// step leaves a residual for every work-group, and the host adds them up.
#include "kernels/himeno.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace {

constexpr float omega = 0.8F;

struct Problem {
  std::size_t n, points = n * n * n;
  std::vector<float> a, b, c, inside, source;

  Problem(const sample::Sample& s, std::size_t side)
      : n(side), a(s.randomFloats(4 * points, 0.9F, 1.1F, 1)),
        b(s.randomFloats(3 * points, -0.05F, 0.05F, 2)),
        c(s.randomFloats(3 * points, 0.9F, 1.1F, 3)), inside(points, 1),
        source(s.randomFloats(points, -0.1F, 0.1F, 4)) {
    for (std::size_t i = 0; i < points; ++i)
      a[3 * points + i] = 1.0F / 7; // under 1/6, so that the steps converge
    for (std::size_t i = 0; i < points; i += 97)
      inside[i] = 0; // obstacles
  }

  double change(const std::vector<float>& p, std::size_t i) const {
    const std::size_t row = n, plane = n * n;
    auto at = [&](std::ptrdiff_t offset) { return double{p[i + offset]}; };
    const auto r = static_cast<std::ptrdiff_t>(row), l = static_cast<std::ptrdiff_t>(plane);
    const double sum = a[i] * at(l) + a[points + i] * at(r) + a[2 * points + i] * at(1) +
                       b[i] * (at(l + r) - at(l - r) - at(r - l) + at(-l - r)) +
                       b[points + i] * (at(r + 1) - at(1 - r) - at(r - 1) + at(-r - 1)) +
                       b[2 * points + i] * (at(l + 1) - at(1 - l) - at(l - 1) + at(-l - 1)) +
                       c[i] * at(-l) + c[points + i] * at(-r) + c[2 * points + i] * at(-1);
    return ((sum + source[i]) * a[3 * points + i] - p[i]) * inside[i];
  }

  /// One step; the sum of the squared changes.
  double relax(std::vector<float>& p) const {
    std::vector<float> next = p;
    std::vector<double> squares(n);
    apps::forEachRow(n, [&](std::size_t z) {
      for (std::size_t y = 1; y + 1 < n && z > 0 && z + 1 < n; ++y)
        for (std::size_t x = 1; x + 1 < n; ++x) {
          const std::size_t i = (z * n + y) * n + x;
          const double by = change(p, i);
          next[i] = static_cast<float>(p[i] + omega * by);
          squares[z] += by * by;
        }
    });
    p.swap(next);
    return std::accumulate(squares.begin(), squares.end(), 0.0);
  }
};

void himeno(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  const Problem problem(s, n);
  std::vector<float> p(problem.points), result(problem.points);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto z = static_cast<float>(i / (n * n)) / static_cast<float>(n - 1);
    p[i] = z * z;
  }

  const auto queue = s.queue();
  const auto program = s.program(sample::himenoSource);
  const auto relax = sample::kernel(program, "relax");
  const auto a = s.copyOf(problem.a, CL_MEM_READ_ONLY), b = s.copyOf(problem.b, CL_MEM_READ_ONLY),
             c = s.copyOf(problem.c, CL_MEM_READ_ONLY),
             inside = s.copyOf(problem.inside, CL_MEM_READ_ONLY),
             source = s.copyOf(problem.source, CL_MEM_READ_ONLY);
  auto now = s.copyOf(p), next = s.copyOf(p);
  const sample::Sizes local = {16, 4, 2};
  const sample::Sizes global = {sample::roundUp(n, local[0]), sample::roundUp(n, local[1]),
                                sample::roundUp(n, local[2])};
  const std::size_t groupSize = local[0] * local[1] * local[2];
  std::vector<float> residuals(global[0] * global[1] * global[2] / groupSize);
  const auto residualBuffer = s.array<float>(residuals.size());
  const auto side = static_cast<cl_uint>(n);
  double residual = 0;
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(relax, side, side, side, omega, a, b, c, now, inside, source, next,
                         residualBuffer, sample::Local{groupSize * sizeof(float)});
    s.timed(queue, [&] {
      sample::launch(queue, relax, global, local);
      sample::read(queue, residualBuffer, residuals);
    });
    residual = std::accumulate(residuals.begin(), residuals.end(), 0.0);
    std::swap(now, next);
  }
  sample::read(queue, now, result);
  s.verify([&] {
    double expected = 0;
    for (unsigned i = 0; i < s.options().iterations; ++i)
      expected = problem.relax(p);
    sample::checkAll(result, [&](std::size_t i) { return p[i]; }, 1e-4, "pressure");
    sample::checkClose(residual / expected, 1, 1e-3, "residual by the host's", 0);
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 128, .iterations = 20}, himeno);
}
