#include "analysis-pass/tests/oracle/lone_components.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

using llvm::dyn_cast;

namespace libsplit::oracle {
namespace {

/// The address of component `lane`, and its alignment.
llvm::Value* placeOf(llvm::IRBuilder<>& code, llvm::Value* vector, llvm::Type* element,
                     std::uint64_t lane) {
  return code.CreateConstInBoundsGEP1_64(element, vector, lane);
}

llvm::Align alignmentOf(const llvm::DataLayout& layout, llvm::Align vector, llvm::Type* element,
                        std::uint64_t lane) {
  return llvm::commonAlignment(vector, lane * layout.getTypeStoreSize(element).getFixedValue());
}

/// `load <4 x float>` of which only one component is used.
void loadAlone(llvm::LoadInst& load, const llvm::DataLayout& layout) {
  auto* type = dyn_cast<llvm::FixedVectorType>(load.getType());
  if (!type || !load.isSimple() || !load.hasOneUse())
    return;
  auto* extract = dyn_cast<llvm::ExtractElementInst>(*load.user_begin());
  auto* index = extract ? dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
  if (!index)
    return;
  llvm::IRBuilder<> code(&load);
  llvm::Type* element = type->getElementType();
  const std::uint64_t lane = index->getZExtValue();
  llvm::Value* place = placeOf(code, load.getPointerOperand(), element, lane);
  extract->replaceAllUsesWith(
      code.CreateAlignedLoad(element, place, alignmentOf(layout, load.getAlign(), element, lane)));
  extract->eraseFromParent();
  load.eraseFromParent();
}

/// Whether lane `lane` of `value` is that of what was loaded from `pointer` just before.
const llvm::LoadInst* loadedLane(const llvm::Value* value, std::uint64_t lane) {
  for (;;) {
    if (auto* insert = dyn_cast<llvm::InsertElementInst>(value)) {
      auto* at = dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
      if (!at || at->getZExtValue() == lane)
        return nullptr;
      value = insert->getOperand(0);
    } else if (auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(value)) {
      auto* from = dyn_cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
      const int source = shuffle->getMaskValue(static_cast<unsigned>(lane));
      if (!from || source != static_cast<int>(lane) ||
          lane >= from->getNumElements()) // of the second operand: what is stored
        return nullptr;
      value = shuffle->getOperand(0);
    } else {
      return dyn_cast<llvm::LoadInst>(value);
    }
  }
}

void storeAlone(llvm::StoreInst& store, const llvm::DataLayout& layout) {
  auto* type = dyn_cast<llvm::FixedVectorType>(store.getValueOperand()->getType());
  if (!type || !store.isSimple())
    return;
  std::vector<unsigned> changed;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::LoadInst* load = loadedLane(store.getValueOperand(), lane);
    bool isKept = load && load->isSimple() && load->getParent() == store.getParent() &&
                  load->getPointerOperand() == store.getPointerOperand();
    for (const llvm::Instruction* each = load; isKept && each != &store; each = each->getNextNode())
      isKept = each && !each->mayWriteToMemory();
    if (!isKept)
      changed.push_back(lane);
  }
  if (changed.size() == type->getNumElements())
    return;
  llvm::IRBuilder<> code(&store);
  llvm::Type* element = type->getElementType();
  for (const unsigned lane : changed)
    code.CreateAlignedStore(code.CreateExtractElement(store.getValueOperand(), lane),
                            placeOf(code, store.getPointerOperand(), element, lane),
                            alignmentOf(layout, store.getAlign(), element, lane));
  llvm::Value* whole = store.getValueOperand();
  store.eraseFromParent();
  // The loads that were for the other components alone.
  llvm::RecursivelyDeleteTriviallyDeadInstructions(whole);
}

} // namespace

void makeComponentsLone(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  std::vector<llvm::StoreInst*> stores;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* store = dyn_cast<llvm::StoreInst>(&instruction))
        stores.push_back(store);
  for (llvm::StoreInst* store : stores)
    storeAlone(*store, layout);
  std::vector<llvm::LoadInst*> loads;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* load = dyn_cast<llvm::LoadInst>(&instruction))
        loads.push_back(load);
  for (llvm::LoadInst* load : loads)
    loadAlone(*load, layout);
}

} // namespace libsplit::oracle
