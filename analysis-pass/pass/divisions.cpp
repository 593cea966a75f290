#include "analysis-pass/pass/divisions.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Opcode = llvm::Instruction::BinaryOps;

constexpr Opcode divisions[] = {llvm::Instruction::UDiv, llvm::Instruction::SDiv,
                                llvm::Instruction::URem, llvm::Instruction::SRem};

bool isSigned(Opcode opcode) {
  return opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
}

std::string prefixOf(Opcode opcode) {
  return std::string("libsplit.") + llvm::Instruction::getOpcodeName(opcode) + ".";
}

/// Whether every number can be divided by `divisor`.
bool isHarmless(Opcode opcode, const llvm::Value* divisor) {
  auto* constant = dyn_cast<llvm::Constant>(divisor);
  if (!constant)
    return false;
  if (auto* vector = dyn_cast<llvm::FixedVectorType>(constant->getType())) {
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
      if (const llvm::Constant* element = constant->getAggregateElement(lane);
          !element || !isHarmless(opcode, element))
        return false;
    return true;
  }
  auto* number = dyn_cast<llvm::ConstantInt>(constant);
  return number && !number->isZero() && !(isSigned(opcode) && number->isMinusOne());
}

llvm::FunctionCallee totalFunction(llvm::Module& module, Opcode opcode, llvm::IntegerType* type) {
  auto callee = module.getOrInsertFunction(
      prefixOf(opcode) + "i" + std::to_string(type->getBitWidth()), type, type, type);
  auto* function = cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setNoSync();
  function->setDoesNotFreeMemory();
  function->setSpeculatable();
  return callee;
}

/// The calls for `division`, one for each lane of a vector; null if its type has no fixed lanes.
llvm::Value* totalResult(llvm::BinaryOperator& division) {
  llvm::IRBuilder<> code(&division);
  llvm::Module& module = *division.getModule();
  const Opcode opcode = division.getOpcode();
  llvm::Value* left = division.getOperand(0);
  llvm::Value* right = division.getOperand(1);
  if (auto* type = dyn_cast<llvm::IntegerType>(division.getType()))
    return code.CreateCall(totalFunction(module, opcode, type), {left, right});
  auto* vector = dyn_cast<llvm::FixedVectorType>(division.getType());
  if (!vector)
    return nullptr;
  auto callee = totalFunction(module, opcode, cast<llvm::IntegerType>(vector->getElementType()));
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::Value* quotient = code.CreateCall(
        callee, {code.CreateExtractElement(left, lane), code.CreateExtractElement(right, lane)});
    result = code.CreateInsertElement(result, quotient, lane);
  }
  return result;
}

/// Where a constant was divided by a constant 0 there is only poison left: a value that is the same
/// for all its uses, and unknown, takes its place.
void freezePoison(llvm::Instruction& instruction) {
  for (llvm::Use& use : instruction.operands()) {
    auto* constant = dyn_cast<llvm::Constant>(use.get());
    if (!constant || !constant->getType()->isSingleValueType() ||
        !(isa<llvm::PoisonValue>(constant) || constant->containsPoisonElement()))
      continue;
    llvm::Instruction* before = &instruction;
    if (auto* phi = dyn_cast<llvm::PHINode>(&instruction))
      before = phi->getIncomingBlock(use)->getTerminator();
    auto* frozen = new llvm::FreezeInst(constant, "", before->getIterator());
    frozen->setDebugLoc(instruction.getDebugLoc());
    use.set(frozen);
  }
}

} // namespace

std::optional<Opcode> totalDivision(const llvm::Value& value) {
  auto* call = dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration() || !callee->getName().starts_with("libsplit."))
    return std::nullopt;
  for (Opcode opcode : divisions)
    if (callee->getName().starts_with(prefixOf(opcode)))
      return opcode;
  return std::nullopt;
}

void makeDivisionsTotal(llvm::Module& module) {
  std::vector<llvm::Instruction*> all;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      all.push_back(&instruction);
  for (llvm::Instruction* instruction : all) {
    freezePoison(*instruction);
    auto* division = dyn_cast<llvm::BinaryOperator>(instruction);
    if (!division || !llvm::is_contained(divisions, division->getOpcode()) ||
        isHarmless(division->getOpcode(), division->getOperand(1)))
      continue;
    if (llvm::Value* result = totalResult(*division)) {
      division->replaceAllUsesWith(result);
      division->eraseFromParent();
    }
  }
}

llvm::PreservedAnalyses PlainDivisionsPass::run(llvm::Function& function,
                                                llvm::FunctionAnalysisManager&) {
  bool changed = false;
  llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function);
  for (llvm::BasicBlock* block : blocks)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto opcode = totalDivision(instruction);
      if (!opcode || !isHarmless(*opcode, instruction.getOperand(1)))
        continue;
      llvm::IRBuilder<> code(&instruction); // folds numbers
      instruction.replaceAllUsesWith(
          code.CreateBinOp(*opcode, instruction.getOperand(0), instruction.getOperand(1)));
      instruction.eraseFromParent();
      changed = true;
    }
  if (!changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace libsplit
