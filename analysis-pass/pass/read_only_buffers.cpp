#include "analysis-pass/pass/read_only_buffers.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/pointer_uses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Pointers = llvm::SmallVector<const llvm::Value*, 4>;

/// The pointers through which `instruction` may write.
Pointers writtenThrough(const llvm::Instruction& instruction) {
  if (!instruction.mayWriteToMemory() || isa<llvm::FenceInst>(instruction))
    return {};
  if (auto* store = dyn_cast<llvm::StoreInst>(&instruction))
    return {store->getPointerOperand()};
  if (auto* memory = dyn_cast<llvm::MemIntrinsic>(&instruction))
    return {memory->getRawDest()};
  if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
    switch (classifyCall(*call).kind) {
    case BuiltinKind::VectorLoad:
      return {};
    case BuiltinKind::AsyncCopy:
    case BuiltinKind::AsyncStrided:
      return {call->getArgOperand(0)};
    default:
      break;
    }
  }
  Pointers pointers;
  for (const llvm::Value* operand : instruction.operands())
    if (operand->getType()->isPointerTy() && !isa<llvm::Function>(operand))
      pointers.push_back(operand);
  return pointers;
}

Pointers objectsOf(const llvm::Value* pointer) {
  Pointers objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return objects;
}

bool isNoBuffer(const llvm::Value* object) {
  return isa<llvm::AllocaInst, llvm::GlobalVariable, llvm::ConstantPointerNull, llvm::UndefValue>(
      object);
}

} // namespace

std::vector<bool> readOnlyBuffers(const llvm::Function& kernel) {
  std::vector<bool> readOnly;
  for (const llvm::Argument& argument : kernel.args())
    readOnly.push_back(argument.getType()->isPointerTy() && !argument.hasByValAttr() &&
                       (argument.getType()->getPointerAddressSpace() == 1 ||
                        argument.getType()->getPointerAddressSpace() == 2));
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    for (const llvm::Value* pointer : writtenThrough(instruction))
      for (const llvm::Value* object : objectsOf(pointer)) {
        if (auto* argument = dyn_cast<llvm::Argument>(object))
          readOnly[argument->getArgNo()] = false;
        else if (!isNoBuffer(object))
          readOnly.assign(readOnly.size(), false); // it may point anywhere
      }
  return readOnly;
}

bool pointsIntoReadOnly(const llvm::Value* pointer, const std::vector<bool>& readOnly) {
  return llvm::all_of(objectsOf(pointer), [&](const llvm::Value* object) {
    auto* argument = dyn_cast<llvm::Argument>(object);
    return argument && readOnly[argument->getArgNo()];
  });
}

std::vector<llvm::Value*> keptPointers(llvm::LoadInst& load, const std::vector<bool>& readOnly) {
  llvm::Value* memory = llvm::getUnderlyingObject(load.getPointerOperand(), 0);
  const std::uint64_t size = load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
  // What is as large and aligned so is the same place or another, never a part of it.
  const auto isWhole = [&](const llvm::Type* type, llvm::Align alignment) {
    return type == load.getType() && alignment.value() >= size;
  };
  if (!isa<llvm::AllocaInst>(memory) || !load.getType()->isPointerTy() ||
      !isWhole(load.getType(), load.getAlign()))
    return {};
  std::vector<llvm::Value*> kept;
  const bool isAll = allUses(memory, isPlaceWithin, [&](llvm::User* user, llvm::Value* place) {
    auto* store = dyn_cast<llvm::StoreInst>(user);
    if (!store) {
      auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(user);
      return isa<llvm::LoadInst>(user) || (intrinsic && intrinsic->isLifetimeStartOrEnd());
    }
    llvm::Value* value = store->getValueOperand();
    const bool isNull = isa<llvm::ConstantPointerNull, llvm::UndefValue>(value);
    if (!isNull)
      kept.push_back(value);
    return value != place && isWhole(value->getType(), store->getAlign()) &&
           (isNull || pointsIntoReadOnly(value, readOnly));
  });
  return isAll ? kept : std::vector<llvm::Value*>();
}

} // namespace libsplit
