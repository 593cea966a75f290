#include "analysis-pass/pass/stored_components.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include <map>
#include <optional>
#include <tuple>

using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

/// Instructions looked at between a load and a store; they mostly follow each other.
constexpr unsigned farthest = 10000;

unsigned lanesOf(const llvm::Type* type) {
  auto* vector = dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 0;
}

unsigned bitsPerLane(const llvm::Type* type) {
  return type->getScalarType()->getPrimitiveSizeInBits();
}

std::optional<unsigned> constantLane(const llvm::Value* index, unsigned lanes) {
  auto* number = dyn_cast<llvm::ConstantInt>(index);
  if (!number || number->getValue().uge(lanes))
    return std::nullopt;
  return static_cast<unsigned>(number->getZExtValue());
}

bool writesPrivateMemoryOnly(const llvm::Instruction& instruction) {
  auto* store = dyn_cast<llvm::StoreInst>(&instruction);
  return store && isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand(), 0));
}

/// Whether the pointer of `load` is the same wherever `phi` has the value that it loaded: it can't
/// be that of an earlier round of a loop.
bool keepsPlace(const llvm::LoadInst& load, const llvm::PHINode& phi,
                const llvm::DominatorTree& dominators) {
  auto* pointer = dyn_cast<llvm::Instruction>(load.getPointerOperand());
  return !pointer || dominators.dominates(pointer, phi.getParent());
}

/// What is asked about one load or store leads to other stores, and to the same ones on many ways:
/// each is followed once, and all together only so far.
struct Inquiry {
  const llvm::DominatorTree& dominators;
  unsigned left = 1000000; ///< values and instructions that may still be looked at
  /// What a store stores in a lane, by how many others may be looked through.
  std::map<std::tuple<const llvm::StoreInst*, unsigned, unsigned>, Component> known{};

  bool isUsedUp() { return left == 0 || --left == 0; }
};

class LaneTrace {
public:
  LaneTrace(const llvm::StoreInst& store, unsigned lane, Inquiry& inquiry, unsigned depth = 16)
      : store_(store), lane_(lane), inquiry_(inquiry), depth_(depth) {}

  Component run() { return follow(store_.getValueOperand(), lane_); }

  /// Whether the store, where it stores what `load` loaded into its lane `lane`, changes nothing.
  bool storesBack(const llvm::LoadInst& load, unsigned lane) {
    return isOfSamePlace(load, lane) && isUntouchedSince(load);
  }

private:
  /// Of two ways to come to the store. What is undefined on one of them may be anything there.
  static Component join(Component a, Component b) {
    if (a == b || b == Component::Undefined)
      return a;
    return a == Component::Undefined ? b : Component::Either;
  }

  /// Lane `lane` of `value`, or `value` itself if it is no vector.
  Component follow(const llvm::Value* value, unsigned lane) {
    if (isa<llvm::UndefValue>(value))
      return Component::Undefined; // poison too
    if (steps_ == 0 || inquiry_.isUsedUp())
      return Component::Either;
    --steps_;
    if (auto* insert = dyn_cast<llvm::InsertElementInst>(value)) {
      const auto at = constantLane(insert->getOperand(2), lanesOf(insert->getType()));
      if (!at)
        return join(follow(insert->getOperand(0), lane), follow(insert->getOperand(1), 0));
      return *at == lane ? follow(insert->getOperand(1), 0) : follow(insert->getOperand(0), lane);
    }
    if (auto* extract = dyn_cast<llvm::ExtractElementInst>(value)) {
      const llvm::Value* from = extract->getVectorOperand();
      const auto at = constantLane(extract->getIndexOperand(), lanesOf(from->getType()));
      return at ? follow(from, *at) : Component::Either;
    }
    if (auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(value)) {
      const unsigned lanes = lanesOf(shuffle->getOperand(0)->getType());
      const int from = lanes == 0 ? -1 : shuffle->getMaskValue(lane);
      if (lanes == 0)
        return Component::Either;
      if (from < 0)
        return Component::Undefined;
      const auto source = static_cast<unsigned>(from);
      return follow(shuffle->getOperand(source < lanes ? 0 : 1), source % lanes);
    }
    if (auto* select = dyn_cast<llvm::SelectInst>(value))
      return join(follow(select->getTrueValue(), lane), follow(select->getFalseValue(), lane));
    if (auto* freeze = dyn_cast<llvm::FreezeInst>(value))
      return follow(freeze->getOperand(0), lane);
    if (auto* cast = dyn_cast<llvm::BitCastInst>(value);
        cast && lanesOf(cast->getSrcTy()) == lanesOf(cast->getDestTy()))
      return follow(cast->getOperand(0), lane);
    if (auto* phi = dyn_cast<llvm::PHINode>(value))
      return followPhi(*phi, lane);
    auto* load = dyn_cast<llvm::LoadInst>(value);
    if (!load || !isOfSamePlace(*load, lane))
      return Component::Written;
    const bool isOfThisRound = llvm::all_of(underway_, [&](const auto& followed) {
      return keepsPlace(*load, *followed.first, inquiry_.dominators);
    });
    return isOfThisRound && isUntouchedSince(*load) ? Component::Kept : Component::Either;
  }

  Component followPhi(const llvm::PHINode& phi, unsigned lane) {
    // What comes around a loop as it went in adds nothing.
    if (!underway_.insert({&phi, lane}).second)
      return Component::Undefined;
    Component all = Component::Undefined;
    for (const llvm::Value* incoming : phi.incoming_values())
      all = join(all, follow(incoming, lane));
    underway_.erase({&phi, lane});
    return all;
  }

  bool isOfSamePlace(const llvm::LoadInst& load, unsigned lane) const {
    const llvm::Type* stored = store_.getValueOperand()->getType();
    return lane == lane_ && load.isSimple() && store_.isSimple() &&
           load.getPointerOperand() == store_.getPointerOperand() &&
           lanesOf(load.getType()) == lanesOf(stored) &&
           bitsPerLane(load.getType()) == bitsPerLane(stored);
  }

  /// Whether it is sure that nothing between `load` and the store has written the lane, on any way
  /// on which they have the same pointer.
  bool isUntouchedSince(const llvm::LoadInst& load) {
    const auto [entry, isNew] = untouched_.try_emplace(&load, false);
    if (isNew)
      entry->second = findUntouchedSince(load);
    return entry->second;
  }

  bool findUntouchedSince(const llvm::LoadInst& load) {
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
    llvm::SmallVector<const llvm::Instruction*, 8> open{&store_}; // all before these
    unsigned left = farthest;
    while (!open.empty()) {
      const llvm::Instruction* at = open.pop_back_val();
      const llvm::BasicBlock* block = at->getParent();
      bool found = false;
      for (const llvm::Instruction* each = at->getPrevNode(); each && !found;
           each = each->getPrevNode()) {
        found = each == &load || each == load.getPointerOperand();
        if (left-- == 0 || inquiry_.isUsedUp() || (!found && !leavesLane(*each, load)))
          return false;
      }
      if (found)
        continue;
      for (const llvm::BasicBlock* before : llvm::predecessors(block))
        if (seen.insert(before).second) {
          const llvm::Instruction* last = before->getTerminator();
          if (!leavesLane(*last, load))
            return false;
          open.push_back(last);
        }
    }
    return true;
  }

  bool leavesLane(const llvm::Instruction& instruction, const llvm::LoadInst& load) {
    if (!instruction.mayWriteToMemory() || &instruction == &store_ ||
        writesPrivateMemoryOnly(instruction))
      return true;
    // Another component of the same vector.
    auto* store = dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->isSimple() || store->getPointerOperand() != load.getPointerOperand() ||
        store->getValueOperand()->getType() != store_.getValueOperand()->getType() || depth_ == 0)
      return false;
    const unsigned depth = depth_ - 1;
    const auto [entry, isNew] = inquiry_.known.try_emplace({store, lane_, depth});
    if (isNew)
      entry->second = LaneTrace(*store, lane_, inquiry_, depth).run();
    return entry->second == Component::Kept;
  }

  const llvm::StoreInst& store_;
  const unsigned lane_;
  Inquiry& inquiry_;
  const unsigned depth_;  ///< stores to the same vector that are looked through
  unsigned steps_ = 2000; ///< values that may still be followed
  std::map<const llvm::LoadInst*, bool> untouched_;
  llvm::SmallSet<std::pair<const llvm::PHINode*, unsigned>, 4> underway_;
};

/// Whether somebody uses a lane of `load` but to store it back where it came from, if at all.
class LaneUse {
public:
  LaneUse(const llvm::LoadInst& load, Inquiry& inquiry) : load_(load), inquiry_(inquiry) {}

  bool of(unsigned lane) {
    loaded_ = lane;
    return of(load_, lane);
  }

private:
  bool of(const llvm::Value& value, unsigned lane) {
    if (!seen_.insert({&value, lane}).second)
      return false;
    for (const llvm::Use& use : value.uses())
      if (isUsed(use, lane))
        return true;
    return false;
  }

  bool isUsed(const llvm::Use& use, unsigned lane) {
    const llvm::User* user = use.getUser();
    if (auto* insert = dyn_cast<llvm::InsertElementInst>(user)) {
      const auto at = constantLane(insert->getOperand(2), lanesOf(insert->getType()));
      if (!at || use.getOperandNo() == 2)
        return true;
      if (use.getOperandNo() == 1)
        return of(*insert, *at);
      return *at != lane && of(*insert, lane);
    }
    if (auto* extract = dyn_cast<llvm::ExtractElementInst>(user)) {
      const llvm::Value* from = extract->getVectorOperand();
      const auto at = constantLane(extract->getIndexOperand(), lanesOf(from->getType()));
      return !at || use.getOperandNo() == 1 || (*at == lane && of(*extract, 0));
    }
    if (auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(user)) {
      const unsigned from =
          lane + (use.getOperandNo() == 0 ? 0 : lanesOf(shuffle->getOperand(0)->getType()));
      for (unsigned to = 0, count = lanesOf(shuffle->getType()); to < count; ++to)
        if (shuffle->getMaskValue(to) == static_cast<int>(from) && of(*shuffle, to))
          return true;
      return false;
    }
    if (isa<llvm::StoreInst>(user) && use.getOperandNo() == 0) {
      auto* store = llvm::cast<llvm::StoreInst>(user);
      return lanesOf(store->getValueOperand()->getType()) == 0 ||
             !LaneTrace(*store, lane, inquiry_).storesBack(load_, loaded_);
    }
    if (auto* phi = dyn_cast<llvm::PHINode>(user);
        phi && !keepsPlace(load_, *phi, inquiry_.dominators))
      return true;
    if (isa<llvm::PHINode, llvm::FreezeInst>(user) ||
        (isa<llvm::SelectInst>(user) && use.getOperandNo() != 0) ||
        (isa<llvm::BitCastInst>(user) && lanesOf(user->getType()) == lanesOf(use->getType())))
      return of(*user, lane);
    return true;
  }

  const llvm::LoadInst& load_;
  Inquiry& inquiry_;
  unsigned loaded_ = 0; ///< lane of `load_` that is asked about
  llvm::SmallSet<std::pair<const llvm::Value*, unsigned>, 16> seen_;
};

} // namespace

std::vector<Component> storedComponents(const llvm::StoreInst& store,
                                        const llvm::DominatorTree& dominators) {
  std::vector<Component> components;
  Inquiry inquiry{dominators};
  for (unsigned lane = 0, count = lanesOf(store.getValueOperand()->getType()); lane < count; ++lane)
    components.push_back(LaneTrace(store, lane, inquiry).run());
  return components;
}

std::vector<bool> usedComponents(const llvm::LoadInst& load,
                                 const llvm::DominatorTree& dominators) {
  std::vector<bool> used;
  Inquiry inquiry{dominators};
  for (unsigned lane = 0, count = lanesOf(load.getType()); lane < count; ++lane)
    used.push_back(LaneUse(load, inquiry).of(lane));
  return used;
}

} // namespace libsplit
