// Charged particles, eight a cell, in a periodic plane of `size` x `size` cells through
// `iterations` steps: their charge is scattered to the grid by atomic additions of floats, the
// potential relaxed on the grid, and the particles gather the field where they are.
#include "kernels/particle_in_cell.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace {

constexpr std::size_t groupSize = 64, perCell = 8;
constexpr float grain = 64, timeStep = 0.1F;
constexpr unsigned relaxations = 4;

void particleInCell(sample::Sample& s) {
  const std::size_t side = std::max<std::size_t>(s.options().size, 2), cells = side * side;
  const std::size_t particles = perCell * cells;
  std::vector<cl_float2> position(particles), velocity(particles);
  auto coordinate = [&](std::size_t i, std::uint64_t stream) {
    const auto steps = s.randomBits(i, stream) % (side * static_cast<std::size_t>(grain));
    return static_cast<float>(steps) / grain;
  };
  for (std::size_t i = 0; i < particles; ++i) {
    position[i] = {{coordinate(i, 1), coordinate(i, 2)}};
    velocity[i] = {{s.randomFloat(i, -1, 1, 3), s.randomFloat(i, -1, 1, 4)}};
  }

  const auto queue = s.queue();
  const auto program = s.program(sample::particleInCellSource, "-D GRAIN=64");
  const auto clear = sample::kernel(program, "clear");
  const auto deposit = sample::kernel(program, "deposit");
  const auto relax = sample::kernel(program, "relax");
  const auto push = sample::kernel(program, "push");
  const auto positions = s.copyOf(position), velocities = s.copyOf(velocity);
  const auto chargeBuffer = s.array<float>(cells);
  auto potential = s.copyOf(std::vector<float>(cells)), next = s.array<float>(cells);
  const auto count = static_cast<cl_uint>(particles);
  const auto width = static_cast<cl_int>(side);
  std::vector<float> charge(cells);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    s.timed(queue, [&] {
      sample::setArguments(clear, static_cast<cl_uint>(cells), chargeBuffer);
      sample::launch(queue, clear, {sample::roundUp(cells, groupSize)}, {groupSize});
      sample::setArguments(deposit, count, width, positions, chargeBuffer);
      sample::launch(queue, deposit, {sample::roundUp(particles, groupSize)}, {groupSize});
      for (unsigned k = 0; k < relaxations; ++k) {
        sample::setArguments(relax, width, float{perCell}, chargeBuffer, potential, next);
        sample::launch(queue, relax, {sample::roundUp(side, 16), sample::roundUp(side, 4)},
                       {16, 4});
        std::swap(potential, next);
      }
      sample::setArguments(push, count, width, timeStep, potential, positions, velocities);
      sample::launch(queue, push, {sample::roundUp(particles, groupSize)}, {groupSize});
    });
    sample::read(queue, chargeBuffer, charge);
    s.verify([&] {
      // The charges of the positions before the push, exactly.
      std::vector<double> expected(cells);
      for (const cl_float2& at : position) {
        const auto x = static_cast<std::size_t>(at.s[0]), y = static_cast<std::size_t>(at.s[1]);
        const double u = at.s[0] - static_cast<double>(x), v = at.s[1] - static_cast<double>(y);
        const std::size_t right = (x + 1) % side, below = (y + 1) % side;
        expected[y * side + x] += (1 - u) * (1 - v);
        expected[y * side + right] += u * (1 - v);
        expected[below * side + x] += (1 - u) * v;
        expected[below * side + right] += u * v;
      }
      for (std::size_t cell = 0; cell < cells; ++cell)
        sample::require(charge[cell] == expected[cell],
                        "cell " + std::to_string(cell) + " has a wrong charge");
    });
    sample::read(queue, positions, position);
    s.output(charge);
    s.output(position);
  }
  // All are still in the plane, and neither stand still nor flew off together.
  sample::read(queue, velocities, velocity);
  s.verify([&] {
    double momentum = 0, energy = 0;
    for (std::size_t i = 0; i < particles; ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        sample::require(position[i].s[k] >= 0 && position[i].s[k] < static_cast<float>(side),
                        "a particle is outside");
        momentum += velocity[i].s[k];
        energy += double{velocity[i].s[k]} * velocity[i].s[k];
      }
    const auto number = static_cast<double>(particles);
    sample::require(std::isfinite(energy) && energy > 0.1 * number &&
                        std::fabs(momentum) < 0.3 * std::sqrt(energy * number),
                    "the particles move as none can");
  });
  s.output(velocity);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 10}, particleInCell);
}
