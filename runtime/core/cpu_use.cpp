#include "runtime/core/cpu_use.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace libsplit::runtime {

namespace {

double processSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Of the processors that the process may run on.
std::optional<double> machineIdleSeconds() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::ifstream file("/proc/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const long perSecond = sysconf(_SC_CLK_TCK);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || perSecond <= 0)
    return std::nullopt;
  const std::optional<double> ticks = idleTicks(stat, set);
  return ticks ? std::optional(*ticks / static_cast<double>(perSecond)) : std::nullopt;
}

/// Takes the number at the front of `text`, behind spaces.
std::optional<unsigned long long> takeNumber(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  unsigned long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

} // namespace

std::optional<double> idleTicks(std::string_view stat, const cpu_set_t& set) {
  std::optional<double> all;
  while (!stat.empty()) {
    const std::size_t end = std::min(stat.find('\n'), stat.size());
    std::string_view line = stat.substr(0, end);
    stat.remove_prefix(std::min(end + 1, stat.size()));
    if (!line.starts_with("cpu") || line.starts_with("cpu "))
      continue; // the first line is all of them together
    line.remove_prefix(3);
    const auto processor = takeNumber(line);
    if (!processor || *processor >= CPU_SETSIZE || !CPU_ISSET(*processor, &set))
      continue;
    std::array<std::optional<unsigned long long>, 5> spent; // user, nice, system, idle, iowait
    for (auto& each : spent)
      each = takeNumber(line);
    if (spent[3] && spent[4])
      all = all.value_or(0) + static_cast<double>(*spent[3] + *spent[4]);
  }
  return all;
}

double idleLately() {
  double load = 0;
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  if (getloadavg(&load, 1) != 1 || all <= 0)
    return 0;
  return usableProcessors() * std::max(0.0, 1 - load / static_cast<double>(all));
}

CpuUse::CpuUse() : used_(processSeconds()), machineIdled_(machineIdleSeconds()) {}

double CpuUse::idle() {
  constexpr std::chrono::milliseconds tick(10);
  const Clock::time_point now = Clock::now();
  if (now - looked_ < tick)
    return idle_;
  looked_ = now;
  const std::chrono::duration<double> passed = now - begin_;
  idle_ = usableProcessors() - (processSeconds() - used_) / passed.count();
  // Who waits for a processor that others use looks as if he left it idle.
  if (const auto idled = machineIdled_ ? machineIdleSeconds() : std::nullopt)
    idle_ = std::min(idle_, (*idled - *machineIdled_) / passed.count());
  return idle_;
}

} // namespace libsplit::runtime
