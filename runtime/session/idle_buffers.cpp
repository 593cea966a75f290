#include "runtime/session/idle_buffers.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"
#include "runtime/cost/splits_of_late.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace libsplit::runtime {

namespace {

/// Launches that nothing came of for libsplit before buffers may go; and the most between two looks
/// that find nothing.
constexpr std::uint64_t firstLook = SplitsOfLate::longestRound;
constexpr std::uint64_t longestPause = std::uint64_t{1} << 14;
/// Part of the time since copies were of use that bringing them back may take.
constexpr double smallPart = 0.01;

} // namespace

void IdleBuffers::look(Lock& lock) noexcept {
  ++launches_;
  if (const std::uint64_t plannings = scheduler_.plannings(); plannings != plannings_) {
    plannings_ = plannings;
    lastOfUse_ = Clock::now();
    pause_ = firstLook;
    due_ = launches_ + pause_;
  }
  if (launches_ < due_ || shared_.isQuiet() || CallbackScope::active())
    return;
  due_ = launches_ + pause_;
  pause_ = std::min(2 * pause_, longestPause);
  try {
    letGo(lock);
  } catch (const std::exception& error) {
    log(LogLevel::Debug, "buffers that are of no use any more stay: ", error.what());
  }
}

/// Whether something may still refer to a buffer's copies, or to what is known of its bytes.
bool IdleBuffers::isAnythingUnderWay() {
  return !scheduler_.isEmpty() || scheduler_.isRecovering() || chunks_.isUnderWay() ||
         pooledLaunches_.isUnderWay() || tracked_.isAnyReserved() || !mover_.isIdle() ||
         // What was admitted and is in no queue yet was decided about knowing of them.
         !scheduler_.calls().await(nullptr, CallTable::Queues::Others).areOver();
}

bool IdleBuffers::isWorthKeeping(const Buffer& buffer, Clock::time_point now) const {
  const std::uint64_t held = buffer.bytesElsewhere(*machine_);
  const double passed = std::chrono::duration<double>(now - lastOfUse_).count();
  return held > 0 && shared_.moving.seconds(held) > smallPart * passed;
}

void IdleBuffers::letGo(Lock& lock) {
  if (!machine_ || !scheduler_.isEmpty())
    return;
  const Uncancelled whole;
  // Destroyed without the lock, and after which nothing is looked at.
  struct Held {
    std::vector<std::shared_ptr<Task>> arrived;
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<std::shared_ptr<const void>> given;
  };
  GoesUnlocked held(lock, Held{});
  held->arrived = mover_.takeArrived();
  if (isAnythingUnderWay())
    return;
  held->buffers = tracked_.buffers();
  held->given.reserve(held->buffers.size());
  const Clock::time_point now = Clock::now();
  for (const std::shared_ptr<Buffer>& buffer : held->buffers)
    if (buffer->mayBeLetGo(*machine_) && !isWorthKeeping(*buffer, now)) {
      held->given.push_back(buffer->letGo());
      tracked_.forget(buffer);
    }
  if (!held->given.empty())
    log(LogLevel::Debug, held->given.size(),
        " buffers are the program's alone again: nothing was split for a while");
}

} // namespace libsplit::runtime
