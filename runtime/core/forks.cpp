#include "runtime/core/forks.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace libsplit::runtime {

namespace {

constexpr auto longestDelay = std::chrono::seconds(1);
constexpr auto betweenLooks = std::chrono::microseconds(50);

/// The process's, as forks are. In a child they begin anew.
std::atomic<unsigned> atWork = 0;
std::atomic<unsigned> forking = 0;

// Static: see callback_scope.cpp.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned depth = 0;

void enter() {
  while (true) {
    ++atWork;
    const unsigned forks = forking;
    if (forks == 0)
      return;
    --atWork;
    forking.wait(forks);
  }
}

void leave() {
  --atWork;
}

} // namespace

Unforked::Unforked() {
  if (depth++ == 0)
    enter();
}

Unforked::~Unforked() {
  if (--depth == 0)
    leave();
}

Forkable::Forkable() : depth_(std::exchange(depth, 0)) {
  if (depth_ > 0)
    leave();
}

Forkable::~Forkable() {
  if (depth_ > 0)
    enter();
  depth = depth_;
}

void beforeFork() {
  ++forking;
  const auto end = std::chrono::steady_clock::now() + longestDelay;
  // One that forks in a callback may be on a thread at such work.
  const unsigned own = depth > 0 ? 1 : 0;
  while (atWork > own && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(betweenLooks);
}

void afterForkInParent() {
  --forking;
  forking.notify_all();
}

void afterForkInChild() {
  forking = 0;
  atWork = depth > 0 ? 1 : 0;
}

} // namespace libsplit::runtime
