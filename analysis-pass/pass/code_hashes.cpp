#include "analysis-pass/pass/code_hashes.h"

#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace libsplit {
namespace {

/// Leaves what computes.
void strip(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  for (llvm::Function& function : module) {
    function.clearMetadata();
    function.setAttributes({});
    for (llvm::Argument& argument : function.args())
      argument.setName("");
    for (llvm::BasicBlock& block : function)
      block.setName("");
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      instruction.setName("");
      instruction.dropUnknownNonDebugMetadata();
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setAttributes({});
    }
  }
}

/// All that a kernel's code names, in the order in which it is met.
class Reached {
public:
  explicit Reached(const llvm::Function& kernel) {
    globals_.insert(&kernel);
    for (std::size_t i = 0; i < globals_.size(); ++i) {
      add(globals_[i]->getValueType());
      addOperands(*globals_[i]);
      if (auto* function = llvm::dyn_cast<llvm::Function>(globals_[i]))
        for (const llvm::Instruction& instruction : llvm::instructions(*function))
          add(instruction);
    }
  }

  void print(llvm::raw_ostream& out) const {
    for (const llvm::GlobalValue* global : globals_)
      global->print(out);
    for (const llvm::Type* type : structures_) { // of which instructions have the name alone
      type->print(out);
      out << '\n';
    }
  }

private:
  void add(const llvm::Instruction& instruction) {
    add(instruction.getType());
    if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
      add(address->getSourceElementType());
    else if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      add(variable->getAllocatedType());
    addOperands(instruction);
  }

  void addOperands(const llvm::User& user) {
    for (const llvm::Value* operand : user.operand_values()) {
      if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(operand)) {
        globals_.insert(global);
      } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) {
        add(constant->getType());
        if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(constant))
          add(address->getSourceElementType());
        addOperands(*constant);
      }
    }
  }

  void add(llvm::Type* type) {
    auto* structure = llvm::dyn_cast<llvm::StructType>(type);
    if (structure && !structure->isLiteral() && !structures_.insert(structure))
      return;
    for (llvm::Type* part : type->subtypes())
      add(part);
  }

  llvm::SetVector<const llvm::GlobalValue*> globals_;
  llvm::SetVector<const llvm::StructType*> structures_;
};

} // namespace

std::map<std::string, std::uint64_t> codeHashes(llvm::Module& module) {
  strip(module);
  std::map<std::string, std::uint64_t> hashes;
  for (const llvm::Function& kernel : module) {
    if (!isKernel(kernel))
      continue;
    std::string text;
    llvm::raw_string_ostream out(text);
    Reached(kernel).print(out);
    out.flush();
    hashes[kernel.getName().str()] = XXH3_64bits(text.data(), text.size());
  }
  return hashes;
}

} // namespace libsplit
