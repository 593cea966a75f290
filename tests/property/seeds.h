// Seeds for property tests: a few hundred by default, LIBSPLIT_TEST_SEEDS=N for a long run and
// LIBSPLIT_TEST_FIRST_SEED=S to repeat one. A failing seed is printed. Sanitized builds, which look
// for other mistakes, try a fifth of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace libsplit {

template <typename Body> void forEachSeed(unsigned byDefault, Body body) {
  const char* count = std::getenv("LIBSPLIT_TEST_SEEDS");
  const char* start = std::getenv("LIBSPLIT_TEST_FIRST_SEED");
  const unsigned first = start ? static_cast<unsigned>(std::atol(start)) : 1;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  byDefault = (byDefault + 4) / 5;
#endif
  const unsigned seeds = count ? static_cast<unsigned>(std::atol(count)) : byDefault;
  for (unsigned seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    body(random);
    if (::testing::Test::HasFailure())
      return; // one failing seed says more than a thousand
  }
}

inline std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline bool chance(std::mt19937& random, int percent) {
  return pick(random, 0, 99) < percent;
}

} // namespace libsplit
