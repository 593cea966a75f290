#include "runtime/core/forks.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace libsplit::runtime {
namespace {

void registerHandlers() {
  static const int registered = ::pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  ASSERT_EQ(registered, 0);
}

/// A thread that does `work` over and over while this lives.
class Busy {
public:
  explicit Busy(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!over_)
            work();
        }) {}
  ~Busy() {
    over_ = true;
    thread_.join();
  }

private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// What `answers` says in a child of a fork.
bool inChild(const std::function<bool()>& answers) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(answers() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Forks, NoChildInheritsALockOfWorkUnderWay) {
  registerHandlers();
  std::mutex driver;
  const Busy busy([&] {
    const Unforked work;
    const Unforked nested;
    const std::lock_guard lock(driver);
    ::usleep(100);
  });
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(inChild([&] { return driver.try_lock(); })) << "fork " << i;
}

TEST(Forks, GoOnWhileOneOnlyWaits) {
  registerHandlers();
  std::mutex driver;
  std::atomic<bool> isWaiting = false, mayEnd = false;
  std::thread waiter([&] {
    const Unforked work;
    const std::lock_guard lock(driver);
    const Forkable waiting;
    isWaiting = true;
    while (!mayEnd)
      std::this_thread::yield();
  });
  while (!isWaiting)
    std::this_thread::yield();
  // That the child finds the lock held shows that nobody waited for the end of the work.
  EXPECT_FALSE(inChild([&] { return driver.try_lock(); }));
  mayEnd = true;
  waiter.join();
}

TEST(Forks, WorkGoesOnInParentAndChild) {
  registerHandlers();
  const Unforked own; // forks in a callback of its own
  EXPECT_TRUE(inChild([] {
    const Unforked work;
    return inChild([] { return true; });
  }));
  std::thread([] { const Unforked work; }).join();
}

} // namespace
} // namespace libsplit::runtime
