#include "analysis-pass/pass/kept_pointers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
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

/// Goes from a pointer to what it is made of. An array of numbers within a struct is one piece, one
/// of structs repeats itself.
void KeptPointers::add(const llvm::GEPOperator& gep, Place& place) const {
  llvm::Type* within = nullptr; // of which one is chosen
  for (auto each = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep); each != end; ++each) {
    auto* array = llvm::dyn_cast_or_null<llvm::ArrayType>(within);
    within = each.getIndexedType();
    if (llvm::StructType* type = each.getStructTypeOrNull()) {
      const auto field = llvm::cast<llvm::ConstantInt>(each.getOperand())->getZExtValue();
      place.first += static_cast<std::int64_t>(
          layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(field)));
      continue;
    }
    const std::uint64_t size = layout_.getTypeAllocSize(within).getFixedValue();
    if (auto* constant = dyn_cast<llvm::ConstantInt>(each.getOperand())) {
      place.first += constant->getSExtValue() * static_cast<std::int64_t>(size);
    } else if (array && array->getNumElements() > 0 && !within->isAggregateType()) {
      place.length += (array->getNumElements() - 1) * size;
    } else {
      place.every = std::gcd(place.every, size);
    }
  }
}

KeptPointers::Places KeptPointers::placesOf(const llvm::Value* pointer,
                                            std::uint64_t length) const {
  constexpr unsigned deep = 64; // code that is never reached may go round in circles
  Place place{.length = length};
  const llvm::Value* at = pointer;
  for (unsigned i = 0; i < deep; ++i) {
    if (auto* gep = dyn_cast<llvm::GEPOperator>(at)) {
      add(*gep, place);
      at = gep->getPointerOperand();
    } else if (llvm::isa<llvm::BitCastOperator, llvm::AddrSpaceCastOperator>(at)) {
      at = llvm::cast<llvm::Operator>(at)->getOperand(0);
    } else if (auto* memory = dyn_cast<llvm::AllocaInst>(at)) {
      place.memory = memory;
      return {place};
    } else {
      break;
    }
  }
  llvm::SmallVector<const llvm::Value*, 4> objects; // one of several, perhaps
  llvm::getUnderlyingObjects(at, objects, nullptr, 0);
  Places places;
  for (const llvm::Value* object : objects)
    if (auto* memory = dyn_cast<llvm::AllocaInst>(object))
      places.push_back({memory, 1, 0, length});
  return places;
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
  if (kept.size() >= many) // too many to tell apart: anywhere in it
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

/// What lies in `from` and comes to `to`, which is as long. False if all that was known.
bool KeptPointers::copy(const Kept& kept, const Place& from, const Place& to) {
  constexpr std::int64_t several = 16;
  const std::uint64_t every = std::gcd(kept.place.every, from.every);
  const auto period = static_cast<std::int64_t>(every),
             length = static_cast<std::int64_t>(to.length);
  std::int64_t at = kept.place.first - from.first;
  if (every > 0)
    at = within(at, every);
  if (every > 0 && length / period > several)
    return keep({to.memory, std::gcd(every, to.every), to.first + at, kept.place.length},
                kept.parameter);
  // Each of those that lie there, at least in part.
  bool isNew = false;
  if (every > 0)
    at -= period;
  for (; at < length; at += period) {
    if (at + static_cast<std::int64_t>(kept.place.length) > 0)
      isNew =
          keep({to.memory, to.every, to.first + at, kept.place.length}, kept.parameter) || isNew;
    if (every == 0)
      break;
  }
  return isNew;
}

/// What it brings along. False if all that was known.
bool KeptPointers::copy(const llvm::MemTransferInst& transfer) {
  const auto* constant = dyn_cast<llvm::ConstantInt>(transfer.getLength());
  const std::uint64_t length = constant ? constant->getZExtValue() : toTheEnd;
  bool isNew = false;
  for (const Place& from : placesOf(transfer.getRawSource(), length)) {
    const auto found = kept_.find(from.memory);
    if (found == kept_.end())
      continue;
    const llvm::SmallVector<Kept, 4> all = found->second; // which may become more, or move
    for (const Place& to : placesOf(transfer.getRawDest(), length))
      for (const Kept& each : all)
        if (mayOverlap(each.place, from))
          isNew = copy(each, from, to) || isNew;
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

std::optional<unsigned> KeptPointers::in(const llvm::Value* pointer, std::uint64_t length,
                                         std::uint64_t every) const {
  if (kept_.empty())
    return std::nullopt;
  for (Place& place : placesOf(pointer, length)) {
    place.every = std::gcd(place.every, every);
    if (const auto found = kept_.find(place.memory); found != kept_.end())
      for (const Kept& each : found->second)
        if (mayOverlap(each.place, place))
          return each.parameter;
  }
  return std::nullopt;
}

} // namespace libsplit
