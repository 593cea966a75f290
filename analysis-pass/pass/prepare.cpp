#include "analysis-pass/pass/prepare.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/expression_builder.h"
#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace libsplit {
namespace {

constexpr unsigned genericSpace = 4;

/// Moves everything that follows from the launch alone (ids, sizes, arguments) to the kernel's
/// entry, so that scalar evolution sees that loops don't change it. Only what can't trap moves.
class HoistPass : public llvm::PassInfoMixin<HoistPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    llvm::BasicBlock& entry = function.getEntryBlock();
    llvm::SmallPtrSet<llvm::Value*, 32> fixed;
    llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function);
    for (llvm::BasicBlock* block : blocks)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
        if (!isFixed(instruction, fixed))
          continue;
        fixed.insert(&instruction);
        if (block != &entry)
          instruction.moveBefore(entry.getTerminator());
      }
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }

private:
  static bool isFixed(llvm::Instruction& instruction,
                      const llvm::SmallPtrSetImpl<llvm::Value*>& fixed) {
    bool operandsAre = llvm::all_of(instruction.operands(), [&](llvm::Value* operand) {
      return llvm::isa<llvm::Constant, llvm::Argument>(operand) || fixed.contains(operand);
    });
    if (!operandsAre || llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction))
      return false;
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      BuiltinKind kind = classifyCall(*call).kind;
      if (kind == BuiltinKind::IdQuery || kind == BuiltinKind::WorkDim ||
          kind == BuiltinKind::GlobalLinearId || kind == BuiltinKind::LocalLinearId ||
          kind == BuiltinKind::IntegerMath)
        return true;
    }
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      auto* argument =
          llvm::dyn_cast<llvm::Argument>(load->getPointerOperand()->stripInBoundsConstantOffsets());
      return argument && load->isSimple() && isReadOnlyByValue(*argument);
    }
    return llvm::isSafeToSpeculativelyExecute(&instruction);
  }
};

llvm::ModulePassManager pipeline() {
  llvm::FunctionPassManager perFunction;
  perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  perFunction.addPass(llvm::InferAddressSpacesPass(genericSpace));
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(llvm::ScalarizerPass());
  perFunction.addPass(llvm::InstSimplifyPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(llvm::InstSimplifyPass());
  perFunction.addPass(llvm::ADCEPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  perFunction.addPass(HoistPass());
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(llvm::LoopSimplifyPass());
  perFunction.addPass(llvm::LCSSAPass());

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(perFunction)));
  return passes;
}

} // namespace

llvm::PreservedAnalyses PreparePass::run(llvm::Module& module,
                                         llvm::ModuleAnalysisManager& analyses) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration())
      continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (!isKernel(function))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block) {
        // "Never overflows" is for the launch to prove, and not for a pass to believe.
        instruction.dropPoisonGeneratingFlags();
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          call->removeFnAttr(llvm::Attribute::NoInline);
      }
  }
  pipeline().run(module, analyses);
  return llvm::PreservedAnalyses::none();
}

} // namespace libsplit
