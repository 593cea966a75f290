#include "runtime/cost/launch_ends.h"

#include <gtest/gtest.h>

#include <limits>

namespace libsplit::runtime {
namespace {

/// Launches of one queue on two devices, whose clocks are ahead of the host's by so much.
class Queue {
public:
  double clocks[2] = {1000, -50};

  /// It was called and ended at these times of the host, on devices 0 and 1, and was noticed then.
  std::optional<double> took(double called, double end0, double end1, double noticed,
                             bool isSeen = true) {
    ++number_;
    const LaunchEnds::End each[] = {{0, end0 + clocks[0]}, {1, end1 + clocks[1]}};
    return ends_.took({number_, number_ + tasks_, called, noticed, isSeen, each});
  }
  void launchNatively() { ++number_; }
  void doSomethingElse() { ++tasks_; }

private:
  LaunchEnds ends_;
  std::uint64_t number_ = 0, tasks_ = 0;
};

constexpr double accuracy = 1e-9;

TEST(LaunchEnds, TellsWhatEachTookOfThoseThatAreNoticedTogether) {
  Queue queue;
  queue.took(0, 0.1, 0.1, 0.1);
  EXPECT_NEAR(*queue.took(0.1, 0.3, 0.29, 1), 0.2, accuracy);
  EXPECT_NEAR(*queue.took(0.11, 0.48, 0.49, 1), 0.19, accuracy);
  EXPECT_NEAR(*queue.took(0.8, 0.99, 0.98, 1), 0.19, accuracy) << "the queue was empty before";
}

TEST(LaunchEnds, OneThatStartsBehindAnotherLastsFromItsEnd) {
  Queue queue;
  queue.took(0, 0.1, 0.1, 0.1);
  EXPECT_NEAR(*queue.took(0.1, 0.2, 0.5, 0.5), 0.4, accuracy);
  EXPECT_NEAR(*queue.took(0.1, 0.6, 0.3, 0.6), 0.1, accuracy);
}

TEST(LaunchEnds, SomebodyMustHaveSeenDevicesEnd) {
  Queue queue;
  EXPECT_FALSE(queue.took(0, 0.1, 0.1, 5, false));
  EXPECT_FALSE(queue.took(0.1, 0.2, 0.2, 5, false));
  queue.took(0.2, 0.3, 0.3, 0.3);
  EXPECT_NEAR(*queue.took(0.3, 0.5, 0.5, 5, false), 0.2, accuracy);
}

TEST(LaunchEnds, WhoSeesAnEndLateDoesNotCount) {
  Queue queue;
  queue.took(0, 0.1, 0.1, 0.1);
  queue.took(0.1, 0.2, 0.2, 0.9);
  EXPECT_NEAR(*queue.took(0.9, 1.1, 1.1, 1.9), 0.2, accuracy);
}

TEST(LaunchEnds, WhatElseTheQueueDidIsNotTheLaunchs) {
  Queue queue;
  queue.took(0, 0.1, 0.1, 0.1);
  queue.launchNatively();
  EXPECT_FALSE(queue.took(0.2, 0.4, 0.4, 0.4));
  queue.doSomethingElse();
  EXPECT_FALSE(queue.took(0.4, 0.6, 0.6, 0.6));
  EXPECT_TRUE(queue.took(0.6, 0.8, 0.8, 0.8));
}

TEST(LaunchEnds, AClockThatTellsNonsenseDoesNotGetFar) {
  for (const double nonsense : {0.0, -1e9, 1e9, std::numeric_limits<double>::infinity()}) {
    Queue queue;
    queue.took(0, 0.1, 0.1, 0.1);
    queue.clocks[1] = nonsense;
    for (double time = 1; time < 4; ++time)
      if (const auto took = queue.took(time, time + 0.3, time + 0.2, time + 0.3)) {
        EXPECT_GE(*took, 0);
        EXPECT_LE(*took, 0.3 + accuracy);
      }
  }
}

} // namespace
} // namespace libsplit::runtime
