// Solves a sparse, lower triangular system of `size` unknowns, `iterations` times, level by level:
// a launch for the unknowns that depend on earlier launches alone. Which elements a launch writes
// stands in a buffer, and it reads others of the array that it writes.
#include "kernels/triangular_solve.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <numeric>

namespace {

constexpr std::size_t groupSize = 64;

struct Triangle {
  std::vector<cl_uint> rowBegin{0}, column;
  std::vector<float> value;

  /// A row has up to six elements in columns some way before its own.
  Triangle(const sample::Sample& s, std::size_t rows) {
    const std::size_t reach = std::max<std::size_t>(rows / 16, 1);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t k = s.randomBits(row, 1) % 7; k-- > 0;) {
        const std::size_t distance = reach / 2 + 1 + s.randomBits(column.size(), 2) % (2 * reach);
        if (distance > row)
          continue;
        value.push_back(s.randomFloat(column.size(), -0.4F, 0.4F, 3));
        column.push_back(static_cast<cl_uint>(row - distance));
      }
      rowBegin.push_back(static_cast<cl_uint>(column.size()));
    }
  }
};

void triangularSolve(sample::Sample& s) {
  const std::size_t rows = std::max<std::size_t>(s.options().size, 2);
  const Triangle triangle(s, rows);
  std::vector<cl_uint> level(rows), order(rows), levelBegin;
  for (std::size_t row = 0; row < rows; ++row)
    for (cl_uint k = triangle.rowBegin[row]; k < triangle.rowBegin[row + 1]; ++k)
      level[row] = std::max(level[row], level[triangle.column[k]] + 1);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](cl_uint a, cl_uint b) { return level[a] < level[b]; });
  for (std::size_t i = 0; i < rows; ++i)
    if (i == 0 || level[order[i]] != level[order[i - 1]])
      levelBegin.push_back(static_cast<cl_uint>(i));
  levelBegin.push_back(static_cast<cl_uint>(rows));
  const std::vector<float> right = s.randomFloats(rows, -1, 1, 4);

  const auto queue = s.queue();
  const auto program = s.program(sample::triangularSolveSource);
  const auto kernel = sample::kernel(program, "solve_level");
  const auto orderBuffer = s.copyOf(order, CL_MEM_READ_ONLY);
  const auto rowBegin = s.copyOf(triangle.rowBegin, CL_MEM_READ_ONLY);
  const auto column = s.copyOf(triangle.column, CL_MEM_READ_ONLY);
  const auto value = s.copyOf(triangle.value, CL_MEM_READ_ONLY);
  const auto rightBuffer = s.copyOf(right, CL_MEM_READ_ONLY);
  const auto x = s.array<float>(rows);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      for (std::size_t l = 0; l + 1 < levelBegin.size(); ++l) {
        const cl_uint count = levelBegin[l + 1] - levelBegin[l];
        sample::setArguments(kernel, levelBegin[l], count, orderBuffer, rowBegin, column, value,
                             rightBuffer, x);
        sample::launch(queue, kernel, {sample::roundUp(count, groupSize)}, {groupSize});
      }
    });
  std::vector<float> result(rows);
  sample::read(queue, x, result);
  s.verify([&] {
    for (std::size_t row = 0; row < rows; ++row) {
      double sum = right[row];
      for (cl_uint k = triangle.rowBegin[row]; k < triangle.rowBegin[row + 1]; ++k)
        sum -= double{triangle.value[k]} * result[triangle.column[k]];
      sample::checkClose(result[row], sum, 1e-5, "x", row);
    }
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 5}, triangularSolve);
}
