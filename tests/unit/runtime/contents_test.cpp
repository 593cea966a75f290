// Tables of extremes, and when finding contents out is given up.
#include "runtime/cost/contents_budget.h"
#include "runtime/device/device_extremes.h"
#include "runtime/session/contents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

namespace libsplit::runtime {
namespace {

std::vector<std::byte> randomBytes(std::size_t size) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes)
    each = static_cast<std::byte>(random());
  return bytes;
}

TEST(Extremes, ofAnySliceAreThoseOfItsElements) {
  const std::vector<std::byte> bytes = randomBytes(1 << 20);
  std::mt19937 random(1);
  for (const ElementLayout& layout :
       {ElementLayout{32, true, 4, 0}, ElementLayout{8, false, 1, 0}, ElementLayout{16, true, 2, 0},
        ElementLayout{64, false, 8, 0}, ElementLayout{64, true, 8, 0},
        ElementLayout{32, false, 12, 8}}) {
    const Extremes table(bytes, layout);
    const std::uint64_t count = layout.count(bytes.size());
    auto read = [&](std::uint64_t from, std::uint64_t to) {
      return scanElements(bytes, layout, from, to);
    };
    for (int i = 0; i < 200; ++i) {
      std::uint64_t first = random() % count, last = random() % count;
      if (first > last)
        std::swap(first, last);
      EXPECT_EQ(table.between(first, last, read), scanElements(bytes, layout, first, last))
          << layout.width << ' ' << first << ' ' << last;
    }
    EXPECT_EQ(table.between(0, count - 1, read), scanElements(bytes, layout, 0, count - 1));
  }
}

TEST(Extremes, countOnlyElementsThatEndWithinTheBuffer) {
  EXPECT_EQ((ElementLayout{32, true, 4, 0}.count(16)), 4u);
  EXPECT_EQ((ElementLayout{32, true, 4, 0}.count(15)), 3u);
  EXPECT_EQ((ElementLayout{32, true, 8, 4}.count(15)), 1u);
  EXPECT_EQ((ElementLayout{32, true, 8, 4}.count(16)), 2u);
  EXPECT_EQ((ElementLayout{64, true, 8, 0}.count(7)), 0u);
}

TEST(Extremes, unsignedElementsBeyondTheSignedOnesAreKept) {
  const std::uint64_t values[] = {~std::uint64_t{0}, 5};
  const auto bytes = std::as_bytes(std::span(values));
  const Interval all = scanElements(bytes, {64, false, 8, 0}, 0, 1);
  EXPECT_TRUE(all.low == 5 && all.high == Int{~std::uint64_t{0}});
}

TEST(DeviceExtremes, whatTheKernelWritesIsReadBackBlockByBlock) {
  const std::int16_t written[] = {-5, 7, 100, 300};
  const auto blocks = blocksFrom(std::as_bytes(std::span(written)), {16, true, 6, 2});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_TRUE((blocks[0] == Interval{-5, 7} && blocks[1] == Interval{100, 300}));
}

TEST(DeviceExtremes, onlyElementsAtMultiplesOfTheirSizeAreAddressed) {
  EXPECT_TRUE(isAligned({32, true, 12, 8}));
  EXPECT_FALSE(isAligned({32, true, 12, 2}));
  EXPECT_FALSE(isAligned({32, true, 2, 0}));
}

TEST(ContentsBudget, cheapLookUpsAreAlwaysWorthIt) {
  ContentsBudget budget;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(budget.pays(1.0));
    budget.spent(0.01);
  }
}

TEST(ContentsBudget, dearLookUpsAreGivenUpForAWhileEverLonger) {
  ContentsBudget budget;
  std::vector<int> pauses;
  int pause = 0;
  for (int i = 0; i < 300; ++i) {
    if (budget.pays(1.0)) {
      budget.spent(0.9);
      if (pause > 0)
        pauses.push_back(pause);
      pause = 0;
    } else {
      ++pause;
    }
  }
  ASSERT_GE(pauses.size(), 3u);
  EXPECT_LT(pauses[0], pauses[1]);
  EXPECT_LT(pauses[1], pauses[2]);
}

TEST(ContentsBudget, aDearLookUpPaysIfManyLaunchesRestOnIt) {
  ContentsBudget budget;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(budget.pays(1.0));
    budget.spent(0.9);
    for (int reuse = 0; reuse < 9; ++reuse)
      budget.saved();
  }
}

TEST(ContentsBudget, withoutAMeasurementNothingIsGivenUp) {
  ContentsBudget budget;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(budget.pays(-1));
    budget.spent(10);
  }
}

TEST(ContentsBudget, whatIsAffordableIsSaidBeforehand) {
  ContentsBudget quarter, tenth(0.1);
  int quarterPaid = 0, tenthPaid = 0;
  for (int i = 0; i < 10; ++i) {
    quarterPaid += quarter.pays(1.0);
    quarter.spent(0.2);
    tenthPaid += tenth.pays(1.0);
    tenth.spent(0.2);
  }
  EXPECT_EQ(quarterPaid, 10);
  EXPECT_EQ(tenthPaid, 2);
}

TEST(ContentElements, areThoseThatOffsetsLoopsAndGuardsLoad) {
  KernelSummary summary;
  summary.parameters.resize(5);
  Access access;
  access.offset = Expr::load(1, Expr::load(2, Expr(), 16, false), 32, true);
  access.loops = {{Expr::load(3, Expr(), 32, true)}};
  access.guards = {{Expr::load(1, Expr(), 32, true), Guard::Relation::Less, Expr()}};
  Access update = access;
  update.effect = Effect::Update;
  update.offset = Expr::load(4, Expr(), 32, true);
  summary.accesses = {access, update};
  EXPECT_EQ(contentElements(summary),
            (std::set<LoadedElements>{{1, 32, true}, {2, 16, false}, {3, 32, true}}));
}

} // namespace
} // namespace libsplit::runtime
