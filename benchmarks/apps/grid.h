// What the checks of programs on grids share.
#pragma once

#include "tests/samples/sample.h"

#include <cstddef>

namespace apps {

/// Calls body(y) for every y of [0, rows), from all the machine's threads.
template <typename Body> void forEachRow(std::size_t rows, const Body& body) {
  sample::inParallel(
      rows,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t y = begin; y < end; ++y)
          body(y);
      },
      8);
}

/// Neighbours on a ring of n.
constexpr std::size_t before(std::size_t i, std::size_t n) {
  return i == 0 ? n - 1 : i - 1;
}
constexpr std::size_t after(std::size_t i, std::size_t n) {
  return i + 1 == n ? 0 : i + 1;
}

} // namespace apps
