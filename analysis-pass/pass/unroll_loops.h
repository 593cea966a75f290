// Loops whose iterations are better looked at one by one.
#pragma once

#include <llvm/IR/PassManager.h>

namespace libsplit {

/// Unrolls loops of a small constant count that go through a constant table or a private array,
/// `f[(k * h + y - dy[k]) * w + x - dx[k]]`, or whose variable makes no fixed steps: each iteration
/// then knows its elements, or its variable, as numbers. Wants loops in simplified form.
class UnrollLoopsPass : public llvm::PassInfoMixin<UnrollLoopsPass> {
public:
  static llvm::PreservedAnalyses run(llvm::Function& function,
                                     llvm::FunctionAnalysisManager& analyses);
};

} // namespace libsplit
