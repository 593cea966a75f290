// Keeps a program from being built while another thread makes a kernel of it, and the other way
// round. Natively it is for the program to see to that, and drivers may crash where it does not
// (PoCL reads names of kernels that a build is about to free). But a build that waits until
// libsplit's own kernels are gone begins later than natively: who was lucky natively would not be
// any more. So such builds take turns with whoever makes kernels; others are as they are natively.
#pragma once

#include "runtime/core/callback_scope.h"
#include "runtime/core/opencl.h"
#include "runtime/core/thread.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace libsplit {

/// Any thread. Nobody waits for long, nor for himself, nor in a callback: a build may call the
/// program back.
class ProgramTurns {
public:
  enum class Act { Build, MakeKernels };

  /// While it lives the calling thread does that with the program. Of no `turns` none is needed.
  class Turn {
  public:
    Turn(ProgramTurns* turns, cl_program program, Act act)
        : turns_(turns), program_(program), act_(act) {
      if (turns_)
        turns_->enter(*this);
    }
    ~Turn() {
      if (turns_)
        turns_->leave(*this);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    friend class ProgramTurns;
    ProgramTurns* const turns_;
    const cl_program program_;
    const Act act_;
    const std::thread::id thread_ = std::this_thread::get_id();
    Turn* next_ = nullptr; ///< of those that there are
  };

private:
  void enter(Turn& own) {
    constexpr std::chrono::seconds patience(1);
    const runtime::Uncancelled whole;
    std::unique_lock lock(mutex_);
    if (!runtime::CallbackScope::active())
      changed_.wait_for(lock, patience, [&] { return isTurnOf(own); });
    own.next_ = first_;
    first_ = &own;
  }

  void leave(const Turn& own) {
    const std::lock_guard lock(mutex_);
    Turn** at = &first_;
    while (*at != &own)
      at = &(*at)->next_;
    *at = own.next_;
    changed_.notify_all();
  }

  /// Whether nobody does anything else with its program, or its own thread does something.
  bool isTurnOf(const Turn& own) const {
    bool isFree = true;
    for (const Turn* each = first_; each; each = each->next_) {
      if (each->program_ == own.program_ && each->thread_ == own.thread_)
        return true;
      isFree = isFree && (each->program_ != own.program_ || each->act_ == own.act_);
    }
    return isFree;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Turn* first_ = nullptr;
};

} // namespace libsplit
