#include "runtime/cost/latest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace libsplit::runtime {
namespace {

TEST(Latest, QuantilesAreThoseOfTheLastReadings) {
  std::minstd_rand numbers(5);
  Latest<4> latest;
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(static_cast<double>(numbers() % 6)); // some are equal
    latest.note(all.back());
    const std::size_t known = std::min<std::size_t>(all.size(), 4);
    ASSERT_EQ(latest.known().size(), known);
    std::vector<double> last(all.end() - static_cast<std::ptrdiff_t>(known), all.end());
    EXPECT_TRUE(std::ranges::is_permutation(latest.known(), last));
    std::ranges::sort(last);
    for (const double part : {0.0, 0.25, 0.5, 0.75})
      EXPECT_EQ(latest.quantile(part),
                last[static_cast<std::size_t>(part * static_cast<double>(known))]);
  }
}

} // namespace
} // namespace libsplit::runtime
