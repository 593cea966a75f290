// What another process is to have a driver compile before launches need it.
//
// Some drivers compile a kernel when it is first launched, for each local size anew, and keep what
// they made on disk, for all processes: PoCL does. Where a launch is split for the first time, each
// device would compile its part's form of the kernel while the program waits. So another process
// does that before (`splitrun --compile-ahead`), on processors that have nothing to do, without a
// lock of the program's drivers; its input is a list of these. Launches meanwhile stay at home.
//
// A driver compiles for what is executed. So one work-group is, or as few as make the driver take
// the NDRange for one of the same kind: with the program's values, in buffers of the same sizes, in
// which nothing was ever written. What a kernel does that expects other bytes nobody knows. If it
// crashes or does not end, that other process does; by then the driver has compiled it. But where
// the driver itself ends the process it would end the program's as well: launches that wait for it
// stay at home.
#pragma once

#include "runtime/plan/piece_range.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct CompileOrder {
  struct Argument {
    enum class Kind { Value, Local, Buffer };
    Kind kind = Kind::Value;
    std::uint64_t size = 0;            ///< of a buffer or of local memory, in bytes
    std::vector<std::uint8_t> value{}; ///< … of a value
  };

  unsigned platform = 0, device = 0; ///< as the loader and the platform count them
  std::string text;                  ///< OpenCL C
  std::string options;               ///< of its build
  std::string kernel;
  std::vector<Argument> arguments;
  unsigned dimensions = 1;
  std::vector<EnqueuedRange> launches; ///< none: it is only built, and the linker tried
};

/// The least NDRanges for which drivers would compile the same as for `range` and for those of its
/// parts, cut in `dimension`, that are an eighth of it or more. They begin where it does. Where the
/// local size was left open, they are the same.
std::vector<EnqueuedRange> leastLike(const EnqueuedRange& range, unsigned dimension);

/// Seconds that the other process gets for an order, of all of the program's runs together: in each
/// it is broken off when the program ends.
inline constexpr double patienceWithCompiling = 30;
/// What is noted of an order: that the driver has it, that it is not to be tried again, or that it
/// was broken off after so many seconds in all.
inline constexpr const char* wasCompiled = "it was\n";
inline constexpr const char* wasTried = "it was tried\n";
std::string brokenOffAfter(double seconds);
/// Seconds that are left for an order of which this is noted.
double patienceLeft(const std::optional<std::string>& note);

/// What the process says when it is done, when the driver refused something, and when it gave up:
/// PoCL ends the process where it finds no compiler or can't write to its cache. It says nothing
/// where it came to another end.
inline constexpr const char* allCompiled = "compiled\n";
inline constexpr const char* notCompiled = "refused\n";
inline constexpr const char* driverGaveUp = "given up\n";

/// A program with a kernel that does nothing, to see whether a driver can compile at all.
inline constexpr const char* emptyProgram = "kernel void nothing() {}\n";
inline constexpr const char* emptyKernel = "nothing";

/// For a process's standard input.
std::string serialize(std::span<const CompileOrder> orders);
/// Nothing if it is none.
std::optional<std::vector<CompileOrder>> parseCompileOrders(const std::string& text);

} // namespace libsplit::runtime
