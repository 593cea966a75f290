// EP of the NAS parallel benchmarks: 2^size pairs of Gaussian deviates, drawn anew by each launch.
//
// Sums and counts are checked against those that NAS publishes for its classes S, W, A, B and C
// (sizes 24, 25, 28, 30 and 32), smaller sizes against the same computation on the host.
#include "kernels/ep.h"
#include "tests/samples/sample.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace {

constexpr std::size_t groupSize = 64;
/// 2^8 pairs for each work-item: many work-groups, and still little time spent on the jump to an
/// item's first number.
constexpr unsigned itemExponent = 8;

struct Sums {
  double x = 0, y = 0;
  std::array<std::uint64_t, 10> rings{};
};

/// From the NAS parallel benchmarks, version 3 (ep.f): sums by class, checked to 1e-8 there as
/// here.
const std::map<std::size_t, Sums> published = {
    {24, {-3.247834652034740e+3, -6.958407078382297e+3}},
    {25, {-2.863319731645753e+3, -6.320053679109499e+3}},
    {28, {-4.295875165629892e+3, -1.580732573678431e+4}},
    {30, {4.033815542441498e+4, -2.660669192809235e+4}},
    {32, {4.764367927995374e+4, -8.084072988043731e+4}},
};

Sums onHost(std::uint64_t pairs) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t state = 271828183;
  auto next = [&] {
    state = state * 1220703125 & mask;
    return 2.0 * (static_cast<double>(state) * 0x1p-46) - 1.0;
  };
  Sums sums;
  for (std::uint64_t k = 0; k < pairs; ++k) {
    const double u = next();
    const double v = next();
    const double square = u * u + v * v;
    if (square > 1.0)
      continue;
    const double scale = std::sqrt(-2.0 * std::log(square) / square);
    sums.x += u * scale;
    sums.y += v * scale;
    ++sums.rings[static_cast<std::size_t>(std::fmax(std::fabs(u * scale), std::fabs(v * scale)))];
  }
  return sums;
}

void ep(sample::Sample& s) {
  const std::size_t exponent = s.options().size;
  sample::require(exponent >= 14 && exponent <= 40, "--size is the binary logarithm of the pairs");
  const std::size_t items = std::size_t{1} << (exponent - itemExponent);
  std::vector<double> sumX(items), sumY(items);
  std::vector<cl_uint> rings(items * 10);

  const auto queue = s.queue();
  const auto program = s.program(sample::epSource);
  const auto kernel = sample::kernel(program, "ep");
  const auto sumXBuffer = s.buffer(CL_MEM_WRITE_ONLY, items * sizeof(double));
  const auto sumYBuffer = s.buffer(CL_MEM_WRITE_ONLY, items * sizeof(double));
  const auto ringsBuffer = s.buffer(CL_MEM_WRITE_ONLY, rings.size() * sizeof(cl_uint));
  sample::setArguments(kernel, cl_uint{1} << itemExponent, sumXBuffer, sumYBuffer, ringsBuffer);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] { sample::launch(queue, kernel, {items}, {groupSize}); });
  sample::read(queue, sumXBuffer, sumX);
  sample::read(queue, sumYBuffer, sumY);
  sample::read(queue, ringsBuffer, rings);

  Sums sums;
  sums.x = std::accumulate(sumX.begin(), sumX.end(), 0.0);
  sums.y = std::accumulate(sumY.begin(), sumY.end(), 0.0);
  for (std::size_t i = 0; i < rings.size(); ++i)
    sums.rings[i % 10] += rings[i];

  const auto known = published.find(exponent);
  const Sums expected =
      known != published.end() ? known->second : onHost(std::uint64_t{1} << exponent);
  sample::require(std::fabs((sums.x - expected.x) / expected.x) < 1e-8 &&
                      std::fabs((sums.y - expected.y) / expected.y) < 1e-8,
                  "sums are " + std::to_string(sums.x) + " and " + std::to_string(sums.y) +
                      ", expected " + std::to_string(expected.x) + " and " +
                      std::to_string(expected.y));
  if (known == published.end())
    sample::require(sums.rings == expected.rings, "the counts of the rings are wrong");
  s.output(sumX);
  s.output(sumY);
  s.output(rings);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 24, .iterations = 5}, ep);
}
