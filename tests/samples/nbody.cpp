// n bodies, all pairs, a few time steps with two pairs of buffers. The first step is checked
// against the host in double precision; later ones follow from it.
#include "kernels/nbody.h"
#include "tests/samples/sample.h"

#include <array>
#include <cmath>
#include <utility>

namespace {

constexpr float dt = 0.01F;
constexpr float softening = 0.05F;

std::vector<cl_float4> randomBodies(std::size_t n) {
  std::vector<cl_float4> bodies(n);
  for (std::size_t i = 0; i < n; ++i)
    bodies[i] = {{sample::randomFloat(i, -1, 1, 1), sample::randomFloat(i, -1, 1, 2),
                  sample::randomFloat(i, -1, 1, 3), 1.0F / static_cast<float>(n)}};
  return bodies;
}

void checkFirstStep(const std::vector<cl_float4>& before, const std::vector<cl_float4>& after) {
  const std::size_t n = before.size();
  for (std::size_t probe = 0; probe < 64; ++probe) {
    const std::size_t i = sample::randomBits(probe) % n;
    std::array<double, 3> force{};
    for (const cl_float4& other : before) {
      std::array<double, 3> d{};
      double square = softening;
      for (int k = 0; k < 3; ++k) {
        d[k] = double{other.s[k]} - before[i].s[k];
        square += d[k] * d[k];
      }
      for (int k = 0; k < 3; ++k)
        force[k] += d[k] * other.s[3] / (square * std::sqrt(square));
    }
    for (int k = 0; k < 3; ++k)
      sample::checkClose(after[i].s[k], before[i].s[k] + force[k] * dt * dt, 1e-4, "position", i);
  }
}

void nbody(sample::Sample& s) {
  const std::size_t n = sample::roundUp(s.options().size, 64);
  const std::vector<cl_float4> bodies = randomBodies(n);
  const std::vector<cl_float4> rest(n);
  std::vector<cl_float4> result(n);
  const std::size_t bytes = n * sizeof(cl_float4);

  const auto queue = s.queue();
  const auto program = s.program(sample::nbodySource, "-cl-fast-relaxed-math");
  const auto kernel = sample::kernel(program, "nbody");
  auto position = s.buffer(CL_MEM_READ_WRITE, bytes);
  auto velocity = s.buffer(CL_MEM_READ_WRITE, bytes);
  auto nextPosition = s.buffer(CL_MEM_READ_WRITE, bytes);
  auto nextVelocity = s.buffer(CL_MEM_READ_WRITE, bytes);
  sample::write(queue, position, bodies);
  sample::write(queue, velocity, rest);

  for (unsigned step = 0; step < s.options().iterations; ++step) {
    sample::setArguments(kernel, static_cast<cl_int>(n), dt, softening, position, velocity,
                         nextPosition, nextVelocity);
    s.timed(queue, [&] { sample::launch(queue, kernel, {n}, {64}); });
    std::swap(position, nextPosition);
    std::swap(velocity, nextVelocity);
    if (step == 0) {
      sample::read(queue, position, result);
      checkFirstStep(bodies, result);
    }
  }
  sample::read(queue, position, result);
  for (std::size_t i = 0; i < n; ++i)
    sample::require(std::isfinite(result[i].s[0]), "a body flew off");
  s.output(result);
  sample::read(queue, velocity, result);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 5}, nbody);
}
