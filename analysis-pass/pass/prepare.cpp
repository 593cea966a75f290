#include "analysis-pass/pass/prepare.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/divisions.h"
#include "analysis-pass/pass/expression_builder.h"
#include "analysis-pass/pass/global_ids.h"
#include "analysis-pass/pass/kernel_access_analysis.h"
#include "analysis-pass/pass/read_only_buffers.h"
#include "analysis-pass/pass/unroll_loops.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/FunctionAttrs.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
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
          kind == BuiltinKind::IntegerMath || kind == BuiltinKind::ImageQuery)
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

/// Moves bounds that a loop loads anew in each iteration, `j < end[i]`, in front of the loop where
/// the kernel only reads their buffer: what does not change can be counted to. Whether the buffer
/// is written through another parameter, the launch sees.
class HoistBoundsPass : public llvm::PassInfoMixin<HoistBoundsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    if (!isKernel(function))
      return llvm::PreservedAnalyses::all();
    const std::vector<bool> readOnly = readOnlyBuffers(function);
    llvm::SmallVector<llvm::Loop*, 8> loops =
        analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
    for (llvm::Loop* loop : llvm::reverse(loops)) {
      llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
      loop->getExitingBlocks(exiting);
      for (llvm::BasicBlock* block : exiting)
        if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
            branch && branch->isConditional())
          if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()))
            for (llvm::Value* operand : compare->operands())
              hoist(operand, *loop, readOnly);
    }
    llvm::PreservedAnalyses preserved;
    preserved.preserveSet<llvm::CFGAnalyses>();
    return preserved;
  }

private:
  /// Moves the load that `value` is, behind arithmetic and casts, and what its address needs.
  static void hoist(llvm::Value* value, llvm::Loop& loop, const std::vector<bool>& readOnly) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || !loop.contains(instruction) || !loop.getLoopPreheader())
      return;
    if (llvm::isa<llvm::CastInst, llvm::BinaryOperator>(instruction) ||
        totalDivision(*instruction)) {
      for (llvm::Value* operand : instruction->operands())
        hoist(operand, loop, readOnly);
      return;
    }
    auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    bool changed = false;
    if (load && load->isSimple() && load->getType()->isIntegerTy() &&
        pointsIntoReadOnly(load->getPointerOperand(), readOnly) &&
        loop.makeLoopInvariant(load->getPointerOperand(), changed)) {
      load->moveBefore(loop.getLoopPreheader()->getTerminator());
      load->setMetadata(hoistedLoad, llvm::MDNode::get(load->getContext(), {}));
    }
  }
};

/// A kernel doesn't grow beyond this by inlining; calls that are left over are told to the user.
constexpr unsigned maxInstructions = 30000;

/// Inlines what `kernel` calls, and what that calls, until nothing or no room is left. Functions
/// that call themselves stay calls.
void inlineCalls(llvm::Function& kernel) {
  struct Site {
    llvm::CallBase* call;
    std::vector<const llvm::Function*> within; ///< inlined functions that the call came from
  };
  auto callee = [](const llvm::CallBase& call) {
    llvm::Function* function = call.getCalledFunction();
    return function && !function->isDeclaration() ? function : nullptr;
  };
  std::vector<Site> open;
  for (llvm::Instruction& instruction : llvm::instructions(kernel))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && callee(*call))
      open.push_back({call, {&kernel}});
  unsigned size = kernel.getInstructionCount();
  while (!open.empty()) {
    Site site = std::move(open.back());
    open.pop_back();
    llvm::Function* function = callee(*site.call);
    unsigned grown = size + function->getInstructionCount();
    if (grown > maxInstructions || llvm::is_contained(site.within, function))
      continue;
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*site.call, info, /*MergeAttributes=*/false, nullptr,
                              /*InsertLifetime=*/false)
             .isSuccess())
      continue;
    size = grown;
    site.within.push_back(function);
    for (llvm::CallBase* inner : info.InlinedCallSites)
      if (callee(*inner))
        open.push_back({inner, site.within});
  }
}

/// Makes functions small before they are inlined in many places.
llvm::ModulePassManager simplification() {
  llvm::FunctionPassManager perFunction;
  perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(PlainDivisionsPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(perFunction)));
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::PostOrderFunctionAttrsPass()));
  return passes;
}

llvm::ModulePassManager pipeline() {
  llvm::FunctionPassManager perFunction;
  perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  perFunction.addPass(llvm::InferAddressSpacesPass(genericSpace));
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(llvm::ScalarizerPass());
  perFunction.addPass(llvm::InstSimplifyPass());
  perFunction.addPass(GlobalIdsPass());
  perFunction.addPass(PlainDivisionsPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(PlainDivisionsPass());
  perFunction.addPass(llvm::InstSimplifyPass());
  perFunction.addPass(llvm::ADCEPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  perFunction.addPass(llvm::LoopSimplifyPass());
  perFunction.addPass(UnrollLoopsPass());
  perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(PlainDivisionsPass());
  perFunction.addPass(llvm::InstSimplifyPass());
  perFunction.addPass(llvm::ADCEPass());
  perFunction.addPass(llvm::SimplifyCFGPass());
  perFunction.addPass(HoistPass());
  perFunction.addPass(llvm::EarlyCSEPass());
  perFunction.addPass(llvm::LoopSimplifyPass());
  perFunction.addPass(HoistBoundsPass());
  perFunction.addPass(llvm::LCSSAPass());

  llvm::ModulePassManager passes;
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
  makeDivisionsTotal(module);
  simplification().run(module, analyses);
  for (llvm::Function& function : module)
    if (isKernel(function))
      inlineCalls(function);
  analyses.invalidate(module, llvm::PreservedAnalyses::none());
  pipeline().run(module, analyses);
  return llvm::PreservedAnalyses::none();
}

} // namespace libsplit
