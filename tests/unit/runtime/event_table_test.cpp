#include "runtime/session/event_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>

namespace libsplit::runtime {
namespace {

// Events are only names here.
class EventTableTest : public testing::Test {
protected:
  const cl_event ours_ = reinterpret_cast<cl_event>(&some_[0]);
  const cl_event drivers_ = reinterpret_cast<cl_event>(&some_[1]);
  std::mutex mutex_;
  EventTable table_{mutex_};
  std::shared_ptr<Task> task_ = std::make_shared<Task>();

  std::shared_ptr<TaskEvent> add() {
    auto event = std::make_shared<TaskEvent>();
    event->type = CL_COMMAND_NDRANGE_KERNEL;
    event->task = task_;
    event->profiled = true;
    table_.add(ours_, event);
    return event;
  }
  template <class T> T info(cl_event_info name) {
    T value{};
    std::size_t size = 0;
    EXPECT_EQ(table_.info(ours_, name, sizeof value, &value, &size), CL_SUCCESS);
    EXPECT_EQ(size, sizeof value);
    return value;
  }

private:
  int some_[2];
};

TEST_F(EventTableTest, HasItsEventsUntilTheProgramLetsGoOfThem) {
  EXPECT_TRUE(table_.isEmpty());
  add();
  table_.retained(ours_);
  EXPECT_EQ(info<cl_uint>(CL_EVENT_REFERENCE_COUNT), 2U);
  table_.released(ours_);
  EXPECT_TRUE(table_.contains(ours_));
  table_.released(ours_);
  EXPECT_FALSE(table_.contains(ours_));
  EXPECT_TRUE(table_.isEmpty());
}

TEST_F(EventTableTest, LeavesTheDriversToTheDriver) {
  add();
  EXPECT_FALSE(table_.contains(drivers_));
  EXPECT_EQ(table_.find(drivers_), nullptr);
  EXPECT_EQ(table_.info(drivers_, CL_EVENT_REFERENCE_COUNT, 0, nullptr, nullptr), std::nullopt);
  EXPECT_EQ(table_.profilingInfo(drivers_, CL_PROFILING_COMMAND_END, 0, nullptr, nullptr),
            std::nullopt);
}

TEST_F(EventTableTest, TellsWhatBecomesOfTheTask) {
  const auto event = add();
  EXPECT_EQ(info<cl_command_type>(CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_NDRANGE_KERNEL});
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_QUEUED);
  task_->state = Task::State::Active;
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_SUBMITTED);
  event->ended = true;
  event->status = CL_COMPLETE;
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_COMPLETE);
}

TEST_F(EventTableTest, TellsTimesOnceThereAreAny) {
  const auto event = add();
  cl_ulong time = 0;
  auto ask = [&](cl_profiling_info name, std::size_t size = sizeof(cl_ulong)) {
    return table_.profilingInfo(ours_, name, size, &time, nullptr);
  };
  EXPECT_EQ(ask(CL_PROFILING_COMMAND_END), CL_PROFILING_INFO_NOT_AVAILABLE);
  event->ended = true;
  event->times[3] = 42;
  EXPECT_EQ(ask(CL_PROFILING_COMMAND_END), CL_SUCCESS);
  EXPECT_EQ(time, 42U);
  EXPECT_EQ(ask(CL_PROFILING_COMMAND_END, 4), CL_INVALID_VALUE);
  EXPECT_EQ(ask(CL_PROFILING_COMMAND_END + 99), CL_INVALID_VALUE);
}

} // namespace
} // namespace libsplit::runtime
