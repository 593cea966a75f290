#include "runtime/core/thread.h"

#include <csignal>
#include <utility>

namespace libsplit::runtime {

std::thread startThread(std::function<void()> body) {
  sigset_t blocked;
  sigfillset(&blocked);
  // What an instruction raises, its own thread must handle: PoCL lets kernels divide by zero so,
  // and a signal that is blocked when it is raised ends the process.
  for (int raised : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&blocked, raised);
  // The caller gets its own back, also where there is no thread.
  const struct Masked {
    explicit Masked(const sigset_t& now) { pthread_sigmask(SIG_SETMASK, &now, &before); }
    ~Masked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  } masked(blocked);
  return std::thread(std::move(body));
}

} // namespace libsplit::runtime
