#include "runtime/core/thread_team.h"

#include "runtime/core/thread.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

namespace libsplit::runtime {

namespace {

/// What one caller has to do.
struct Round {
  const std::function<void(unsigned)>* work;
  unsigned next, most; ///< calls that were begun, and that may be
  unsigned running = 0;
};

} // namespace

struct ThreadTeam::State {
  std::mutex mutex;
  std::condition_variable wanted; ///< there is a round, or the team is gone
  std::condition_variable over;   ///< a call returned
  std::deque<Round*> rounds;      ///< that want more threads
  unsigned threads = 0, idle = 0;
  bool closed = false;
};

ThreadTeam::ThreadTeam(unsigned size)
    : size_(std::max(size, 1U)), state_(std::make_shared<State>()) {}

ThreadTeam::~ThreadTeam() {
  std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->wanted.notify_all();
}

void ThreadTeam::run(unsigned most, const std::function<void(unsigned)>& work) {
  Round round{&work, 1, std::min(most, size_)};
  std::unique_lock lock(state_->mutex);
  if (round.next < round.most) {
    state_->rounds.push_back(&round);
    const unsigned wanted = round.most - 1;
    for (unsigned i = state_->idle; i < wanted && state_->threads + 1 < size_; ++i)
      try {
        startThread([state = state_] { loop(*state); }).detach();
        ++state_->threads;
      } catch (const std::exception&) {
        break; // those that there are will do
      }
    state_->wanted.notify_all();
  }
  lock.unlock();
  work(0);
  lock.lock();
  std::erase(state_->rounds, &round);
  state_->over.wait(lock, [&] { return round.running == 0; });
}

void ThreadTeam::loop(State& state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    ++state.idle;
    state.wanted.wait_for(lock, idleTime, [&] { return state.closed || !state.rounds.empty(); });
    --state.idle;
    if (state.rounds.empty()) {
      --state.threads;
      return;
    }
    Round& round = *state.rounds.front();
    const unsigned index = round.next++;
    if (round.next == round.most)
      state.rounds.pop_front();
    ++round.running;
    lock.unlock();
    (*round.work)(index);
    lock.lock();
    --round.running;
    state.over.notify_all();
  }
}

} // namespace libsplit::runtime
