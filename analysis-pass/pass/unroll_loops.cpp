#include "analysis-pass/pass/unroll_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace libsplit {

namespace {

/// Has a variable that moves by constants, but not by a fixed step: `s /= 2`.
bool hasOddVariable(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::any_of(loop.getHeader()->phis(), [&](llvm::PHINode& phi) {
    if (!phi.getType()->isIntegerTy() || !loop.getLoopLatch())
      return false;
    if (auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(&phi));
        recurrence && recurrence->isAffine())
      return false;
    const llvm::Value* next = phi.getIncomingValueForBlock(loop.getLoopLatch());
    while (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(next)) {
      if (!llvm::isa<llvm::Constant>(operation->getOperand(1)))
        return false;
      next = operation->getOperand(0);
    }
    return next == &phi;
  });
}

/// Has a load or store at a variable place of constant or private data.
bool usesTable(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer || loop.isLoopInvariant(pointer))
        continue;
      const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
      auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object);
      if (llvm::isa<llvm::AllocaInst>(object) || (global && global->isConstant()))
        return true;
    }
  return false;
}

} // namespace

llvm::PreservedAnalyses UnrollLoopsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  constexpr unsigned maxCount = 64;
  constexpr std::size_t maxGrowth = 8000;
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  llvm::OptimizationRemarkEmitter remarks(&function);
  std::size_t grown = 0;
  bool changed = false;
  llvm::SmallVector<llvm::Loop*, 8> all = loops.getLoopsInPreorder();
  for (llvm::Loop* loop : llvm::reverse(all)) { // inner loops first
    unsigned count = evolution.getSmallConstantTripCount(loop);
    if (count < 2 || count > maxCount || !loop->isLoopSimplifyForm() ||
        !(usesTable(*loop) || hasOddVariable(*loop, evolution)))
      continue;
    std::size_t size = 0;
    for (llvm::BasicBlock* block : loop->blocks())
      size += block->size();
    if (grown + size * count > maxGrowth)
      continue;
    grown += size * count;
    llvm::formLCSSARecursively(*loop, dominators, &loops, &evolution);
    llvm::UnrollLoopOptions options{};
    options.Count = count;
    options.Force = true;
    options.ForgetAllSCEV = true;
    changed |=
        llvm::UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions, &target,
                         &remarks, /*PreserveLCSSA=*/true) != llvm::LoopUnrollResult::Unmodified;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace libsplit
