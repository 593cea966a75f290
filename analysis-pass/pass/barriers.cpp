#include "analysis-pass/pass/barriers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/Instructions.h>

#include <set>

namespace libsplit {
namespace {

/// Whether all work-items of a launch find the same value. `expr` has no part that is local to a
/// group unless the kernel asks for such, and then its result depends on groups anyway.
bool isUniform(const Expr& expr) {
  switch (expr.op()) {
  case Expr::Op::Unknown:
  case Expr::Op::GlobalId:
  case Expr::Op::LocalId:
  case Expr::Op::GroupId:
  case Expr::Op::Load:
    return false;
  default:
    return llvm::all_of(expr.operands(), isUniform);
  }
}

/// Whether all work-items come to the block, and equally often.
bool isForAll(const PathOfBlock& path) {
  return path.condition.exact &&
         llvm::all_of(path.condition.anyOf,
                      [](const std::vector<Guard>& all) {
                        return llvm::all_of(all, [](const Guard& guard) {
                          return isUniform(guard.left) && isUniform(guard.right);
                        });
                      }) &&
         llvm::all_of(path.loops,
                      [](const LoopRuns& loop) { return loop.exact && isUniform(loop.count); });
}

} // namespace

bool Barriers::tellGroups(std::span<const Access> accesses, PathConditions& paths,
                          const llvm::DominatorTree& dominators,
                          const llvm::LoopInfo& loops) const {
  std::set<unsigned> reads, before, behind;
  for (const Access& access : accesses)
    if (access.effect == Effect::Read || access.effect == Effect::Rewrite)
      reads.insert(access.parameter);
  const auto leads = [&](const llvm::Instruction* from, const llvm::Instruction* to) {
    return llvm::isPotentiallyReachable(from, to, nullptr, &dominators, &loops);
  };
  for (const auto& [write, parameter] : writes_)
    for (const llvm::Instruction* barrier : barriers_) {
      if (leads(write, barrier))
        before.insert(parameter);
      if (leads(barrier, write))
        behind.insert(parameter);
    }
  return llvm::any_of(writes_,
                      [&](const auto& write) {
                        return reads.contains(write.second) ||
                               (before.contains(write.second) && behind.contains(write.second));
                      }) ||
         !llvm::all_of(barriers_, [&](llvm::Instruction* barrier) {
           return isForAll(paths.of(barrier->getParent()));
         });
}

} // namespace libsplit
