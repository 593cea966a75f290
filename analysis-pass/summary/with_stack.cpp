#include "analysis-pass/summary/with_stack.h"

#include <csignal>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>

#include <pthread.h>

namespace libsplit {

namespace {

/// Where the calling thread's stack lies, as its system made it.
struct Bounds {
  std::uintptr_t low = 0, high = 0;
};

/// It takes the system a while to tell, of a process's first thread above all. Where it can't (that
/// one is read about in /proc), it is taken to have made enough.
Bounds boundsOfThread() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Bounds bounds;
  if (bounds.high != 0)
    return bounds;
  bounds.high = std::numeric_limits<std::uintptr_t>::max();
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
      bounds.low = reinterpret_cast<std::uintptr_t>(low);
      bounds.high = bounds.low + size;
    }
    pthread_attr_destroy(&attributes);
  }
  return bounds;
}

/// On a stack that somebody else made nobody knows.
bool hasLeft(std::size_t needed) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const Bounds bounds = boundsOfThread();
  return bounds.low <= here && here < bounds.high && here - bounds.low >= needed;
}

struct Job {
  void (*run)(void*);
  void* of;
  std::exception_ptr thrown{};

  static void* carryOut(void* self) {
    Job& job = *static_cast<Job*>(self);
    try {
      job.run(job.of);
    } catch (...) {
      job.thrown = std::current_exception();
    }
    return nullptr;
  }
};

/// One with so much stack, and all signals blocked but those that it raises itself: one that is
/// blocked then ends the process, and programs may have reasons to handle it, of which their memory
/// being read is one. False: there is none to be had.
bool start(pthread_t& thread, std::size_t stack, Job& job) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, stack);
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int raised : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&blocked, raised);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  const bool isStarted = pthread_create(&thread, &attributes, Job::carryOut, &job) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return isStarted;
}

} // namespace

void withStack(std::size_t needed, void (*run)(void* of), void* of) {
  if (hasLeft(needed))
    return run(of);
  constexpr std::size_t rest = std::size_t{256} << 10; // of a thread, for what is beneath
  Job job{run, of};
  pthread_t thread;
  if (!start(thread, needed + rest, job))
    throw std::bad_alloc();
  pthread_join(thread, nullptr);
  if (job.thrown)
    std::rethrow_exception(job.thrown);
}

} // namespace libsplit
