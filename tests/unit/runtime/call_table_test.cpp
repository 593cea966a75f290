#include "runtime/core/call_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace libsplit::runtime {
namespace {

using State = CallTable::State;
using Queues = CallTable::Queues;

// Queues are only names here.
int some[2];
const auto queue = reinterpret_cast<cl_command_queue>(&some[0]);
const auto other = reinterpret_cast<cl_command_queue>(&some[1]);

/// Calls of another thread.
class Thread {
public:
  explicit Thread(CallTable& table) : table_(table) {}
  template <class Work> void does(const Work& work) {
    std::thread([&] { work(); }).join();
  }
  void enters(cl_command_queue in, State state) {
    does([&] { entry_ = std::make_unique<CallTable::Entry>(table_, in, state); });
  }
  void leaves() {
    does([&] { entry_.reset(); });
  }
  CallTable::Entry& entry() { return *entry_; }

private:
  CallTable& table_;
  std::unique_ptr<CallTable::Entry> entry_;
};

TEST(CallTable, AwaitsWhatIsAdmittedUntilItIsOver) {
  int told = 0;
  CallTable table([&] { ++told; });
  Thread thread(table);
  thread.enters(queue, State::Admitted);
  const CallTable::Awaited calls = table.await(queue, Queues::This);
  EXPECT_FALSE(calls.areOver());
  EXPECT_TRUE(table.await(queue, Queues::Others).areOver());
  EXPECT_FALSE(table.await(other, Queues::Others).areOver());
  EXPECT_FALSE(table.await(nullptr, Queues::Others).areOver());
  thread.leaves();
  EXPECT_TRUE(calls.areOver());
  EXPECT_EQ(told, 1);
  thread.enters(queue, State::Admitted); // in the same place
  EXPECT_TRUE(calls.areOver());
}

TEST(CallTable, TellsNobodyWhomNobodyAwaits) {
  int told = 0;
  CallTable table([&] { ++told; });
  Thread thread(table);
  thread.enters(queue, State::Admitted);
  {
    const CallTable::Awaited calls = table.await(queue, Queues::This);
  }
  thread.leaves();
  EXPECT_EQ(told, 0);
}

TEST(CallTable, AwaitsNothingThatIsUndecided) {
  CallTable table([] {});
  Thread thread(table);
  thread.enters(queue, State::Undecided);
  EXPECT_TRUE(table.await(queue, Queues::This).areOver());
  EXPECT_TRUE(table.hasOthers(queue));
  EXPECT_FALSE(table.hasOthers(other));
  thread.entry().admit();
  const CallTable::Awaited calls = table.await(queue, Queues::This);
  EXPECT_FALSE(calls.areOver());
  thread.entry().reconsider();
  EXPECT_TRUE(calls.areOver());
  thread.entry().admit(); // which is another decision
  EXPECT_TRUE(calls.areOver());
  thread.leaves();
}

TEST(CallTable, DoesNotAwaitWhatTheThreadIsAboutItself) {
  CallTable table([] {});
  CallTable::Entry outer(table, queue, State::Admitted);
  EXPECT_TRUE(table.await(queue, Queues::This).areOver());
  EXPECT_FALSE(table.hasOthers(queue));
  const CallTable::Tickets own = table.own();
  ASSERT_EQ(own.size(), 1U);
  Thread thread(table);
  thread.does([&] {
    EXPECT_FALSE(table.await(queue, Queues::This).areOver());
    EXPECT_TRUE(table.await(queue, Queues::This, own).areOver());
    EXPECT_TRUE(table.hasOthers(queue));
  });
}

TEST(CallTable, IsNotAwaitedAnyMoreByStandingBack) {
  int told = 0;
  CallTable table([&] { ++told; });
  CallTable::Entry outer(table, queue, State::Admitted);
  EXPECT_FALSE(table.stepBack()); // nobody waited for it
  outer.admit();
  Thread thread(table);
  CallTable::Awaited calls;
  thread.does([&] { calls = table.await(queue, Queues::This); });
  EXPECT_FALSE(calls.areOver());
  EXPECT_TRUE(table.stepBack());
  EXPECT_TRUE(calls.areOver());
  EXPECT_EQ(told, 0);
}

TEST(CallTable, HasRoomForAnyNumberOfCalls) {
  CallTable table([] {});
  constexpr std::size_t many = 200;
  std::vector<std::unique_ptr<CallTable::Entry>> entries;
  for (std::size_t i = 0; i < many; ++i)
    entries.push_back(std::make_unique<CallTable::Entry>(table, queue, State::Admitted));
  EXPECT_EQ(table.own().size(), many);
  Thread thread(table);
  thread.does([&] { EXPECT_FALSE(table.await(queue, Queues::This).areOver()); });
  while (!entries.empty())
    entries.pop_back();
  thread.does([&] { EXPECT_TRUE(table.await(queue, Queues::This).areOver()); });
}

TEST(CallTable, WhoEntersOrWhoAwaitsSeesTheOther) {
  CallTable table([] {});
  std::atomic<bool> isAbout = false, goesOn = false;
  for (unsigned round = 0; round < 2000; ++round) {
    isAbout = goesOn = false;
    bool sawNobody = false;
    std::thread caller([&] {
      CallTable::Entry entry(table, queue, State::Admitted);
      sawNobody = !isAbout;
      while (!goesOn)
        std::this_thread::yield();
    });
    isAbout = true;
    const bool hasCall = !table.await(queue, Queues::This).areOver();
    goesOn = true;
    caller.join();
    ASSERT_TRUE(hasCall || !sawNobody);
  }
}

// Nobody would be told when such a call is over.
TEST(CallTable, AwaitsNothingThatEndsUndecided) {
  CallTable table([] {});
  std::atomic<bool> hasBegun = false, isOver = false;
  std::thread calling([&] {
    while (!isOver) {
      const CallTable::Entry call(table, queue, State::Undecided);
      hasBegun = true;
    }
  });
  while (!hasBegun)
    std::this_thread::yield();
  int awaited = 0;
  for (int i = 0; i < 3000000; ++i)
    awaited += !table.await(queue, Queues::This).areOver();
  isOver = true;
  calling.join();
  EXPECT_EQ(awaited, 0);
}

TEST(CallTable, HasNoCallsOfNoQueue) {
  CallTable table([] {});
  CallTable::Entry entry(table, nullptr, State::Admitted);
  entry.admit();
  entry.reconsider();
  EXPECT_TRUE(table.own().empty());
}

} // namespace
} // namespace libsplit::runtime
