// Two grids that may be larger than a device: `size` bytes each, made by a kernel, and `iterations`
// steps from one to the other, each of which is timed. Nothing of that size passes the program's
// own memory; what comes out is looked at here and there, where it is worked out from its
// beginnings.
#include "tests/samples/sample.h"

#include <algorithm>
#include <string>

namespace {

constexpr std::size_t width = 1 << 16; // some drivers count work-items of a dimension in 32 bits

constexpr const char* source = R"(
#define WIDTH (1ul << 16)

kernel void make(global uint* grid) {
  const ulong i = get_global_id(1) * WIDTH + get_global_id(0);
  grid[i] = (uint)i * 2654435761u ^ (uint)(i >> 32);
}

kernel void advance(global const uint* from, global uint* to, ulong n) {
  const ulong i = get_global_id(1) * WIDTH + get_global_id(0);
  to[i] = from[i] + 3u * from[i > 0 ? i - 1 : i] + 5u * from[i + 1 < n ? i + 1 : i];
}
)";

using Cells = std::vector<cl_uint>;

/// Cells [begin, begin + count) of `n` after so many steps.
Cells expected(std::size_t begin, std::size_t count, std::size_t n, unsigned steps) {
  const std::size_t first = begin - std::min<std::size_t>(begin, steps);
  const std::size_t end = std::min(n, begin + count + steps);
  Cells cells;
  for (std::size_t i = first; i < end; ++i)
    cells.push_back(static_cast<cl_uint>(i) * 2654435761U ^ static_cast<cl_uint>(i >> 32));
  for (unsigned s = 0; s < steps; ++s) {
    const Cells from = cells;
    // What is wrong at an end that is not the grid's comes no further than it may.
    for (std::size_t i = 0; i < from.size(); ++i)
      cells[i] = from[i] + 3 * from[i > 0 ? i - 1 : i] + 5 * from[i + 1 < from.size() ? i + 1 : i];
  }
  const auto at = cells.begin() + static_cast<std::ptrdiff_t>(begin - first);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

void largeGrids(sample::Sample& s) {
  const unsigned steps = s.options().iterations;
  const std::size_t rows = s.options().size / sizeof(cl_uint) / width, n = rows * width;
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto begin = sample::kernel(program, "make"), step = sample::kernel(program, "advance");
  const sample::Memory grids[] = {s.array<cl_uint>(n), s.array<cl_uint>(n)};
  sample::setArguments(begin, grids[0]);
  sample::launch(queue, begin, {width, rows}, {256, 1});
  for (unsigned i = 0; i < steps; ++i) {
    sample::setArguments(step, grids[i % 2], grids[1 - i % 2], static_cast<cl_ulong>(n));
    s.timed([&] {
      sample::launch(queue, step, {width, rows}, {256, 1});
      sample::check(clFinish(queue), "clFinish");
    });
  }
  const std::size_t places = 64, count = std::min<std::size_t>(n, 1 << 16);
  for (std::size_t p = 0; p < places; ++p) {
    const std::size_t at = (n - count) / (places - 1) * p;
    Cells found(count);
    sample::check(clEnqueueReadBuffer(queue, grids[steps % 2], CL_TRUE, at * sizeof(cl_uint),
                                      count * sizeof(cl_uint), found.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
    sample::require(found == expected(at, count, n, steps),
                    "cells from " + std::to_string(at) + " on are wrong");
    s.output(found);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = std::size_t(1) << 26, .iterations = 10}, largeGrids);
}
