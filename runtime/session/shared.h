// What the session's parts have in common.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/core/forks.h"
#include "runtime/core/options.h"
#include "runtime/core/program_wait.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/cost/moving_rate.h"
#include "runtime/cost/split_cost.h"
#include "runtime/device/machine.h"
#include "runtime/session/stats.h"
#include "runtime/session/tracer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace libsplit::runtime {

/// The session's lock, held. Each thread knows whether it has it.
class Lock : public std::unique_lock<std::mutex> {
public:
  explicit Lock(std::mutex& mutex) : std::unique_lock<std::mutex>(mutex) { isHeld = true; }
  Lock(std::mutex& mutex, std::defer_lock_t deferred)
      : std::unique_lock<std::mutex>(mutex, deferred) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (owns_lock())
      isHeld = false;
  }

  void lock() {
    std::unique_lock<std::mutex>::lock();
    isHeld = true;
  }
  bool try_lock() { return isHeld = std::unique_lock<std::mutex>::try_lock(); }
  void unlock() {
    isHeld = false;
    std::unique_lock<std::mutex>::unlock();
  }

  static bool isHeldHere() { return isHeld; }

private:
  /// Also while it waits to be notified. In the threads' static block, as CallbackScope's.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local bool isHeld = false;
};

/// What it holds goes without the lock, which it lets go of meanwhile: it may be the last to hold
/// what the program gave up, of whose end drivers tell the program. Held or not, the lock is as
/// before afterwards.
template <class Held> class GoesUnlocked {
public:
  GoesUnlocked(Lock& lock, Held held) : lock_(lock), held_(std::move(held)) {}
  GoesUnlocked(const GoesUnlocked&) = delete;
  GoesUnlocked& operator=(const GoesUnlocked&) = delete;
  ~GoesUnlocked() {
    const bool isLocked = lock_.owns_lock();
    if (isLocked)
      lock_.unlock();
    {
      const Unforked work; // drivers', mostly
      held_.reset();
    }
    if (isLocked)
      lock_.lock();
  }
  Held& operator*() { return *held_; }
  const Held& operator*() const { return *held_; }
  Held* operator->() { return &*held_; }

private:
  Lock& lock_;
  std::optional<Held> held_;
};

/// While it lives the lock is not held; it is again afterwards, however that comes.
class Unlocked {
public:
  explicit Unlocked(Lock& lock) : lock_(lock) { lock_.unlock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { lock_.lock(); }

private:
  Lock& lock_;
};

/// Waits for them without the lock. The worst status.
inline cl_int awaitUnlocked(Lock& lock, std::span<const CompletionPtr> pending) {
  const Unlocked unlocked(lock);
  cl_int status = CL_SUCCESS;
  for (const CompletionPtr& each : pending)
    status = std::min(status, each->wait());
  return status;
}

/// Under `mutex`, but for what never changes and what is atomic. Outlives the parts.
struct Shared {
  explicit Shared(const Dispatch& table, Options with = {}) : cl(table), options(std::move(with)) {}

  /// False once libsplit has stepped aside for good: everything is native then.
  bool isActive() const { return active.load(std::memory_order_acquire); }
  /// Nothing is pending and every byte is at home alone, so any command may go to the driver as it
  /// is. That is how a program runs that can't be split: this is all that most of its calls cost.
  /// Asked by a call that is in the table of calls: it stays so until that one is over.
  bool isQuiet() const { return engagements == 0; }
  /// None until there is a machine.
  std::span<const Device> devices() const {
    return machine ? std::span<const Device>(machine->devices()) : std::span<const Device>();
  }

  /// Launches that take less at home are not worth splitting. Under `mutex`.
  double shortestLaunch(bool isWaitedFor) const {
    return options.minLaunchSeconds.value_or(isWaitedFor ? splitCost.shortestLaunch()
                                                         : splitCost.shortestBehind());
  }
  /// … whether the program waits for them or not.
  double shortestLaunch() const { return std::min(shortestLaunch(true), shortestLaunch(false)); }

  const Dispatch& cl;
  const Options options;
  std::atomic<bool> active{true};
  std::atomic<std::size_t> engagements{0}; ///< unfinished tasks and engaged buffers
  std::atomic<bool> userEvents{false};     ///< the program has made some
  std::atomic<int> unsetUserEvents{0};     ///< and set so many less
  std::atomic<bool> callbacks{false};      ///< the driver is to call functions of the program's
  /// Times that the program waited for commands: what it launches after that has none before it.
  std::atomic<std::uint64_t> waits{0};
  std::atomic<bool> ending{false}; ///< the process is about to end
  /// Steps aside for good; the text is for the log. Without the lock.
  std::function<void(const std::string&)> stepAside;
  /// Told when all was quiet and no longer is, other than by a task. With the lock.
  std::function<void()> beginBook;
  /// Told when no task is unfinished any more, and the last one's queue is gone if it goes. With
  /// the lock, which it may give up.
  std::function<void(Lock&)> allRetired;

  std::mutex mutex;                 ///< the session's lock
  std::condition_variable progress; ///< a task retired, a kernel got ready
  bool steppingAside = false;       ///< nothing is split any more; inactive once all is at home
  cl_device_id home = nullptr;      ///< the device of the program's first queue
  std::unique_ptr<Machine> machine; ///< null until the first kernel is made ready; then it stays
  std::unique_ptr<KnownSpeeds> knownSpeeds; ///< made with the machine
  Stats stats;
  Tracer tracer;
  MovingRate moving;
  SplitCost splitCost;
  bool mayHaveLost = false; ///< a device that failed may have had sole copies
};

} // namespace libsplit::runtime
