// Atomics that only update: read-modify-writes that commute and whose result nobody uses.
//
// `atomic_inc(&bins[b])` as a statement may happen on any device at any time, as long as every
// device's share of it is combined in the end. `slot = atomic_inc(&n)` may not: each work-item gets
// to see in which order things happened.
//
// OpenCL C has no atomic addition of floats, so programs write one as a loop:
//
//     do { old = *sum; new = old + x; } while (atomic_cmpxchg(sum, as_uint(old), as_uint(new))
//                                              != as_uint(old));
//
// It is recognised as a whole: the exchange is the update, and the load before it is no read.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <optional>

namespace llvm {
class CallBase;
class Function;
class Instruction;
} // namespace llvm

namespace libsplit {

/// The updates of one function.
class AtomicUpdates {
public:
  explicit AtomicUpdates(const llvm::Function& function);

  /// What an atomic instruction or call does, if it commutes, whether its result is used or not.
  static std::optional<UpdateKind> commutingKind(const llvm::Instruction& instruction);
  /// What `instruction` does to its element if it is no more than an update.
  std::optional<UpdateKind> find(const llvm::Instruction& instruction) const;
  /// Whether `instruction` is a load that belongs to an update.
  bool isPartOfUpdate(const llvm::Instruction& instruction) const {
    return parts_.contains(&instruction);
  }

private:
  void recogniseExchangeLoop(const llvm::Instruction& exchange);

  llvm::DenseMap<const llvm::Instruction*, UpdateKind> exchanges_;
  llvm::SmallPtrSet<const llvm::Instruction*, 4> parts_;
};

} // namespace libsplit
