#include "analysis-pass/pass/changed_in_place.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/pointer_uses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace libsplit {

using llvm::dyn_cast;
using llvm::isa;
using llvm::isa_and_present;

namespace {

class Place {
public:
  Place(const llvm::Value* pointer, const llvm::Value* index,
        llvm::ArrayRef<const llvm::Instruction*> reads)
      : pointer_(pointer->stripPointerCasts()), index_(index), reads_(reads.begin(), reads.end()) {}

  /// Whether anything may be read there; most places are only stored to.
  bool mayBeRead() const {
    return !reads_.empty() || llvm::any_of(pointer_->users(), [](const llvm::User* user) {
      return !isa<llvm::StoreInst>(user);
    });
  }
  /// Calls `visit(value)` for all that was read there.
  template <class Visit> void eachRead(const Visit& visit) const {
    llvm::for_each(reads_, visit);
    llvm::SmallVector<const llvm::Value*, 8> places{pointer_};
    while (!places.empty())
      for (const llvm::User* user : places.pop_back_val()->users())
        if (isRead(user))
          visit(user);
        else if (isa<llvm::BitCastOperator>(user) || isa<llvm::AddrSpaceCastOperator>(user))
          places.push_back(user);
  }
  /// Whether `value` was read there, as it is.
  bool isRead(const llvm::Value* value) const {
    while (isa<llvm::ExtractElementInst>(value) || isa<llvm::BitCastInst>(value))
      value = llvm::cast<llvm::Instruction>(value)->getOperand(0);
    if (reads_.contains(value))
      return true;
    if (auto* load = dyn_cast<llvm::LoadInst>(value))
      return !index_ && load->getPointerOperand()->stripPointerCasts() == pointer_;
    auto* call = dyn_cast<llvm::CallBase>(value);
    if (!call || !index_ || !call->getModule() ||
        classifyCall(*call).kind != BuiltinKind::VectorLoad)
      return false;
    const VectorAccess access = vectorAccess(*call, call->getModule()->getDataLayout());
    return call->getArgOperand(access.pointerOperand)->stripPointerCasts() == pointer_ &&
           call->getArgOperand(access.indexOperand) == index_;
  }

private:
  const llvm::Value* pointer_;
  const llvm::Value* index_;
  const llvm::SmallPtrSet<const llvm::Value*, 8> reads_;
};

/// The private memory that `value` is loaded or copied from; null if it is nothing like that.
const llvm::Value* privateSource(const llvm::Value* value) {
  const llvm::Value* source = nullptr;
  if (auto* load = dyn_cast<llvm::LoadInst>(value))
    source = load->getPointerOperand();
  else if (auto* copy = dyn_cast<llvm::MemTransferInst>(value))
    source = copy->getRawSource();
  const llvm::Value* memory = source ? llvm::getUnderlyingObject(source, 0) : nullptr;
  return isa_and_present<llvm::AllocaInst>(memory) ? memory : nullptr;
}

/// All that is stored or copied into it.
std::vector<const llvm::Value*> valuesKeptIn(const llvm::Value* memory) {
  std::vector<const llvm::Value*> kept;
  const auto isPointer = [](const llvm::User* user) { return user->getType()->isPointerTy(); };
  allUses(memory, isPointer, [&](const llvm::User* user, const llvm::Value*) {
    if (auto* store = dyn_cast<llvm::StoreInst>(user))
      kept.push_back(store->getValueOperand());
    else if (auto* copy = dyn_cast<llvm::MemTransferInst>(user);
             copy && llvm::getUnderlyingObject(copy->getRawDest(), 0) == memory)
      kept.push_back(copy);
    return true;
  });
  return kept;
}

/// Follows what is stored back to where it comes from.
class Trace {
public:
  Trace(const Place& place, const ChangesInPlace& changes) : place_(place), changes_(changes) {}

  /// Whether `value`, which is stored, comes from there, or was chosen by a comparison with what
  /// was read there.
  bool changes(const llvm::Value* value) { return stores(value) || isComparedWithRead(); }

private:
  bool affords() { return left_ > 0 && left_-- > 0; }

  /// Of what is stored as it is: what was read there is only left there.
  bool stores(const llvm::Value* value) {
    if (place_.isRead(value) || !isa<llvm::Instruction>(value))
      return false;
    if (!stored_.insert(value).second)
      return false;
    if (!affords())
      return true;
    if (isSameForAll(value))
      return false;
    if (auto* choice = dyn_cast<llvm::SelectInst>(value))
      return stores(choice->getTrueValue()) || stores(choice->getFalseValue());
    if (auto* phi = dyn_cast<llvm::PHINode>(value))
      return llvm::any_of(phi->incoming_values(),
                          [this](const llvm::Use& each) { return stores(each); });
    if (auto* cast = dyn_cast<llvm::BitCastInst>(value))
      return stores(cast->getOperand(0));
    if (isa<llvm::InsertElementInst>(value) || isa<llvm::ShuffleVectorInst>(value)) {
      const auto* parts = llvm::cast<llvm::Instruction>(value);
      return stores(parts->getOperand(0)) || stores(parts->getOperand(1));
    }
    if (const llvm::Value* memory = privateSource(value))
      return stored_.insert(memory).second &&
             llvm::any_of(changes_.keptIn(memory),
                          [this](const llvm::Value* each) { return stores(each); });
    return comesFromThere(value);
  }

  bool comesFromThere(const llvm::Value* value) {
    if (place_.isRead(value))
      return true;
    auto* instruction = dyn_cast<llvm::Instruction>(value);
    if (!instruction || !followed_.insert(value).second)
      return false;
    if (!affords())
      return true;
    if (const llvm::Value* memory = privateSource(value))
      return followed_.insert(memory).second &&
             llvm::any_of(changes_.keptIn(memory),
                          [this](const llvm::Value* each) { return comesFromThere(each); });
    return llvm::any_of(instruction->operands(),
                        [this](const llvm::Use& each) { return comesFromThere(each); });
  }

  /// As the greatest and the least are looked for: what was read there, or came to be from that, is
  /// compared with what the work-item comes with, that which it stores or what both are made from.
  bool isComparedWithRead() {
    llvm::SmallPtrSet<const llvm::Value*, 32> derived;
    llvm::SmallVector<const llvm::Value*, 32> next;
    const auto derive = [&](const llvm::Value* value) {
      if (isa<llvm::Instruction>(value) && derived.insert(value).second)
        next.push_back(value);
    };
    place_.eachRead(derive);
    llvm::SmallVector<const llvm::Instruction*, 8> comparisons;
    while (!next.empty()) {
      const llvm::Value* value = next.pop_back_val();
      if (!affords())
        return true;
      if (isComparison(value))
        comparisons.push_back(llvm::cast<llvm::Instruction>(value));
      for (const llvm::User* user : value->users())
        derive(user);
    }
    // What is derived may be a difference from what the work-item comes with.
    llvm::SmallPtrSet<const llvm::Value*, 32> seen, passed;
    next.assign(comparisons.begin(), comparisons.end());
    while (!next.empty())
      for (const llvm::Use& each : llvm::cast<llvm::Instruction>(next.pop_back_val())->operands()) {
        if (!derived.contains(each)) {
          if (isMadeOfTheSame(each, seen))
            return true;
        } else if (!place_.isRead(each) && passed.insert(each).second) {
          next.push_back(each);
        }
      }
    return false;
  }

  /// Also by a builtin such as isless.
  static bool isComparison(const llvm::Value* value) {
    return isa<llvm::CmpInst>(value) ||
           (isa<llvm::CallBase>(value) && value->getType()->isIntOrIntVectorTy());
  }

  /// Whether some value that `value` comes from is one that what is stored comes from.
  bool isMadeOfTheSame(const llvm::Value* value, llvm::SmallPtrSet<const llvm::Value*, 32>& seen) {
    auto* instruction = dyn_cast<llvm::Instruction>(value);
    if (!instruction || !seen.insert(value).second)
      return false;
    if (followed_.contains(value) || !affords())
      return true;
    return llvm::any_of(instruction->operands(),
                        [&](const llvm::Use& each) { return isMadeOfTheSame(each, seen); });
  }

  /// Worked out from arguments alone: whoever stores it stores the same.
  static bool isSameForAll(const llvm::Value* value, unsigned depth = 8) {
    if (isa<llvm::Constant>(value) || isa<llvm::Argument>(value))
      return true;
    const bool isPlain = isa<llvm::BinaryOperator>(value) || isa<llvm::CastInst>(value);
    return isPlain && depth > 0 &&
           llvm::all_of(llvm::cast<llvm::Instruction>(value)->operands(),
                        [&](const llvm::Use& each) { return isSameForAll(each, depth - 1); });
  }

  const Place& place_;
  const ChangesInPlace& changes_;
  llvm::SmallPtrSet<const llvm::Value*, 32> stored_, followed_; ///< private memory as well
  unsigned left_ = 10000; ///< values that may still be looked at
};

} // namespace

bool ChangesInPlace::isOne(const llvm::Value* value, const llvm::Value* pointer,
                           const llvm::Value* index,
                           llvm::ArrayRef<const llvm::Instruction*> reads) const {
  const Place place(pointer, index, reads);
  return place.mayBeRead() && Trace(place, *this).changes(value);
}

llvm::ArrayRef<const llvm::Value*> ChangesInPlace::keptIn(const llvm::Value* memory) const {
  const auto [entry, isNew] = kept_.try_emplace(memory);
  if (isNew)
    entry->second = valuesKeptIn(memory);
  return entry->second;
}

} // namespace libsplit
