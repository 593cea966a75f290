#include "runtime/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

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

} // namespace
} // namespace libsplit::runtime
