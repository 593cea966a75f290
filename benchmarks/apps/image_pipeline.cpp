// The outlines in a picture of `size` x `size` pixels, by five kernels in a row that hand bytes and
// shorts on. Every frame's picture comes from the host, and its outlines go back, `iterations`
// times.
#include "kernels/image_pipeline.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace {

constexpr cl_ushort threshold = 90;

using Picture = std::vector<cl_uchar4>;
using Bytes = std::vector<cl_uchar>;

/// Soft discs of many colours, which move from frame to frame.
Picture pictureOf(const sample::Sample& s, std::size_t n, unsigned frame) {
  Picture picture(n * n);
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t u = x + 3 * frame, tile = y / 64 * (n + 64) + u / 64;
      const long dx = static_cast<long>(u % 64) - 32, dy = static_cast<long>(y % 64) - 32;
      const std::uint64_t bits = s.randomBits(tile, 1);
      const long radius = 8 + static_cast<long>(bits % 24);
      const bool isInside = dx * dx + dy * dy < radius * radius;
      auto component = [&](unsigned shift) {
        return static_cast<cl_uchar>((isInside ? bits >> shift & 127 : 40) +
                                     s.randomBits(y * n + x, 2 + shift) % 8);
      };
      picture[y * n + x] = {{component(8), component(16), component(24), 255}};
    }
  });
  return picture;
}

Bytes outlines(const Picture& picture, std::size_t n) {
  std::vector<int> grey(n * n), smooth(n * n), magnitude(n * n), along(n * n);
  for (std::size_t i = 0; i < n * n; ++i)
    grey[i] = (77 * picture[i].s[0] + 150 * picture[i].s[1] + 29 * picture[i].s[2]) >> 8;
  const auto side = static_cast<long>(n);
  auto inner = [side](long x, long y) { return x > 0 && x < side - 1 && y > 0 && y < side - 1; };
  apps::forEachRow(n, [&](std::size_t row) {
    constexpr std::array<int, 5> weights = {1, 4, 6, 4, 1};
    const auto y = static_cast<long>(row);
    for (long x = 0; x < side; ++x) {
      int sum = 0;
      for (long k = 0; k < 25; ++k)
        sum += weights[k % 5] * weights[k / 5] *
               grey[std::clamp(y + k / 5 - 2, 0L, side - 1) * side +
                    std::clamp(x + k % 5 - 2, 0L, side - 1)];
      smooth[y * side + x] = sum >> 8;
    }
  });
  // Where the neighbour across the outline is, by the gradient's direction.
  const std::array<long, 4> across = {1, side + 1, side, side - 1};
  apps::forEachRow(n, [&](std::size_t row) {
    const auto y = static_cast<long>(row);
    for (long x = 0; x < side; ++x) {
      int gx = 0, gy = 0;
      for (long d = -1; inner(x, y) && d <= 1; ++d) {
        const int weight = d == 0 ? 2 : 1;
        const long i = y * side + x;
        gx += weight * (smooth[i + d * side + 1] - smooth[i + d * side - 1]);
        gy += weight * (smooth[i + side + d] - smooth[i - side + d]);
      }
      const int ax = std::abs(gx), ay = std::abs(gy);
      magnitude[y * side + x] = ax + ay;
      along[y * side + x] = 5 * ay < 2 * ax        ? 0
                            : 5 * ax < 2 * ay      ? 2
                            : (gx < 0) == (gy < 0) ? 1
                                                   : 3;
    }
  });
  Bytes result(n * n);
  for (long i = 0; i < side * side; ++i)
    if (inner(i % side, i / side)) {
      const long step = across[along[i]];
      if (magnitude[i] > threshold && magnitude[i] >= magnitude[i - step] &&
          magnitude[i] > magnitude[i + step])
        result[i] = 255;
    }
  return result;
}

void imagePipeline(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  const auto queue = s.queue();
  const auto program = s.program(sample::imagePipelineSource);
  const auto grey = sample::kernel(program, "grey");
  const auto smoothRows = sample::kernel(program, "smooth_rows");
  const auto smoothColumns = sample::kernel(program, "smooth_columns");
  const auto gradient = sample::kernel(program, "gradient");
  const auto outline = sample::kernel(program, "outline");
  const auto input = s.buffer(CL_MEM_READ_ONLY, n * n * sizeof(cl_uchar4));
  const auto greyBuffer = s.array<cl_uchar>(n * n), smooth = s.array<cl_uchar>(n * n),
             direction = s.array<cl_uchar>(n * n), result = s.array<cl_uchar>(n * n);
  const auto between = s.array<cl_ushort>(n * n), magnitude = s.array<cl_ushort>(n * n);
  const auto side = static_cast<cl_uint>(n);
  sample::setArguments(grey, side, side, input, greyBuffer);
  sample::setArguments(smoothRows, side, side, greyBuffer, between);
  sample::setArguments(smoothColumns, side, side, between, smooth);
  sample::setArguments(gradient, side, side, smooth, magnitude, direction);
  sample::setArguments(outline, side, side, threshold, magnitude, direction, result);
  const sample::Sizes local = {32, 4}, global = {sample::roundUp(n, 32), sample::roundUp(n, 4)};
  Bytes found(n * n);
  for (unsigned frame = 0; frame < s.options().iterations; ++frame) {
    const Picture picture = pictureOf(s, n, frame);
    s.timed([&] {
      sample::write(queue, input, picture);
      for (cl_kernel kernel : {cl_kernel{grey}, cl_kernel{smoothRows}, cl_kernel{smoothColumns},
                               cl_kernel{gradient}, cl_kernel{outline}})
        sample::launch(queue, kernel, global, local);
      sample::read(queue, result, found);
    });
    s.verify([&] {
      sample::require(found == outlines(picture, n),
                      "frame " + std::to_string(frame) + " is wrong");
      sample::require(std::count(found.begin(), found.end(), 255) > 0, "there are no outlines");
    });
    s.output(found);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 10}, imagePipeline);
}
