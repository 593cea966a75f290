// Brings a module into the form that the analysis reads best: each kernel self-contained, its
// scalars in registers, its loops in simplified form. Chosen to keep the program's arithmetic as
// the source says it (no instcombine, no loop transformations): the analysis names it to the user.
#pragma once

#include <llvm/IR/PassManager.h>

namespace libsplit {

/// Metadata of a load that was moved to where the program may not come: in front of a loop.
inline constexpr const char* hoistedLoad = "libsplit.hoisted";

/// Module pass. Inlines functions into the kernels that call them, whatever their attributes, as
/// long as the kernel stays of a size that can be analysed.
class PreparePass : public llvm::PassInfoMixin<PreparePass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

} // namespace libsplit
