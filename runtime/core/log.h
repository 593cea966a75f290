// One line on stderr per message, "libsplit: …". Nothing ever goes to stdout.
#pragma once

#include <sstream>
#include <string>
#include <type_traits>

namespace libsplit::runtime {

enum class LogLevel { Error, Warn, Info, Debug };

/// Messages above this level are dropped. Thread-safe.
void setLogLevel(LogLevel level);
bool logs(LogLevel level);
/// Writes one line, whole, in a single write. Thread-safe, never throws.
void writeLog(LogLevel level, const std::string& text) noexcept;
/// The same, but only the first time that this text is seen in the process.
void writeLogOnce(LogLevel level, const std::string& text) noexcept;

/// Writes a text that was asked for, of any number of lines and whatever the level. Thread-safe,
/// never throws.
void writeReport(const std::string& text) noexcept;
/// Whether stderr is a terminal.
bool reportsToTerminal() noexcept;

/// Builds the text only if it will be written: log(LogLevel::Debug, "moved ", n, " bytes"). A part
/// that is costly to make is given as a function: log(level, "moved ", [&] { return list(bytes);
/// }). Never throws: what there is no memory for is not written.
template <class... Parts> void log(LogLevel level, const Parts&... parts) noexcept try {
  if (!logs(level))
    return;
  std::ostringstream text;
  auto add = [&](const auto& part) {
    if constexpr (std::is_invocable_v<decltype(part)>)
      text << part();
    else
      text << part;
  };
  (add(parts), ...);
  writeLog(level, text.str());
} catch (...) {
}

} // namespace libsplit::runtime
