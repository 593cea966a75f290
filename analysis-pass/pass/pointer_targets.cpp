#include "analysis-pass/pass/pointer_targets.h"

#include "analysis-pass/pass/read_only_buffers.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Kind = PointerTarget::Kind;
using Targets = std::vector<PointerTarget>;

constexpr unsigned constantSpace = 2;
constexpr unsigned localSpace = 3;

/// Of one pointer: where pointers are chosen among chosen ones, they double each time.
constexpr std::size_t maxTargets = 256;

PointerTarget computedPointer(unsigned line) {
  PointerTarget target;
  target.line = line;
  target.name = "a computed pointer";
  target.isFromElsewhere = true;
  return target;
}

/// The target that starts where `origin`, which passes nothing on, points to. Nothing for null.
Targets ofOrigin(llvm::Value* origin, const ExpressionBuilder& builder) {
  PointerTarget target;
  target.line = lineOf(origin);
  target.name = builder.nameOf(origin);
  if (isa<llvm::ConstantPointerNull, llvm::UndefValue>(origin))
    return {};
  if (auto* argument = dyn_cast<llvm::Argument>(origin)) {
    target.parameter = argument->getArgNo();
    unsigned space = argument->getType()->getPointerAddressSpace();
    target.kind = argument->hasByValAttr() ? Kind::Private
                  : space == localSpace    ? Kind::Local
                                           : Kind::Parameter;
  } else if (isa<llvm::AllocaInst>(origin)) {
    target.kind = Kind::Private;
  } else if (auto* global = dyn_cast<llvm::GlobalVariable>(origin)) {
    target.kind = global->getAddressSpace() == localSpace ? Kind::Local
                  : global->getAddressSpace() == constantSpace || global->isConstant()
                      ? Kind::Constant
                      : Kind::ProgramGlobal;
  } else if (auto* load = dyn_cast<llvm::LoadInst>(origin)) {
    target.name = "a pointer loaded from " + builder.nameOf(load->getPointerOperand());
    target.isFromElsewhere =
        !isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()));
  } else {
    return {computedPointer(target.line)};
  }
  return {target};
}

bool sameObject(const PointerTarget& a, const PointerTarget& b) {
  return a.kind == b.kind && a.kind != Kind::Unknown && a.parameter == b.parameter &&
         a.name == b.name;
}

/// Whether both are the same objects under the same conditions, wherever in them.
bool areAlike(const Targets& a, const Targets& b) {
  return std::ranges::equal(a, b, [](const PointerTarget& left, const PointerTarget& right) {
    return sameObject(left, right) && left.when == right.when;
  });
}

void shift(Targets& targets, const Expr& bytes) {
  for (PointerTarget& target : targets)
    target.offset = combine(Expr::Op::Add, {target.offset, bytes});
}

} // namespace

/// The pointers that `value` passes on; empty where it is itself the origin.
std::vector<llvm::Value*> PointerResolver::passedOn(llvm::Value* value) const {
  if (auto* gep = dyn_cast<llvm::GEPOperator>(value))
    return {gep->getPointerOperand()};
  auto* user = dyn_cast<llvm::Operator>(value);
  if (!user)
    return {};
  switch (user->getOpcode()) {
  case llvm::Instruction::BitCast:
  case llvm::Instruction::AddrSpaceCast:
  case llvm::Instruction::Freeze:
    return {user->getOperand(0)};
  case llvm::Instruction::Select:
    return {user->getOperand(1), user->getOperand(2)};
  case llvm::Instruction::PHI:
    return {user->op_begin(), user->op_end()};
  case llvm::Instruction::Call: {
    auto& call = cast<llvm::CallBase>(*value);
    if (classifyCall(call).kind == BuiltinKind::PointerCast)
      return {call.getArgOperand(0)};
    return {};
  }
  case llvm::Instruction::Load:
    return keptPointers(cast<llvm::LoadInst>(*value), readOnly_);
  default:
    return {};
  }
}

const Targets& PointerResolver::targets(llvm::Value* pointer) {
  auto found = known_.find(pointer);
  if (found != known_.end())
    return found->second;
  Targets result;
  if (underway_.insert(pointer).second) {
    result = compute(pointer);
    underway_.erase(pointer);
  } else {
    return known_[pointer] = unknownOffsets(pointer, "pointer carried around a loop");
  }
  return known_[pointer] = std::move(result);
}

Targets PointerResolver::compute(llvm::Value* pointer) {
  if (auto* gep = dyn_cast<llvm::GEPOperator>(pointer)) {
    Targets result = targets(gep->getPointerOperand());
    if (result.empty() && !gep->hasAllZeroIndices()) // an address, seen as an offset from null
      return {computedPointer(lineOf(pointer))};
    shift(result, builder_.offsetOf(*gep));
    return result;
  }
  if (auto* phi = dyn_cast<llvm::PHINode>(pointer))
    return ofPhi(*phi);
  if (auto* select = dyn_cast<llvm::SelectInst>(pointer))
    return merge(select, select->getCondition(), select->getTrueValue(), select->getFalseValue());
  auto origins = passedOn(pointer);
  if (isa<llvm::LoadInst>(pointer) && !origins.empty())
    return unknownOffsets(pointer, "pointer kept in private memory");
  if (origins.size() == 1)
    return targets(origins.front());
  return ofOrigin(pointer, builder_);
}

Targets PointerResolver::ofPhi(llvm::PHINode& phi) {
  llvm::LoopInfo& loops = builder_.loops();
  llvm::ScalarEvolution& evolution = builder_.evolution();
  llvm::Loop* loop = loops.getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    llvm::BasicBlock* before = loop->getLoopPredecessor();
    Expr moved = builder_.movement(phi);
    if (!before || findUnknown(moved))
      return unknownOffsets(&phi, "pointer carried around a loop");
    Targets result = targets(phi.getIncomingValueForBlock(before));
    shift(result, moved);
    return result;
  }
  if (phi.getNumIncomingValues() == 1) {
    auto* inner = dyn_cast<llvm::Instruction>(phi.getIncomingValue(0));
    llvm::Loop* home = inner ? loops.getLoopFor(inner->getParent()) : nullptr;
    if (!home || home->contains(loop))
      return targets(phi.getIncomingValue(0));
    const llvm::SCEV* atExit = evolution.getSCEVAtScope(evolution.getSCEV(inner), loop);
    auto* base = dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(atExit));
    auto* baseInstruction = base ? dyn_cast<llvm::Instruction>(base->getValue()) : nullptr;
    llvm::Loop* baseHome =
        baseInstruction ? loops.getLoopFor(baseInstruction->getParent()) : nullptr;
    if (!base || (baseHome && !baseHome->contains(loop)))
      return unknownOffsets(&phi, "pointer left by a loop");
    Targets result = targets(base->getValue());
    shift(result, builder_.build(evolution.removePointerBase(atExit), View::Modular, loop));
    return result;
  }
  auto gated = gate(phi, builder_.dominators());
  if (gated && loops.getLoopFor(gated->branch) == loop &&
      loops.getLoopFor(phi.getIncomingBlock(0)) == loop &&
      loops.getLoopFor(phi.getIncomingBlock(1)) == loop)
    return merge(&phi, gated->condition, gated->ifTrue, gated->ifFalse);
  return unknownOffsets(&phi, "pointer depends on a branch");
}

Targets PointerResolver::merge(llvm::Value* pointer, llvm::Value* condition, llvm::Value* ifTrue,
                               llvm::Value* ifFalse) {
  Targets yes = targets(ifTrue);
  Targets no = targets(ifFalse);
  if (areAlike(yes, no)) {
    for (std::size_t i = 0; i < yes.size(); ++i)
      yes[i].offset = builder_.select(condition, yes[i].offset, no[i].offset);
    return yes;
  }
  if (yes.size() + no.size() > maxTargets)
    return unknownOffsets(pointer, "pointer chosen among too many");
  for (PointerTarget& target : yes)
    target.when.emplace_back(condition, true);
  for (PointerTarget& target : no)
    target.when.emplace_back(condition, false);
  yes.insert(yes.end(), no.begin(), no.end());
  return yes;
}

Targets PointerResolver::unknownOffsets(llvm::Value* pointer, const std::string& why) {
  Targets result;
  llvm::SmallPtrSet<llvm::Value*, 16> seen;
  std::vector<llvm::Value*> open{pointer};
  while (!open.empty()) {
    llvm::Value* value = open.back();
    open.pop_back();
    if (!seen.insert(value).second)
      continue;
    auto origins = passedOn(value);
    open.insert(open.end(), origins.begin(), origins.end());
    if (!origins.empty())
      continue;
    for (PointerTarget& target : ofOrigin(value, builder_)) {
      bool isNew = std::none_of(result.begin(), result.end(), [&](const PointerTarget& other) {
        return sameObject(target, other);
      });
      target.offset = Expr::unknown(why, lineOf(pointer));
      if (isNew)
        result.push_back(std::move(target));
    }
  }
  return result;
}

} // namespace libsplit
