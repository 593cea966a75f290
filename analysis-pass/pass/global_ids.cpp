#include "analysis-pass/pass/global_ids.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

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

void collectTerms(llvm::Value* value, std::vector<llvm::Value*>& terms) {
  constexpr std::size_t most = 16;
  auto* sum = isSum(value) ? llvm::cast<llvm::BinaryOperator>(value) : nullptr;
  if (!sum || terms.size() >= most) {
    terms.push_back(value);
    return;
  }
  collectTerms(sum->getOperand(0), terms);
  collectTerms(sum->getOperand(1), terms);
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
  std::vector<llvm::Value*> terms;
  collectTerms(&sum, terms);
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
          all = code.CreateAdd(all, term);
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
