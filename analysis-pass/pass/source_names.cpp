#include "analysis-pass/pass/source_names.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

/// Calls `note(variable, value, where)` for each record that a variable has a value from here on.
template <typename Note> void forEachRecord(llvm::Function& function, Note note) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
      if (record.isDbgValue() && record.getNumVariableLocationOps() == 1)
        note(record.getVariable(), record.getVariableLocationOp(0), record.getExpression(),
             record.getDebugLoc().get());
    if (auto* intrinsic = dyn_cast<llvm::DbgValueInst>(&instruction);
        intrinsic && intrinsic->getNumVariableLocationOps() == 1)
      note(intrinsic->getVariable(), intrinsic->getVariableLocationOp(0),
           intrinsic->getExpression(), intrinsic->getDebugLoc().get());
  }
}

/// The value itself. For memory of a certain address space Clang says which one, and goes on
/// saying so of the value that the variable becomes.
bool isPlain(const llvm::DIExpression& expression) {
  llvm::ArrayRef<std::uint64_t> words = expression.getElements();
  return words.empty() ||
         (words.size() == 4 && words[0] == llvm::dwarf::DW_OP_constu &&
          words[2] == llvm::dwarf::DW_OP_swap && words[3] == llvm::dwarf::DW_OP_xderef);
}

/// Worth a name in a report: not a sum or product of others, an argument or a number.
bool isSayable(const Expr& expr) {
  switch (expr.op()) {
  case Expr::Op::Wrap:
    return isSayable(expr.operands().front());
  case Expr::Op::GlobalId:
  case Expr::Op::LocalId:
  case Expr::Op::GroupId:
  case Expr::Op::GlobalSize:
  case Expr::Op::LocalSize:
  case Expr::Op::EnqueuedLocalSize:
  case Expr::Op::NumGroups:
  case Expr::Op::GlobalOffset:
  case Expr::Op::DivFloor:
  case Expr::Op::DivTrunc:
  case Expr::Op::RemTrunc:
  case Expr::Op::Min:
  case Expr::Op::Max:
  case Expr::Op::Shl:
  case Expr::Op::ShrArith:
  case Expr::Op::And:
  case Expr::Op::Or:
  case Expr::Op::Xor:
  case Expr::Op::Select:
  case Expr::Op::Load:
    return !containsUnknown(expr) && loopDepthUsed(expr) == 0;
  default:
    return false;
  }
}

/// Adds what `type` at `bit` is made of; nothing if it is no struct, array or vector.
void addMembers(const llvm::DIType* type, std::uint64_t bit, const std::string& name,
                std::map<unsigned, std::string>& members) {
  constexpr std::size_t maxMembers = 256;
  while (auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type))
    type = derived->getBaseType();
  auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
  if (!composite) {
    if (!name.empty() && members.size() < maxMembers)
      members.try_emplace(static_cast<unsigned>(bit), name);
    return;
  }
  if (composite->getTag() == llvm::dwarf::DW_TAG_array_type) {
    const llvm::DIType* element = composite->getBaseType();
    const std::uint64_t size = element ? element->getSizeInBits() : 0;
    for (std::uint64_t i = 0;
         size != 0 && i < composite->getSizeInBits() / size && members.size() < maxMembers; ++i)
      addMembers(element, bit + i * size,
                 composite->isVector() && i < 4 ? name + "." + "xyzw"[i]
                                                : name + "[" + std::to_string(i) + "]",
                 members);
    return;
  }
  for (const llvm::DINode* node : composite->getElements())
    if (auto* member = dyn_cast<llvm::DIDerivedType>(node);
        member && member->getTag() == llvm::dwarf::DW_TAG_member)
      addMembers(member->getBaseType(), bit + member->getOffsetInBits(),
                 name + "." + member->getName().str(), members);
}

} // namespace

SourceNames::SourceNames(llvm::Function& kernel, ExpressionBuilder& builder)
    : kernel_(kernel), builder_(builder) {
  forEachRecord(kernel, [&](const llvm::DILocalVariable* variable, llvm::Value* value,
                            const llvm::DIExpression* expression, const llvm::DILocation* at) {
    if (!value || isa<llvm::UndefValue>(value) || !isPlain(*expression))
      return;
    names_.try_emplace(value, variable->getName().str());
    if (at && at->getInlinedAt()) // of a function that the kernel calls, maybe several times
      return;
    auto& known = values_[variable];
    if (!llvm::is_contained(known, value))
      known.push_back(value);
  });
}

const LoopVariable& SourceNames::of(const llvm::Loop* loop) {
  auto found = loops_.find(loop);
  if (found == loops_.end())
    found = loops_.emplace(loop, loop ? find(*loop) : LoopVariable{}).first;
  return found->second;
}

LoopVariable SourceNames::find(const llvm::Loop& loop) {
  llvm::BasicBlock* before = loop.getLoopPredecessor();
  if (!before)
    return {};
  LoopVariable best;
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    auto name = names_.find(&phi);
    if (name == names_.end() || !phi.getType()->isIntegerTy())
      continue;
    Expr moved = builder_.movement(phi);
    Expr first = builder_.build(phi.getIncomingValueForBlock(before), View::Signed);
    Expr counter = Expr::loop(loop.getLoopDepth() - 1);
    Expr step;
    if (moved == counter)
      step = Expr::constant(1);
    else if (moved.op() == Expr::Op::Mul) {
      std::vector<Expr> others;
      for (const Expr& factor : moved.operands())
        if (!(factor == counter))
          others.push_back(factor);
      if (others.size() + 1 != moved.operands().size())
        continue;
      step = Expr::node(Expr::Op::Mul, others);
    } else {
      continue;
    }
    if (containsUnknown(first) || containsUnknown(step))
      continue;
    // The one that ends the loop is its variable; others run along.
    bool ends = llvm::any_of(phi.users(), [](const llvm::User* user) {
      return isa<llvm::ICmpInst>(user) || llvm::any_of(user->users(), [](const llvm::User* next) {
               return isa<llvm::ICmpInst>(next);
             });
    });
    if (ends || best.name.empty())
      best = {name->second, first, step};
    if (ends)
      break;
  }
  return best;
}

std::vector<NamedValue> SourceNames::variables() {
  std::vector<NamedValue> result;
  for (const auto& [variable, values] : values_) {
    if (values.size() != 1 || !values[0]->getType()->isIntegerTy() ||
        values[0]->getType()->isIntegerTy(1))
      continue;
    Expr value = builder_.build(values[0], View::Signed);
    bool isKnown = llvm::any_of(result, [&](const NamedValue& other) {
      return other.value == value || other.name == variable->getName();
    });
    if (!isKnown && isSayable(value))
      result.push_back({variable->getName().str(), value});
  }
  return result;
}

std::map<unsigned, std::string> SourceNames::membersOf(unsigned index) const {
  std::map<unsigned, std::string> members;
  const llvm::DISubprogram* kernel = kernel_.getSubprogram();
  const llvm::DISubroutineType* type = kernel ? kernel->getType() : nullptr;
  // The first is the result's.
  if (type && type->getTypeArray() && index + 1 < type->getTypeArray().size())
    addMembers(type->getTypeArray()[index + 1], 0, "", members);
  return members;
}

} // namespace libsplit
