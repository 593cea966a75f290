// Takes the edges of an image of `size` x `size` points, then approaches the image that has these
// edges by `iterations` steps of Jacobi's method, from grey. Opposite sides of the image meet, so
// that each device needs something of the last row of another's, and of the first.
#include "kernels/reverse_edge.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <utility>

namespace {

using Image = std::vector<float>;

/// in + weight * the mean of the neighbours in `neighboured`
Image combined(const Image& in, const Image& neighboured, float weight, std::size_t n) {
  Image out(n * n);
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; x < n; ++x)
      out[y * n + x] =
          in[y * n + x] +
          weight * 0.25F *
              (neighboured[y * n + apps::before(x, n)] + neighboured[y * n + apps::after(x, n)] +
               neighboured[apps::before(y, n) * n + x] + neighboured[apps::after(y, n) * n + x]);
  });
  return out;
}

void reverseEdge(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 2);
  const Image image = s.randomFloats(n * n, 0, 1);
  Image guess(n * n, 0.5F), result(n * n);

  const auto queue = s.queue();
  const auto program = s.program(sample::reverseEdgeSource);
  const auto findEdges = sample::kernel(program, "find_edges");
  const auto reverseEdges = sample::kernel(program, "reverse_edges");
  const auto original = s.copyOf(image, CL_MEM_READ_ONLY);
  const auto edges = s.array<float>(n * n);
  auto now = s.copyOf(guess), next = s.array<float>(n * n);
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes local = {32, 4}, global = {sample::roundUp(n, 32), sample::roundUp(n, 4)};
  sample::setArguments(findEdges, side, side, original, edges);
  sample::launch(queue, findEdges, global, local);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(reverseEdges, side, side, edges, now, next);
    s.timed(queue, [&] { sample::launch(queue, reverseEdges, global, local); });
    std::swap(now, next);
  }
  sample::read(queue, now, result);
  s.verify([&] {
    const Image expectedEdges = combined(image, image, -1, n);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      guess = combined(expectedEdges, guess, 1, n);
    sample::checkAll(result, [&](std::size_t i) { return guess[i]; }, 1e-4, "image");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 20}, reverseEdge);
}
