#include "analysis-pass/pass/address_flow.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace libsplit {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace {

/// The pointer that `value` is the address of, with some number added maybe; null if it is none, or
/// found only by a longer look.
llvm::Value* pointerIn(llvm::Value* value, unsigned depth = 8) {
  if (value->getType()->isPointerTy())
    return value;
  if (depth == 0)
    return nullptr;
  if (isa<llvm::CastInst, llvm::FreezeInst>(value)) // a part of it, for a pointer's lower half
    return pointerIn(cast<llvm::Instruction>(value)->getOperand(0), depth - 1);
  auto* sum = dyn_cast<llvm::BinaryOperator>(value);
  if (!sum || sum->getOpcode() != llvm::Instruction::Add)
    return nullptr;
  llvm::Value* const first = pointerIn(sum->getOperand(0), depth - 1);
  return first ? first : pointerIn(sum->getOperand(1), depth - 1);
}

bool isNull(const llvm::Value* value) {
  auto* constant = dyn_cast<llvm::Constant>(value);
  return constant && constant->isNullValue();
}

/// Whether its value is made from those of its operands.
bool isMade(const llvm::Value* value) {
  return isa<llvm::CastInst, llvm::BinaryOperator, llvm::SelectInst, llvm::PHINode,
             llvm::FreezeInst, llvm::InsertElementInst, llvm::ExtractElementInst,
             llvm::ShuffleVectorInst, llvm::InsertValueInst, llvm::ExtractValueInst, llvm::CmpInst,
             llvm::UnaryOperator, llvm::CallInst>(value);
}

} // namespace

void AddressFlow::follow(llvm::Function& function) {
  llvm::SmallVector<const llvm::Value*, 32> next;
  const auto note = [&](const llvm::Value* value, unsigned parameter) {
    if (parameters_.try_emplace(value, parameter).second)
      next.push_back(value);
  };
  for (llvm::Instruction& each : llvm::instructions(function)) {
    const bool isFirst =
        isa<llvm::PtrToIntInst>(each) ||
        (isa<llvm::ICmpInst>(each) && each.getOperand(0)->getType()->isPtrOrPtrVectorTy()) ||
        isa<llvm::InsertElementInst>(each);
    if (!isFirst || isSameOnEachDevice(each))
      continue;
    for (llvm::Value* operand : each.operands())
      if (operand->getType()->isPointerTy())
        if (const auto parameter = pointedTo(operand))
          note(&each, *parameter);
  }
  while (!next.empty()) {
    const llvm::Value* value = next.pop_back_val();
    const unsigned parameter = parameters_.lookup(value);
    for (const llvm::User* user : value->users())
      if (isMade(user) && !user->getType()->isPointerTy() && !isSameOnEachDevice(*user))
        note(user, parameter);
  }
}

std::optional<unsigned> AddressFlow::in(llvm::Value* value) const {
  if (value->getType()->isPointerTy())
    return pointedTo(value);
  const auto found = parameters_.find(value);
  return found == parameters_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<unsigned> AddressFlow::pointedTo(llvm::Value* pointer) const {
  for (const PointerTarget& target : pointers_.targets(pointer))
    if (target.kind == PointerTarget::Kind::Parameter)
      return target.parameter;
  return std::nullopt;
}

/// The one that it surely lies in.
std::optional<unsigned> AddressFlow::bufferOf(llvm::Value* address) const {
  const auto& targets = pointers_.targets(address);
  return targets.size() == 1 && targets[0].kind == PointerTarget::Kind::Parameter
             ? std::optional(targets[0].parameter)
             : std::nullopt;
}

bool AddressFlow::isSameOnEachDevice(const llvm::User& operation) const {
  auto* compared = dyn_cast<llvm::ICmpInst>(&operation);
  auto* binary = dyn_cast<llvm::BinaryOperator>(&operation);
  if (!compared && !(binary && binary->getOpcode() == llvm::Instruction::Sub))
    return false;
  llvm::Value* const first = pointerIn(operation.getOperand(0));
  llvm::Value* const second = pointerIn(operation.getOperand(1));
  const bool areCompared = compared && compared->isEquality();
  if (areCompared &&
      ((first && isNull(operation.getOperand(1))) || (second && isNull(operation.getOperand(0)))))
    return true;
  if (!first || !second)
    return false;
  const bool arePlain = first == operation.getOperand(0) && second == operation.getOperand(1);
  if (areCompared && arePlain)
    return true;
  const auto buffer = bufferOf(first), other = bufferOf(second);
  return !buffer || !other || buffer == other;
}

} // namespace libsplit
