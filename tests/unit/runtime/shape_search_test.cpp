#include "runtime/cost/shape_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace libsplit::runtime {
namespace {

ShapeSearch::Limits limitsOf(std::vector<std::uint64_t> global) {
  ShapeSearch::Limits limits;
  limits.dimensions = static_cast<unsigned>(global.size());
  std::ranges::copy(global, limits.global.begin());
  limits.most = {1024, {1024, 1024, 64}};
  return limits;
}

/// Runs launches whose work-items take what `cost` says for a size, and tells what all of them took
/// by what the driver's choice would have.
struct TryingProgram {
  ShapeSearch search;
  std::function<double(const GroupShape&)> cost;
  double items = 1e6;
  double seconds = 0, drivers = 0;
  int trials = 0;
  /// Every `timed`-th launch is timed, and all trials.
  void run(int launches, int timed = 1) {
    for (int i = 0; i < launches; ++i) {
      const auto trial = search.next(items);
      const GroupShape shape = trial.value_or(search.shape());
      trials += trial.has_value();
      const double took = cost(shape) * items;
      seconds += took;
      drivers += cost({}) * items;
      if (trial || i % timed == 0)
        search.observe(shape, items, took);
    }
  }
};

double columns(const GroupShape& shape) { // a transposition's, by distance from 4 x 64
  if (shape.isOpen())
    return 12e-9;
  const double away =
      std::abs(std::log2(shape.local[0] / 4.0)) + std::abs(std::log2(shape.local[1] / 64.0));
  return 3e-9 * (1 + 0.3 * away);
}

TEST(ShapeSearch, finds_what_is_best_for_columns) {
  TryingProgram program{ShapeSearch(limitsOf({8192, 8192})), columns};
  program.run(2000);
  EXPECT_TRUE(program.search.isOver());
  EXPECT_EQ(program.search.shape(), (GroupShape{{4, 64, 1}}));
  EXPECT_LT(program.seconds, 0.35 * program.drivers);
}

TEST(ShapeSearch, goes_on_by_halves_and_doubles) {
  const auto cost = [](const GroupShape& shape) { // 1024 x 1 is best
    return shape.isOpen() ? 4.3e-9
                          : 1e-9 * (1 + std::abs(std::log2(shape.local[0] / 1024.0)) +
                                    std::abs(std::log2(shape.local[1])));
  };
  TryingProgram program{ShapeSearch(limitsOf({2000, 2000})), cost};
  program.run(3000);
  EXPECT_EQ(program.search.shape(), (GroupShape{{1024, 1, 1}}));
}

TEST(ShapeSearch, costs_a_fiftieth_where_nothing_is_better) {
  for (const double worse : {1.0, 2.0, 20.0}) {
    const auto cost = [&](const GroupShape& shape) { return shape.isOpen() ? 1e-9 : worse * 1e-9; };
    for (const int launches : {20, 100, 1000, 20000}) {
      TryingProgram program{ShapeSearch(limitsOf({4096, 4096})), cost};
      program.run(launches, 7);
      EXPECT_TRUE(program.search.shape().isOpen());
      // What one trial may take before anything is known comes on top.
      EXPECT_LE(program.seconds, 1.02 * program.drivers + 20e-3 * (worse - 1)) << worse;
    }
  }
}

TEST(ShapeSearch, stays_with_the_driver_where_launches_differ_and_sizes_do_not) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const auto cost = [&](const GroupShape&) {
      return 1e-9 * (1 + static_cast<double>(random() % 1000) / 1000);
    };
    TryingProgram program{ShapeSearch(limitsOf({4096, 4096})), cost};
    program.run(5000);
    EXPECT_TRUE(program.search.isOver());
    // A size that is no better may win by luck; then it is no worse either.
    EXPECT_LT(program.seconds, 1.05 * program.drivers);
  }
}

TEST(ShapeSearch, leaves_nothing_to_the_driver_where_that_must_make_tiny_groups) {
  for (const auto& global : std::vector<std::vector<std::uint64_t>>{
           {9999991}, {4099, 4099}, {4099, 2}, {8209, 8209, 8209}, {4099, 5}}) {
    const ShapeSearch search(limitsOf(global));
    EXPECT_FALSE(search.shape().isOpen());
    EXPECT_GE(search.shape().items(), 32u);
    TryingProgram program{search,
                          [](const GroupShape& shape) { return shape.isOpen() ? 1e-6 : 1e-9; }};
    program.run(5000);
    EXPECT_LT(program.seconds, 5000 * 1.1e-3) << "the driver's choice was tried";
  }
  for (const auto& global : std::vector<std::vector<std::uint64_t>>{
           {10000000}, {8190, 8190}, {4098, 4098}, {4099, 64}, {17}})
    EXPECT_TRUE(ShapeSearch(limitsOf(global)).shape().isOpen()) << global[0];
  ShapeSearch::Limits uneven = limitsOf({4099, 4099});
  uneven.driverMustDivide = false;
  EXPECT_TRUE(ShapeSearch(uneven).shape().isOpen());
}

TEST(ShapeSearch, tries_tiny_groups_last_where_the_device_runs_them_in_few_rounds) {
  ShapeSearch::Limits limits = limitsOf({8209}); // a prime number
  limits.atOnce = 2000;
  for (const double tiny : {0.1, 1.2, 5.0}) {
    TryingProgram program{ShapeSearch(limits), [&](const GroupShape& shape) {
                            return shape.isOpen() ? tiny * 1e-9 : 1e-9;
                          }};
    EXPECT_FALSE(program.search.shape().isOpen());
    program.run(3000);
    EXPECT_TRUE(program.search.isOver());
    EXPECT_EQ(program.search.shape().isOpen(), tiny < 1);
    const ShapeSearch next(limits, program.search.known());
    EXPECT_TRUE(next.isOver());
    EXPECT_EQ(next.shape(), program.search.shape());
    // Five rounds are what it may lose, and those it waits for.
    EXPECT_LE(program.seconds, 3000 * 1e-3 * 1.02 + 4e-3);
  }
  limits.atOnce = 9000;
  EXPECT_TRUE(ShapeSearch(limits).shape().isOpen());
  limits.atOnce = 100;
  TryingProgram program{ShapeSearch(limits),
                        [](const GroupShape& shape) { return shape.isOpen() ? 1e-6 : 1e-9; }};
  program.run(10000);
  EXPECT_LT(program.seconds, 10000 * 1.01e-3) << "83 rounds were tried";
}

TEST(ShapeSearch, tries_only_what_the_device_takes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> global(1 + random() % 3);
    for (std::uint64_t& each : global)
      each = 1 + random() % 5000;
    ShapeSearch::Limits limits = limitsOf(global);
    limits.most = {1 + random() % 1024,
                   {1 + random() % 1024, 1 + random() % 1024, 1 + random() % 64}};
    limits.width = 1 + random() % 64;
    const auto cost = [&](const GroupShape& shape) {
      EXPECT_LE(shape.items(), limits.most.items);
      for (unsigned d = 0; d < 3 && !shape.isOpen(); ++d) {
        EXPECT_GE(shape.local[d], 1u);
        EXPECT_LE(shape.local[d], limits.most.byDimension[d]);
        EXPECT_TRUE(d < limits.dimensions || shape.local[d] == 1);
      }
      return 1e-9 * static_cast<double>(1 + random() % 10);
    };
    TryingProgram program{ShapeSearch(limits), cost};
    program.run(2000);
  }
}

TEST(ShapeSearch, waits_for_what_it_tries) {
  ShapeSearch search(limitsOf({8192, 8192}));
  EXPECT_TRUE(search.next(1e6)); // what the driver's takes
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(search.next(1e6)); // a hundred launches are under way
  search.observe({}, 1e6, 1e-3);
  std::optional<GroupShape> trial;
  int launches = 0;
  for (; !trial; ++launches)
    trial = search.next(1e6);
  EXPECT_GE(launches, 49); // one launch may be lost for fifty
  EXPECT_FALSE(trial->isOpen());
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(search.next(1e6));
  EXPECT_TRUE(search.shape().isOpen());
  EXPECT_EQ(search.observe(*trial, 1e6, 0.25e-3), 4);
  EXPECT_EQ(search.shape(), *trial);
  EXPECT_TRUE(search.next(1e6)); // it has cost nothing
}

TEST(ShapeSearch, gives_up_what_nobody_tells_of) {
  ShapeSearch search(limitsOf({8192, 8192}));
  search.next(1e6);
  search.observe({}, 1e6, 1e-3);
  int trials = 0;
  for (int i = 0; i < 100000; ++i)
    trials += search.next(1e6).has_value();
  EXPECT_GT(trials, 0);
  EXPECT_TRUE(search.isOver());
  EXPECT_TRUE(search.shape().isOpen());
}

TEST(ShapeSearch, takes_what_another_search_found_until_it_knows_better) {
  ShapeSearch search(limitsOf({8192, 8192}));
  EXPECT_FALSE(search.assume({{1, 1, 1}}));
  EXPECT_TRUE(search.shape().isOpen());
  EXPECT_TRUE(search.assume({{64, 4, 1}}));
  EXPECT_EQ(search.shape(), (GroupShape{{64, 4, 1}}));
  TryingProgram program{search, columns};
  program.run(2000);
  EXPECT_EQ(program.search.shape(), (GroupShape{{4, 64, 1}}));
  EXPECT_FALSE(program.search.assume({{64, 4, 1}}));
  EXPECT_EQ(program.search.shape(), (GroupShape{{4, 64, 1}}));
}

TEST(ShapeSearch, tries_only_what_divides_where_nothing_else_is_of_use) {
  ShapeSearch::Limits limits = limitsOf({8200, 8200});
  limits.mustDivide = true;
  const auto cost = [&](const GroupShape& shape) {
    for (unsigned d = 0; d < 2 && !shape.isOpen(); ++d)
      EXPECT_EQ(8200 % shape.local[d], 0u);
    return columns(shape);
  };
  TryingProgram program{ShapeSearch(limits), cost};
  program.run(2000);
}

TEST(ShapeSearch, says_that_another_is_best_also_where_nothing_is_gained) {
  ShapeSearches searches;
  const ShapeSearches::Key key{"8192x8192", false, true, 1};
  searches.at(key, [] { return ShapeSearch(limitsOf({8192, 8192})); });
  const auto version = searches.version();
  for (int i = 0; i < 10000 && !searches.find(key)->isOver(); ++i)
    if (const auto shape = searches.find(key)->next(1e6)) {
      // Lucky when it is first tried, then as the driver's.
      const bool isLucky = i < 100 && *shape == GroupShape{{64, 4, 1}};
      searches.observe(key, *shape, 1e6, isLucky ? 0.5e-3 : 1e-3);
    }
  EXPECT_TRUE(searches.find(key)->isOver());
  EXPECT_TRUE(searches.find(key)->shape().isOpen());
  EXPECT_EQ(searches.version(), version + 2) << "there and back";
}

TEST(ShapeSearch, knows_tiny_groups_by_device) {
  ShapeSearches searches;
  ShapeSearch::Limits wide = limitsOf({24 * 4099, 4099}), narrow = wide;
  wide.width = 64;
  narrow.width = 16;
  const auto isTiny = [&](const ShapeSearch::Limits& limits, unsigned kind) {
    return searches.isTiny(limits.global, kind, [&] { return limits; });
  };
  EXPECT_TRUE(isTiny(wide, 1));
  EXPECT_FALSE(isTiny(narrow, 2));
  EXPECT_TRUE(isTiny(wide, 1));
}

TEST(ShapeSearch, finds_its_way_where_drivers_tell_nothing) {
  ShapeSearch::Limits limits = limitsOf({67, 71});
  limits.most = {0, {0, 0, 0}};
  EXPECT_TRUE(ShapeSearch(limits).shape().isOpen());
}

TEST(ShapeSearch, goes_on_where_an_earlier_run_ended) {
  ShapeSearch::Known known;
  int runs = 0;
  for (; !known.isOver && runs < 100; ++runs) {
    TryingProgram program{ShapeSearch(limitsOf({8192, 8192}), known), columns};
    program.run(20);
    known = program.search.known();
  }
  EXPECT_LT(runs, 60) << "1 trial in 50 launches";
  EXPECT_EQ(known.best, (GroupShape{{4, 64, 1}}));
  ShapeSearch next(limitsOf({8192, 8192}), known);
  EXPECT_EQ(next.shape(), known.best);
  EXPECT_FALSE(next.next(1e6));
}

TEST(ShapeSearch, takes_no_size_from_an_earlier_run_that_is_none) {
  for (const GroupShape best :
       {GroupShape{{4096, 1, 1}}, {{1, 1, 1}}, {{64, 0, 1}}, {{64, 4, 2}}}) {
    ShapeSearch::Known known;
    known.best = best;
    known.isOver = true;
    EXPECT_TRUE(ShapeSearch(limitsOf({8192, 8192}), known).shape().isOpen());
  }
}

} // namespace
} // namespace libsplit::runtime
