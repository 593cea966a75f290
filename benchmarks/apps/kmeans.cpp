// Finds 64 clusters among `size` points in four dimensions by `iterations` steps: points are
// assigned to the nearest centre, summed up by cluster and work-group, and the host moves the
// centres.
#include "kernels/kmeans.h"
#include "tests/samples/sample.h"

#include <array>
#include <cmath>
#include <limits>

namespace {

constexpr std::size_t clusters = 64, groupSize = 64, each = 16;

using Points = std::vector<cl_float4>;

double squareOf(const cl_float4& a, const cl_float4& b) {
  double sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += (double{a.s[k]} - b.s[k]) * (double{a.s[k]} - b.s[k]);
  return sum;
}

void check(const Points& points, const Points& before, const std::vector<cl_uint>& memberOf,
           const Points& after) {
  std::vector<std::array<double, 4>> sums(clusters);
  std::vector<double> counts(clusters);
  for (std::size_t i = 0; i < points.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const cl_float4& centre : before)
      least = std::min(least, squareOf(points[i], centre));
    sample::checkClose(squareOf(points[i], before.at(memberOf[i])), least, 1e-5, "distance", i);
    for (int k = 0; k < 4; ++k)
      sums[memberOf[i]][k] += points[i].s[k];
    ++counts[memberOf[i]];
  }
  for (std::size_t c = 0; c < clusters; ++c)
    for (int k = 0; k < 4 && counts[c] > 0; ++k)
      sample::checkClose(after[c].s[k], sums[c][k] / counts[c], 1e-4, "centre", c);
}

void kmeans(sample::Sample& s) {
  const std::size_t n = std::max(s.options().size, clusters);
  Points points(n), centres(clusters), before;
  for (std::size_t i = 0; i < n; ++i)
    for (unsigned k = 0; k < 4; ++k)
      points[i].s[k] = s.randomFloat(s.randomBits(i, 1) % 97, -1, 1, 2 + k) +
                       0.2F * s.randomFloat(i, -1, 1, 6 + k);
  for (std::size_t c = 0; c < clusters; ++c)
    centres[c] = points[c * (n / clusters)];

  const auto queue = s.queue();
  const auto program = s.program(sample::kmeansSource);
  const auto assignPoints = sample::kernel(program, "assign_points");
  const auto sumClusters = sample::kernel(program, "sum_clusters");
  const std::size_t groups = sample::roundUp(n, groupSize * each) / (groupSize * each);
  Points sums(groups * clusters);
  std::vector<cl_uint> counts(groups * clusters), memberOf(n);
  const auto pointBuffer = s.copyOf(points, CL_MEM_READ_ONLY);
  const auto centreBuffer = s.array<cl_float4>(clusters);
  const auto memberBuffer = s.array<cl_uint>(n);
  const auto sumBuffer = s.array<cl_float4>(sums.size());
  const auto countBuffer = s.array<cl_uint>(counts.size());
  const auto count = static_cast<cl_uint>(n);
  sample::setArguments(assignPoints, count, cl_uint{clusters}, pointBuffer, centreBuffer,
                       memberBuffer);
  sample::setArguments(sumClusters, count, cl_uint{clusters}, cl_uint{each}, pointBuffer,
                       memberBuffer, sumBuffer, countBuffer);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    before = centres;
    s.timed([&] {
      sample::write(queue, centreBuffer, centres);
      sample::launch(queue, assignPoints, {sample::roundUp(n, groupSize)}, {groupSize});
      sample::launch(queue, sumClusters, {groups * groupSize}, {groupSize});
      sample::read(queue, sumBuffer, sums);
      sample::read(queue, countBuffer, counts);
    });
    for (std::size_t c = 0; c < clusters; ++c) {
      std::array<double, 4> sum{};
      double members = 0;
      for (std::size_t group = 0; group < groups; ++group) {
        for (int k = 0; k < 4; ++k)
          sum[k] += sums[group * clusters + c].s[k];
        members += counts[group * clusters + c];
      }
      for (int k = 0; k < 4 && members > 0; ++k)
        centres[c].s[k] = static_cast<float>(sum[k] / members);
    }
  }
  sample::read(queue, memberBuffer, memberOf);
  s.verify([&] { check(points, before, memberOf, centres); });
  s.output(memberOf);
  s.output(centres);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 18, .iterations = 10}, kmeans);
}
