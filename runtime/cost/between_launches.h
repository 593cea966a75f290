// What the program itself does to buffers between two launches: its copies, fills, writes, reads.
//
// What a cycle of launches gains by being split depends on that (outlook.h). Bytes that the program
// writes in every cycle have to reach every device again, and what it copies on its own device has
// to come home for it. Only what comes with a launch again and again counts: an upload before the
// first launch, or a result that is read now and then, is no part of the cycle. So two launches in
// a row have to come with alike commands before those count as the launch's.
//
// Worked example: a program writes 16 MiB of points, launches `assign`, reads 4 MiB of labels, and
// so on, after it wrote 1 GiB once. The first launch comes with 1 GiB and 16 MiB, the second with
// the 4 MiB of the first and 16 MiB, as do all after it: from the third on those are the launch's.
//
// Pure. Not thread-safe.
#pragma once

#include "analysis-pass/summary/byte_set.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libsplit::runtime {

/// Commands of the program of one kind on one buffer.
struct ProgramCommand {
  enum class Kind {
    Write,      ///< from the program's memory
    Read,       ///< to it
    HomeWrites, ///< what a command on the program's own device writes
    HomeReads   ///< … or reads
  };
  const void* buffer = nullptr; ///< only compared
  Kind kind = Kind::Write;
  ByteSet bytes;
};

/// Since the last launch, in the order in which the first of each came.
class BetweenLaunches {
public:
  void note(const void* buffer, ProgramCommand::Kind kind, ByteRange bytes);
  /// All since the last time.
  std::vector<ProgramCommand> take();

private:
  static constexpr std::size_t mostCommands = 64; ///< others don't count
  static constexpr std::size_t mostRanges =
      64; ///< of a buffer; then what lies between them counts too
  std::vector<ProgramCommand> commands_;
};

/// What a launch usually comes with.
class UsualCommands {
public:
  /// A launch came with these. Whether that changes what is usual.
  bool cameWith(std::vector<ProgramCommand> commands);
  const std::vector<ProgramCommand>& commands() const { return usual_; }
  /// Whether `commands` can have been noticed: the first launch came with what all began with.
  bool isKnown() const { return launches_ > 2; }

private:
  std::vector<ProgramCommand> last_, usual_;
  std::uint64_t launches_ = 0;
};

} // namespace libsplit::runtime
