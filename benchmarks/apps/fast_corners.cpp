// Finds the corners in an image of `size` x `size` bytes, `iterations` times. Most points are given
// up after five bytes, so that where the work lies depends on the picture: here on its lower right.
#include "kernels/fast_corners.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>

namespace {

constexpr cl_int threshold = 20;

using Image = std::vector<cl_uchar>;

/// Rectangles on a dark ground, the more the farther down and to the right, and some noise.
Image picture(const sample::Sample& s, std::size_t n) {
  Image image(n * n);
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t tile = (y / 11) * n + x / 13;
      const bool isBright = s.randomBits(tile, 1) % (2 * n) < x + y;
      image[y * n + x] = static_cast<cl_uchar>((isBright ? 100 + s.randomBits(tile, 2) % 100 : 50) +
                                               s.randomBits(y * n + x, 3) % 16);
    }
  });
  return image;
}

/// By the definition, arc by arc.
unsigned score(const Image& image, std::size_t n, std::size_t i) {
  const std::array<std::array<int, 2>, 16> circle = {{{0, -3},
                                                      {1, -3},
                                                      {2, -2},
                                                      {3, -1},
                                                      {3, 0},
                                                      {3, 1},
                                                      {2, 2},
                                                      {1, 3},
                                                      {0, 3},
                                                      {-1, 3},
                                                      {-2, 2},
                                                      {-3, 1},
                                                      {-3, 0},
                                                      {-3, -1},
                                                      {-2, -2},
                                                      {-1, -3}}};
  const std::size_t x = i % n, y = i / n;
  if (std::min(x, y) < 3 || std::max(x, y) + 3 >= n)
    return 0;
  for (const int sign : {1, -1}) {
    std::array<int, 16> beyond{};
    unsigned total = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t at = (y + circle[k][1]) * n + x + circle[k][0];
      beyond[k] = std::max(0, sign * (image[at] - image[i]) - threshold);
      total += beyond[k];
    }
    for (std::size_t first = 0; first < 16; ++first) {
      std::size_t length = 0;
      while (length < 9 && beyond[(first + length) % 16] > 0)
        ++length;
      if (length == 9)
        return total;
    }
  }
  return 0;
}

void fastCorners(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 8);
  const Image image = picture(s, n);
  const auto queue = s.queue();
  const auto program = s.program(sample::fastCornersSource);
  const auto detect = sample::kernel(program, "detect");
  const auto thin = sample::kernel(program, "thin");
  const auto input = s.copyOf(image, CL_MEM_READ_ONLY);
  const auto scores = s.array<cl_ushort>(n * n);
  const auto corners = s.array<cl_uchar>(n * n);
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes local = {32, 4}, global = {sample::roundUp(n, 32), sample::roundUp(n, 4)};
  sample::setArguments(detect, side, side, threshold, input, scores);
  sample::setArguments(thin, side, side, scores, corners);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::launch(queue, detect, global, local);
      sample::launch(queue, thin, global, local);
    });
  Image result(n * n);
  sample::read(queue, corners, result);
  s.verify([&] {
    std::vector<unsigned> expected(n * n);
    apps::forEachRow(n, [&](std::size_t y) {
      for (std::size_t i = y * n; i < (y + 1) * n; ++i)
        expected[i] = score(image, n, i);
    });
    std::size_t found = 0;
    for (std::size_t i = 0; i < n * n; ++i) {
      bool isCorner = expected[i] > 0;
      for (std::size_t k = 0; isCorner && k < 9; ++k)
        isCorner = expected[i + (k / 3) * n + k % 3 - n - 1] <= expected[i];
      sample::require((result[i] != 0) == isCorner, "point " + std::to_string(i) + " is wrong");
      found += isCorner;
    }
    sample::require(found > 0, "the picture has no corner");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 5}, fastCorners);
}
