#include "runtime/session/scheduler.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace libsplit::runtime {
namespace {

/// Issues nothing anew, and notes what was asked.
struct Failures final : FailureHandler {
  bool recover(Lock&, const Task&) override {
    ++recovered;
    if (whileRecovering)
      whileRecovering();
    if (std::exchange(lacksMemory, false))
      throw std::bad_alloc();
    return false;
  }
  void loseOutputs(const Task&) override {
    ++lost;
    if (std::exchange(lacksMemory, false))
      throw std::bad_alloc();
  }
  int recovered = 0, lost = 0;
  bool lacksMemory = false; ///< the next time
  std::function<void()> whileRecovering;
};

struct QueueWorld : World {
  Failures failures;
  Scheduler scheduler{shared, tracked, mover, failures};
  std::shared_ptr<Stream> stream;
  std::string order; ///< of plannings and instructions

  QueueWorld() {
    scheduler.created(queue.get());
    const Lock lock(shared.mutex);
    stream = scheduler.find(queue.get());
  }

  /// A task that issues one instruction of the host's, which returns `status`.
  std::shared_ptr<Task> submit(const std::string& name, cl_int status = CL_SUCCESS,
                               std::vector<cl_event> waitFor = {}, cl_event* event = nullptr) {
    return submitStep(name, [status] { return status; }, std::move(waitFor), event);
  }
  std::shared_ptr<Task> submitStep(const std::string& name, std::function<cl_int()> body,
                                   std::vector<cl_event> waitFor = {}, cl_event* event = nullptr) {
    Command command;
    command.queue = queue.get();
    command.type = CL_COMMAND_USER;
    command.waitCount = static_cast<cl_uint>(waitFor.size());
    command.waitList = waitFor.empty() ? nullptr : waitFor.data();
    command.event = event;
    const Lock lock(shared.mutex);
    auto task = scheduler.create(stream, command);
    scheduler.attachEvent(*task, command);
    task->plan = [this, name, body = std::move(body)](Task& planned) {
      order += name;
      issuer.issue(planned, 0, step(body));
    };
    scheduler.submit(task);
    return task;
  }
  /// Some tasks, for each of which a thread waits while it runs.
  void submitAndWait(unsigned tasks) {
    auto untilSomebodyWaits = [this] {
      for (;;) {
        const Lock lock(shared.mutex);
        if (stream->active.front()->helpers > 0)
          return CL_SUCCESS;
      }
    };
    for (unsigned i = 0; i < tasks; ++i)
      wait(submitStep("", untilSomebodyWaits));
  }
  cl_int wait(const std::shared_ptr<Task>& task) {
    Lock lock(shared.mutex);
    return scheduler.waitFor(lock, task);
  }
  cl_int statusOf(cl_event event) {
    cl_int status = 0;
    const auto answer = scheduler.events().info(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                sizeof status, &status, nullptr);
    EXPECT_EQ(answer, std::optional<cl_int>(CL_SUCCESS));
    return status;
  }
};

TEST(Scheduler, PlansInOrderAndIsIdleOnceAllHaveRetired) {
  QueueWorld world;
  const auto first = world.submit("a");
  const auto second = world.submit("b");
  EXPECT_EQ(world.wait(second), CL_SUCCESS);
  EXPECT_EQ(first->state, Task::State::Retired);
  EXPECT_EQ(world.order, "ab");
  const Lock lock(world.shared.mutex);
  EXPECT_TRUE(world.stream->idle());
  EXPECT_TRUE(world.scheduler.isEmpty());
  EXPECT_FALSE(second->plan) << "what it held is gone";
}

TEST(Scheduler, TellsTheQueuesThreadOfNothingThatTheProgramWaitsFor) {
  QueueWorld world;
  EXPECT_TRUE(world.submit("a")->isWatched);
  world.submitAndWait(8);
  const auto expected = world.submit("b");
  EXPECT_FALSE(expected->isWatched);
  world.wait(expected);
}

TEST(Scheduler, RetiresWhatNobodyWaitsForAfterAll) {
  QueueWorld world;
  world.submitAndWait(8);
  const auto task = world.submit("a");
  EXPECT_FALSE(task->isWatched);
  while (task->state != Task::State::Retired)
    std::this_thread::yield();
  EXPECT_TRUE(world.submit("b")->isWatched) << "the program does something else by now";
}

TEST(Scheduler, TellsTheQueuesThreadOfWhatHasAnEvent) {
  QueueWorld world;
  world.submitAndWait(8);
  cl_event event = nullptr;
  const auto task = world.submit("a", CL_SUCCESS, {}, &event);
  EXPECT_TRUE(task->isWatched);
  while (world.statusOf(event) != CL_COMPLETE)
    std::this_thread::yield();
  world.cl.clReleaseEvent(event);
}

TEST(Scheduler, TellsWhoWaitsOfWhatIsPlannedMeanwhile) {
  QueueWorld world;
  world.scheduler.suspend();
  const auto task = world.submit("a");
  std::thread::id retiredIn;
  task->retired = [&](Task&) { retiredIn = std::this_thread::get_id(); };
  std::thread other([&] {
    Lock lock(world.shared.mutex);
    while (world.stream->waiters == 0) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    world.scheduler.resume();
    world.scheduler.pump();
  });
  EXPECT_EQ(world.wait(task), CL_SUCCESS);
  other.join();
  EXPECT_EQ(retiredIn, std::this_thread::get_id()) << "its queue's own thread leaves it alone";
}

TEST(Scheduler, RetiresWhatComesBehindWhatSomebodyWaitedFor) {
  QueueWorld world;
  std::atomic<bool> mayEnd = false;
  const auto first = world.submit("a");
  const auto second = world.submitStep("b", [&] {
    while (!mayEnd)
      std::this_thread::yield();
    return CL_SUCCESS;
  });
  EXPECT_EQ(world.wait(first), CL_SUCCESS);
  mayEnd = true;
  while (second->state != Task::State::Retired)
    std::this_thread::yield();
}

TEST(Scheduler, CountsTasksAsEngagements) {
  QueueWorld world;
  EXPECT_TRUE(world.shared.isQuiet());
  world.scheduler.suspend();
  const auto task = world.submit("a");
  EXPECT_FALSE(world.shared.isQuiet());
  {
    const Lock lock(world.shared.mutex);
    world.scheduler.resume();
    world.scheduler.goOn();
  }
  world.wait(task);
  EXPECT_TRUE(world.shared.isQuiet());
}

TEST(Scheduler, ParksWhatWaitsForAUserEvent) {
  QueueWorld world;
  world.shared.userEvents = true;
  cl_int error = CL_SUCCESS;
  const auto gate =
      Ref<cl_event>::adopt(world.cl, world.cl.clCreateUserEvent(world.context.get(), &error));
  cl_event event = nullptr;
  const auto task = world.submit("a", CL_SUCCESS, {gate.get()}, &event);
  const auto behind = world.submit("b");
  EXPECT_TRUE(task->isParked());
  EXPECT_TRUE(behind->isParked());
  EXPECT_EQ(world.statusOf(event), CL_QUEUED);
  EXPECT_EQ(world.order, "");
  world.cl.clSetUserEventStatus(gate.get(), CL_COMPLETE);
  EXPECT_EQ(world.wait(behind), CL_SUCCESS);
  EXPECT_EQ(world.order, "ab");
  EXPECT_EQ(world.statusOf(event), CL_COMPLETE);
  world.scheduler.events().released(event);
  world.cl.clReleaseEvent(event);
}

TEST(Scheduler, EndsATaskWithWhatItWaitedFor) {
  QueueWorld world;
  world.shared.userEvents = true;
  cl_int error = CL_SUCCESS;
  const auto gate =
      Ref<cl_event>::adopt(world.cl, world.cl.clCreateUserEvent(world.context.get(), &error));
  world.cl.clSetUserEventStatus(gate.get(), CL_INVALID_VALUE);
  const auto task = world.submit("a", CL_SUCCESS, {gate.get()});
  EXPECT_EQ(world.wait(task), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(world.order, "") << "it is not even planned";
  EXPECT_EQ(world.failures.lost, 1);
}

TEST(Scheduler, EndsATaskAlsoWhereThereIsNoMemoryToLoseItsOutputs) {
  QueueWorld world;
  world.shared.userEvents = true;
  world.submitAndWait(8); // nobody looks after the next one before it is planned
  world.failures.lacksMemory = true;
  cl_int error = CL_SUCCESS;
  const auto gate =
      Ref<cl_event>::adopt(world.cl, world.cl.clCreateUserEvent(world.context.get(), &error));
  cl_event event = nullptr;
  world.submit("a", CL_SUCCESS, {gate.get()}, &event);
  world.cl.clSetUserEventStatus(gate.get(), CL_INVALID_VALUE);
  {
    Lock lock(world.shared.mutex);
    EXPECT_TRUE(world.shared.progress.wait_for(lock, std::chrono::seconds(20),
                                               [&] { return world.scheduler.isEmpty(); }));
  }
  EXPECT_EQ(world.statusOf(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  world.scheduler.events().released(event);
  world.cl.clReleaseEvent(event);
}

TEST(Scheduler, AsksForARecoveryBeforeATaskFails) {
  QueueWorld world;
  const auto task = world.submit("a", CL_OUT_OF_RESOURCES);
  EXPECT_EQ(world.wait(task), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(world.failures.recovered, 1);
  EXPECT_EQ(world.failures.lost, 1);
}

TEST(Scheduler, PlansNothingBehindWhatCouldNotBeIssuedBeforeThatIsSeenTo) {
  QueueWorld world;
  world.failures.whileRecovering = [&] { EXPECT_EQ(world.order, "a"); };
  {
    Command command;
    command.queue = world.queue.get();
    const Lock lock(world.shared.mutex);
    const auto failing = world.scheduler.create(world.stream, command);
    failing->plan = [&](Task&) {
      world.order += "a";
      throw std::runtime_error("no queue");
    };
    world.scheduler.submit(failing);
  }
  EXPECT_EQ(world.wait(world.submit("b")), CL_SUCCESS);
  EXPECT_EQ(world.order, "ab");
  EXPECT_EQ(world.failures.recovered, 1);
}

TEST(Scheduler, PlansATaskAnewThatFoundSomethingOnItsWay) {
  QueueWorld world;
  const CompletionPtr there = world.completion();
  std::shared_ptr<Task> task;
  {
    Command command;
    command.queue = world.queue.get();
    const Lock lock(world.shared.mutex);
    task = world.scheduler.create(world.stream, command);
    task->plan = [&](Task& planned) {
      world.order += "p";
      if (!there->over())
        planned.awaited.push_back(there);
    };
    world.scheduler.submit(task);
  }
  EXPECT_EQ(task->state, Task::State::Fenced);
  EXPECT_EQ(world.order, "p");
  world.scheduler.goingOnAfter(there)();
  there->finish(CL_SUCCESS);
  EXPECT_EQ(world.wait(task), CL_SUCCESS);
  EXPECT_EQ(world.order, "pp");
}

TEST(Scheduler, PlansOnlyWhatIsPartOfAVerificationWhileThatGoesOn) {
  QueueWorld world;
  int some = 0;
  const auto* verification = reinterpret_cast<const Verification*>(&some);
  {
    const Lock lock(world.shared.mutex);
    world.scheduler.reserveFor(verification);
  }
  const auto task = world.submit("a");
  EXPECT_EQ(task->state, Task::State::Fenced);
  {
    const Lock lock(world.shared.mutex);
    world.scheduler.reserveFor(nullptr);
    world.scheduler.goOn();
  }
  EXPECT_EQ(world.wait(task), CL_SUCCESS);
}

TEST(Scheduler, RetiresWithoutAnybodyWaiting) {
  QueueWorld world;
  std::atomic<bool> retired = false;
  {
    Command command;
    command.queue = world.queue.get();
    const Lock lock(world.shared.mutex);
    const auto task = world.scheduler.create(world.stream, command);
    task->plan = [](Task&) {};
    task->retired = [&](Task&) { retired = true; };
    world.scheduler.submit(task);
  }
  Lock lock(world.shared.mutex);
  world.shared.progress.wait(lock, [&] { return world.scheduler.isEmpty(); });
  EXPECT_TRUE(retired);
}

TEST(Scheduler, KeepsAQueueThatTheProgramGaveUpUntilItsTasksAreOver) {
  QueueWorld world;
  world.scheduler.suspend();
  const auto task = world.submit("a");
  world.scheduler.released(world.queue.get());
  {
    const Lock lock(world.shared.mutex);
    EXPECT_TRUE(world.scheduler.find(world.queue.get()));
    world.scheduler.resume();
    world.scheduler.goOn();
  }
  EXPECT_EQ(world.wait(task), CL_SUCCESS);
  Lock lock(world.shared.mutex);
  world.shared.progress.wait(lock, [&] { return world.scheduler.isEmpty(); });
  EXPECT_FALSE(world.scheduler.find(world.queue.get()));
}

TEST(Scheduler, RetiresAlsoWhereThereIsNoMemoryToRecover) {
  QueueWorld world;
  world.failures.lacksMemory = true;
  auto ahead = std::make_shared<Task>();
  ahead->parts = {world.completion()};
  ahead->partDevices = {1};
  ahead->parts.front()->finish(CL_OUT_OF_RESOURCES, Outcome::Failed);
  {
    const Lock lock(world.shared.mutex);
    world.mover.note(ahead);
  }
  EXPECT_EQ(world.wait(world.submit("a")), CL_SUCCESS);
  Lock lock(world.shared.mutex);
  EXPECT_TRUE(world.shared.progress.wait_for(lock, std::chrono::seconds(20),
                                             [&] { return world.scheduler.isEmpty(); }));
  EXPECT_FALSE(world.failures.lacksMemory);
  static_cast<void>(world.mover.takeSentAhead());
}

} // namespace
} // namespace libsplit::runtime
