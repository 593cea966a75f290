#include "analysis-pass/pass/reads_in_place.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/summary/checked_int.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace libsplit {

using llvm::dyn_cast;

namespace {

using Op = Expr::Op;

/// Adds `factor` * `e`; false if a number does not fit.
bool addTo(std::map<std::string, std::int64_t>& terms, std::int64_t& constant, const Expr& e,
           std::int64_t factor) {
  const auto add = [factor](std::int64_t& to, std::int64_t value) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(value, factor, &product) &&
           !__builtin_add_overflow(to, product, &to);
  };
  switch (e.op()) {
  case Op::Constant:
    return add(constant, e.value());
  case Op::Wrap:
    return addTo(terms, constant, e.operands()[0], factor);
  case Op::Add:
    for (const Expr& operand : e.operands())
      if (!addTo(terms, constant, operand, factor))
        return false;
    return true;
  case Op::Mul: {
    std::vector<Expr> others;
    for (const Expr& operand : e.operands())
      if (operand.op() != Op::Constant)
        others.push_back(operand);
      else if (__builtin_mul_overflow(factor, operand.value(), &factor))
        return false;
    if (others.size() == 1)
      return addTo(terms, constant, others[0], factor);
    std::int64_t& term = terms[toString(Expr::node(Op::Mul, std::move(others)))];
    return !__builtin_add_overflow(term, factor, &term);
  }
  case Op::Shl:
    if (const Expr& by = e.operands()[1];
        by.op() == Op::Constant && by.value() >= 0 && by.value() < 62)
      return !__builtin_mul_overflow(factor, std::int64_t{1} << by.value(), &factor) &&
             addTo(terms, constant, e.operands()[0], factor);
    [[fallthrough]];
  default:
    return add(terms[toString(e)], 1);
  }
}

} // namespace

/// Nothing if it is not known.
std::optional<ReadsInPlace::Place> ReadsInPlace::placeOf(const Expr& offset) {
  Place place;
  if (containsUnknown(offset) || !addTo(place.terms, place.constant, offset, 1))
    return std::nullopt;
  std::erase_if(place.terms, [](const auto& term) { return term.second == 0; });
  return place;
}

/// In buffers that the kernel also writes.
ReadsInPlace::Places ReadsInPlace::placesOf(llvm::Value* pointer, const Expr& displacement) {
  Places places;
  for (const PointerTarget& target : pointers_.targets(pointer))
    if (target.kind == PointerTarget::Kind::Parameter && !readOnly_[target.parameter])
      if (auto place = placeOf(combine(Op::Add, {target.offset, displacement})))
        places.emplace_back(target.parameter, std::move(*place));
  return places;
}

void ReadsInPlace::collect() {
  const llvm::DataLayout& layout = function_.getDataLayout();
  const auto note = [this](const llvm::Instruction& by, llvm::Value* pointer,
                           const Expr& displacement, std::uint64_t length) {
    for (auto& [parameter, place] : placesOf(pointer, displacement))
      reads_[{parameter, std::move(place.terms)}].push_back({&by, place.constant, length});
  };
  for (llvm::Instruction& each : llvm::instructions(function_)) {
    if (!builder_.dominators().isReachableFromEntry(each.getParent()))
      continue;
    if (auto* load = dyn_cast<llvm::LoadInst>(&each)) {
      note(*load, load->getPointerOperand(), {},
           layout.getTypeStoreSize(load->getType()).getFixedValue());
    } else if (auto* copy = dyn_cast<llvm::MemTransferInst>(&each)) {
      if (auto* length = dyn_cast<llvm::ConstantInt>(copy->getLength()))
        note(*copy, copy->getRawSource(), {}, length->getZExtValue());
    } else if (auto* call = dyn_cast<llvm::CallInst>(&each);
               call && classifyCall(*call).kind == BuiltinKind::VectorLoad) {
      const VectorAccess access = vectorAccess(*call, layout);
      note(*call, call->getArgOperand(access.pointerOperand), builder_.offsetOf(*call, access),
           access.length);
    }
  }
}

std::vector<const llvm::Instruction*>
ReadsInPlace::of(llvm::Value* pointer, const Expr& displacement, std::uint64_t length) {
  if (!isCollected_)
    collect();
  isCollected_ = true;
  std::vector<const llvm::Instruction*> found;
  for (auto& [parameter, place] : placesOf(pointer, displacement)) {
    const auto reads = reads_.find({parameter, std::move(place.terms)});
    if (reads == reads_.end())
      continue;
    for (const Read& read : reads->second)
      if (read.constant < Int{place.constant} + length &&
          place.constant < Int{read.constant} + read.length)
        found.push_back(read.by);
  }
  return found;
}

} // namespace libsplit
