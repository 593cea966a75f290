// Runs a kernel in this process, work-item by work-item, and tells which bytes of which memory
// object each work-group read and wrote.
//
// The kernel comes from splitc's own front end, but from nothing behind it: it is instrumented
// (record_accesses.h), completed with PoCL's built-in functions (builtin_library.h), and compiled
// by LLVM's just-in-time compiler. Work-items are fibers, so that barriers work. Loads whose value
// nobody uses are no accesses: LLVM's plain clean-up passes run first.
//
// Memory objects lie far apart with nothing between them, so an access that misses its buffer, even
// by gigabytes, is noticed; such a launch is undefined, as is signed overflow. What a division by
// zero gives is unspecified: one of a few values.
#pragma once

#include "analysis-pass/pass/front_end.h"
#include "analysis-pass/summary/byte_set.h"
#include "analysis-pass/summary/ndrange.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit::oracle {

/// What one work-group did to one memory object.
struct Touched {
  ByteSet reads;
  ByteSet inputs; ///< reads of bytes that the same work-item had not written before
  ByteSet writes;
  ByteSet changes; ///< writes of another value than was there
};

struct Observation {
  std::string undefined; ///< why the launch has no meaning; then nothing else is said
  /// The result may depend on the order of work-items: two write different values to a byte, or one
  /// writes what another, not separated by a barrier, reads. Atomics of one kind whose results
  /// nobody uses are no race with each other.
  bool racy = false;
  bool unspecified = false; ///< an integer was divided by zero, or the quotient did not fit
  /// What ran, in this order, and what each of these groups did, by memory object.
  std::vector<std::array<std::uint64_t, 3>> numbers;
  std::vector<std::vector<Touched>> groups;
};

/// Memory objects, of up to 1 MiB each. One at a time in a process. Not thread-safe.
class Memories {
public:
  Memories();
  ~Memories();
  Memories(const Memories&) = delete;
  Memories& operator=(const Memories&) = delete;

  static constexpr unsigned capacity = 16;
  /// A new object of `size` bytes, all 0; the span is valid until `clear`.
  std::span<std::byte> add(std::size_t size);
  void clear() { sizes_.clear(); }
  unsigned count() const { return static_cast<unsigned>(sizes_.size()); }
  std::span<std::byte> at(unsigned i) const;
  const std::byte* base() const { return base_; }

private:
  std::byte* base_ = nullptr;
  std::vector<std::size_t> sizes_;
};

struct Argument {
  enum class Kind { Value, Buffer, Local };
  Kind kind = Kind::Value;
  std::vector<std::byte> value;  ///< of a by-value argument
  std::byte* address = nullptr;  ///< Buffer: within a memory object; null for NULL
  std::uint64_t size = 0;        ///< Buffer, Local: bytes
  std::vector<std::byte> before; ///< Buffer: what it holds at the launch
  unsigned memory = 0;           ///< Buffer: which memory object
  std::uint64_t offset = 0;      ///< Buffer: bytes from the object's start
};

/// One kernel, ready to run.
class Kernel {
public:
  ~Kernel();
  enum class Form {
    Lean, ///< without what nobody uses, as devices run it
    Plain ///< with every division and access that the source has
  };
  /// The kernels `wanted` of `program`; `missing` gets a line for each that this machine can't run.
  static std::vector<std::unique_ptr<Kernel>> compile(const ProgramInput& program,
                                                      const std::vector<std::string>& wanted,
                                                      std::vector<std::string>& missing,
                                                      Form form = Form::Lean);

  const std::string& name() const { return name_; }
  /// `maxSteps`: iterations of loops, over all work-items, after which it counts as endless.
  /// `boxes`: of all work-groups only these run, in this order.
  Observation run(const NDRange& range, std::span<const Argument> arguments,
                  const Memories& memories, std::uint64_t maxSteps = 4'000'000) const;
  Observation run(const NDRange& range, std::span<const Argument> arguments,
                  const Memories& memories, std::uint64_t maxSteps,
                  std::span<const GroupBox> boxes) const;

private:
  Kernel() = default;
  struct Code;
  std::string name_;
  std::shared_ptr<Code> code_;
  void (*entry_)(void** arguments) = nullptr;
};

} // namespace libsplit::oracle
