#include "runtime/device/copy_rates.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using Way = CopyRates::Way;
constexpr std::size_t piece = 1000;

/// Copies `times` pieces the way it says; how many of them went by pump.
int byPump(CopyRates& rates, double driver, double pump, int times) {
  int pumped = 0;
  for (int i = 0; i < times; ++i) {
    const Way way = rates.next();
    pumped += way == Way::Pump;
    rates.note(way, piece, static_cast<double>(piece) / (way == Way::Pump ? pump : driver));
  }
  return pumped;
}

TEST(CopyRates, BeginsWithTheDriver) {
  CopyRates rates(piece);
  EXPECT_EQ(rates.next(), Way::Driver);
  EXPECT_FALSE(rates.isSettled());
}

TEST(CopyRates, TakesTheFasterWay) {
  CopyRates slower(piece), faster(piece);
  EXPECT_LE(byPump(slower, 10, 9, 100), 3);
  EXPECT_EQ(slower.next(), Way::Driver);
  EXPECT_TRUE(slower.isSettled());
  EXPECT_EQ(byPump(faster, 10, 11, 100), 99);
  EXPECT_TRUE(faster.isSettled());
}

TEST(CopyRates, IsNotMistakenByASlowBegin) {
  CopyRates rates(piece);
  byPump(rates, 10, 1, 2); // the driver, and a first try
  byPump(rates, 10, 40, 20);
  EXPECT_EQ(rates.next(), Way::Pump);
}

TEST(CopyRates, IsNotMistakenByOneThatWasHeldUp) {
  CopyRates rates(piece);
  byPump(rates, 10, 40, 20);
  byPump(rates, 10, 0.1, 1);
  EXPECT_EQ(rates.next(), Way::Pump);
}

TEST(CopyRates, TriesTheSlowerWayNowAndThen) {
  CopyRates rates(piece);
  byPump(rates, 10, 5, 100);
  const int tries = byPump(rates, 10, 5, 1000);
  EXPECT_GE(tries, 5);
  EXPECT_LE(tries, 10);
  byPump(rates, 10, 50, 140); // something has changed
  EXPECT_EQ(rates.next(), Way::Pump);
}

TEST(CopyRates, TriesTheMoreRarelyTheMoreThatTakes) {
  CopyRates rates(piece);
  int byDriver = 0;
  for (int i = 0; i < 120; ++i) { // copies that can't be cut in pieces
    const Way way = rates.next();
    byDriver += way == Way::Driver;
    rates.note(way, 20 * piece, way == Way::Driver ? 5 : 1);
  }
  EXPECT_EQ(byDriver, 1);
}

TEST(CopyRates, LearnsNothingFromLittle) {
  CopyRates rates(piece);
  rates.note(Way::Driver, piece / 4, 1e-9);
  EXPECT_EQ(rates.next(), Way::Driver);
  EXPECT_FALSE(rates.isSettled());
}

} // namespace
} // namespace libsplit::runtime
