#include "runtime/core/child_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace libsplit::runtime {
namespace {

TEST(ChildProcess, PassesTextThrough) {
  std::string text(300'000, 'x');
  ChildResult result = runChild({"/bin/cat"}, text, 20);
  EXPECT_TRUE(result.succeeded) << result.failure;
  EXPECT_EQ(result.output, text);
}

TEST(ChildProcess, TellsAnExitStatusFromACrash) {
  EXPECT_EQ(runChild({"/bin/sh", "-c", "exit 3"}, "", 20).failure, "failed (exit status 3)");
  EXPECT_EQ(runChild({"/bin/sh", "-c", "kill -SEGV $$"}, "", 20).failure, "crashed (signal 11)");
}

TEST(ChildProcess, SurvivesAChildThatDoesNotRead) {
  ChildResult result = runChild({"/bin/true"}, std::string(1 << 22, 'x'), 20);
  EXPECT_TRUE(result.succeeded) << result.failure;
}

TEST(ChildProcess, GivesUpOnAChildThatHangs) {
  ChildResult result = runChild({"/bin/sleep", "100"}, "", 0.2);
  EXPECT_FALSE(result.succeeded);
  EXPECT_EQ(result.failure, "gave no answer in 0.2 s");
  result = runChild({"/bin/sleep", "100"}, std::string(1 << 22, 'x'), 0.2); // more than it reads
  EXPECT_EQ(result.failure, "gave no answer in 0.2 s");
}

double childrensSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(ChildProcess, DoesNotGiveUpOnAChildThatOthersKeepWaiting) {
  const std::string loop = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  int processor = 0; // the first that this process may use
  while (!CPU_ISSET(processor, &all))
    ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  const std::vector<std::string> command = {"/usr/bin/taskset", "-c", std::to_string(processor),
                                            "/bin/sh",          "-c", loop};
  const double before = childrensSeconds();
  ASSERT_TRUE(runChild(command, "", 60).succeeded);
  const double needed = childrensSeconds() - before;
  // Five others on the same processor: it takes about six times as long.
  std::vector<pid_t> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(::fork());
    if (others.back() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::sched_setaffinity(0, sizeof one, &one);
      for (volatile bool goesOn = true; goesOn;) {
      }
    }
  }
  const ChildResult result = runChild(command, "", 2 * needed);
  for (const pid_t other : others) {
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  EXPECT_TRUE(result.succeeded) << result.failure;
}

TEST(ChildProcess, GivesUpOnAChildThatWorksForTooLong) {
  const ChildResult result = runChild({"/bin/sh", "-c", "while :; do :; done"}, "", 0.2);
  EXPECT_EQ(result.failure, "gave no answer in 0.2 s");
}

TEST(ChildProcess, SaysThatAProgramIsMissing) {
  ChildResult result = runChild({"/nonexistent/program"}, "", 1);
  EXPECT_FALSE(result.succeeded);
  EXPECT_NE(result.failure.find("could not be started"), std::string::npos);
}

TEST(ChildProcess, HidesTheLayerFromTheChild) {
  ::setenv("OPENCL_LAYERS", "/x/libsplit.so", 1);
  ::setenv("LIBSPLIT_TEST_VARIABLE", "1", 1);
  ChildResult result = runChild({"/usr/bin/env"}, "", 20);
  EXPECT_EQ(result.output.find("OPENCL_LAYERS"), std::string::npos);
  EXPECT_EQ(result.output.find("LIBSPLIT_"), std::string::npos);
  EXPECT_NE(result.output.find("PATH="), std::string::npos);
  ::unsetenv("OPENCL_LAYERS");
  ::unsetenv("LIBSPLIT_TEST_VARIABLE");
}

TEST(ChildProcess, KeepsNoFileOfTheProgramsOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0); // inherited by who is not told otherwise
  const ChildResult result = runChild({"/bin/ls", "/proc/self/fd"}, "", 20);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(result.output, "0\n1\n2\n3\n"); // the last one is the folder that it lists
}

/// Programs that become daemons close all files, whosever they are.
TEST(ChildProcess, IsNotBusyWhereTheProgramClosesItsSocket) {
  const auto isSocket = [](int fd) {
    std::error_code error;
    const auto is = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
    return is.string().starts_with("socket:");
  };
  std::vector<int> before;
  constexpr int most = 64;
  for (int fd = 3; fd < most; ++fd)
    if (isSocket(fd))
      before.push_back(fd);
  double used = 0;
  std::thread other([&] {
    const auto seconds = [] {
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const double begin = seconds();
    EXPECT_TRUE(runChild({"/bin/sleep", "1"}, "", 20).succeeded);
    used = seconds() - begin;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (int fd = 3; fd < most; ++fd)
    if (isSocket(fd) && std::ranges::find(before, fd) == before.end())
      ::syscall(SYS_close, fd); // behind ThreadSanitizer's back: another thread uses it
  other.join();
  EXPECT_LT(used, 0.3);
}

TEST(ChildProcess, IsNoneOfTheProgramsIfThatIsWanted) {
  static std::atomic<int> told = 0;
  struct sigaction before{};
  struct sigaction counts{};
  counts.sa_handler = [](int) { ++told; };
  ::sigaction(SIGCHLD, &counts, &before);
  std::atomic<bool> cancelled = false;
  ChildResult result, other;
  std::thread runs(
      [&] { result = runChild({"/bin/cat"}, "text", 20, nullptr, {}, Parent::Nobody); });
  std::thread waits([&] {
    const std::string untilClosed = "while echo; do sleep 0.01; done";
    other = runChild({"/bin/sh", "-c", untilClosed}, "", 20, &cancelled, {}, Parent::Nobody);
  });
  runs.join();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, WNOHANG), -1) << "there is none";
  cancelled = true;
  waits.join();
  ::sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(told, 0);
  EXPECT_TRUE(result.succeeded) << result.failure;
  EXPECT_EQ(result.output, "text");
  EXPECT_FALSE(other.succeeded);
  EXPECT_FALSE(runChild({"/nonexistent/program"}, "", 1, nullptr, {}, Parent::Nobody).succeeded);
}

TEST(ChildProcess, TellsWhatAChildSpentThatWasKilled) {
  const std::atomic<bool> cancelled = true;
  EXPECT_LT(runChild({"/bin/sleep", "100"}, "", 20, &cancelled).spent, 1);
  EXPECT_GE(runChild({"/bin/sleep", "100"}, "", 0.2).spent, 0.2);
}

} // namespace
} // namespace libsplit::runtime
