#include "runtime/session/stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

namespace libsplit::runtime {
namespace {

TEST(Task, IsPlannedAgainAlsoIfTheCallsThatItFoundAreOverByThen) {
  CallTable table([] {});
  int some = 0;
  const auto queue = reinterpret_cast<cl_command_queue>(&some);
  Task task;
  EXPECT_FALSE(task.mustBePlannedAgain());
  std::thread([&] {
    std::optional<CallTable::Entry> call(std::in_place, table, queue, CallTable::State::Admitted);
    std::thread([&] {
      task.calls =
          std::make_shared<CallTable::Awaited>(table.await(queue, CallTable::Queues::This));
    }).join();
    EXPECT_TRUE(task.awaitsCalls());
    EXPECT_TRUE(task.mustBePlannedAgain());
  }).join();
  EXPECT_FALSE(task.awaitsCalls());
  EXPECT_TRUE(task.mustBePlannedAgain());
}

} // namespace
} // namespace libsplit::runtime
