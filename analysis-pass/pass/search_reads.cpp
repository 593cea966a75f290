#include "analysis-pass/pass/search_reads.h"

#include "analysis-pass/pass/atomic_updates.h"
#include "analysis-pass/pass/builtins.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Operation = UpdateKind::Operation;
using Blocks = llvm::SmallPtrSet<llvm::BasicBlock*, 16>;

/// The address operand of a builtin that updates, or of an instruction that does.
llvm::Value* addressOf(llvm::Instruction& instruction) {
  if (auto* load = dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerOperand();
  if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return update->getPointerOperand();
  if (auto* call = dyn_cast<llvm::CallBase>(&instruction); call && call->arg_size() > 0)
    return call->getArgOperand(0);
  return nullptr;
}

/// What an update that only reads has as its operand: `atomic_or(p, 0)`.
bool changesNothing(const UpdateKind& kind, const llvm::Value* operand) {
  auto* constant = dyn_cast<llvm::ConstantInt>(operand);
  if (!constant)
    return false;
  const llvm::APInt& value = constant->getValue();
  switch (kind.operation) {
  case Operation::Add:
  case Operation::Or:
  case Operation::Xor:
    return value.isZero();
  case Operation::And:
    return value.isAllOnes();
  case Operation::Min:
    return kind.isSigned ? value.isMaxSignedValue() : value.isMaxValue();
  case Operation::Max:
    return kind.isSigned ? value.isMinSignedValue() : value.isMinValue();
  default:
    return false;
  }
}

bool onlyReads(const llvm::Instruction& instruction) {
  if (auto* load = dyn_cast<llvm::LoadInst>(&instruction))
    return load->getType()->isIntegerTy();
  const std::optional<UpdateKind> kind = AtomicUpdates::commutingKind(instruction);
  if (!kind)
    return false;
  if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return changesNothing(*kind, update->getValOperand());
  auto& call = cast<llvm::CallBase>(instruction);
  const llvm::StringRef name = builtinName(call.getCalledFunction()->getName());
  return call.arg_size() >= 2 && !name.ends_with("inc") && !name.ends_with("dec") &&
         changesNothing(*kind, call.getArgOperand(1));
}

/// What is stored by an update whose operand is its second one.
const llvm::Value* operandOf(const llvm::Instruction& update) {
  if (auto* rmw = dyn_cast<llvm::AtomicRMWInst>(&update))
    return rmw->getValOperand();
  auto* call = dyn_cast<llvm::CallBase>(&update);
  return call && call->arg_size() >= 2 ? call->getArgOperand(1) : nullptr;
}

/// The value that a phi at a loop's exit hands on.
const llvm::Value* throughExits(const llvm::Value* value) {
  while (auto* phi = llvm::dyn_cast_or_null<llvm::PHINode>(value)) {
    if (phi->getNumIncomingValues() != 1)
      break;
    value = phi->getIncomingValue(0);
  }
  return value;
}

/// Does nothing that anybody else could see.
bool isQuiet(const llvm::Instruction& instruction) {
  if (!instruction.mayHaveSideEffects() || onlyReads(instruction))
    return true;
  if (auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction))
    return intrinsic->isAssumeLikeIntrinsic();
  auto* call = dyn_cast<llvm::CallBase>(&instruction);
  if (!call || call->isInlineAsm())
    return false;
  switch (classifyCall(*call).kind) {
  case BuiltinKind::Harmless:
  case BuiltinKind::IdQuery:
  case BuiltinKind::WorkDim:
  case BuiltinKind::GlobalLinearId:
  case BuiltinKind::LocalLinearId:
  case BuiltinKind::IntegerMath:
  case BuiltinKind::VectorLoad:
  case BuiltinKind::PointerCast:
    return true;
  default:
    return false;
  }
}

/// All blocks on ways from `begin`, before `end`.
Blocks between(llvm::BasicBlock* begin, const llvm::BasicBlock* end) {
  Blocks blocks;
  llvm::SmallVector<llvm::BasicBlock*, 16> left = {begin};
  while (!left.empty()) {
    llvm::BasicBlock* block = left.pop_back_val();
    if (block != end && blocks.insert(block).second)
      left.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return blocks;
}

/// A comparison of `bound` with what was read.
struct Test {
  llvm::ICmpInst* compare = nullptr;
  llvm::Value* bound = nullptr;
  Operation search = Operation::Min; ///< for the smallest, or the largest
  bool isSigned = false;
  bool skips = false;    ///< its value where the bound is no better
  bool isStrict = false; ///< who does not skip has a better bound, and not the same
};

std::optional<Test> asTest(llvm::ICmpInst& compare, const llvm::Value& read) {
  const bool isFirst = compare.getOperand(0) == &read;
  if (compare.isEquality() || compare.getOperand(isFirst ? 1 : 0) == &read)
    return std::nullopt;
  const llvm::CmpInst::Predicate predicate =
      isFirst ? compare.getSwappedPredicate() : compare.getPredicate(); // bound ? read
  // In a search for the smallest; in one for the largest it is the other way round.
  const bool isGreater = llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate);
  return Test{&compare,       compare.getOperand(isFirst ? 1 : 0),
              Operation::Min, compare.isSigned(),
              isGreater,      llvm::ICmpInst::isGE(predicate) || llvm::ICmpInst::isLT(predicate)};
}

class Searches {
public:
  Searches(const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
           const llvm::PostDominatorTree& postDominators)
      : loops_(loops), evolution_(evolution), postDominators_(postDominators) {}

  bool reads(llvm::Instruction& read) {
    if (read.use_empty() || !onlyReads(read))
      return false;
    for (llvm::User* user : read.users()) {
      auto* compare = dyn_cast<llvm::ICmpInst>(user);
      std::optional<Test> test = compare ? asTest(*compare, read) : std::nullopt;
      if (!test)
        return false;
      const bool smallest = decides(*compare, test->skips, *test, read);
      if (smallest)
        continue;
      test->search = Operation::Max;
      test->isStrict = !test->isStrict;
      if (!decides(*compare, !test->skips, *test, read))
        return false;
    }
    return true;
  }

private:
  /// Whether `value` decides nothing but branches that skip where it is `skips`.
  bool decides(llvm::Value& value, bool skips, const Test& test, llvm::Instruction& read) {
    namespace pm = llvm::PatternMatch;
    return llvm::all_of(value.users(), [&](llvm::User* user) {
      if (auto* branch = dyn_cast<llvm::BranchInst>(user))
        return mayBeSkipped(*branch, branch->getSuccessor(skips ? 0 : 1), test, read);
      if (pm::match(user, pm::m_Not(pm::m_Specific(&value))))
        return decides(*user, !skips, test, read);
      if (skips ? pm::match(user, pm::m_LogicalOr()) : pm::match(user, pm::m_LogicalAnd()))
        return user->getType()->isIntegerTy(1) && decides(*user, skips, test, read);
      return false;
    });
  }

  bool mayBeSkipped(llvm::BranchInst& branch, llvm::BasicBlock* skipped, const Test& test,
                    llvm::Instruction& read) {
    llvm::BasicBlock* block = branch.getParent();
    const auto* node = postDominators_.getNode(block);
    if (!node || !node->getIDom())
      return false;
    const llvm::BasicBlock* meeting = node->getIDom()->getBlock(); // null: the kernel's end
    Blocks region = between(branch.getSuccessor(0), meeting);
    for (llvm::BasicBlock* each : between(branch.getSuccessor(1), meeting))
      region.insert(each);
    for (const llvm::BasicBlock* each : between(skipped, meeting))
      if (each == block || !llvm::all_of(*each, isQuiet)) // who skips does not ask again
        return false;
    bool isAnyUpdated = false; // else it only waits for what others find
    const auto isHarmless = [&](llvm::Instruction& instruction) {
      const bool isUpdate = updates(instruction, test, read);
      isAnyUpdated = isAnyUpdated || isUpdate;
      return isUpdate || isQuiet(instruction);
    };
    return staysInside(region, *block, meeting) && isNeverBetter(region, block, test, read) &&
           llvm::all_of(region,
                        [&](llvm::BasicBlock* each) { return llvm::all_of(*each, isHarmless); }) &&
           isAnyUpdated;
  }

  /// Whether nothing that depends on the way that was taken is used behind the meeting.
  static bool staysInside(const Blocks& region, const llvm::BasicBlock& block,
                          const llvm::BasicBlock* meeting) {
    for (const llvm::BasicBlock* each : region)
      for (const llvm::Instruction& instruction : *each)
        for (const llvm::User* user : instruction.users())
          if (!region.contains(cast<llvm::Instruction>(user)->getParent()))
            return false;
    if (!meeting)
      return true;
    for (const llvm::PHINode& phi : meeting->phis()) {
      const llvm::Value* first = nullptr;
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        if (phi.getIncomingBlock(i) != &block && !region.contains(phi.getIncomingBlock(i)))
          continue;
        if (first && first != phi.getIncomingValue(i))
          return false;
        first = phi.getIncomingValue(i);
      }
    }
    return true;
  }

  /// Whether the bound, and the element, are as they are at the branch whenever the region is run
  /// through again, or the bound is worse.
  bool isNeverBetter(const Blocks& region, llvm::BasicBlock* block, const Test& test,
                     llvm::Instruction& read) {
    const llvm::SCEV* bound = evolution_.getSCEV(test.bound);
    const llvm::SCEV* address = evolution_.getSCEV(addressOf(read));
    if (region.contains(block) && !loops_.getLoopFor(block))
      return false; // it comes back in a way that is no loop
    for (const llvm::Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop()) {
      if (!region.contains(loop->getHeader()))
        continue;
      if (!evolution_.isLoopInvariant(address, loop))
        return false;
      // Nobody waits for what others find: the loop ends by itself.
      const bool endsAnyway =
          !isa<llvm::SCEVCouldNotCompute>(evolution_.getSymbolicMaxBackedgeTakenCount(loop));
      if (evolution_.isLoopInvariant(bound, loop) ? !endsAnyway : !worsens(test.bound, loop, test))
        return false;
    }
    return true;
  }

  /// Whether the bound grows from round to round of `loop`, or falls in a search for the largest.
  bool worsens(llvm::Value* bound, const llvm::Loop* loop, const Test& test) {
    auto* phi = dyn_cast<llvm::PHINode>(bound);
    const llvm::BasicBlock* latch = loop->getLoopLatch();
    if (!phi || phi->getParent() != loop->getHeader() || !latch)
      return false;
    auto* next = dyn_cast<llvm::BinaryOperator>(phi->getIncomingValueForBlock(latch));
    if (!next || next->getOpcode() != llvm::Instruction::Add ||
        (next->getOperand(0) != phi && next->getOperand(1) != phi))
      return false;
    const llvm::SCEV* step =
        evolution_.getSCEV(next->getOperand(next->getOperand(0) == phi ? 1 : 0));
    const bool isSmallest = test.search == Operation::Min;
    // Who goes on is not at the end of all numbers yet: what was read lies behind him.
    auto* constant = dyn_cast<llvm::SCEVConstant>(step);
    if (test.isStrict && constant &&
        (isSmallest ? constant->getAPInt().isOne() : constant->getAPInt().isAllOnes()))
      return true;
    // Who overflows where he must not has no meaning from there on: a branch depends on it.
    const bool mayOverflow =
        !(test.isSigned ? next->hasNoSignedWrap() : next->hasNoUnsignedWrap()) &&
        !evolution_.willNotOverflow(llvm::Instruction::Add, test.isSigned, evolution_.getSCEV(phi),
                                    step, next);
    if (mayOverflow)
      return false;
    if (!test.isSigned)
      return isSmallest && evolution_.isKnownNonZero(step);
    return isSmallest ? evolution_.isKnownPositive(step) : evolution_.isKnownNegative(step);
  }

  /// Whether `update` has nobody's bytes but the search's, and would do nothing where it is
  /// skipped.
  bool updates(llvm::Instruction& update, const Test& test, llvm::Instruction& read) {
    const std::optional<UpdateKind> kind = AtomicUpdates::commutingKind(update);
    return kind && update.use_empty() && kind->operation == test.search &&
           kind->isSigned == test.isSigned && throughExits(operandOf(update)) == test.bound &&
           update.getType() == read.getType() &&
           evolution_.getSCEV(addressOf(update)) == evolution_.getSCEV(addressOf(read));
  }

  const llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  const llvm::PostDominatorTree& postDominators_;
};

} // namespace

SearchReads searchReads(llvm::Function& function, const llvm::LoopInfo& loops,
                        llvm::ScalarEvolution& evolution,
                        const llvm::PostDominatorTree& postDominators) {
  Searches searches(loops, evolution, postDominators);
  SearchReads reads;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (searches.reads(instruction))
      reads[&instruction] = addressOf(instruction);
  return reads;
}

} // namespace libsplit
