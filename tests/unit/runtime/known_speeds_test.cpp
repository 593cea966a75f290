#include "runtime/cost/known_speeds.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using From = ShareController::Prior::From;

KnownSpeeds empty(const std::string& machine = "m") {
  return KnownSpeeds(machine, 2, 0);
}

void know(KnownSpeeds& speeds, const std::string& kernel, const LaunchKey& key, double items,
          double home, double other) {
  auto record = speeds.record(kernel, key, items);
  record->secondsPerItem = {home, other};
  record->homeSeconds = home * items;
  record->splitSeconds = home * items / 2;
  speeds.touch(*record);
}

TEST(KnownSpeeds, sayNothingOfWhatNobodyMeasured) {
  KnownSpeeds speeds = empty();
  EXPECT_EQ(speeds.prior("k", {"64", {}}, 64).from, From::Nothing);
  speeds.record("k", {"64", {}}, 64); // asked for, never written
  EXPECT_EQ(speeds.prior("k", {"64", {}}, 64).from, From::Nothing);
}

TEST(KnownSpeeds, preferTheSameLaunchThenItsNearestThenOtherKernels) {
  KnownSpeeds speeds = empty();
  know(speeds, "k", {"1024", {3}}, 1024, 1e-6, 2e-6);
  know(speeds, "k", {"1024", {9}}, 1024, 1e-6, 8e-6);
  know(speeds, "other", {"64", {}}, 64, 1e-3, 1e-3 / 4);

  auto same = speeds.prior("k", {"1024", {3}}, 1024);
  EXPECT_EQ(same.from, From::SameLaunch);
  EXPECT_DOUBLE_EQ(same.gain, 2);
  EXPECT_NEAR(same.homeSeconds, 1024e-6, 1e-12);
  EXPECT_NEAR(speeds.prior("k", {"1024", {3}}, 1152).homeSeconds, 1152e-6, 1e-12); // of its class
  auto near = speeds.prior("k", {"1024", {4}}, 1024);
  EXPECT_EQ(near.from, From::OtherLaunches);
  EXPECT_DOUBLE_EQ(near.speeds[1], 1 / 2e-6);
  auto far = speeds.prior("k", {"1024", {8}}, 1024);
  EXPECT_DOUBLE_EQ(far.speeds[1], 1 / 8e-6);
  auto larger = speeds.prior("k", {"4096", {3}}, 4096);
  EXPECT_EQ(larger.from, From::OtherLaunches);
  EXPECT_NEAR(larger.homeSeconds, 4096e-6, 1e-12);

  auto stranger = speeds.prior("new", {"7", {}}, 7);
  EXPECT_EQ(stranger.from, From::OtherKernels);
  EXPECT_EQ(stranger.homeSeconds, 0); // of its length nothing is known
  EXPECT_GT(stranger.speeds[1], 0);
}

TEST(KnownSpeeds, tellWhatALaunchGained) {
  KnownSpeeds speeds = empty();
  EXPECT_EQ(speeds.gain("k"), 0);
  know(speeds, "k", {"1024", {3}}, 1024, 1e-6, 2e-6);
  know(speeds, "slower", {"1024", {3}}, 1024, 1e-6, 2e-6);
  for (const auto& [kernel, split] : {std::pair("k", 0.25), std::pair("slower", 2.0)}) {
    auto record = speeds.record(kernel, {"1024", {3}}, 1024);
    record->homeSeconds = 1;
    record->splitSeconds = split;
  }
  EXPECT_DOUBLE_EQ(speeds.gain("k"), 0.75);
  EXPECT_EQ(speeds.gain("slower"), 0);
}

TEST(KnownSpeeds, comeBackFromTheirText) {
  KnownSpeeds before = empty();
  know(before, "k", {"1024/8", {3, -2}}, 1024, 1e-6, 2e-6);
  KnownSpeeds after = empty();
  after.read(before.text());
  auto prior = after.prior("k", {"1024/8", {3, -2}}, 1024);
  EXPECT_EQ(prior.from, From::SameLaunch);
  EXPECT_DOUBLE_EQ(prior.homeSeconds, 1024e-6);
  EXPECT_DOUBLE_EQ(prior.speeds[1], 5e5);
}

TEST(KnownSpeeds, rememberHowManyLaunchesARunHadHowTheyWereCutAndWhatMovingTook) {
  KnownSpeeds speeds = empty();
  know(speeds, "k", {"1024", {}}, 1024, 1e-6, 1e-6);
  know(speeds, "later", {"1024", {}}, 1024, 1e-6, 1e-6);
  speeds.record("k", {"1024", {}}, 1024)->secondsPerByte = 1e-9;
  auto later = speeds.record("later", {"1024", {}}, 1024);
  later->secondsPerByte = 2e-11;
  later->secondsPerMove = 3e-5;
  later->launchesNow = 500;
  later->dimension = 2;

  KnownSpeeds second = empty();
  second.read(speeds.text());
  EXPECT_DOUBLE_EQ(second.moving().perByte(), 2e-11);
  EXPECT_DOUBLE_EQ(second.moving().perMove(), 3e-5);
  EXPECT_EQ(second.record("later", {"1024", {}}, 1024)->launches, 500u);
  EXPECT_EQ(second.record("later", {"1024", {}}, 1024)->launchesNow, 0u);
  EXPECT_EQ(second.record("later", {"1024", {}}, 1024)->dimension, 2u);
  EXPECT_EQ(second.record("k", {"1024", {}}, 1024)->dimension, std::nullopt);

  KnownSpeeds third = empty(); // after a run in which it was not launched
  third.read(second.text());
  EXPECT_EQ(third.record("later", {"1024", {}}, 1024)->launches, 500u);
}

TEST(KnownSpeeds, whatWasSlowerSplitIsBelievedLessRunByRun) {
  std::string text;
  {
    KnownSpeeds speeds = empty();
    know(speeds, "k", {"1024", {}}, 1024, 1e-6, 1e-6);
    auto record = speeds.record("k", {"1024", {}}, 1024);
    record->homeSeconds = 1e-3;
    record->splitSeconds = 2e-3;
    text = speeds.text();
  }
  double last = 0.5;
  for (int run = 0; run < 20; ++run) {
    KnownSpeeds speeds = empty();
    speeds.read(text);
    const double gain = speeds.prior("k", {"1024", {}}, 1024).gain;
    EXPECT_GT(gain, last);
    EXPECT_LT(gain, 1);
    last = gain;
    text = speeds.text();
  }
  EXPECT_GT(last, 0.95);
}

TEST(KnownSpeeds, ofAnotherMachineAreKeptButNotUsed) {
  KnownSpeeds there = empty("there");
  know(there, "k", {"64", {}}, 64, 1e-6, 2e-6);
  KnownSpeeds here = empty("here");
  here.read(there.text());
  EXPECT_EQ(here.prior("k", {"64", {}}, 64).from, From::Nothing);
  KnownSpeeds again = empty("there");
  again.read(here.text());
  EXPECT_EQ(again.prior("k", {"64", {}}, 64).from, From::SameLaunch);
}

TEST(KnownSpeeds, keepWhichLocalSizesWereTried) {
  ShapeSearch::Known known;
  known.best = {{4, 64, 1}};
  known.readings = {{{}, 4e-11}, {{{4, 64, 1}}, 1e-11}};
  known.credit = -0.5;
  known.lastLoss = 0.25;
  KnownSpeeds before = empty();
  know(before, "k", {"64", {}}, 64, 1e-6, 2e-6);
  auto record = before.record("k", {"64", {}}, 64);
  record->shapes[{"", false, true, 2}] = known;
  known.isOver = true;
  record->shapes[{"", true, false, 2}] = known;
  record->nativeSeconds = 1;
  KnownSpeeds after = empty();
  after.read(before.text());
  EXPECT_EQ(after.record("k", {"64", {}}, 64)->shapes, record->shapes);
  EXPECT_NEAR(after.gain("k"), 1 - 32e-6, 1e-12) << "natively by split";
}

TEST(KnownSpeeds, followWherePiecesGetFaster) {
  SpeedRecord record;
  record.secondsPerItem = {4, 8, 16};
  record.homeSeconds = 4;
  record.splitSeconds = 2;
  const std::size_t those[] = {0, 1};
  record.changePieces(those, 0.25);
  EXPECT_EQ(record.secondsPerItem, (std::vector<double>{1, 2, 16}));
  EXPECT_EQ(record.gain(), 3.5);
}

TEST(KnownSpeeds, surviveEveryDamage) {
  KnownSpeeds before = empty();
  for (int i = 0; i < 5; ++i)
    know(before, "k", {"64", {i}}, 64, 1e-6, 2e-6);
  const std::string text = before.text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    KnownSpeeds after = empty();
    after.read(damaged);
    EXPECT_EQ(after.prior("k", {"64", {0}}, 64).from, From::Nothing) << at;
    after.read(text.substr(0, at));
    EXPECT_EQ(after.prior("k", {"64", {0}}, 64).from, From::Nothing) << at;
  }
}

TEST(KnownSpeeds, areBoundedAndForgetTheLongestUnused) {
  KnownSpeeds speeds = empty();
  for (int i = 0; i < 1500; ++i)
    know(speeds, "k" + std::to_string(i / 10), {"64", {i}}, 64, 1e-6, 2e-6);
  KnownSpeeds after = empty();
  after.read(speeds.text());
  EXPECT_EQ(after.prior("k149", {"64", {1499}}, 64).from, From::SameLaunch);
  EXPECT_EQ(after.prior("k0", {"64", {0}}, 64).from, From::OtherKernels);
}

} // namespace
} // namespace libsplit::runtime
