#include "runtime/device/lane.h"

#include "runtime/core/worker.h"
#include "tests/unit/runtime/fake_events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <random>
#include <stdexcept>

#include <sched.h>

namespace libsplit::runtime {
namespace {

const Dispatch cl = FakeEvent::dispatch();

CompletionPtr completion() {
  return std::make_shared<Completion>(cl);
}

cl_command_queue queueNumber(std::uintptr_t number) {
  return reinterpret_cast<cl_command_queue>(number);
}

/// An instruction that is over when `body` returns.
Instruction instruction(std::vector<CompletionPtr> after, std::function<cl_int()> body) {
  Instruction made;
  made.after = std::move(after);
  made.run = [body = std::move(body)](WaitList, Completion&, cl_event*) { return body(); };
  made.done = completion();
  return made;
}

TEST(Completion, IsWaitedForBeforeItsCommandExists) {
  const CompletionPtr work = completion();
  cl_event event = FakeEvent::make();
  std::atomic<bool> isOver = false;
  std::thread waiter([&] {
    EXPECT_EQ(work->wait(), CL_SUCCESS);
    EXPECT_TRUE(isOver);
  });
  EXPECT_FALSE(work->submitted());
  work->submit(Ref<cl_event>::retain(cl, event), queueNumber(1));
  EXPECT_TRUE(work->submitted());
  EXPECT_FALSE(work->poll());
  isOver = true;
  FakeEvent::end(event);
  waiter.join();
  EXPECT_TRUE(work->over());
  cl.clReleaseEvent(event);
}

TEST(Completion, TellsWithWhichErrorTheWorkEnded) {
  cl_event event = FakeEvent::make();
  const CompletionPtr ran = Completion::of(cl, event), neverRan = completion();
  FakeEvent::end(event, -5);
  EXPECT_EQ(ran->wait(), -5);
  neverRan->finish(CL_OUT_OF_RESOURCES);
  EXPECT_EQ(neverRan->wait(), CL_OUT_OF_RESOURCES);
  cl.clReleaseEvent(event);
}

TEST(Completion, IsImpliedByItsOwnQueueAloneUntilItIsOver) {
  cl_event event = FakeEvent::make();
  const CompletionPtr work = completion(), failed = completion();
  EXPECT_FALSE(work->precedes(queueNumber(1))) << "it is not enqueued";
  work->submit(Ref<cl_event>::retain(cl, event), queueNumber(1));
  EXPECT_TRUE(work->precedes(queueNumber(1)));
  EXPECT_FALSE(work->precedes(queueNumber(2)));
  FakeEvent::end(event);
  work->wait();
  EXPECT_TRUE(work->precedes(queueNumber(2)));
  failed->finish(-1);
  EXPECT_FALSE(failed->precedes(queueNumber(2)));
  cl.clReleaseEvent(event);
}

/// As of commands that a program enqueues behind each other without waiting. All end with `event`.
std::vector<CompletionPtr> chainOfWork(cl_event event) {
  std::vector<CompletionPtr> chain;
  for (std::size_t i = 0; i < 200'000; ++i) {
    chain.push_back(completion());
    std::vector<CompletionPtr> implied;
    if (i > 0)
      implied.push_back(chain[i - 1]);
    chain[i]->submit(Ref<cl_event>::retain(cl, event), nullptr, nullptr, std::move(implied));
  }
  return chain;
}

TEST(Completion, ImpliesAsMuchAsAProgramEnqueues) {
  for (const bool isWaitedFor : {true, false}) {
    const auto event = Ref<cl_event>::adopt(cl, FakeEvent::make());
    const std::vector<CompletionPtr> chain = chainOfWork(event.get());
    EXPECT_FALSE(chain.back()->poll());
    FakeEvent::end(event.get(), CL_OUT_OF_RESOURCES);
    EXPECT_TRUE(isWaitedFor ? chain.back()->wait() == CL_OUT_OF_RESOURCES : chain.back()->poll());
    EXPECT_EQ(chain.back()->outcome(), Outcome::Failed);
    EXPECT_TRUE(chain.front()->over());
  }
}

TEST(Completion, FailsWithWhatItImpliesAndWasOverBefore) {
  const auto event = Ref<cl_event>::adopt(cl, FakeEvent::make());
  const CompletionPtr done = completion(), failed = completion(), work = completion();
  done->finish(CL_SUCCESS);
  failed->finish(CL_OUT_OF_RESOURCES, Outcome::Failed);
  work->submit(Ref<cl_event>::retain(cl, event.get()), nullptr, nullptr, {done, failed, done});
  EXPECT_FALSE(work->poll());
  FakeEvent::end(event.get());
  EXPECT_TRUE(work->poll());
  EXPECT_EQ(work->wait(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(work->outcome(), Outcome::Failed);
}

TEST(Completion, GoesWithAllThatItImplies) {
  const auto event = Ref<cl_event>::adopt(cl, FakeEvent::make());
  const CompletionPtr last = chainOfWork(event.get()).back();
  EXPECT_FALSE(last->over());
}

TEST(Lane, LetsWhatDependsOnFailedWorkFailToo) {
  Lane lane(cl, "lane");
  const CompletionPtr failed = completion();
  failed->finish(-5);
  std::atomic<bool> ran = false;
  Instruction dependent = instruction({failed}, [&] {
    ran = true;
    return CL_SUCCESS;
  });
  const CompletionPtr done = dependent.done;
  lane.issue(std::move(dependent));
  EXPECT_EQ(done->wait(), -5);
  EXPECT_FALSE(ran);

  Instruction throws = instruction({}, []() -> cl_int { throw std::runtime_error("expected"); });
  const CompletionPtr thrown = throws.done;
  lane.issue(std::move(throws));
  EXPECT_LT(thrown->wait(), 0);
}

TEST(Lane, DoesNotWaitForWhatItsQueueImplies) {
  Lane lane(cl, "lane");
  cl_event unfinished = FakeEvent::make();
  const CompletionPtr before = completion();
  before->submit(Ref<cl_event>::retain(cl, unfinished), queueNumber(1));
  Instruction behind = instruction({before}, [] { return CL_SUCCESS; });
  behind.queue = queueNumber(1);
  const CompletionPtr done = behind.done;
  lane.issue(std::move(behind));
  EXPECT_EQ(done->wait(), CL_SUCCESS) << "it would never end";
  FakeEvent::end(unfinished);
  cl.clReleaseEvent(unfinished);
}

TEST(Lane, LetsCommandsWaitThemselvesForWorkInTheirContext) {
  Lane lane(cl, "lane");
  const auto context = reinterpret_cast<cl_context>(std::uintptr_t{1});
  const auto other = reinterpret_cast<cl_context>(std::uintptr_t{2});
  cl_event unfinished = FakeEvent::make(), own = FakeEvent::make();
  const CompletionPtr before = completion();
  before->submit(Ref<cl_event>::retain(cl, unfinished), queueNumber(1), context);
  EXPECT_FALSE(before->eventIn(other));
  Instruction behind = instruction({before, before}, [] { return CL_SUCCESS; });
  behind.queue = queueNumber(2);
  behind.context = context;
  std::vector<cl_event> waitedFor;
  behind.run = [&](WaitList waits, Completion&, cl_event* last) {
    waitedFor.assign(waits.data(), waits.data() + waits.count());
    *last = own;
    return CL_SUCCESS;
  };
  const CompletionPtr done = behind.done;
  lane.issue(std::move(behind));
  done->waitSubmitted();
  EXPECT_EQ(waitedFor, std::vector<cl_event>{unfinished});
  // As the driver does when what a command waits for has failed.
  FakeEvent::end(unfinished, CL_OUT_OF_RESOURCES);
  FakeEvent::end(own, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(done->wait(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(done->outcome(), Outcome::Skipped);
  EXPECT_EQ(before->outcome(), Outcome::Failed);
  cl.clReleaseEvent(unfinished);
}

TEST(Lane, TakesWorkForFailedThatRanBehindWorkThatFailed) {
  Lane lane(cl, "lane");
  const auto context = reinterpret_cast<cl_context>(std::uintptr_t{1});
  cl_event failing = FakeEvent::make(), own = FakeEvent::make();
  const CompletionPtr before = completion();
  before->submit(Ref<cl_event>::retain(cl, failing), queueNumber(1), context);
  Instruction behind = instruction({before}, [] { return CL_SUCCESS; });
  behind.queue = queueNumber(1);
  behind.run = [&](WaitList waits, Completion&, cl_event* last) {
    EXPECT_EQ(waits.count(), 0u) << "the queue is in order";
    *last = own;
    return CL_SUCCESS;
  };
  const CompletionPtr done = behind.done;
  lane.issue(std::move(behind));
  FakeEvent::end(failing, CL_OUT_OF_RESOURCES);
  FakeEvent::end(own);
  EXPECT_EQ(done->wait(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(done->outcome(), Outcome::Failed);
  cl.clReleaseEvent(failing);
}

TEST(Lane, RunsWhatIsImmediateInTheThreadThatIssuesIt) {
  Lane lane(cl, "lane");
  std::thread::id ranIn;
  Instruction immediate = instruction({}, [&] {
    ranIn = std::this_thread::get_id();
    return CL_SUCCESS;
  });
  immediate.immediate = true;
  lane.issue(std::move(immediate));
  EXPECT_EQ(ranIn, std::this_thread::get_id());
}

/// The processors that the calling thread may run on, one by one; its own again at the end.
class Pinned {
public:
  Pinned() { sched_getaffinity(0, sizeof before_, &before_); }
  ~Pinned() { anywhere(); }
  void anywhere() const { sched_setaffinity(0, sizeof before_, &before_); }
  std::vector<int> processors() const {
    std::vector<int> all;
    for (int each = 0; each < CPU_SETSIZE; ++each)
      if (CPU_ISSET(static_cast<std::size_t>(each), &before_))
        all.push_back(each);
    return all;
  }
  bool to(int processor) const {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(processor), &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
  }

private:
  cpu_set_t before_{};
};

TEST(Lane, IsWokenWhereTheCallerRunsIfThatIsAskedFor) {
  Pinned pinned;
  if (pinned.processors().empty() || !pinned.to(pinned.processors().front()))
    GTEST_SKIP() << "threads may not be placed here";
  pinned.anywhere();
  Lane lane(cl, "lane");
  const auto ran = [&] {
    int processor = -1, allowed = 0;
    Instruction made = instruction({}, [&] {
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      allowed = CPU_COUNT(&set);
      processor = sched_getcpu();
      return CL_SUCCESS;
    });
    made.isPlaced = true;
    lane.issue(Instruction(made));
    EXPECT_EQ(made.done->wait(), CL_SUCCESS);
    return std::pair(processor, allowed);
  };
  const int all = ran().second;
  EXPECT_EQ(all, static_cast<int>(pinned.processors().size()));
  constexpr int rounds = 20, enough = 16; // of which chance makes about a half
  for (const int processor : pinned.processors()) {
    pinned.to(processor);
    // It may be moved once it runs, and is by a scheduler that has much else for that processor.
    int most = 0;
    for (int tries = 0; tries < 10 && most <= enough; ++tries) {
      int there = 0;
      for (int i = 0; i < rounds; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // until it sleeps
        const auto [where, allowed] = ran();
        there += where == processor;
        EXPECT_EQ(allowed, all) << "it was to be for the wake-up alone";
      }
      most = std::max(most, there);
    }
    EXPECT_GT(most, enough);
  }
}

TEST(Lane, LanesThatDependOnEachOtherRunAllOnceAndInOrder) {
  constexpr int lanes = 4, count = 2000;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Lane>> all;
    for (int i = 0; i < lanes; ++i)
      all.push_back(std::make_unique<Lane>(cl, "lane"));
    std::vector<CompletionPtr> done;
    std::vector<std::atomic<int>> ran(count);
    std::array<int, lanes> last;
    last.fill(-1);
    for (int n = 0; n < count; ++n) {
      const std::size_t on = random() % lanes;
      std::vector<int> needs = {last[on]};
      for (int k = 0; n > 0 && k < 3; ++k)
        needs.push_back(static_cast<int>(random() % static_cast<unsigned>(n)));
      last[on] = n;
      std::vector<CompletionPtr> after;
      for (std::size_t k = 1; k < needs.size(); ++k)
        after.push_back(done[static_cast<std::size_t>(needs[k])]);
      Instruction next = instruction(std::move(after), [&ran, needs, n] {
        for (const int need : needs)
          EXPECT_TRUE(need < 0 || ran[static_cast<std::size_t>(need)] == 1)
              << n << " before " << need;
        ++ran[static_cast<std::size_t>(n)];
        return CL_SUCCESS;
      });
      next.immediate = random() % 4 == 0;
      done.push_back(next.done);
      all[on]->issue(std::move(next));
      if (random() % 8 == 0)
        all[random() % lanes]->help();
    }
    for (const CompletionPtr& each : done)
      ASSERT_EQ(each->wait(), CL_SUCCESS);
    for (const std::atomic<int>& each : ran)
      ASSERT_EQ(each, 1);
  }
}

TEST(Threads, TakeTheSignalsThatTheyRaiseAndNoOthers) {
  sigset_t blocked;
  startThread([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).join();
  for (int raised : {SIGFPE, SIGSEGV, SIGBUS, SIGILL})
    EXPECT_FALSE(sigismember(&blocked, raised)) << raised;
  for (int sent : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD})
    EXPECT_TRUE(sigismember(&blocked, sent)) << sent;
}

TEST(Worker, RunsJobsInOrderWhateverTheyThrow) {
  Worker worker;
  std::vector<int> ran;
  const CompletionPtr last = completion();
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(worker.post([&ran, i] {
      ran.push_back(i);
      if (i % 10 == 0)
        throw std::runtime_error("expected");
    }));
  EXPECT_TRUE(worker.post([&] { last->finish(CL_SUCCESS); }));
  last->wait();
  ASSERT_EQ(ran.size(), 100u);
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
  worker.stop(10);
}

TEST(Worker, DropsWhatHasNotBegunWhenItStops) {
  Worker worker;
  const CompletionPtr begun = completion(), go = completion();
  std::atomic<int> ran = 0;
  EXPECT_TRUE(worker.post([&] {
    begun->finish(CL_SUCCESS);
    go->wait();
    ++ran;
  }));
  EXPECT_TRUE(worker.post([&] { ++ran; }));
  begun->wait();
  std::thread opener([&] {
    while (worker.post([] {})) // until it is being stopped
      std::this_thread::yield();
    go->finish(CL_SUCCESS);
  });
  worker.stop(60);
  opener.join();
  EXPECT_EQ(ran, 1) << "what has begun is waited for, and nothing else";
  EXPECT_FALSE(worker.post([&] { ADD_FAILURE() << "it was stopped"; }));
}

} // namespace
} // namespace libsplit::runtime
