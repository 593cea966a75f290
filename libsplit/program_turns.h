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
  /// While it lives the calling thread builds the program. Of no `turns` none is needed.
  class Building {
  public:
    Building(ProgramTurns* turns, cl_program program) : turns_(turns), program_(program) {
      if (turns_)
        turns_->enter(
            program_, [](const Turn& turn) { return turn.makers.empty(); }, &Turn::builders);
    }
    ~Building() {
      if (turns_)
        turns_->leave(program_, &Turn::builders);
    }
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

  private:
    ProgramTurns* const turns_;
    const cl_program program_;
  };
  /// … makes kernels of it.
  class Making {
  public:
    Making(ProgramTurns* turns, cl_program program) : turns_(turns), program_(program) {
      const auto mayEnter = [](const Turn& turn) {
        return turn.builders.empty() ||
               std::ranges::count(turn.builders, std::this_thread::get_id()) > 0;
      };
      if (turns_)
        turns_->enter(program_, mayEnter, &Turn::makers);
    }
    ~Making() {
      if (turns_)
        turns_->leave(program_, &Turn::makers);
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

  private:
    ProgramTurns* const turns_;
    const cl_program program_;
  };

private:
  using Threads = std::vector<std::thread::id>;
  struct Turn {
    Threads builders, makers;
  };

  template <class MayEnter>
  void enter(cl_program program, const MayEnter& mayEnter, Threads Turn::* as) {
    constexpr std::chrono::seconds patience(1);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] {
      const auto turn = turns_.find(program);
      return turn == turns_.end() || mayEnter(turn->second);
    });
    (turns_[program].*as).push_back(std::this_thread::get_id());
  }

  void leave(cl_program program, Threads Turn::* as) {
    const std::lock_guard lock(mutex_);
    const auto turn = turns_.find(program);
    Threads& threads = turn->second.*as;
    threads.erase(std::ranges::find(threads, std::this_thread::get_id()));
    if (turn->second.builders.empty() && turn->second.makers.empty())
      turns_.erase(turn);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<cl_program, Turn> turns_;
};

} // namespace libsplit
