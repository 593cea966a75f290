#include "runtime/session/issuer.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <atomic>

namespace libsplit::runtime {
namespace {

TEST(Issuer, PutsAnInstructionBehindWhatItsTaskComesAfter) {
  World world;
  Task task;
  const CompletionPtr before = world.completion();
  task.after = {before};
  std::atomic<bool> isBeforeOver = false, ran = false;
  world.issuer.issue(task, 1, step([&] {
                       ran = isBeforeOver.load();
                       return CL_SUCCESS;
                     }));
  EXPECT_FALSE(task.parts.front()->over());
  isBeforeOver = true;
  before->finish(CL_SUCCESS);
  EXPECT_EQ(await(task), CL_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(task.partDevices, std::vector<std::size_t>{1});
}

TEST(Issuer, LeavesUndoneWhatComesAfterAFailure) {
  World world;
  Task task;
  const CompletionPtr before = world.completion();
  task.after = {before};
  std::atomic<bool> ran = false;
  world.issuer.issue(task, 0, step([&] {
                       ran = true;
                       return CL_SUCCESS;
                     }));
  before->finish(CL_OUT_OF_RESOURCES);
  EXPECT_NE(await(task), CL_SUCCESS);
  EXPECT_EQ(task.parts.front()->outcome(), Outcome::Skipped);
  EXPECT_FALSE(ran);
}

TEST(Issuer, MarksTheTimesOfAnEventOnlyIfThatIsAskedForTimes) {
  World world;
  Task task;
  task.stream = std::make_shared<Stream>();
  task.stream->context = world.context.get();
  world.issuer.issueMarkers(task, true);
  task.event = std::make_shared<TaskEvent>();
  world.issuer.issueMarkers(task, true);
  EXPECT_TRUE(task.parts.empty());
  task.event->profiled = true;
  world.issuer.issueMarkers(task, true);
  world.issuer.issueMarkers(task, false);
  EXPECT_EQ(await(task), CL_SUCCESS);
  ASSERT_TRUE(task.begin && task.end);
  const auto begin = task.begin->profilingTime(CL_PROFILING_COMMAND_START);
  const auto end = task.end->profilingTime(CL_PROFILING_COMMAND_END);
  ASSERT_TRUE(begin && end);
  EXPECT_LE(*begin, *end);
}

} // namespace
} // namespace libsplit::runtime
