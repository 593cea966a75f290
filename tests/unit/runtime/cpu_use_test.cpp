#include "runtime/core/cpu_use.h"

#include <gtest/gtest.h>

#include <thread>

namespace libsplit::runtime {
namespace {

cpu_set_t setOf(std::initializer_list<int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : processors)
    CPU_SET(each, &set);
  return set;
}

constexpr std::string_view stat = "cpu  300 3 30 1100 11 0 6 1 0 0\n"
                                  "cpu0 100 1 10 500 5 0 3 0 0 0\n"
                                  "cpu1 100 1 10 400 4 0 3 1 0 0\n"
                                  "cpu12 100 1 10 200 2 0 0 0 0 0\n"
                                  "intr 4 1 1 1\n"
                                  "ctxt 17\n";

TEST(CpuUse, CountsTheProcessorsThatTheProcessMayUse) {
  EXPECT_EQ(idleTicks(stat, setOf({0})), 505);
  EXPECT_EQ(idleTicks(stat, setOf({0, 12})), 707);
  EXPECT_EQ(idleTicks(stat, setOf({0, 1, 2, 12})), 1111);
}

TEST(CpuUse, KnowsNothingWhereTheSystemSaysNothing) {
  EXPECT_EQ(idleTicks(stat, setOf({7})), std::nullopt);
  EXPECT_EQ(idleTicks("", setOf({0})), std::nullopt);
  EXPECT_EQ(idleTicks("cpu0 1 2\ncpu\ncpux 1 2 3 4 5\n", setOf({0})), std::nullopt);
  EXPECT_EQ(idleTicks("cpu0 1 2 3 4 5", setOf({0})), 9);
}

TEST(CpuUse, WhatIsIdleIsNoMoreThanThereIs) {
  CpuUse use;
  EXPECT_EQ(use.idle(), 0) << "no time has passed";
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  // The system counts by ticks, of which a processor may gain one or two.
  EXPECT_LE(use.idle(), usableProcessors() * 1.2);
}

} // namespace
} // namespace libsplit::runtime
