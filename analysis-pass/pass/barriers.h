// Do a kernel's barriers make its result depend on how the NDRange is cut into work-groups?
//
//     z[i] = sum;
//     barrier(CLK_GLOBAL_MEM_FENCE);     // programs that mean "done": of no effect
//
// A barrier orders what the work-items of a group do before it and behind it. That shows only where
// they do it to the same memory, and one of them writes:
//
//   * what is written is read as well, or updated by atomic operations: before, behind or both;
//   * writes through one parameter stand before a barrier and behind it, and the later one stays.
//
// Else it shows only where two arguments share a buffer, which the launch knows. And all work-items
// of a group have to come to it: where ids or data decide who does, groups of another shape may be
// no valid ones. That is asked of the conditions and loops around it (path_condition.h).
#pragma once

#include "analysis-pass/pass/path_condition.h"

#include <llvm/ADT/SmallVector.h>

#include <span>
#include <utility>

namespace llvm {
class DominatorTree;
class Instruction;
class LoopInfo;
} // namespace llvm

namespace libsplit {

class Barriers {
public:
  void add(llvm::Instruction& barrier) { barriers_.push_back(&barrier); }
  /// It may write through a parameter, by an atomic operation or another.
  void write(const llvm::Instruction& by, unsigned parameter) {
    writes_.emplace_back(&by, parameter);
  }

  bool any() const { return !barriers_.empty(); }
  /// Whether groups of another shape may have another result though no two arguments share a
  /// buffer. `accesses`: all of the kernel's, which has no local memory.
  bool tellGroups(std::span<const Access> accesses, PathConditions& paths,
                  const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops) const;

private:
  llvm::SmallVector<llvm::Instruction*, 4> barriers_;
  llvm::SmallVector<std::pair<const llvm::Instruction*, unsigned>, 8> writes_;
};

} // namespace libsplit
