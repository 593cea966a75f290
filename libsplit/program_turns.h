// Keeps a program from being built while another thread makes a kernel of it, and the other way
// round. Natively it is for the program to see to that, and drivers may crash where it does not
// (PoCL reads names of kernels that a build is about to free). But a build may begin later here
// than natively, when libsplit's own kernels are gone: who was lucky natively would not be any
// more.
#pragma once

#include "runtime/core/opencl.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace libsplit {

/// Any thread. Nobody waits for long, nor for himself: a build may call the program back.
class ProgramTurns {
public:
  enum class Act { Build, MakeKernels };

  /// While it lives the calling thread does that with the program. Of no `turns` none is needed.
  class Turn {
  public:
    Turn(ProgramTurns* turns, cl_program program, Act act)
        : turns_(turns), program_(program), act_(act) {
      if (turns_)
        turns_->enter(program_, act_);
    }
    ~Turn() {
      if (turns_)
        turns_->leave(program_, act_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    ProgramTurns* const turns_;
    const cl_program program_;
    const Act act_;
  };

private:
  struct Present {
    std::thread::id thread;
    Act act;
    bool operator==(const Present&) const = default;
  };

  void enter(cl_program program, Act act) {
    constexpr std::chrono::seconds patience(1);
    const Present own{std::this_thread::get_id(), act};
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] {
      const auto found = present_.find(program);
      const auto isSame = [&](const Present& each) { return each.act == own.act; };
      return found == present_.end() || std::ranges::all_of(found->second, isSame) ||
             std::ranges::count(found->second, own.thread, &Present::thread) > 0;
    });
    present_[program].push_back(own);
  }

  void leave(cl_program program, Act act) {
    const std::lock_guard lock(mutex_);
    const auto found = present_.find(program);
    std::vector<Present>& all = found->second;
    all.erase(std::ranges::find(all, Present{std::this_thread::get_id(), act}));
    if (all.empty())
      present_.erase(found);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<cl_program, std::vector<Present>> present_;
};

} // namespace libsplit
