#include "analysis-pass/tests/oracle/host_module.h"

#include "analysis-pass/pass/analysis_managers.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace libsplit::oracle {
namespace {

/// Null if `module` holds images,
/// pipes or the like.
std::unique_ptr<llvm::Module> withoutEvents(std::unique_ptr<llvm::Module> module) {
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  const std::string event = "target(\"spirv.Event\")";
  if (text.find("target(\"") == std::string::npos)
    return module;
  for (std::size_t at = 0; (at = text.find(event, at)) != std::string::npos;)
    text.replace(at, event.size(), "ptr");
  if (text.find("target(\"") != std::string::npos)
    return nullptr;
  llvm::SMDiagnostic error;
  return llvm::parseAssemblyString(text, error, module->getContext());
}

} // namespace

std::unique_ptr<llvm::Module> extractKernel(const llvm::Module& whole, const std::string& name) {
  auto module = llvm::CloneModule(whole);
  for (llvm::Function& function : *module)
    if (!function.isDeclaration() && function.getName() != name)
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (llvm::GlobalVariable& variable : module->globals())
    if (!variable.isDeclaration())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  AnalysisManagers managers;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(*module, managers.modules);
  return withoutEvents(std::move(module));
}

void useHostConventions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
          call->setCallingConv(llvm::CallingConv::C);
    // Work-items wait in the middle of functions, and a buffer may be passed twice.
    for (llvm::Argument& argument : function.args())
      argument.removeAttr(llvm::Attribute::NoAlias);
  }
}

void addEntry(llvm::Function& kernel, const std::string& name) {
  llvm::Module& module = *kernel.getParent();
  auto* pointer = llvm::PointerType::get(module.getContext(), 0);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), {pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> code(llvm::BasicBlock::Create(module.getContext(), "", entry));
  std::vector<llvm::Value*> values;
  for (llvm::Argument& argument : kernel.args()) {
    llvm::Value* slot = code.CreateLoad(
        pointer, code.CreateConstGEP1_64(pointer, entry->getArg(0), argument.getArgNo()));
    if (argument.getType()->isPointerTy())
      values.push_back(code.CreateAddrSpaceCast(slot, argument.getType()));
    else
      values.push_back(code.CreateAlignedLoad(argument.getType(), slot, llvm::Align(1)));
  }
  llvm::CallInst* call = code.CreateCall(&kernel, values);
  call->setCallingConv(kernel.getCallingConv());
  call->setAttributes(kernel.getAttributes());
  code.CreateRetVoid();
}

} // namespace libsplit::oracle
