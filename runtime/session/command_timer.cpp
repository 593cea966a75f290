#include "runtime/session/command_timer.h"

#include "runtime/core/completion.h"
#include "runtime/core/forks.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace libsplit::runtime {

void CommandTimer::time(Ref<cl_event> event, Clock::time_point begin, AtEnd atEnd) {
  ++pending_;
  auto await = [this, timed = Timed{std::move(event), begin, std::move(atEnd)}]() mutable {
    follow(std::move(timed));
  };
  if (!worker_.post(std::move(await)))
    --pending_;
}

void CommandTimer::stop() {
  stopped_ = true;
  worker_.stop(1);
}

void CommandTimer::follow(Timed timed) {
  const std::optional<bool> wasSeen = sees(timed.event.get());
  const bool isLast = --pending_ == 0;
  if (!wasSeen) {
    together_.clear();
    return;
  }
  together_.push_back(std::move(timed));
  if (!*wasSeen && !isLast)
    return;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> passed = now - std::max(together_.front().begin, lastEnd_);
  lastEnd_ = now;
  const std::vector<Timed> ended = std::exchange(together_, {});
  for (const Timed& each : ended)
    each.atEnd(each.event.get(), passed.count() / static_cast<double>(ended.size()));
}

/// Waits until the command is over: whether it was seen under way. Nothing if it fails.
std::optional<bool> CommandTimer::sees(cl_event event) const {
  using std::chrono::microseconds;
  constexpr Clock::duration leastPause = microseconds(10), mostPause = microseconds(1000);
  constexpr int part = 64; // of the time that has passed, until it is looked at again
  const auto begin = Clock::now();
  for (bool wasSeen = false; !stopped_; wasSeen = true) {
    if (const cl_int status = executionStatus(cl_, event, CL_OUT_OF_RESOURCES);
        status <= CL_COMPLETE)
      return status == CL_COMPLETE ? std::optional(wasSeen) : std::nullopt;
    const Clock::duration passed = Clock::now() - begin;
    const Forkable waiting;
    std::this_thread::sleep_for(std::clamp(passed / part, leastPause, mostPause));
  }
  return std::nullopt;
}

} // namespace libsplit::runtime
