// Prices an Asian option (geometric mean) over `size` simulated ways, every launch with new ones.
//
// For this option a formula exists, so the check is sound whatever the size: the estimate of each
// launch must lie within five of its own standard errors. The draws are the same in every run.
// Single work-items are checked against the host in double precision.
#include "kernels/monte_carlo.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace {

constexpr std::size_t groupSize = 64;
constexpr cl_uint pathsPerItem = 16, steps = 64;
constexpr double start = 100, strike = 105, rate = 0.05, sigma = 0.3, years = 1;
constexpr double drift = (rate - sigma * sigma / 2) * years / steps;
const double volatility = sigma * std::sqrt(years / steps);

/// The logarithm of the geometric mean is normally distributed (Kemna and Vorst, 1990).
double expectedPayoff() {
  const double n = steps;
  const double mean = drift * (n + 1) / 2;
  const double deviation = volatility * std::sqrt((n + 1) * (2 * n + 1) / (6 * n));
  auto normal = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
  const double z = (std::log(start / strike) + mean) / deviation;
  return start * std::exp(mean + deviation * deviation / 2) * normal(z + deviation) -
         strike * normal(z);
}

std::uint64_t bitsOf(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// What the work-item sums up.
double onHost(std::uint64_t firstCounter, std::size_t item) {
  double total = 0;
  for (cl_uint path = 0; path < pathsPerItem; ++path) {
    std::uint64_t counter = firstCounter + (item * pathsPerItem + path) * (steps / 2);
    double price = 0, mean = 0;
    for (cl_uint step = 0; step < steps; step += 2) {
      const std::uint64_t bits = bitsOf(++counter);
      const double radius =
          std::sqrt(-2 * std::log(static_cast<double>((bits >> 40) + 1) * 0x1p-24));
      const double angle = 2 * std::numbers::pi * static_cast<double>(bits & 0xFFFFFF) * 0x1p-24;
      for (double normal : {radius * std::cos(angle), radius * std::sin(angle)}) {
        price += drift + volatility * normal;
        mean += price;
      }
    }
    total += std::fmax(0, start * std::exp(mean / steps) - strike);
  }
  return total;
}

void monteCarlo(sample::Sample& s) {
  const std::size_t items = sample::roundUp(
      std::max<std::size_t>(s.options().size / pathsPerItem, 2 * groupSize), groupSize);
  const std::size_t paths = items * pathsPerItem;
  std::vector<float> sums(items), squares(items);

  const auto queue = s.queue();
  const auto program = s.program(sample::monteCarloSource);
  const auto kernel = sample::kernel(program, "monte_carlo");
  const auto sumBuffer = s.buffer(CL_MEM_WRITE_ONLY, items * sizeof(float));
  const auto squaresBuffer = s.buffer(CL_MEM_WRITE_ONLY, items * sizeof(float));
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const cl_ulong firstCounter = cl_ulong{i} * paths * (steps / 2);
    sample::setArguments(kernel, firstCounter, pathsPerItem, steps, static_cast<float>(start),
                         static_cast<float>(strike), static_cast<float>(drift),
                         static_cast<float>(volatility), sumBuffer, squaresBuffer);
    s.timed([&] {
      sample::launch(queue, kernel, {items}, {groupSize});
      sample::check(clFinish(queue), "clFinish");
    });
    sample::read(queue, sumBuffer, sums);
    sample::read(queue, squaresBuffer, squares);

    const double count = static_cast<double>(paths);
    const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / count;
    const double meanSquare = std::accumulate(squares.begin(), squares.end(), 0.0) / count;
    const double error = std::sqrt((meanSquare - mean * mean) / count);
    sample::require(std::fabs(mean - expectedPayoff()) <= 5 * error,
                    "the option is worth " + std::to_string(mean) + ", expected " +
                        std::to_string(expectedPayoff()) + " +- " + std::to_string(error));
    for (std::size_t probe = 0; probe < 64; ++probe) {
      const std::size_t item = sample::randomBits(probe, i) % items;
      sample::checkClose(sums[item], onHost(firstCounter, item), 1e-3, "payoff", item);
    }
    s.output(sums);
    s.output(squares);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 18, .iterations = 5}, monteCarlo);
}
