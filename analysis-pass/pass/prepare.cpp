#include "analysis-pass/pass/prepare.h"

#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/IR/InstrTypes.h>
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
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          call->removeFnAttr(llvm::Attribute::NoInline);
  }
  pipeline().run(module, analyses);
  return llvm::PreservedAnalyses::none();
}

} // namespace libsplit
