#include "runtime/session/event_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>

namespace libsplit::runtime {
namespace {

// Events are only names here.
class EventTableTest : public testing::Test {
protected:
  const cl_event ours = reinterpret_cast<cl_event>(&some_[0]);
  const cl_event drivers = reinterpret_cast<cl_event>(&some_[1]);
  std::mutex mutex;
  EventTable table{mutex};
  std::shared_ptr<Task> task = std::make_shared<Task>();

  std::shared_ptr<TaskEvent> add() {
    auto event = std::make_shared<TaskEvent>();
    event->type = CL_COMMAND_NDRANGE_KERNEL;
    event->task = task;
    event->profiled = true;
    table.add(ours, event);
    return event;
  }
  template <class T> T info(cl_event_info name) {
    T value{};
    std::size_t size = 0;
    EXPECT_EQ(table.info(ours, name, sizeof value, &value, &size), CL_SUCCESS);
    EXPECT_EQ(size, sizeof value);
    return value;
  }

private:
  int some_[2];
};

TEST_F(EventTableTest, HasItsEventsUntilTheProgramLetsGoOfThem) {
  EXPECT_TRUE(table.isEmpty());
  add();
  table.retained(ours);
  EXPECT_EQ(info<cl_uint>(CL_EVENT_REFERENCE_COUNT), 2U);
  table.released(ours);
  EXPECT_TRUE(table.contains(ours));
  table.released(ours);
  EXPECT_FALSE(table.contains(ours));
  EXPECT_TRUE(table.isEmpty());
}

// Drivers call from threads of their own, which may come late.
TEST_F(EventTableTest, HasThemUntilTheProgramWasToldOfTheirEnd) {
  const auto event = add();
  table.callbackSet(ours);
  table.callbackSet(ours);
  table.released(ours);
  event->ended = event->complete = true;
  table.callbackOver(ours);
  EXPECT_EQ(info<cl_command_type>(CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_NDRANGE_KERNEL});
  table.callbackOver(ours);
  EXPECT_TRUE(table.isEmpty());
}

TEST_F(EventTableTest, LeavesTheDriversToTheDriver) {
  add();
  EXPECT_FALSE(table.contains(drivers));
  EXPECT_EQ(table.find(drivers), nullptr);
  EXPECT_EQ(table.info(drivers, CL_EVENT_REFERENCE_COUNT, 0, nullptr, nullptr), std::nullopt);
  EXPECT_EQ(table.profilingInfo(drivers, CL_PROFILING_COMMAND_END, 0, nullptr, nullptr),
            std::nullopt);
}

TEST_F(EventTableTest, TellsWhatBecomesOfTheTask) {
  const auto event = add();
  EXPECT_EQ(info<cl_command_type>(CL_EVENT_COMMAND_TYPE),
            cl_command_type{CL_COMMAND_NDRANGE_KERNEL});
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_QUEUED);
  task->state = Task::State::Planned;
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_SUBMITTED);
  event->ended = true;
  event->status = CL_COMPLETE;
  EXPECT_EQ(info<cl_int>(CL_EVENT_COMMAND_EXECUTION_STATUS), CL_COMPLETE);
}

TEST_F(EventTableTest, TellsTimesOnceThereAreAny) {
  const auto event = add();
  cl_ulong time = 0;
  auto ask = [&](cl_profiling_info name, std::size_t size = sizeof(cl_ulong)) {
    return table.profilingInfo(ours, name, size, &time, nullptr);
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
