#include "analysis-pass/pass/kept_pointers.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <numeric>

namespace libsplit {

using llvm::dyn_cast;

namespace {

/// Where in `every` bytes.
std::int64_t within(std::int64_t offset, std::uint64_t every) {
  const auto period = static_cast<std::int64_t>(every);
  return ((offset % period) + period) % period;
}

} // namespace

KeptPointers::Places KeptPointers::placesOf(const llvm::Value* pointer,
                                            std::uint64_t length) const {
  Place place{.length = length};
  for (const llvm::Value* at = pointer;;) {
    if (auto* gep = dyn_cast<llvm::GEPOperator>(at)) {
      const unsigned width = layout_.getIndexTypeSizeInBits(gep->getType());
      llvm::MapVector<llvm::Value*, llvm::APInt> scales;
      llvm::APInt constant(width, 0);
      if (!gep->collectOffset(layout_, width, scales, constant))
        place.every = 1;
      place.first += constant.getSExtValue();
      for (const auto& [index, scale] : scales)
        place.every = std::gcd(place.every, scale.abs().getZExtValue());
      at = gep->getPointerOperand();
    } else if (llvm::isa<llvm::BitCastOperator, llvm::AddrSpaceCastOperator>(at)) {
      at = llvm::cast<llvm::Operator>(at)->getOperand(0);
    } else if (auto* memory = dyn_cast<llvm::AllocaInst>(at)) {
      place.memory = memory;
      return {place};
    } else { // one of several, perhaps
      llvm::SmallVector<const llvm::Value*, 4> objects;
      llvm::getUnderlyingObjects(at, objects, nullptr, 0);
      Places places;
      for (const llvm::Value* object : objects)
        if (auto* memory = dyn_cast<llvm::AllocaInst>(object))
          places.push_back({memory, 1, 0, length});
      return places;
    }
  }
}

bool KeptPointers::mayOverlap(const Place& a, const Place& b) {
  const std::uint64_t every = std::gcd(a.every, b.every);
  const auto lengthOfA = static_cast<std::int64_t>(a.length);
  const auto lengthOfB = static_cast<std::int64_t>(b.length);
  if (every == 0)
    return a.first - b.first < lengthOfB && b.first - a.first < lengthOfA;
  const std::int64_t behind = within(b.first - a.first, every);
  return behind < lengthOfA || lengthOfB > static_cast<std::int64_t>(every) - behind;
}

/// False if that was known.
bool KeptPointers::keep(Place place, unsigned parameter) {
  constexpr std::size_t many = 64;
  auto& kept = kept_[place.memory];
  if (kept.size() >= many) // enough to tell it apart
    place = {place.memory, 1, 0, place.length};
  if (place.every > 0)
    place.first = within(place.first, place.every);
  const bool isKnown = llvm::any_of(kept, [&](const Kept& other) {
    return other.place.every == place.every && other.place.first == place.first &&
           other.place.length == place.length && other.parameter == parameter;
  });
  if (!isKnown)
    kept.push_back({place, parameter});
  return !isKnown;
}

/// What it brings along. False if all that was known.
bool KeptPointers::copy(const llvm::MemTransferInst& copy) {
  const auto* constant = dyn_cast<llvm::ConstantInt>(copy.getLength());
  const std::uint64_t length = constant ? constant->getZExtValue() : toTheEnd;
  bool isNew = false;
  for (const Place& from : placesOf(copy.getRawSource(), length)) {
    const auto found = kept_.find(from.memory);
    if (found == kept_.end())
      continue;
    const llvm::SmallVector<Kept, 4> all = found->second; // which may become more, or move
    for (const Place& to : placesOf(copy.getRawDest(), length))
      for (const Kept& each : all)
        if (mayOverlap(each.place, from)) {
          Place place = each.place;
          place.memory = to.memory;
          place.every = std::gcd(std::gcd(each.place.every, from.every), to.every);
          place.first += to.first - from.first;
          isNew = keep(place, each.parameter) || isNew;
        }
  }
  return isNew;
}

void KeptPointers::follow(llvm::Function& function, const AddressFlow& addresses) {
  llvm::SmallVector<const llvm::MemTransferInst*, 8> copies;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    if (auto* transfer = dyn_cast<llvm::MemTransferInst>(&each))
      copies.push_back(transfer);
    auto* store = dyn_cast<llvm::StoreInst>(&each);
    if (!store || !store->getValueOperand()->getType()->isPointerTy())
      continue;
    llvm::Value* value = store->getValueOperand();
    const std::uint64_t size = layout_.getTypeStoreSize(value->getType()).getFixedValue();
    const Places places = placesOf(store->getPointerOperand(), size);
    if (const auto parameter = places.empty() ? std::nullopt : addresses.in(value))
      for (const Place& place : places)
        keep(place, *parameter);
  }
  for (bool isNew = !kept_.empty(); isNew;) {
    isNew = false;
    for (const llvm::MemTransferInst* each : copies)
      isNew = copy(*each) || isNew;
  }
}

std::optional<unsigned> KeptPointers::in(const llvm::Value* pointer, std::uint64_t length) const {
  if (kept_.empty())
    return std::nullopt;
  for (const Place& place : placesOf(pointer, length))
    if (const auto found = kept_.find(place.memory); found != kept_.end())
      for (const Kept& each : found->second)
        if (mayOverlap(each.place, place))
          return each.parameter;
  return std::nullopt;
}

} // namespace libsplit
