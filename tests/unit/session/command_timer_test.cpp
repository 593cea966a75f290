#include "runtime/session/command_timer.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

namespace libsplit::runtime {
namespace {

/// Commands that are over when the test says so.
struct TimerWorld : World {
  CommandTimer timer{cl};

  Ref<cl_event> command() const {
    return Ref<cl_event>::adopt(cl, cl.clCreateUserEvent(context.get(), nullptr));
  }
  void end(const Ref<cl_event>& command, cl_int status = CL_COMPLETE) const {
    cl.clSetUserEventStatus(command.get(), status);
  }
  /// What it takes, once that is known.
  std::future<double> time(const Ref<cl_event>& command) {
    auto promise = std::make_shared<std::promise<double>>();
    timer.time(command, CommandTimer::Clock::now(),
               [promise](cl_event, double seconds) { promise->set_value(seconds); });
    return promise->get_future();
  }
};

bool isKnown(const std::future<double>& time) {
  return time.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

TEST(CommandTimer, TellsWhatACommandTakes) {
  TimerWorld world;
  for (int i = 0; i < 3; ++i) {
    const auto command = world.command();
    auto time = world.time(command);
    EXPECT_FALSE(isKnown(time));
    world.end(command);
    EXPECT_GT(time.get(), 0);
  }
}

TEST(CommandTimer, GivesThoseTheSameThatItFindsOverTogether) {
  TimerWorld world;
  const auto first = world.command(), second = world.command(), third = world.command();
  // The timer is busy until all are over.
  std::promise<void> isBusy, isEnded;
  world.timer.time(first, CommandTimer::Clock::now(), [&isBusy, &isEnded](cl_event, double) {
    isBusy.set_value();
    isEnded.get_future().wait();
  });
  world.end(first);
  isBusy.get_future().wait();
  auto timeOfSecond = world.time(second), timeOfThird = world.time(third);
  world.end(second);
  world.end(third);
  isEnded.set_value();
  const double seconds = timeOfThird.get();
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(timeOfSecond.get(), seconds) << "the second would seem to take all, and this nothing";
}

TEST(CommandTimer, SaysNothingOfWhatFails) {
  TimerWorld world;
  const auto failing = world.command(), next = world.command();
  auto timeOfFailing = world.time(failing), timeOfNext = world.time(next);
  world.end(failing, -1);
  world.end(next);
  EXPECT_GT(timeOfNext.get(), 0);
  EXPECT_THROW(timeOfFailing.get(), std::future_error) << "it was forgotten";
}

TEST(CommandTimer, StopsThoughACommandNeverEnds) {
  TimerWorld world;
  const auto endless = world.command();
  auto time = world.time(endless);
  world.timer.stop();
  EXPECT_THROW(time.get(), std::future_error);
  world.end(endless);
}

} // namespace
} // namespace libsplit::runtime
