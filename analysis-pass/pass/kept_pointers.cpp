#include "analysis-pass/pass/kept_pointers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <utility>

namespace libsplit {

using llvm::dyn_cast;
using llvm::isa;

namespace {

constexpr std::size_t many = 4096; ///< places that are told apart

bool isMemory(const llvm::Value* value) {
  auto* argument = dyn_cast<llvm::Argument>(value);
  return isa<llvm::AllocaInst>(value) || (argument && argument->hasByValAttr());
}

/// Whether it may point into private memory: that, or an address space that holds all.
bool mayBePrivate(const llvm::Value* pointer) {
  constexpr unsigned privateSpace = 0, genericSpace = 4;
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return space == privateSpace || space == genericSpace;
}

/// Each moved by `scale` times first..last. False if they become too many.
bool spread(std::vector<std::int64_t>& offsets, std::int64_t scale, std::int64_t first,
            std::int64_t last) {
  if (last < first || static_cast<std::uint64_t>(last - first) >= many / offsets.size())
    return false;
  std::vector<std::int64_t> all;
  for (const std::int64_t offset : offsets)
    for (std::int64_t k = first; k <= last; ++k)
      all.push_back(offset + k * scale);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  offsets = std::move(all);
  return true;
}

} // namespace

KeptPointers::KeptPointers(const llvm::DataLayout& layout)
    : layout_(layout), pointerSize_(layout.getPointerSize()) {}

/// 0: it is not known, or too large to look at each byte.
std::int64_t KeptPointers::sizeOf(const llvm::Value* memory) const {
  constexpr std::uint64_t most = 1 << 16;
  std::uint64_t size = 0;
  if (auto* argument = dyn_cast<llvm::Argument>(memory))
    size = layout_.getTypeAllocSize(argument->getParamByValType()).getFixedValue();
  else if (const auto known = llvm::cast<llvm::AllocaInst>(memory)->getAllocationSize(layout_))
    size = known->getFixedValue();
  return size > most ? 0 : static_cast<std::int64_t>(size);
}

/// False if what it adds may be anything.
bool KeptPointers::add(const llvm::GEPOperator& gep, Place& place) const {
  llvm::Type* within = nullptr; // of which one is chosen
  for (auto each = llvm::gep_type_begin(gep), end = llvm::gep_type_end(gep); each != end; ++each) {
    auto* array = llvm::dyn_cast_or_null<llvm::ArrayType>(within);
    within = each.getIndexedType();
    auto* constant = dyn_cast<llvm::ConstantInt>(each.getOperand());
    std::int64_t scale = 1, first = 0, last = 0;
    if (llvm::StructType* type = each.getStructTypeOrNull()) {
      const auto field = static_cast<unsigned>(constant->getZExtValue());
      first = static_cast<std::int64_t>(layout_.getStructLayout(type)->getElementOffset(field));
      last = first;
    } else {
      scale = static_cast<std::int64_t>(layout_.getTypeAllocSize(within).getFixedValue());
      if (scale == 0)
        continue;
      if (constant)
        first = last = constant->getSExtValue();
      else if (array)
        last = static_cast<std::int64_t>(array->getNumElements()) - 1;
      else
        first = -(last = place.size / scale);
    }
    if (!spread(*place.firsts, scale, first, last))
      return false;
  }
  return true;
}

KeptPointers::Places KeptPointers::placesOf(const Bytes& bytes) const {
  constexpr unsigned deep = 64; // code that is never reached may go round in circles
  llvm::SmallVector<const llvm::GEPOperator*, 4> steps;
  const llvm::Value* at = bytes.pointer;
  for (unsigned i = 0; i < deep && !isMemory(at); ++i)
    if (auto* gep = dyn_cast<llvm::GEPOperator>(at)) {
      steps.push_back(gep);
      at = gep->getPointerOperand();
    } else if (isa<llvm::BitCastOperator, llvm::AddrSpaceCastOperator>(at)) {
      at = llvm::cast<llvm::Operator>(at)->getOperand(0);
    } else {
      break;
    }
  Places places;
  if (isMemory(at)) {
    Place place{at, sizeOf(at), Offsets{bytes.offset}};
    const auto every = static_cast<std::int64_t>(bytes.every);
    const bool areKnown =
        place.size > 0 &&
        llvm::all_of(llvm::reverse(steps), [&](auto* step) { return add(*step, place); }) &&
        (every == 0 ||
         spread(*place.firsts, every, -(place.size / every) - 1, place.size / every + 1));
    if (!areKnown)
      place.firsts.reset();
    places.push_back(std::move(place));
    return places;
  }
  llvm::SmallVector<const llvm::Value*, 4> objects; // one of several, perhaps
  llvm::getUnderlyingObjects(at, objects, nullptr, 0);
  bool isAny = false;
  for (const llvm::Value* object : objects)
    if (isMemory(object))
      places.push_back({object, sizeOf(object), std::nullopt});
    else
      isAny = isAny || (mayBePrivate(object) && !isa<llvm::ConstantPointerNull>(object));
  if (isAny)
    places.push_back({});
  return places;
}

/// False if that was known.
bool KeptPointers::keep(const Place& place, unsigned parameter) {
  const auto [entry, isNew] = kept_.insert({place.memory, Kept{{}, false, parameter}});
  Kept& kept = entry->second;
  if (!place.firsts)
    return !std::exchange(kept.isAnywhere, true) || isNew;
  const std::size_t before = kept.firsts.size();
  for (const std::int64_t first : *place.firsts)
    if (first > -pointerSize_ && first < place.size)
      kept.firsts.insert(first);
  return isNew || kept.firsts.size() > before;
}

/// Of what lies in `from`, `length` bytes, the copy in `to`. False if all that was known.
bool KeptPointers::copy(const Kept& kept, const Place& from, const Place& to, std::int64_t length) {
  Place place{to.memory, to.size, std::nullopt};
  if (kept.isAnywhere || !from.firsts || !to.firsts ||
      from.firsts->size() * to.firsts->size() * kept.firsts.size() > many)
    return keep(place, kept.parameter);
  place.firsts.emplace();
  for (const std::int64_t begin : *from.firsts)
    for (const std::int64_t first : kept.firsts)
      if (first > begin - pointerSize_ && first < begin + length)
        for (const std::int64_t there : *to.firsts)
          place.firsts->push_back(there + first - begin);
  return !place.firsts->empty() && keep(place, kept.parameter);
}

/// What it brings along. False if all that was known.
bool KeptPointers::copy(const llvm::MemTransferInst& transfer) {
  const auto* constant = dyn_cast<llvm::ConstantInt>(transfer.getLength());
  const std::uint64_t length = constant ? constant->getZExtValue() : toTheEnd;
  bool isNew = false;
  const Places targets = placesOf({transfer.getRawDest(), length});
  for (const Place& from : placesOf({transfer.getRawSource(), length})) {
    const std::vector all(kept_.begin(), kept_.end()); // it may become more meanwhile
    for (const auto& [memory, kept] : all)
      if (!memory || !from.memory || memory == from.memory)
        for (const Place& to : targets)
          isNew = copy(kept, from, to, static_cast<std::int64_t>(length)) || isNew;
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
    const auto parameter = addresses.in(value);
    if (!parameter)
      continue;
    for (const Place& place : placesOf({.pointer = store->getPointerOperand()}))
      keep(place, *parameter);
  }
  for (bool isNew = !kept_.empty(); isNew;) {
    isNew = false;
    for (const llvm::MemTransferInst* each : copies)
      isNew = copy(*each) || isNew;
  }
}

/// Of what is kept where it `meets(kept, place)`.
template <class Meets>
std::optional<unsigned> KeptPointers::find(const Places& places, Meets meets) const {
  for (const Place& place : places)
    for (const auto& [memory, kept] : kept_)
      if (!memory || !place.memory || memory == place.memory)
        if (meets(kept, place))
          return kept.parameter;
  return std::nullopt;
}

std::optional<unsigned> KeptPointers::in(const Bytes& bytes) const {
  if (kept_.empty())
    return std::nullopt;
  const auto length = static_cast<std::int64_t>(bytes.length);
  return find(placesOf(bytes), [&](const Kept& kept, const Place& place) {
    if (kept.isAnywhere || !place.memory || !place.firsts)
      return true;
    return llvm::any_of(*place.firsts, [&](std::int64_t begin) {
      const auto first = kept.firsts.upper_bound(begin - pointerSize_);
      return first != kept.firsts.end() && *first < begin + length;
    });
  });
}

std::optional<unsigned> KeptPointers::inPartOf(const llvm::Value* pointer) const {
  if (kept_.empty())
    return std::nullopt;
  return find(placesOf({.pointer = pointer}), [&](const Kept& kept, const Place& place) {
    return place.firsts && llvm::any_of(*place.firsts, [&](std::int64_t begin) {
             auto first = kept.firsts.upper_bound(begin - pointerSize_);
             for (; first != kept.firsts.end() && *first < begin + pointerSize_; ++first)
               if (*first != begin)
                 return true;
             return false;
           });
  });
}

} // namespace libsplit
