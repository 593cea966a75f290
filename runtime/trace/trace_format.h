// The file that LIBSPLIT_TRACE names, byte for byte: version 3 of what a trace is.
//
// A trace may cost next to nothing, so the file holds what is at hand when a command is over, as it
// is at hand: numbers, times of whatever clock gave them, and texts by number. `splittrace` makes
// of it what people look at, and `splittrace chrome` the events of versions 1 and 2, which were
// JSON (trace.schema.json). What can be told from the rest is not in the file: shares, the balance
// of a launch, arrows, tracks on which nothing overlaps, and how a device's clock differs.
//
// The file begins with a FileHead; records follow to its end. Each is one of the structs below,
// then what its comment names, in that order, each list without gaps; bytes of text are filled up
// to a multiple of 8. Numbers are as the machine that wrote them has them, which
// FileHead::byteOrder tells. A text, a buffer, a kernel and a launch are described before they are
// named, and each number is given once. A file may end anywhere, since a process may: what is
// behind the last whole record is ignored.
//
// An example: kernel `k` ran on two devices, for a call of thread 70. (The texts have these numbers
// in this example, head and length are left out.)
//
//   Text 1 "k", Text 2 "0.0", Text 3 "cpu", Text 4 "clEnqueueNDRangeKernel"
//   Device 0, label 2, name 3, node 0 …          and the same of device 1
//   Task  call 1 by thread 70 from 100 us to 104 us, over at 190 us; name 4, kernel 1; 2 works
//     Work 1 of device 0: groups 0 to 2 of 4, enqueued 101 to 102 us; its own clock says it was
//            queued at 7, ran from 9 to 80 us
//     Work 2 of device 1 …
//
// Here the host was at 101 to 102 us when device 0 was at 7: so it is behind by 94 to 95 us, and
// its work is shown from 103.5 to 174.5.
#pragma once

#include <array>
#include <cstdint>

namespace libsplit::runtime::record {

inline constexpr std::uint32_t version = 3;
/// No text begins so, nor does what was treated as one and lost a bit or a line end's half.
inline constexpr std::array<char, 8> magic{'\x89', 's', 'p', 'l', 'i', 't', '\r', '\n'};
inline constexpr std::uint32_t ownByteOrder = 0x01020304;

struct FileHead {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byteOrder;
  std::int64_t origin; ///< the time that is shown as 0
};

// Times are nanoseconds of the host's steady clock, where nothing else is said. A text's number is
// 0 where there is none.

enum class Kind : std::uint32_t {
  Text = 1,
  Program,
  Options,
  Device,
  Buffer,
  Kernel,
  Launch,
  Native,
  NativeWrite,
  Task,
  Dropped,
};

struct Head {
  std::uint32_t size; ///< of the record, in bytes, with this; a multiple of 8
  Kind kind;
};

/// Then the text. The first is number 1, the next 2.
struct Text {
  static constexpr Kind kind = Kind::Text;
  Head head;
  std::uint32_t number;
  std::uint32_t length;
};

struct Program {
  static constexpr Kind kind = Kind::Program;
  Head head;
  std::uint32_t name;
  std::uint32_t process; ///< the system's number of it
};

struct Options {
  static constexpr Kind kind = Kind::Options;
  Head head;
  double minLaunchSeconds;
};

/// The first is number 0, the next 1.
struct Device {
  static constexpr Kind kind = Kind::Device;
  Head head;
  std::uint32_t number;
  std::uint32_t label, name; ///< texts
  std::uint32_t node;        ///< its memory
  std::uint32_t computeUnits, megahertz;
  std::uint8_t isGpu, isHome, participates; ///< 0 or 1
  std::array<std::uint8_t, 5> unused;
};

struct Buffer {
  static constexpr Kind kind = Kind::Buffer;
  Head head;
  std::uint64_t number;
  std::uint64_t size; ///< in bytes
};

/// What the analysis says of a kernel for some devices. Then the summary, as `splitc
/// --emit=summary` has it, and a std::uint64_t for each device.
struct Kernel {
  static constexpr Kind kind = Kind::Kernel;
  Head head;
  std::uint64_t code;
  std::uint32_t name;
  std::uint32_t summaryLength;
  std::uint64_t devices;
};

/// What was launched; calls that launch the same on the same share one. Then offset, global and
/// local size, each a std::uint64_t for each dimension; for each parameter a std::uint64_t: how
/// many bytes its value has, 0 if it decides nothing; the values, one behind the other and all
/// together filled up; and the buffers, a LaunchBuffer each.
struct Launch {
  static constexpr Kind kind = Kind::Launch;
  Head head;
  std::uint64_t number;
  std::uint64_t code;           ///< of the kernel
  std::uint32_t range, classes; ///< texts: what launches are told apart by when they are timed
  std::uint32_t dimensions;
  std::uint32_t parameters;
  std::uint32_t valueBytes;
  std::uint32_t buffers;
};

struct LaunchBuffer {
  std::uint64_t parameter;
  std::uint64_t buffer;
  std::uint64_t origin, size; ///< which bytes of it the argument is
};

/// A launch that went to the driver as it came.
struct Native {
  static constexpr Kind kind = Kind::Native;
  Head head;
  std::int64_t at;
  std::uint32_t thread;
  std::uint32_t kernel, reason;
  std::uint32_t unused;
};

/// Bytes [begin, end) of a buffer that a command reads or writes.
struct Use {
  std::uint64_t buffer;
  std::uint64_t begin, end;
  std::uint64_t writes; ///< 0 or 1
};

/// A command of the program's wrote, which went to the driver as it came.
struct NativeWrite {
  static constexpr Kind kind = Kind::NativeWrite;
  Head head;
  std::int64_t at;
  std::uint64_t thread;
  Use use;
};

/// A call of the program's that is over, or what was sent ahead for one. Then its uses, the works
/// that it took, each followed by what it was after, and the holdings, each followed by the bytes.
struct Task {
  static constexpr Kind kind = Kind::Task;
  Head head;
  std::uint64_t call;               ///< its number; 0: none of the program's
  std::int64_t begin, end, retired; ///< the call, and when all of it was over
  std::uint64_t launch;             ///< 0: it is none, or not described
  std::uint32_t name, kernel;       ///< `kernel`: 0 if it launches none
  std::uint32_t reason;             ///< why a launch was not split
  std::uint32_t thread;
  std::uint32_t uses, works, holdings;
  std::uint8_t isAhead; ///< 1: works for the call of that number, which has its own record
  std::array<std::uint8_t, 3> unused;
};

/// What a device, or libsplit on its behalf, did. Then a std::uint64_t for each work that had to be
/// over before: its number. Those of other calls may be among them.
struct Work {
  std::uint64_t number;
  std::int64_t before, after;       ///< around the enqueuing
  std::uint64_t queued, start, end; ///< on the device's clock; 0: it has not said
  /// Of a transfer: the buffer, 0 if not said, and how many bytes of it. Of a piece: the first
  /// work-group, and the one after the last, in its dimension.
  std::uint64_t first, second;
  std::uint64_t groups; ///< of the launch, in that dimension; 0: it is no piece
  std::uint32_t name;
  std::uint32_t device;
  std::uint32_t dependencies;
  std::uint8_t track; ///< TraceLayout::Track
  std::uint8_t dimension;
  std::uint8_t overOnReturn; ///< 1: work of the host, over when `after` was
  std::uint8_t uncounted;    ///< Uncounted
};

/// Why the bytes of a transfer are not among those that moved between nodes.
enum class Uncounted : std::uint8_t { No, Stopover, Home };

/// How many bytes of a buffer each memory node held once the task was planned: then a std::uint64_t
/// for each node. Only where it has changed.
struct Holding {
  std::uint64_t buffer;
  std::uint64_t nodes;
};

/// At the end: so many records are missing.
struct Dropped {
  static constexpr Kind kind = Kind::Dropped;
  Head head;
  std::uint64_t count;
  std::int64_t at;
};

/// `size` filled up.
constexpr std::size_t padded(std::size_t size) {
  return (size + 7) / 8 * 8;
}

} // namespace libsplit::runtime::record
