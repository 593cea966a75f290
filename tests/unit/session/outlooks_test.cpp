#include "runtime/session/outlooks.h"

#include "tests/unit/session/kernel_world.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace libsplit::runtime {
namespace {

constexpr std::array<std::uint64_t, 1> cycle{7};

/// Launches of one kernel over and over, which take 10 ms at home.
struct Repeating : KernelWorld {
  LaunchHistory history;
  Outlooks outlooks{shared};

  Repeating() : KernelWorld(waiting()) {
    kernel.code->decidingScalars = {false, true};
    ShareController::Setup setup;
    setup.speeds = {1, 1};
    history.controller = std::make_unique<ShareController>(setup);
    history.controller->observeHome(10e-3);
  }
  static Options waiting() {
    Options options;
    options.waitAnalysis = true; // what may be found out is found out at once
    return options;
  }
  void launch(cl_int n) {
    set(1, &n, sizeof n);
    outlooks.note(cycle[0], *snapshot(cl, samplers, kernel, arguments), history);
  }
  bool isKnown() { return outlooks.find(cycle) != nullptr; }
};

/// … each with another argument; four have passed.
struct Drifting : Repeating {
  Drifting() {
    while (n_ < 4)
      launchNext();
  }
  void launchNext() { launch(n_++); }

private:
  cl_int n_ = 0;
};

TEST(Outlooks, KnowACycleThatRepeats) {
  Repeating world;
  for (int round = 0; round < 4; ++round)
    world.launch(0);
  EXPECT_TRUE(world.isKnown());
}

TEST(Outlooks, LookAtTwoRoundsOfLaunchesThatDrift) {
  Drifting world;
  EXPECT_FALSE(world.isKnown()); // which round is remembered of each nobody knows
  world.launchNext();
  EXPECT_FALSE(world.isKnown());
  world.launchNext();
  EXPECT_TRUE(world.isKnown());
  world.launchNext();
  EXPECT_TRUE(world.isKnown());
}

TEST(Outlooks, DoNotTakeRoundsForOneAnotherWhereALaunchWasNotLookedAt) {
  Drifting world;
  EXPECT_FALSE(world.isKnown());
  world.launchNext();
  EXPECT_EQ(world.outlooks.noteNative(world.kernel, world.arguments), cycle[0]);
  world.launchNext();
  EXPECT_FALSE(world.isKnown());
  world.launchNext();
  world.launchNext();
  EXPECT_TRUE(world.isKnown());
}

} // namespace
} // namespace libsplit::runtime
