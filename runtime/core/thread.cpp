#include "runtime/core/thread.h"

#include <csignal>
#include <utility>

#include <pthread.h>

namespace libsplit::runtime {

std::thread startThread(std::function<void()> body) {
  sigset_t blocked, previous;
  sigfillset(&blocked);
  // What an instruction raises, its own thread must handle: PoCL lets kernels divide by zero so,
  // and a signal that is blocked when it is raised ends the process.
  for (int raised : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&blocked, raised);
  pthread_sigmask(SIG_SETMASK, &blocked, &previous);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return thread;
}

} // namespace libsplit::runtime
