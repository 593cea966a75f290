#include "runtime/trace/trace.h"

#include "runtime/core/log.h"
#include "runtime/core/options.h"
#include "runtime/core/thread.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace libsplit::runtime {

namespace {

using Json = nlohmann::ordered_json;

// These are most of what a trace costs, so they know the simple cases by themselves.

/// Microseconds with three decimals, without a detour by floating point.
std::string microseconds(HostTime nanoseconds) {
  nanoseconds = std::max<HostTime>(nanoseconds, 0);
  std::string text = std::to_string(nanoseconds);
  if (text.size() < 4)
    text.insert(0, 4 - text.size(), '0');
  return text.insert(text.size() - 3, 1, '.');
}

std::string quoted(const std::string& text) {
  const bool isPlain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return isPlain ? '"' + text + '"'
                 : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string numberText(double number) {
  if (!std::isfinite(number))
    return "null";
  std::array<char, 32> text; // enough for the shortest text that means the same number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

/// `textOf`: of one of them.
template <class Values, class TextOf> std::string listText(const Values& values, TextOf textOf) {
  std::string text = "[";
  for (const auto& each : values) {
    text += text.size() > 1 ? "," : "";
    text += textOf(each);
  }
  return text += "]";
}

std::string numbersText(std::span<const std::uint64_t> numbers) {
  return listText(numbers, [](std::uint64_t number) { return std::to_string(number); });
}

/// Right after a write that failed.
void complain() {
  log(LogLevel::Error, "can't write the trace any further: ", std::strerror(errno));
}

} // namespace

HostTime hostNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void DeviceClock::observe(cl_ulong queued, HostTime before, HostTime after) {
  const auto device = static_cast<HostTime>(queued);
  const HostTime low = before - device, high = after - device;
  if (!known_ || std::max(low_, low) > std::min(high_, high)) {
    low_ = low;
    high_ = high;
  } else {
    low_ = std::max(low_, low);
    high_ = std::min(high_, high);
  }
  known_ = true;
}

HostTime DeviceClock::toHost(cl_ulong device) const {
  return static_cast<HostTime>(device) + low_ + (high_ - low_) / 2;
}

Trace::Argument::Argument(std::string key, std::uint64_t number)
    : name(std::move(key)), json(std::to_string(number)) {}
Trace::Argument::Argument(std::string key, double number)
    : name(std::move(key)), json(numberText(number)) {}
Trace::Argument::Argument(std::string key, const std::string& text)
    : name(std::move(key)), json(quoted(text)) {}
Trace::Argument::Argument(std::string key, std::span<const std::uint64_t> numbers)
    : name(std::move(key)), json(numbersText(numbers)) {}
Trace::Argument::Argument(std::string key, std::span<const std::string> texts)
    : name(std::move(key)), json(listText(texts, quoted)) {}
Trace::Argument::Argument(std::string key, std::span<const std::vector<std::uint64_t>> rows)
    : name(std::move(key)), json(listText(rows, numbersText)) {}

std::unique_ptr<Trace> Trace::open(const std::string& pattern) {
  const std::string path = withProcessId(pattern);
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    log(LogLevel::Error, "can't write the trace to ", path);
    return nullptr;
  }
  return std::make_unique<Trace>(file);
}

Trace::Trace(int file) : file_(file), origin_(hostNow()) {
  failed_ = !writeText("[\n");
  if (failed_)
    complain();
  const std::uint64_t version = TraceLayout::version;
  add(Event{'M', application, 0, 0, 0, 0, "libsplit_trace", {{"version", version}}});
  writer_ = startThread([this] { writeLoop(); });
}

Trace::~Trace() {
  close();
}

void Trace::close() {
  {
    std::lock_guard lock(mutex_);
    if (closing_)
      return;
    closing_ = true;
    changed_.notify_one();
  }
  writer_.join();
  ::close(file_);
}

template <class... Events> void Trace::add(Events... events) {
  std::lock_guard lock(mutex_);
  if (closing_ || failed_)
    return;
  if (pending_.size() + sizeof...(events) > maxPending) {
    dropped_ += sizeof...(events);
    return;
  }
  (pending_.push_back(std::move(events)), ...);
  if (pending_.size() >= maxPending / 2)
    changed_.notify_one();
}

void Trace::nameProcess(int process, const std::string& name) {
  metadata(process, "process_name", {{"name", name}});
  metadata(process, "process_sort_index", {{"sort_index", static_cast<std::uint64_t>(process)}});
}

void Trace::nameThread(int process, int thread, const std::string& name) {
  const auto index = static_cast<std::uint64_t>(thread);
  add(Event{'M', process, thread, 0, 0, 0, "thread_name", {{"name", name}}},
      Event{'M', process, thread, 0, 0, 0, "thread_sort_index", {{"sort_index", index}}});
}

void Trace::slice(int process, int thread, std::string name, HostTime begin, HostTime end,
                  Arguments arguments) {
  add(Event{'X', process, thread, begin, std::max<HostTime>(end - begin, 0), 0, std::move(name),
            std::move(arguments)});
}

void Trace::instant(int process, int thread, std::string name, HostTime at, Arguments arguments) {
  add(Event{'i', process, thread, at, 0, 0, std::move(name), std::move(arguments)});
}

void Trace::metadata(int process, std::string name, Arguments arguments) {
  add(Event{'M', process, 0, 0, 0, 0, std::move(name), std::move(arguments)});
}

void Trace::counter(int process, std::string name, HostTime at, Arguments values) {
  add(Event{'C', process, 0, at, 0, 0, std::move(name), std::move(values)});
}

void Trace::arrow(int fromProcess, int fromThread, HostTime from, int toProcess, int toThread,
                  HostTime to) {
  const std::uint64_t id = ++arrows_;
  add(Event{'s', fromProcess, fromThread, from, 0, id, "caused", {}},
      Event{'f', toProcess, toThread, to, 0, id, "caused", {}});
}

DeviceClock& Trace::clock(std::size_t device) {
  return clocks_[device];
}

int Trace::freeThread(int process, TracedWork::Track track, HostTime& begin, HostTime end,
                      HostTime uncertainty) {
  static constexpr const char* names[TraceLayout::tracks] = {"kernels", "transfers to it",
                                                             "transfers from it", "other commands"};
  constexpr int most = 16; // beside each other
  for (int beside = 0;; ++beside) {
    const int thread = TraceLayout::threadOf(track, beside);
    auto [last, isNew] = trackEnds_.try_emplace({process, thread}, 0);
    if (isNew)
      nameThread(process, thread,
                 names[static_cast<int>(track)] +
                     (beside ? " (" + std::to_string(beside + 1) + ")" : std::string()));
    if (begin < last->second && beside + 1 < most &&
        (last->second - begin > uncertainty || end < last->second))
      continue;
    begin = std::clamp(last->second, begin, std::max(begin, end));
    last->second = std::max(last->second, end);
    return thread;
  }
}

void Trace::writeLoop() {
  std::deque<Event> taken;
  bool last = false, good = !failed_; // nobody else changes it
  while (!last) {
    std::uint64_t dropped = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(200),
                        [&] { return closing_ || pending_.size() >= maxPending / 2; });
      failed_ = !good;
      last = closing_;
      dropped = dropped_;
      taken.clear();
      taken.swap(pending_);
    }
    if (last && dropped > 0)
      taken.push_back({'i',
                       application,
                       0,
                       hostNow(),
                       0,
                       0,
                       std::to_string(dropped) + " events were dropped",
                       {{"dropped", dropped}}});
    if (good && !write(taken)) {
      complain();
      good = false;
    }
  }
  if (good && !writeText("\n]\n"))
    complain();
}

bool Trace::writeText(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool Trace::write(const std::deque<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    text += started_ ? ",\n" : "";
    started_ = true;
    text += std::string("{\"ph\":\"") + event.phase +
            "\",\"pid\":" + std::to_string(event.process) +
            ",\"tid\":" + std::to_string(event.thread);
    if (event.phase != 'M')
      text += ",\"ts\":" + microseconds(event.at - origin_);
    switch (event.phase) {
    case 'X':
      text += ",\"dur\":" + microseconds(event.duration);
      break;
    case 'i':
      text += ",\"s\":\"t\"";
      break;
    case 's':
    case 'f':
      text += ",\"cat\":\"call\",\"id\":" + std::to_string(event.id);
      text += event.phase == 'f' ? ",\"bp\":\"e\"" : "";
      break;
    default:
      break;
    }
    text += ",\"name\":" + quoted(event.name);
    const char* separator = ",\"args\":{";
    for (const Argument& argument : event.arguments) {
      text += separator + quoted(argument.name) + ":" + argument.json;
      separator = ",";
    }
    text += event.arguments.empty() ? "}" : "}}";
  }
  return writeText(text);
}

} // namespace libsplit::runtime
