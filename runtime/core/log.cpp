#include "runtime/core/log.h"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>

#include <unistd.h>

namespace libsplit::runtime {

namespace {
std::atomic<LogLevel> currentLevel{LogLevel::Warn};
} // namespace

void setLogLevel(LogLevel level) {
  currentLevel = level;
}

bool logs(LogLevel level) {
  return level <= currentLevel.load(std::memory_order_relaxed);
}

void writeLog(LogLevel level, const std::string& text) noexcept {
  if (!logs(level))
    return;
  try {
    std::string line = "libsplit: " + text + "\n";
    [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) { // out of memory: nothing sensible left to say
  }
}

void writeLogOnce(LogLevel level, const std::string& text) noexcept {
  try {
    // Never destroyed: threads of libsplit's and handlers of others log until the process is gone.
    static std::mutex mutex;
    static auto& seen = *new std::set<std::string>;
    {
      std::lock_guard lock(mutex);
      if (!seen.insert(text).second)
        return;
    }
    writeLog(level, text);
  } catch (...) {
  }
}

void writeReport(const std::string& text) noexcept {
  const char* at = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const ssize_t written = ::write(STDERR_FILENO, at, left);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    at += written;
    left -= static_cast<std::size_t>(written);
  }
}

bool reportsToTerminal() noexcept {
  return ::isatty(STDERR_FILENO) == 1;
}

} // namespace libsplit::runtime
