// Finds the bytes of a launch that more than one memory node may change, and how to put them
// together again. Pure.
//
// What one node alone may change goes the ordinary way and is none of this file's business.
#pragma once

#include "analysis-pass/summary/evaluate.h"
#include "runtime/plan/merge.h"

#include <string>
#include <variant>

namespace libsplit::runtime {

/// What one piece of a launch does to one buffer, in that buffer's bytes.
struct BufferEffects {
  ByteSet reads, possibleWrites, certainWrites;
  ByteSet rewrites; ///< may be stored back as it was
  std::vector<UpdatedBytes> updates;
};

struct PieceEffects {
  NodeId node = hostNode;
  std::vector<BufferEffects> buffers; ///< by buffer
};

/// What holds for a buffer throughout the launch.
struct BufferTraits {
  std::string name;          ///< of the parameter through which the kernel sees it, for messages
  std::uint32_t grain = 16;  ///< every write touches blocks of this size as wholes
  std::uint64_t end = 0;     ///< of the arguments' bytes
  std::uint64_t origins = 0; ///< all origins of its arguments, or-ed: their alignment
};

/// The merges that the pieces call for (none if no byte is shared), or why there can be none.
std::variant<std::vector<Merge>, Reason> planMerges(std::span<const PieceEffects> pieces,
                                                    std::span<const BufferTraits> buffers);

} // namespace libsplit::runtime
