// LIBSPLIT_TRACE: what ran where and when, for `splittrace`, which also makes Chrome trace events
// of it (trace_format.h says what the file holds).
//
// Beside what happened the file says what the launches were, so that whoever reads it can ask the
// planner and the cost model anew (splittrace whatif): the devices and their memories, each
// kernel's summary, and for each launch its NDRange, the scalars that decide about regions, and its
// buffers. Of what buffers hold there is nothing.
//
// Whoever has something to record copies its bytes behind those of others; a thread writes them to
// the file, a few times a second. Nothing is made into text, in neither of them. At most
// `maxPending` bytes wait, and what comes on top is dropped and counted. A program that is killed
// leaves whole records, but for the last.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/trace/trace_format.h"
#include "runtime/trace/trace_layout.h"

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

/// Nanoseconds of the host's steady clock.
using HostTime = std::int64_t;
HostTime hostNow();

using record::Uncounted;

/// What an instruction does, for the trace; hangs on it if tracing is on.
struct TracedWork {
  using Track = TraceLayout::Track;
  std::uint64_t number = 0; ///< its own; never 0
  Track track = Track::Commands;
  std::uint32_t name = 0; ///< as a text of the trace
  std::size_t device = 0;
  CompletionPtr done;
  HostTime before = 0, after = 0; ///< around the enqueuing; 0: it never was
  bool overOnReturn = false;      ///< work of the host, over when `after` was
  std::uint64_t bytes = 0;        ///< of a transfer
  std::uint64_t buffer = 0;       ///< … of which buffer; 0: not said
  Uncounted uncounted = Uncounted::No;
  std::uint64_t groupBegin = 0, groupEnd = 0, groups = 0; ///< of a piece; `groups`: the launch's
  unsigned dimension = 0;
  /// Numbers of what had to be over before it began.
  std::vector<std::uint64_t> dependsOn;
};

/// What the trace has said of a buffer.
struct TracedBuffer {
  std::uint64_t number = 0;        ///< 0: nothing
  std::vector<std::uint64_t> held; ///< how many bytes each memory node was said to hold
};

/// What the trace has said of a kernel.
struct TracedCode {
  std::uint64_t number = 0;           ///< 0: nothing
  std::uint32_t name = 0;             ///< as a text of the trace
  std::vector<const void*> summaries; ///< by device: that it was described by
};

/// The application's call that a task stands for. Names are texts of the trace.
struct TracedCall {
  std::uint64_t number = 0;    ///< 0: it is none
  std::uint64_t firstWork = 0; ///< number of the first work that may be for it
  std::uint32_t name = 0;
  std::uint32_t kernel = 0;        ///< of a launch
  std::string reason;              ///< why a launch was not split
  std::uint64_t launch = 0;        ///< the description of a launch; 0: there is none
  std::vector<record::Use> uses;   ///< of other commands
  std::vector<std::byte> holdings; ///< as the record has them
  std::uint32_t holdingCount = 0;
  std::uint32_t thread = 0;
  bool blocking = false;
  HostTime begin = 0, end = 0;
};

/// The bytes of a record, put together. To be used again, since it keeps its memory.
class RecordBytes {
public:
  /// A record begins; its head is filled in.
  template <typename Record> void begin(Record record) {
    size_ = 0;
    record.head.kind = Record::kind;
    put(record);
  }
  template <typename Part>
    requires std::has_unique_object_representations_v<Part> || std::same_as<Part, record::Options>
  void put(const Part& part) {
    put(&part, sizeof part);
  }
  template <typename Part> void putAll(std::span<const Part> parts) {
    put(parts.data(), parts.size_bytes());
  }
  /// Filled up.
  void putText(std::string_view text) {
    put(text.data(), text.size());
    fillUp();
  }
  void put(const void* data, std::size_t size) {
    if (size == 0)
      return;
    if (bytes_.size() - size_ < size)
      bytes_.resize(2 * (size_ + size));
    std::memcpy(bytes_.data() + size_, data, size);
    size_ += size;
  }
  void fillUp() {
    constexpr std::uint64_t nothing = 0;
    put(&nothing, record::padded(size_) - size_);
  }
  /// The record, which is as long as it is now.
  std::span<const std::byte> finish() {
    const auto size = static_cast<std::uint32_t>(size_);
    std::memcpy(bytes_.data() + offsetof(record::Head, size), &size, sizeof size);
    return std::span(bytes_).first(size_);
  }

private:
  std::vector<std::byte> bytes_; ///< as long as the longest so far
  std::size_t size_ = 0;
};

/// Not thread-safe, but that a thread of its own writes the file.
class Trace {
public:
  static constexpr std::size_t maxPending = 32 << 20;

  /// Null, with a line in the log, if the file can't be written. "%p" stands for the process id.
  static std::unique_ptr<Trace> open(const std::string& pattern);
  /// Takes the file descriptor, which may be a pipe.
  explicit Trace(int file);
  /// Writes what is pending.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Returns without waiting for the file. False: it was dropped.
  bool add(std::span<const std::byte> record);
  /// The number that stands for the text from now on; 0 if it was dropped.
  std::uint32_t text(std::string_view text);

  /// Writes what is pending, and how much was dropped. What comes after is ignored.
  void close();

private:
  struct TextHash {
    using is_transparent = void; // NOLINT(readability-identifier-naming)
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  void writeLoop();
  bool write(std::span<const std::byte> bytes);

  const int file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::byte> pending_;
  std::uint64_t dropped_ = 0;
  bool closing_ = false;
  bool failed_ = false; ///< the file takes no more
  bool awake_ = false;  ///< the writer has been told that there is much to write
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> texts_;
  RecordBytes bytes_;
  std::thread writer_;
};

} // namespace libsplit::runtime
