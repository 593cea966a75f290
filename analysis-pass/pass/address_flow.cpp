#include "analysis-pass/pass/address_flow.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace libsplit {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace {

/// The pointer that `value` is the whole address of; null if it is none.
llvm::Value* pointerIn(llvm::Value* value) {
  if (value->getType()->isPointerTy())
    return value;
  if (isa<llvm::PtrToIntInst, llvm::BitCastInst, llvm::FreezeInst>(value) &&
      value->getType()->getScalarSizeInBits() == 64)
    return pointerIn(cast<llvm::Instruction>(value)->getOperand(0));
  return nullptr;
}

/// Whether it points, perhaps, where a number says.
bool isMadeOfNumber(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, 0);
  return llvm::any_of(objects, [](const llvm::Value* object) {
    return llvm::Operator::getOpcode(object) == llvm::Instruction::IntToPtr;
  });
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
    else if (target.kind == PointerTarget::Kind::Unknown)
      return anyBuffer;
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
  if ((first && isMadeOfNumber(first)) || (second && isMadeOfNumber(second)))
    return false;
  if (areCompared &&
      ((first && isNull(operation.getOperand(1))) || (second && isNull(operation.getOperand(0)))))
    return true;
  if (!first || !second)
    return false;
  if (areCompared) // buffers are the same or not wherever they lie
    return pointedTo(first) && pointedTo(second);
  if (llvm::getUnderlyingObject(first, 0) == llvm::getUnderlyingObject(second, 0))
    return true;
  const auto buffer = bufferOf(first), other = bufferOf(second);
  // Of two pointers C asks which is first only where they point into one buffer.
  const bool arePlain = first == operation.getOperand(0) && second == operation.getOperand(1);
  return buffer && other ? buffer == other : compared && arePlain;
}

} // namespace libsplit
