#include "runtime/program/earlier_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <locale>

#include <unistd.h>

namespace libsplit::runtime {
namespace {

namespace fs = std::filesystem;

class EarlierRunsTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             (std::string("earlier_") + std::to_string(::getpid()) +
              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder;
};

TEST_F(EarlierRunsTest, LeaveWhatLaunchesTookByTextAndOptions) {
  const DiskCache disk(folder);
  const Origin one{"kernel void a() {}", "-DN=1", false, {}};
  Origin other = one;
  other.options = "-DN=2";
  const EarlierLaunches launches{
      1.5, 0.25, 0.125, 7.5, 0.5, {"a", "b"}, {{"a", {12, 1.5}}, {"c", {1, 0}}}};
  EarlierRuns(disk).keep(one, launches);
  const EarlierRuns later(disk);
  EXPECT_EQ(later.launchesOf(one), launches);
  EXPECT_EQ(later.launchesOf(other), EarlierLaunches());
  EXPECT_NE(identityOf(one, "a"), identityOf(one, "b"));
}

TEST_F(EarlierRunsTest, LeaveTheSameWhateverLocaleTheProgramHasSet) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale with(std::locale::classic(), new Comma); // which owns it
  const std::locale before = std::locale::global(with);
  const DiskCache disk(folder);
  const Origin origin{"kernel void a() {}", "", false, {}};
  const EarlierLaunches launches{1234.5, 0.25, 0.125, 7.5, 0.5, {"a"}, {{"a", {1234567, 2.5}}}};
  EarlierRuns(disk).keep(origin, launches);
  const EarlierLaunches abroad = EarlierRuns(disk).launchesOf(origin);
  std::locale::global(before);
  EXPECT_EQ(abroad, launches);
  EXPECT_EQ(EarlierRuns(disk).launchesOf(origin), launches);
}

TEST_F(EarlierRunsTest, LeaveNothingOfWhatIsNoNumber) {
  const DiskCache disk(folder);
  const Origin origin{"kernel void a() {}", "", false, {}};
  disk.write(identityOf(origin, "") + ".launches", "soon a b");
  EXPECT_EQ(EarlierRuns(disk).launchesOf(origin), EarlierLaunches());
}

TEST_F(EarlierRunsTest, TellWhatPreparingTakesIfThatIsCredible) {
  const DiskCache disk(folder);
  const EarlierRuns runs(disk);
  EXPECT_EQ(runs.preparation(), std::nullopt);
  runs.keepPreparation(0.25);
  EXPECT_EQ(runs.preparation(), 0.25);
  for (const char* nonsense : {"", "-1", "0", "1e9", "nan", "x"}) {
    disk.write("preparation.seconds", nonsense);
    EXPECT_EQ(runs.preparation(), std::nullopt) << nonsense;
  }
}

TEST_F(EarlierRunsTest, TellWhatSplittingCostsBetweenTheSameDevices) {
  const DiskCache disk(folder);
  const EarlierRuns runs(disk);
  EXPECT_EQ(runs.splitting("all"), std::nullopt);
  runs.keepSplitting("all", 40e-6);
  runs.keepSplitting("gpu", 20e-6);
  EXPECT_EQ(runs.splitting("all"), 40e-6);
  EXPECT_EQ(runs.splitting("gpu"), 20e-6);
  EXPECT_EQ(runs.splitting("cpu"), std::nullopt);
}

} // namespace
} // namespace libsplit::runtime
