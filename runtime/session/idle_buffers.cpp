#include "runtime/session/idle_buffers.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace libsplit::runtime {

namespace {

/// The most launches between two looks that find nothing.
constexpr std::uint64_t longestPause = std::uint64_t{1} << 14;
/// Part of the time since copies were of use that bringing them back may take.
constexpr double smallPart = 0.01;
/// Launches in a row at which something may be in the way.
constexpr unsigned mostObstacles = 16;

} // namespace

void IdleBuffers::look(Lock& lock) noexcept {
  ++launches_;
  if (const std::uint64_t plannings = scheduler_.plannings(); plannings != plannings_) {
    plannings_ = plannings;
    lastOfUse_ = notBefore_ = Clock::now();
    pause_ = std::exchange(round_, SplitsOfLate::usualRound);
    due_ = launches_ + pause_;
    obstacles_ = 0;
  }
  if (launches_ < due_ || shared_.isQuiet() || CallbackScope::active() || Clock::now() < notBefore_)
    return;
  try {
    const Uncancelled whole;
    if (!letGo(lock) && ++obstacles_ < mostObstacles)
      return; // the next launch tries again
  } catch (const std::exception& error) {
    log(LogLevel::Debug, "buffers that are of no use any more stay: ", error.what());
  }
  obstacles_ = 0;
  due_ = launches_ + pause_;
  pause_ = std::min(2 * pause_, longestPause);
}

/// Whether something may still refer to a buffer's copies, or to what is known of its bytes.
bool IdleBuffers::isAnythingUnderWay() {
  return !scheduler_.isEmpty() || scheduler_.isRecovering() || chunks_.isUnderWay() ||
         pooledLaunches_.isUnderWay() || tracked_.isAnyReserved() || !mover_.isIdle() ||
         // What was admitted and is in no queue yet was decided about knowing of them.
         !scheduler_.calls().await(nullptr, CallTable::Queues::Others).areOver();
}

/// False if something is in the way, which need not be so for long.
bool IdleBuffers::letGo(Lock& lock) {
  if (!machine_ || !scheduler_.isEmpty())
    return false;
  struct Held { // destroyed without the lock, buffers last
    std::vector<std::shared_ptr<const void>> given;
    std::vector<std::shared_ptr<Task>> arrived;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };
  GoesUnlocked held(lock, Held{});
  held->arrived = mover_.takeArrived();
  if (isAnythingUnderWay())
    return false;
  held->buffers = tracked_.buffers();
  held->given.reserve(held->buffers.size());
  std::uint64_t elsewhere = 0;
  for (const std::shared_ptr<Buffer>& buffer : held->buffers)
    elsewhere += buffer->pooled() ? 0 : buffer->bytesElsewhere(*machine_);
  const std::chrono::duration<double> back(shared_.moving.seconds(elsewhere) / smallPart);
  notBefore_ = lastOfUse_ + std::chrono::duration_cast<Clock::duration>(back);
  const bool keepsCopies = elsewhere > 0 && Clock::now() < notBefore_;
  for (const std::shared_ptr<Buffer>& buffer : held->buffers)
    if (buffer->mayBeLetGo(*machine_) && !(keepsCopies && buffer->bytesElsewhere(*machine_) > 0))
      held->given.push_back(buffer->letGo());
  tracked_.forgetLetGo(held->buffers);
  if (!held->given.empty())
    log(LogLevel::Debug, held->given.size(),
        " buffers are the program's alone again: nothing was split for a while");
  return !keepsCopies;
}

} // namespace libsplit::runtime
