// Threads of libsplit's own in a process that is not its own.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include <pthread.h>

namespace libsplit::runtime {

/// How long a thread that has nothing to do waits for more. One that stays would keep a process
/// alive whose own threads have all ended.
inline constexpr auto idleTime = std::chrono::milliseconds(100);

/// A thread with all signals blocked but those that it raises itself, so that the application's
/// handlers run on its own threads. Throws std::system_error if the system has none to give, and
/// std::bad_alloc if it has no memory for one.
std::thread startThread(std::function<void()> body);
/// The same, of a thread that nobody joins. False: there is none to be had, and nothing was done.
template <class Body> [[nodiscard]] bool startDetached(Body&& body) {
  try {
    startThread(std::forward<Body>(body)).detach();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// The calling thread, the program's, can't be cancelled (pthread_cancel) while this lives. What
/// it holds meanwhile others wait for, and waiting in C++ must not be left by unwinding.
class Uncancelled {
public:
  /// Unless `wanted`, it can be as before.
  explicit Uncancelled(bool wanted = true) : wanted_(wanted) {
    if (wanted_)
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
  }
  ~Uncancelled() {
    if (wanted_)
      pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

private:
  bool wanted_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace libsplit::runtime
