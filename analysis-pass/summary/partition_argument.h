// The trailing by-value argument of partition-ready kernels: what the whole NDRange looks like, for
// a kernel that runs as a part of it. One `ulong16` in OpenCL C, these 16 words on the host.
//
// A part is launched with a global_work_offset, so get_global_id and get_local_id are right by
// themselves. get_group_id adds firstGroup to what the device says; the others are answered from
// here.
#pragma once

#include "analysis-pass/summary/ndrange.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace libsplit {

struct PartitionArgument {
  std::array<std::uint64_t, 3> firstGroup{};   ///< .s012: group ids of the part's first group
  std::array<std::uint64_t, 3> numGroups{};    ///< .s345: get_num_groups of the whole
  std::array<std::uint64_t, 3> globalSize{};   ///< .s678: get_global_size of the whole
  std::array<std::uint64_t, 3> globalOffset{}; ///< .s9ab: get_global_offset of the whole
  std::array<std::uint64_t, 4> reserved{};     ///< .scdef
};
static_assert(sizeof(PartitionArgument) == 128);

/// For the groups `box` of `range`.
inline PartitionArgument partitionOf(const NDRange& range, const GroupBox& box) {
  PartitionArgument partition;
  for (unsigned d = 0; d < 3; ++d) {
    partition.firstGroup[d] = box.begin[d];
    partition.numGroups[d] = range.groups(d);
    partition.globalSize[d] = range.global[d];
    partition.globalOffset[d] = range.offset[d];
  }
  return partition;
}

/// Where its words stand, for whoever reads them one by one: dimension d is `d` words further.
namespace partition_word {
enum : unsigned { FirstGroup = 0, NumGroups = 3, GlobalSize = 6, GlobalOffset = 9 };
} // namespace partition_word

/// The argument behind it of windowed kernels (window_rewriter.h), which find in a buffer's place
/// memory that holds only a part of its bytes: by how many bytes the memory's first one lies behind
/// the one that the kernel's pointer is to have pointed to. By pointer to global memory, in the
/// order of the parameters; modulo 2^64. One `ulong16` in OpenCL C.
struct WindowArgument {
  static constexpr std::size_t most = 16; ///< such pointers
  std::array<std::uint64_t, most> behind{};
};
static_assert(sizeof(WindowArgument) == 128);

} // namespace libsplit
