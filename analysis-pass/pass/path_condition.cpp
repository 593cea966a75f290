#include "analysis-pass/pass/path_condition.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

using llvm::cast;
using llvm::dyn_cast;
namespace match = llvm::PatternMatch;

namespace libsplit {
namespace {

using Op = Expr::Op;
using Relation = Guard::Relation;

/// More alternatives than this cost more than they tell.
constexpr std::size_t maxAlternatives = 16;
/// More guards in one of them do, too.
constexpr std::size_t maxGuards = 128;

/// Of a condition that is not about integers that the analysis can say.
Condition undecidable(const llvm::Value* value) {
  std::string about = "values that are not ids, sizes or arguments";
  if (llvm::isa<llvm::FCmpInst>(value))
    about = "floating-point numbers";
  else if (auto* call = dyn_cast<llvm::CallBase>(value); call && call->getCalledFunction())
    about = "the result of `" + builtinName(call->getCalledFunction()->getName()).str() + "`";
  return Condition::undecided("condition on " + about, lineOf(value));
}

/// Of a block to which several ways lead from `block`, or a way out of a loop.
Condition severalWays(const llvm::BasicBlock* block) {
  return Condition::undecided("branches or loops that end early", lineOf(block->getTerminator()));
}

const Condition::Doubt& firstDoubt(const Condition& a, const Condition& b) {
  return a.exact ? b.doubt : a.doubt;
}

/// Adds to `guards` those of `more` that it has not got, as long as a launch should look at so
/// many: else false.
bool join(std::vector<Guard>& guards, const std::vector<Guard>& more) {
  const std::size_t before = guards.size();
  for (const Guard& guard : more) {
    const auto end = guards.begin() + static_cast<std::ptrdiff_t>(before);
    if (std::find(guards.begin(), end, guard) != end)
      continue;
    if (guards.size() >= maxGuards)
      return false;
    guards.push_back(guard);
  }
  return true;
}

/// What evaluation makes of `condition`. Alternatives that only data tell apart are none.
Condition withoutInspected(Condition condition) {
  for (auto& guards : condition.anyOf)
    std::erase_if(guards, [](const Guard& guard) { return guard.isInspected; });
  return condition;
}

} // namespace

Condition either(const Condition& left, const Condition& right) {
  if (left.anyOf.empty() || right.anyOf.empty()) // never, and so the other one
    return {left.anyOf.empty() ? right.anyOf : left.anyOf, left.exact && right.exact,
            firstDoubt(left, right)};
  const Condition a = withoutInspected(left), b = withoutInspected(right);
  Condition result{a.anyOf, a.exact && b.exact, firstDoubt(a, b)};
  result.anyOf.insert(result.anyOf.end(), b.anyOf.begin(), b.anyOf.end());
  bool always = std::any_of(result.anyOf.begin(), result.anyOf.end(),
                            [](const auto& guards) { return guards.empty(); });
  if (always)
    result.anyOf = {{}};
  if (result.anyOf.size() > maxAlternatives)
    return Condition::undecided("too many alternatives in a condition", 0);
  return result;
}

Condition both(const Condition& a, const Condition& b) {
  Condition result{{}, a.exact && b.exact, firstDoubt(a, b)};
  if (a.anyOf.size() * b.anyOf.size() > maxAlternatives)
    return {a.anyOf.size() > b.anyOf.size() ? b.anyOf : a.anyOf,
            false,
            {"too many alternatives in a condition", 0}};
  for (const auto& left : a.anyOf)
    for (const auto& right : b.anyOf) {
      const bool isAll = join(result.anyOf.emplace_back(left), right);
      if (!isAll && result.exact) {
        result.exact = false;
        result.doubt = {"too many conditions at a time", 0};
      }
    }
  return result;
}

PathConditions::PathConditions(llvm::Function& function, ExpressionBuilder& builder,
                               llvm::PostDominatorTree& postDominators)
    : builder_(builder), postDominators_(postDominators) {
  llvm::ReversePostOrderTraversal<const llvm::Function*> order(&function);
  irreducible_ = llvm::containsIrreducibleCFG<const llvm::BasicBlock*>(order, builder.loops());
}

Condition PathConditions::single(const Expr& left, Relation relation, const Expr& right,
                                 const llvm::Value& condition) const {
  const unsigned line = lineOf(&condition);
  for (const Expr* side : {&left, &right})
    if (auto unknown = findUnknown(*side))
      return Condition::undecided("unknown condition: " + unknown->text(), line);
  // Reading whole buffers at every launch for what a condition on each element leaves out of a
  // region would cost more than it saves, unless they are looked through anyway.
  for (const Expr* side : {&left, &right})
    if (auto load = elementThatVaries(*side))
      return {{{Guard{left, relation, right, /*isInspected=*/true}}},
              false,
              {"condition on what " + builder_.nameOf(load->index()) + " holds", line}};
  return {{{Guard{left, relation, right}}}, true};
}

const Condition& PathConditions::condition(llvm::Value* value, bool wanted) {
  const std::pair key{value, wanted};
  auto found = conditions_.find(key);
  if (found == conditions_.end())
    found = conditions_.try_emplace(key, findCondition(value, wanted)).first;
  return found->second;
}

Condition PathConditions::findCondition(llvm::Value* value, bool wanted) {
  llvm::Value *a = nullptr, *b = nullptr;
  if (auto* constant = dyn_cast<llvm::ConstantInt>(value))
    return constant->isOne() == wanted ? Condition::always() : Condition::never();
  if (auto* freeze = dyn_cast<llvm::FreezeInst>(value))
    return condition(freeze->getOperand(0), wanted);
  if (match::match(value, match::m_Not(match::m_Value(a))))
    return condition(a, !wanted);
  bool isAnd = match::match(value, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b)));
  if (isAnd || match::match(value, match::m_LogicalOr(match::m_Value(a), match::m_Value(b)))) {
    const Condition& left = condition(a, wanted);
    const Condition& right = condition(b, wanted);
    return isAnd == wanted ? both(left, right) : either(left, right);
  }
  if (auto* phi = dyn_cast<llvm::PHINode>(value)) {
    // `a && b` where b could not be computed ahead. Only inside one loop: a condition that is
    // carried out of a loop speaks of that loop's variable.
    auto gated = gate(*phi, builder_.dominators());
    llvm::LoopInfo& loops = builder_.loops();
    llvm::Loop* loop = loops.getLoopFor(phi->getParent());
    bool sameLoop = gated && loops.getLoopFor(gated->branch) == loop &&
                    loops.getLoopFor(phi->getIncomingBlock(0)) == loop &&
                    loops.getLoopFor(phi->getIncomingBlock(1)) == loop &&
                    !(loop && loop->getHeader() == phi->getParent());
    if (!sameLoop)
      return Condition::undecided("condition that depends on a branch", lineOf(phi));
    return either(both(condition(gated->condition, true), condition(gated->ifTrue, wanted)),
                  both(condition(gated->condition, false), condition(gated->ifFalse, wanted)));
  }
  if (auto* comparison = dyn_cast<llvm::ICmpInst>(value))
    return compare(*comparison, wanted);
  return undecidable(value);
}

Condition PathConditions::compare(llvm::ICmpInst& comparison, bool wanted) {
  llvm::Value* a = comparison.getOperand(0);
  llvm::Value* b = comparison.getOperand(1);
  auto predicate = wanted ? comparison.getPredicate() : comparison.getInversePredicate();
  if (!a->getType()->isIntegerTy())
    return Condition::undecided("condition on pointers or vectors", lineOf(&comparison));
  auto* constant = dyn_cast<llvm::ConstantInt>(b);
  bool isEquality = llvm::ICmpInst::isEquality(predicate);

  // A bool that took the way through an integer: `(x < y) != 0`.
  if (isEquality && constant && constant->getValue().ult(2)) {
    llvm::Value* narrow = a;
    match::match(a, match::m_ZExt(match::m_Value(narrow)));
    if (narrow->getType()->isIntegerTy(1))
      return condition(narrow, constant->isOne() == (predicate == llvm::ICmpInst::ICMP_EQ));
  }
  if (a->getType()->isIntegerTy(1))
    return Condition::undecided("condition on conditions", lineOf(&comparison));

  // `x - 1u < 62u` is how a two-sided test looks once simplified: below 2^(n-1) the unsigned
  // comparison is 0 <= x - 1 && x - 1 < 62 in signed numbers, whatever x is.
  if (predicate == llvm::ICmpInst::ICMP_ULT && constant && !constant->isNegative() &&
      builder_.build(a, View::Unsigned).op() == Op::Wrap) {
    Expr low = builder_.build(a, View::Signed);
    return both(single(Expr::constant(0), Relation::LessEqual, low, comparison),
                single(low, Relation::Less, builder_.build(b, View::Signed), comparison));
  }

  View how = llvm::ICmpInst::isUnsigned(predicate) ? View::Unsigned : View::Signed;
  Expr left = builder_.build(a, how);
  Expr right = builder_.build(b, how);
  switch (predicate) {
  case llvm::ICmpInst::ICMP_EQ:
    return single(left, Relation::Equal, right, comparison);
  case llvm::ICmpInst::ICMP_NE:
    return single(left, Relation::NotEqual, right, comparison);
  case llvm::ICmpInst::ICMP_SLT:
  case llvm::ICmpInst::ICMP_ULT:
    return single(left, Relation::Less, right, comparison);
  case llvm::ICmpInst::ICMP_SLE:
  case llvm::ICmpInst::ICMP_ULE:
    return single(left, Relation::LessEqual, right, comparison);
  case llvm::ICmpInst::ICMP_SGT:
  case llvm::ICmpInst::ICMP_UGT:
    return single(right, Relation::Less, left, comparison);
  case llvm::ICmpInst::ICMP_SGE:
  case llvm::ICmpInst::ICMP_UGE:
    return single(right, Relation::LessEqual, left, comparison);
  default:
    return undecidable(&comparison);
  }
}

const PathConditions::LoopExits& PathConditions::exitsOf(llvm::Loop* loop) {
  auto found = exits_.find(loop);
  if (found != exits_.end())
    return found->second;
  LoopExits result;
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop->getExitingBlocks(exiting);
  llvm::BasicBlock* latch = loop->getLoopLatch();
  for (llvm::BasicBlock* from : exiting) {
    Exit exit{from, nullptr,
              Expr::unknown("loop without a known count", lineOf(from->getTerminator()))};
    // Only an exit that every iteration comes by, once, has a count.
    bool regular = builder_.loops().getLoopFor(from) == loop && latch &&
                   builder_.dominators().dominates(from, latch);
    result.regular &= regular;
    if (auto* branch = dyn_cast<llvm::BranchInst>(from->getTerminator());
        regular && branch && branch->isConditional()) {
      bool firstStays = loop->contains(branch->getSuccessor(0));
      bool secondStays = loop->contains(branch->getSuccessor(1));
      if (firstStays != secondStays) {
        exit.stays = branch->getSuccessor(firstStays ? 0 : 1);
        exit.count = exitCount(loop, from, exit.stays, exit.atMost);
      }
    }
    result.exits.push_back(std::move(exit));
  }
  return exits_.try_emplace(loop, std::move(result)).first->second;
}

/// Completed iterations before `loop` is left at the end of `exiting`, if only that exit is taken.
Expr PathConditions::exitCount(llvm::Loop* loop, llvm::BasicBlock* exiting, llvm::BasicBlock* stays,
                               bool& atMost) {
  llvm::ScalarEvolution& evolution = builder_.evolution();
  Expr unknown = Expr::unknown("loop without a known count", lineOf(exiting->getTerminator()));
  auto known = [&](const Expr& expr) {
    // The count is fixed where the loop is entered: it can't name the loop's own variable.
    return !findUnknown(expr) && loopDepthUsed(expr) < loop->getLoopDepth();
  };
  const llvm::SCEV* count = evolution.getExitCount(loop, exiting);
  bool proven = !llvm::isa<llvm::SCEVCouldNotCompute>(count);
  auto* branch = cast<llvm::BranchInst>(exiting->getTerminator());
  const bool endsLoop = loop->getExitingBlock() == exiting;
  auto counted = countByCondition(loop, branch->getCondition(), branch->getSuccessor(0) == stays,
                                  endsLoop, proven, atMost);
  bool isKnown = counted && known(*counted);
  if (isKnown && !atMost)
    return *counted;
  if (proven) {
    Expr stated = builder_.build(count, View::Unsigned, loop->getParentLoop());
    if (known(stated)) {
      atMost = false;
      return stated;
    }
  }
  return isKnown ? *counted : unknown;
}

/// `j < n && j <= i`: the smaller count; where only one of them is known, at most that.
std::optional<Expr> PathConditions::countByCondition(llvm::Loop* loop, llvm::Value* condition,
                                                     bool staysIf, bool endsLoop, bool proven,
                                                     bool& atMost) {
  llvm::Value *a = nullptr, *b = nullptr;
  bool bothNeeded =
      staysIf ? match::match(condition, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b)))
              : match::match(condition, match::m_LogicalOr(match::m_Value(a), match::m_Value(b)));
  if (bothNeeded) {
    auto first = countByCondition(loop, a, staysIf, false, false, atMost);
    auto second = countByCondition(loop, b, staysIf, false, false, atMost);
    auto known = [](const std::optional<Expr>& count) { return count && !findUnknown(*count); };
    atMost |= !known(first) || !known(second);
    if (known(first) && known(second))
      return combine(Op::Min, {*first, *second});
    return known(first) ? first : second;
  }
  auto* comparison = dyn_cast<llvm::ICmpInst>(condition);
  return comparison ? countByComparison(loop, *comparison, staysIf, endsLoop, proven)
                    : std::nullopt;
}

/// The count of `for (v = start; v < bound; v += step)` as max(0, ceil((bound - start) / step)),
/// also for v downwards. Scalar evolution's own count is often hard to bound (a maximum minus one
/// of its operands), or not there at all if the variable might wrap around. It can't if the last
/// value, at most bound + step - 1, still fits its type: unless that is `proven`, and wrapping is
/// undefined, a Wrap says so and leaves the proof to the launch. With a step below 1, a variable
/// that can't wrap never ends the loop, but if there is no iteration, which step 1 gives as well.
/// Where it can (`for (uint k = 7; k < 8; --k)`), or something else may end the loop (not
/// `endsLoop`), such a step gives no count: a division by 0 says so to the launch.
std::optional<Expr> PathConditions::countByComparison(llvm::Loop* loop, llvm::ICmpInst& comparison,
                                                      bool staysIf, bool endsLoop, bool proven) {
  llvm::ScalarEvolution& evolution = builder_.evolution();
  if (!comparison.getOperand(0)->getType()->isIntegerTy())
    return std::nullopt;
  auto predicate = staysIf ? comparison.getPredicate() : comparison.getInversePredicate();
  const llvm::SCEV* variable = evolution.getSCEV(comparison.getOperand(0));
  const llvm::SCEV* bound = evolution.getSCEV(comparison.getOperand(1));
  if (!evolution.isLoopInvariant(bound, loop)) {
    std::swap(variable, bound);
    predicate = llvm::ICmpInst::getSwappedPredicate(predicate);
  }
  if (llvm::ICmpInst::isEquality(predicate) || !evolution.isLoopInvariant(bound, loop))
    return std::nullopt;

  // The variable may be narrower than the comparison: `int i ... i < get_local_size(0)`.
  View how = llvm::ICmpInst::isUnsigned(predicate) ? View::Unsigned : View::Signed;
  View natural = how;
  llvm::Type* wide = variable->getType();
  if (auto* extension = dyn_cast<llvm::SCEVIntegralCastExpr>(variable)) {
    if (extension->getSCEVType() == llvm::scTruncate)
      return std::nullopt;
    natural = extension->getSCEVType() == llvm::scSignExtend ? View::Signed : View::Unsigned;
    variable = extension->getOperand();
    proven = false;
  }
  auto* recurrence = dyn_cast<llvm::SCEVAddRecExpr>(variable);
  if (!recurrence || !recurrence->isAffine() || recurrence->getLoop() != loop)
    return std::nullopt;
  bool upwards = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  if (!upwards && natural == View::Signed && how == View::Unsigned)
    return std::nullopt; // a negative value would not end the loop

  const llvm::Loop* scope = loop->getParentLoop();
  const llvm::SCEV* first = recurrence->getStart();
  if (first->getType() != wide)
    first = natural == View::Signed ? evolution.getSignExtendExpr(first, wide)
                                    : evolution.getZeroExtendExpr(first, wide);
  const llvm::SCEV* step = recurrence->getStepRecurrence(evolution);
  if (!upwards)
    step = evolution.getNegativeSCEV(step);
  const bool cannotWrap =
      natural == View::Signed ? recurrence->hasNoSignedWrap() : recurrence->hasNoUnsignedWrap();
  const bool mustStep = !endsLoop || !cannotWrap;
  if (mustStep && evolution.isKnownNonPositive(step))
    return std::nullopt;
  Expr one = Expr::constant(1);
  Expr by =
      combine(Op::Max, {builder_.build(step, natural, scope), mustStep ? Expr::constant(0) : one});
  Expr start = builder_.build(first, how, scope);
  Expr end = builder_.build(bound, how, scope);
  bool inclusive = llvm::ICmpInst::isLE(predicate) || llvm::ICmpInst::isGE(predicate);
  auto width = static_cast<unsigned>(evolution.getTypeSizeInBits(recurrence->getType()));
  Expr overshoot = minus(by, one);
  if (inclusive)
    overshoot = combine(Op::Add, {overshoot, one});
  Expr last = upwards ? combine(Op::Add, {end, overshoot}) : minus(end, overshoot);
  if (!proven || !cannotWrap)
    last = viewed(last, width, natural);
  Expr distance = upwards ? minus(last, start) : minus(start, last);
  return combine(Op::Max, {combine(Op::DivFloor, {distance, by}), Expr::constant(0)});
}

LoopRuns PathConditions::runs(llvm::Loop* loop, llvm::BasicBlock* block) {
  const LoopExits& exits = exitsOf(loop);
  LoopRuns result{
      loop, Expr::unknown("loop without a known count", lineOf(loop->getHeader()->getTerminator())),
      exits.regular, true};
  std::vector<Expr> bounds;
  for (const Exit& exit : exits.exits) {
    bool after =
        exit.stays && exit.stays != exit.from &&
        builder_.dominators().dominates(llvm::BasicBlockEdge(exit.from, exit.stays), block);
    result.atLeastOnce &= !after;
    if (exit.counted())
      bounds.push_back(after ? exit.count : exit.count + Expr::constant(1));
    if (!exit.counted() || exit.atMost)
      result.exact = false;
  }
  if (bounds.empty())
    result.exact = false;
  else
    result.count = bounds.size() == 1 ? bounds.front() : combine(Op::Min, std::move(bounds));
  return result;
}

bool PathConditions::isCountedExit(llvm::BasicBlock* block, llvm::BasicBlock* successor) {
  for (llvm::Loop* loop = builder_.loops().getLoopFor(block); loop; loop = loop->getParentLoop())
    for (const Exit& exit : exitsOf(loop).exits)
      if (exit.from == block && exit.stays == successor && exit.counted() && !exit.atMost)
        return true;
  return false;
}

/// The condition under which `from` branches along the edge that dominates `to`.
Condition PathConditions::ofEdge(llvm::BasicBlock* from, llvm::BasicBlock* to, bool& edgeFound) {
  const llvm::DominatorTree& dominators = builder_.dominators();
  edgeFound = false;
  auto* terminator = from->getTerminator();
  if (auto* branch = dyn_cast<llvm::BranchInst>(terminator); branch && branch->isConditional()) {
    if (branch->getSuccessor(0) == branch->getSuccessor(1))
      return severalWays(from);
    for (unsigned i : {0u, 1u})
      if (dominators.dominates(llvm::BasicBlockEdge(from, branch->getSuccessor(i)), to)) {
        edgeFound = true;
        if (isCountedExit(from, branch->getSuccessor(i)))
          return Condition::always();
        return condition(branch->getCondition(), i == 0);
      }
  } else if (auto* choice = dyn_cast<llvm::SwitchInst>(terminator)) {
    // Every way into `to` must be one of this switch's.
    edgeFound = llvm::all_of(llvm::predecessors(to),
                             [&](llvm::BasicBlock* before) { return before == from; });
    return edgeFound ? ofSwitch(*choice, to) : severalWays(from);
  }
  return severalWays(from);
}

const PathOfBlock& PathConditions::of(llvm::BasicBlock* block) {
  auto found = paths_.find(block);
  if (found == paths_.end())
    found = paths_.try_emplace(block, compute(block)).first;
  return found->second;
}

Condition PathConditions::ofSwitch(llvm::SwitchInst& choice, llvm::BasicBlock* to) {
  if (!choice.getCondition()->getType()->isIntegerTy())
    return undecidable(choice.getCondition());
  Expr value = builder_.build(choice.getCondition(), View::Signed);
  Condition cases = Condition::never();
  Condition others = Condition::always();
  for (const auto& target : choice.cases()) {
    Expr label = builder_.build(target.getCaseValue(), View::Signed);
    if (target.getCaseSuccessor() == to)
      cases = either(cases, single(value, Relation::Equal, label, choice));
    else
      others = both(others, single(value, Relation::NotEqual, label, choice));
  }
  return choice.getDefaultDest() == to ? others : cases;
}

/// The condition under which `from`, if it runs, is left for `to`.
Condition PathConditions::ofBranch(llvm::BasicBlock* from, llvm::BasicBlock* to) {
  if (auto* choice = dyn_cast<llvm::SwitchInst>(from->getTerminator()))
    return ofSwitch(*choice, to);
  auto* branch = dyn_cast<llvm::BranchInst>(from->getTerminator());
  if (!branch)
    return severalWays(from);
  if (!branch->isConditional() || isCountedExit(from, to))
    return Condition::always();
  if (branch->getSuccessor(0) == branch->getSuccessor(1))
    return severalWays(from);
  return condition(branch->getCondition(), branch->getSuccessor(0) == to);
}

/// The condition under which `block`, to which several ways lead, runs if `above`, its immediate
/// dominator, does. Both are of the same loop.
const Condition& PathConditions::ofJoin(llvm::BasicBlock* block, llvm::BasicBlock* above) {
  const std::pair key{block, nesting_}; // how many joins further up are followed depends on it
  if (auto found = joins_.find(key); found != joins_.end())
    return found->second;
  llvm::LoopInfo& loops = builder_.loops();
  Condition result = Condition::never();
  ++nesting_;
  for (llvm::BasicBlock* before : llvm::predecessors(block))
    result = either(result, loops.getLoopFor(before) == loops.getLoopFor(block)
                                ? both(since(before, above), ofBranch(before, block))
                                : severalWays(before));
  --nesting_;
  return joins_.try_emplace(key, std::move(result)).first->second;
}

/// The condition under which `block` runs if `top`, which dominates it, does.
Condition PathConditions::since(llvm::BasicBlock* block, llvm::BasicBlock* top) {
  constexpr unsigned maxNesting = 16;
  llvm::LoopInfo& loops = builder_.loops();
  Condition result = Condition::always();
  for (llvm::BasicBlock* current = block; current != top;) {
    const auto* node = builder_.dominators().getNode(current);
    if (!node || !node->getIDom())
      break;
    llvm::BasicBlock* above = node->getIDom()->getBlock();
    bool leftLoop = false;
    for (llvm::Loop* loop = loops.getLoopFor(above); loop && !loop->contains(current);
         loop = loops.getLoopFor(above)) {
      above = loop->getLoopPreheader();
      leftLoop = true;
      if (!above)
        return severalWays(current);
    }
    if (!postDominators_.dominates(current, above)) {
      bool edgeFound = false;
      Condition condition = leftLoop ? severalWays(above) : ofEdge(above, current, edgeFound);
      llvm::Loop* home = loops.getLoopFor(current);
      bool joins = !edgeFound && !leftLoop && home == loops.getLoopFor(above) &&
                   (!home || home->getHeader() != current) && nesting_ < maxNesting;
      if (joins)
        condition = ofJoin(current, above);
      else if (!edgeFound)
        condition = severalWays(above);
      result = both(condition, result);
    }
    current = above;
  }
  return result;
}

PathOfBlock PathConditions::compute(llvm::BasicBlock* block) {
  PathOfBlock result;
  bool exact = !irreducible_;
  for (llvm::Loop* loop = builder_.loops().getLoopFor(block); loop; loop = loop->getParentLoop()) {
    result.loops.insert(result.loops.begin(), runs(loop, block));
    exact &= exitsOf(loop).regular;
  }
  result.condition = since(block, nullptr);
  if (result.condition.exact && !exact)
    result.condition.doubt = {"a loop that is left or gone round in several ways",
                              lineOf(block->getTerminator())};
  result.condition.exact &= exact;
  return result;
}

} // namespace libsplit
