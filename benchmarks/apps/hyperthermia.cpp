// Heat in a cube of `size` points a side through `iterations` steps: a stencil of seven points with
// nine fields of coefficients that it reads at its own point alone. Opposite sides meet.
#include "kernels/hyperthermia.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <utility>

namespace {

constexpr float blood = 37;

struct Tissue {
  std::array<std::vector<float>, 6> conductance;
  std::vector<float> perfusion, source, capacity;
};

std::vector<float> step(const Tissue& tissue, const std::vector<float>& in, std::size_t n) {
  std::vector<float> out(in.size());
  apps::forEachRow(n * n, [&](std::size_t row) {
    const std::size_t y = row % n, z = row / n;
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t i = row * n + x;
      const std::array<std::size_t, 6> neighbours = {
          row * n + apps::before(x, n),         row * n + apps::after(x, n),
          (z * n + apps::before(y, n)) * n + x, (z * n + apps::after(y, n)) * n + x,
          (apps::before(z, n) * n + y) * n + x, (apps::after(z, n) * n + y) * n + x};
      double gain = tissue.source[i] - double{tissue.perfusion[i]} * (in[i] - blood);
      for (std::size_t k = 0; k < 6; ++k)
        gain += double{tissue.conductance[k][i]} * (double{in[neighbours[k]]} - in[i]);
      out[i] = static_cast<float>(in[i] + gain / tissue.capacity[i]);
    }
  });
  return out;
}

void hyperthermia(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 2), points = n * n * n;
  Tissue tissue;
  for (std::size_t k = 0; k < 6; ++k)
    tissue.conductance[k] = s.randomFloats(points, 0.2F, 0.5F, k);
  tissue.perfusion = s.randomFloats(points, 0, 0.1F, 7);
  tissue.source = s.randomFloats(points, 0, 1, 8);
  tissue.capacity = s.randomFloats(points, 3.5F, 4.5F, 9);
  std::vector<float> temperature(points, blood), result(points);

  const auto queue = s.queue();
  const auto program = s.program(sample::hyperthermiaSource);
  const auto kernel = sample::kernel(program, "heat");
  auto input = [&](const std::vector<float>& field) { return s.copyOf(field, CL_MEM_READ_ONLY); };
  const auto left = input(tissue.conductance[0]), right = input(tissue.conductance[1]),
             above = input(tissue.conductance[2]), below = input(tissue.conductance[3]),
             front = input(tissue.conductance[4]), back = input(tissue.conductance[5]),
             perfusion = input(tissue.perfusion), source = input(tissue.source),
             capacity = input(tissue.capacity);
  auto now = s.copyOf(temperature), next = s.array<float>(points);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, static_cast<cl_uint>(n), blood, left, right, above, below, front,
                         back, perfusion, source, capacity, now, next);
    s.timed(queue, [&] {
      sample::launch(queue, kernel,
                     {sample::roundUp(n, 16), sample::roundUp(n, 4), sample::roundUp(n, 2)},
                     {16, 4, 2});
    });
    std::swap(now, next);
  }
  sample::read(queue, now, result);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      temperature = step(tissue, temperature, n);
    sample::checkAll(result, [&](std::size_t i) { return temperature[i]; }, 1e-5, "temperature");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 128, .iterations = 20}, hyperthermia);
}
