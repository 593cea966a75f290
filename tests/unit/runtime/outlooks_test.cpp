#include "runtime/session/outlooks.h"

#include <gtest/gtest.h>

#include <memory>

namespace libsplit::runtime {
namespace {

TEST(Outlooks, forgetLaunchesThatNeverComeAgain) {
  const Dispatch cl{};
  Shared shared(cl);
  Outlooks outlooks(shared);
  Kernel kernel;
  kernel.code = std::make_shared<KernelCode>();
  for (std::size_t global = 1; global <= 10000; ++global)
    outlooks.noteNative(kernel, {nullptr, 1, nullptr, &global, nullptr});
  EXPECT_LE(outlooks.size(), Outlooks::mostSteps);
}

} // namespace
} // namespace libsplit::runtime
