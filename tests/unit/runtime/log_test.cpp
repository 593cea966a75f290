#include "runtime/core/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A handler that runs when what is static is gone.
void logAtTheVeryEnd() {
  std::atexit([] {
    const std::vector<std::string> inItsMemory(64, std::string(60, '1'));
    for (const char* text : {"said before", "said at the end", "said at the end"})
      writeLogOnce(LogLevel::Error, text);
  });
  writeLogOnce(LogLevel::Error, "said before");
  std::exit(0);
}

TEST(Log, SaysOnceAlsoWhenWhatIsStaticIsGone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(logAtTheVeryEnd(), testing::ExitedWithCode(0),
              "^libsplit: said before\nlibsplit: said at the end\n$");
}

} // namespace
} // namespace libsplit::runtime
