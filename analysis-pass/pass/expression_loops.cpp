// The loop side of ExpressionBuilder: phis, recurrences, and what scalar evolution says of them.
#include "analysis-pass/pass/expression_builder.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {

using Op = Expr::Op;

Expr ExpressionBuilder::phi(llvm::PHINode& phi, View view) {
  unsigned width = phi.getType()->getIntegerBitWidth();
  llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    llvm::BasicBlock* before = loop->getLoopPredecessor();
    if (!before)
      return Expr::unknown("value carried around a loop", lineOf(&phi));
    Expr start = build(phi.getIncomingValueForBlock(before), View::Modular);
    return viewed(combine(Op::Add, {start, movement(phi)}), width, view);
  }
  if (phi.getNumIncomingValues() == 1)
    return closedOverLoops(phi.getIncomingValue(0), phi, view);
  if (auto gated = gate(phi, dominators_)) {
    // Values of an exited loop can't stand here: their loop variables have no meaning outside.
    unsigned depth = loop ? loop->getLoopDepth() : 0;
    Expr result = select(gated->condition, build(gated->ifTrue, view), build(gated->ifFalse, view));
    if (loopDepthUsed(result) <= depth && loops_.getLoopFor(gated->branch) == loop &&
        loops_.getLoopFor(phi.getIncomingBlock(0)) == loop &&
        loops_.getLoopFor(phi.getIncomingBlock(1)) == loop)
      return result;
  }
  return Expr::unknown("value depends on a branch", lineOf(&phi));
}

Expr ExpressionBuilder::movement(llvm::PHINode& phi) {
  Expr unknown = Expr::unknown("value carried around a loop", lineOf(&phi));
  llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
  llvm::BasicBlock* latch = loop->getLoopLatch();
  if (!latch)
    return unknown;
  // What one iteration adds. Seen from the loop itself, inner loops are closed over: `k++` in an
  // inner loop of four iterations adds four.
  llvm::Value* next = phi.getIncomingValueForBlock(latch);
  while (auto* passed = dyn_cast<llvm::PHINode>(next)) {
    if (passed->getNumIncomingValues() != 1)
      break;
    next = passed->getIncomingValue(0);
  }
  const llvm::SCEV* now = evolution_.getSCEV(&phi);
  const llvm::SCEV* step =
      evolution_.getMinusSCEV(evolution_.getSCEVAtScope(evolution_.getSCEV(next), loop), now);
  if (isa<llvm::SCEVCouldNotCompute>(step) || !evolution_.isLoopInvariant(step, loop))
    return unknown;
  Expr by = build(step, View::Modular, loop->getParentLoop());
  return combine(Op::Mul, {by, Expr::loop(loop->getLoopDepth() - 1)});
}

Expr ExpressionBuilder::closedOverLoops(llvm::Value* inner, llvm::PHINode& outside, View view) {
  auto* instruction = dyn_cast<llvm::Instruction>(inner);
  llvm::Loop* scope = loops_.getLoopFor(outside.getParent());
  llvm::Loop* home = instruction ? loops_.getLoopFor(instruction->getParent()) : nullptr;
  if (!home || home->contains(scope))
    return build(inner, view);
  const llvm::SCEV* atExit = evolution_.getSCEVAtScope(evolution_.getSCEV(inner), scope);
  return build(atExit, view, scope);
}

Expr ExpressionBuilder::build(const llvm::SCEV* evolution, View view, const llvm::Loop* scope) {
  if (isa<llvm::SCEVCouldNotCompute>(evolution) || !evolution->getType()->isIntegerTy() ||
      evolution->getType()->getIntegerBitWidth() > 64)
    return Expr::unknown("value left by a loop");
  unsigned width = evolution->getType()->getIntegerBitWidth();
  auto all = [&](Op op, View how) {
    std::vector<Expr> operands;
    for (const llvm::SCEV* operand : evolution->operands())
      operands.push_back(build(operand, how, scope));
    return viewed(combine(op, std::move(operands)), width, view);
  };
  switch (evolution->getSCEVType()) {
  case llvm::scConstant:
    return build(cast<llvm::SCEVConstant>(evolution)->getValue(), view);
  case llvm::scAddExpr:
    return all(Op::Add, View::Modular);
  case llvm::scMulExpr:
    return all(Op::Mul, View::Modular);
  case llvm::scUDivExpr:
    return all(Op::DivFloor, View::Unsigned);
  case llvm::scSMaxExpr:
    return all(Op::Max, View::Signed);
  case llvm::scSMinExpr:
    return all(Op::Min, View::Signed);
  case llvm::scUMaxExpr:
    return all(Op::Max, View::Unsigned);
  case llvm::scUMinExpr:
  case llvm::scSequentialUMinExpr:
    return all(Op::Min, View::Unsigned);
  case llvm::scTruncate:
    return viewed(build(evolution->operands()[0], View::Modular, scope), width, view);
  case llvm::scSignExtend:
    return viewed(build(evolution->operands()[0], View::Signed, scope), width, view);
  case llvm::scZeroExtend:
    if (unsigned from = evolution->operands()[0]->getType()->getIntegerBitWidth(); from < 32)
      return combine(Op::And, {build(evolution->operands()[0], View::Modular, scope),
                               Expr::constant((std::int64_t{1} << from) - 1)});
    return viewed(build(evolution->operands()[0], View::Unsigned, scope), width, view);
  case llvm::scAddRecExpr: {
    auto* recurrence = cast<llvm::SCEVAddRecExpr>(evolution);
    const llvm::Loop* loop = recurrence->getLoop();
    if (!recurrence->isAffine() || !loop->contains(scope))
      return Expr::unknown("value left by a loop", lineOf(&loop->getHeader()->front()));
    Expr start = build(recurrence->getStart(), View::Modular, scope);
    Expr step = build(recurrence->getStepRecurrence(evolution_), View::Modular, scope);
    Expr moved = combine(Op::Mul, {step, Expr::loop(loop->getLoopDepth() - 1)});
    return viewed(combine(Op::Add, {start, moved}), width, view);
  }
  case llvm::scUnknown: {
    llvm::Value* value = cast<llvm::SCEVUnknown>(evolution)->getValue();
    auto* instruction = dyn_cast<llvm::Instruction>(value);
    llvm::Loop* home = instruction ? loops_.getLoopFor(instruction->getParent()) : nullptr;
    if (home && !home->contains(scope))
      return Expr::unknown("value left by a loop", lineOf(value));
    return build(value, view);
  }
  default:
    return Expr::unknown("value left by a loop");
  }
}

} // namespace libsplit
