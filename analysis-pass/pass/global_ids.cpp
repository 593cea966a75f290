#include "analysis-pass/pass/global_ids.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <optional>
#include <vector>

using llvm::dyn_cast;

namespace libsplit {
namespace {

struct Query {
  Expr::Op of = Expr::Op::Unknown;
  std::uint64_t dimension = 0;
  llvm::CallInst* call = nullptr;
};

/// What `value` asks of the NDRange: the answer modulo 2^n for its n bits. `int g =
/// get_group_id(0)` may have made it narrower and wide again.
std::optional<Query> queryOf(llvm::Value* value) {
  while (auto* cast = dyn_cast<llvm::CastInst>(value)) {
    const bool widens = llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast);
    if (!llvm::isa<llvm::TruncInst>(cast) &&
        !(widens && cast->getSrcTy()->getIntegerBitWidth() >= 32))
      return std::nullopt;
    value = cast->getOperand(0);
  }
  auto* call = dyn_cast<llvm::CallInst>(value);
  if (!call || !call->getCalledFunction() || call->arg_size() != 1)
    return std::nullopt;
  const Builtin builtin = classifyCall(*call);
  auto* dimension = dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  if (builtin.kind != BuiltinKind::IdQuery || !dimension || dimension->getValue().uge(3))
    return std::nullopt;
  return Query{builtin.query, dimension->getZExtValue(), call};
}

/// The group id of `value`, if that is a product of it with the local size.
std::optional<Query> firstItemOfGroup(llvm::Value* value) {
  auto* product = dyn_cast<llvm::BinaryOperator>(value);
  if (!product || product->getOpcode() != llvm::Instruction::Mul)
    return std::nullopt;
  auto a = queryOf(product->getOperand(0)), b = queryOf(product->getOperand(1));
  if (!a || !b || a->dimension != b->dimension)
    return std::nullopt;
  if (a->of != Expr::Op::GroupId)
    std::swap(a, b);
  const bool bySize = b->of == Expr::Op::LocalSize || b->of == Expr::Op::EnqueuedLocalSize;
  return a->of == Expr::Op::GroupId && bySize ? a : std::nullopt;
}

bool isSum(const llvm::Value* value) {
  auto* operation = dyn_cast<llvm::BinaryOperator>(value);
  return operation && operation->getOpcode() == llvm::Instruction::Add;
}

constexpr std::size_t mostTerms = 16;

void collectTerms(llvm::Value* value, std::vector<llvm::Value*>& terms) {
  auto* sum = isSum(value) ? llvm::cast<llvm::BinaryOperator>(value) : nullptr;
  if (!sum || terms.size() >= mostTerms) {
    terms.push_back(value);
    return;
  }
  collectTerms(sum->getOperand(0), terms);
  collectTerms(sum->getOperand(1), terms);
}

/// A local id, and a constant that is added to it.
struct ShiftedLocalId {
  llvm::Value* id = nullptr;
  std::int64_t shift = 0;

  /// Takes what is added up in `value`. False if that is anything else.
  bool add(llvm::Value* value, unsigned depth = 0) {
    auto* operation = dyn_cast<llvm::BinaryOperator>(value);
    if (auto* constant = dyn_cast<llvm::ConstantInt>(value))
      return add(*constant, 1);
    if (isSum(value) && depth < mostTerms)
      return add(operation->getOperand(0), depth + 1) && add(operation->getOperand(1), depth + 1);
    if (operation && operation->getOpcode() == llvm::Instruction::Sub && depth < mostTerms)
      if (auto* constant = dyn_cast<llvm::ConstantInt>(operation->getOperand(1)))
        return add(*constant, -1) && add(operation->getOperand(0), depth + 1);
    const auto query = queryOf(value);
    if (!query || query->of != Expr::Op::LocalId || id)
      return false;
    id = value;
    return true;
  }

private:
  bool add(const llvm::ConstantInt& constant, std::int64_t sign) {
    constexpr std::int64_t far = std::int64_t{1} << 30;
    if (constant.getValue().getSignificantBits() > 32)
      return false;
    shift += sign * constant.getSExtValue();
    reach_ += std::abs(constant.getSExtValue());
    return reach_ < far;
  }

  std::int64_t reach_ = 0; ///< of partial sums
};

/// What was made wider only after it was added up: `4 + item` of ints, beside terms of size_t. No
/// device has work-groups of anything like 2^30 work-items, so the sum is what it would have been
/// with more bits.
std::optional<ShiftedLocalId> widenedLocalId(llvm::Value* value) {
  auto* cast = dyn_cast<llvm::CastInst>(value);
  if (!cast || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast) ||
      !llvm::isa<llvm::BinaryOperator>(cast->getOperand(0)) ||
      cast->getSrcTy()->getIntegerBitWidth() < 32)
    return std::nullopt;
  ShiftedLocalId found;
  if (!found.add(cast->getOperand(0)) || !found.id ||
      (llvm::isa<llvm::ZExtInst>(cast) && found.shift < 0))
    return std::nullopt;
  return found;
}

/// The terms of a sum, with local ids by themselves.
std::vector<llvm::Value*> termsOf(llvm::BinaryOperator& sum) {
  std::vector<llvm::Value*> together, terms;
  collectTerms(&sum, together);
  for (llvm::Value* term : together) {
    const auto widened = widenedLocalId(term);
    terms.push_back(widened ? widened->id : term);
    if (widened)
      terms.push_back(llvm::ConstantInt::getSigned(sum.getType(), widened->shift));
  }
  return terms;
}

/// The call of another query, in the same dimension and of the same making.
llvm::Value* ask(llvm::IRBuilder<>& code, const llvm::CallInst& like, const char* mangled) {
  llvm::Function& callee = *like.getCalledFunction();
  llvm::FunctionCallee other =
      callee.getParent()->getOrInsertFunction(mangled, callee.getFunctionType());
  auto* function = dyn_cast<llvm::Function>(other.getCallee());
  if (function && function->isDeclaration()) {
    function->setAttributes(callee.getAttributes());
    function->setCallingConv(callee.getCallingConv());
  }
  llvm::CallInst* call = code.CreateCall(other, {like.getArgOperand(0)});
  call->setAttributes(like.getAttributes());
  call->setCallingConv(like.getCallingConv());
  return call;
}

/// Modulo 2^n, as the program's own sum. Null if there is no global id in it.
llvm::Value* withGlobalId(llvm::BinaryOperator& sum) {
  std::vector<llvm::Value*> terms = termsOf(sum);
  for (llvm::Value*& product : terms) {
    const auto group = firstItemOfGroup(product);
    if (!group)
      continue;
    for (llvm::Value*& local : terms) {
      const auto id = queryOf(local);
      if (!id || id->of != Expr::Op::LocalId || id->dimension != group->dimension)
        continue;
      llvm::IRBuilder<> code(&sum);
      llvm::Value* all =
          code.CreateZExtOrTrunc(code.CreateSub(ask(code, *group->call, "_Z13get_global_idj"),
                                                ask(code, *group->call, "_Z17get_global_offsetj")),
                                 sum.getType());
      for (llvm::Value*& term : terms)
        if (&term != &product && &term != &local)
          all = code.CreateAdd(all, code.CreateZExtOrTrunc(term, sum.getType()));
      return all;
    }
  }
  return nullptr;
}

} // namespace

llvm::PreservedAnalyses GlobalIdsPass::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager&) {
  if (!isKernel(function) ||
      function.getFnAttribute(uniformGroupsAttribute).getValueAsString() != "true")
    return llvm::PreservedAnalyses::all();
  std::vector<llvm::BinaryOperator*> sums;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (isSum(&instruction))
      sums.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
  bool changed = false;
  for (llvm::BinaryOperator* sum : sums)
    if (llvm::Value* same = withGlobalId(*sum)) {
      sum->replaceAllUsesWith(same);
      changed = true;
    }
  if (!changed)
    return llvm::PreservedAnalyses::all();
  function.addFnAttr(idsFromGroupsAttribute);
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace libsplit
