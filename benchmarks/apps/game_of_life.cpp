// `iterations` generations of Conway's Game of Life on a board of `size` x `size` cells, a byte
// each, whose edges meet (variant periodic) or border on dead cells (bounded).
#include "kernels/game_of_life.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <utility>

namespace {

using Board = std::vector<cl_uchar>;

Board generation(const Board& board, std::size_t n, bool isPeriodic) {
  Board result(board.size());
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; x < n; ++x) {
      unsigned neighbours = 0;
      for (std::size_t v : {apps::before(y, n), y, apps::after(y, n)})
        for (std::size_t u : {apps::before(x, n), x, apps::after(x, n)}) {
          const bool isNear =
              std::max(u, x) - std::min(u, x) <= 1 && std::max(v, y) - std::min(v, y) <= 1;
          if ((u != x || v != y) && (isNear || isPeriodic))
            neighbours += board[v * n + u];
        }
      result[y * n + x] = neighbours == 3 || (neighbours == 2 && board[y * n + x] != 0);
    }
  });
  return result;
}

void gameOfLife(sample::Sample& s) {
  const bool isPeriodic = s.options().variant == "periodic";
  sample::require(isPeriodic || s.options().variant == "bounded",
                  "--variant is periodic or bounded");
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  Board board(n * n);
  for (std::size_t i = 0; i < board.size(); ++i)
    board[i] = s.randomBits(i) >> 62 == 0;

  const auto queue = s.queue();
  const auto program = s.program(sample::gameOfLifeSource);
  const auto kernel = sample::kernel(program, isPeriodic ? "life_periodic" : "life_bounded");
  auto now = s.copyOf(board), next = s.array<cl_uchar>(board.size());
  const auto side = static_cast<cl_uint>(n);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, side, side, now, next);
    s.timed(queue, [&] {
      sample::launch(queue, kernel, {sample::roundUp(n, 64), sample::roundUp(n, 4)}, {64, 4});
    });
    std::swap(now, next);
  }
  Board result(board.size());
  sample::read(queue, now, result);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      board = generation(board, n, isPeriodic);
    sample::require(result == board, "the board is not what it should be");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 20, .variant = "periodic"},
                     gameOfLife);
}
