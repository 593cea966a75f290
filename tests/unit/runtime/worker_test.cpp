#include "runtime/core/worker.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <future>

#include <sys/resource.h>

namespace libsplit::runtime {
namespace {

/// Lets the system refuse the worker's first thread, which needs address space for its stack.
void postWhereThereIsNoThread() {
  Worker worker;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  const rlimit none{1, limit.rlim_max};
  ::setrlimit(RLIMIT_AS, &none);
  const bool wasRefused = !worker.post([] { std::abort(); }) && !worker.hold();
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  ::setrlimit(RLIMIT_AS, &limit);
  std::promise<void> ran;
  const bool wasTaken = worker.post([&] { ran.set_value(); });
  ran.get_future().wait();
  std::exit(wasRefused && wasTaken && ::sigismember(&blocked, SIGINT) == 0 ? 0 : 1);
}

TEST(Worker, aJobThatFoundNoThreadIsForgottenAndTheNextOneRuns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // stacks of earlier threads would do
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers need address space themselves";
#endif
  EXPECT_EXIT(postWhereThereIsNoThread(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace libsplit::runtime
