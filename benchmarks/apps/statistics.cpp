// The covariance matrix (variant covar) or the correlation matrix (corr) of `size` variables from
// as many observations.
#include "kernels/statistics.h"
#include "tests/samples/sample.h"

#include <cmath>

namespace {

constexpr std::size_t groupSize = 16;

/// Of two columns, in double precision: the covariance, or the correlation.
double expectedOf(const std::vector<float>& data, std::size_t n, std::size_t j, std::size_t k,
                  bool isCorrelation) {
  double meanJ = 0, meanK = 0, product = 0, squareJ = 0, squareK = 0;
  for (std::size_t i = 0; i < n; ++i) {
    meanJ += data[i * n + j];
    meanK += data[i * n + k];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double ofJ = data[i * n + j] - meanJ / static_cast<double>(n);
    const double ofK = data[i * n + k] - meanK / static_cast<double>(n);
    product += ofJ * ofK;
    squareJ += ofJ * ofJ;
    squareK += ofK * ofK;
  }
  return isCorrelation ? product / std::sqrt(squareJ * squareK) : product / static_cast<double>(n);
}

void statistics(sample::Sample& s) {
  const bool isCorrelation = s.options().variant == "corr";
  sample::require(isCorrelation || s.options().variant == "covar", "--variant is corr or covar");
  const std::size_t n = s.options().size;
  // Neighbouring variables have something in common.
  std::vector<float> data = s.randomFloats(n * n, 0, 1, 1);
  for (std::size_t i = 1; i < data.size(); ++i)
    data[i] += 0.5F * data[i - 1];

  const auto queue = s.queue();
  const auto program = s.program(sample::statisticsSource);
  const auto mean = sample::kernel(program, "mean");
  const auto deviation = sample::kernel(program, "deviation");
  const auto centre = sample::kernel(program, "centre");
  const auto normalise = sample::kernel(program, "normalise");
  const auto products = sample::kernel(program, "products");
  const auto input = s.copyOf(data, CL_MEM_READ_ONLY);
  const auto means = s.array<float>(n), deviations = s.array<float>(n);
  const auto prepared = s.array<float>(n * n), matrix = s.array<float>(n * n);

  const auto count = static_cast<cl_uint>(n);
  const sample::Sizes line = {sample::roundUp(n, groupSize)}, lineGroup = {groupSize};
  const sample::Sizes plane = {line[0], line[0]}, planeGroup = {groupSize, groupSize};
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(mean, count, count, input, means);
      sample::launch(queue, mean, line, lineGroup);
      if (isCorrelation) {
        sample::setArguments(deviation, count, count, input, means, deviations);
        sample::launch(queue, deviation, line, lineGroup);
        sample::setArguments(normalise, count, count, input, means, deviations, prepared);
        sample::launch(queue, normalise, plane, planeGroup);
      } else {
        sample::setArguments(centre, count, count, input, means, prepared);
        sample::launch(queue, centre, plane, planeGroup);
      }
      sample::setArguments(products, count, count, prepared, matrix);
      sample::launch(queue, products, line, lineGroup);
    });

  std::vector<float> result(n * n);
  sample::read(queue, matrix, result);
  s.verify([&] {
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < j; ++k)
        sample::require(result[j * n + k] == result[k * n + j], "the result is not symmetric");
    auto expected = [&](std::size_t i) { return expectedOf(data, n, i / n, i % n, isCorrelation); };
    sample::checkAll(result, expected, 1e-4, isCorrelation ? "correlation" : "covariance", 4096);
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 5, .variant = "covar"}, statistics);
}
