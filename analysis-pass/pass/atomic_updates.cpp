#include "analysis-pass/pass/atomic_updates.h"

#include "analysis-pass/pass/builtins.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Operation = UpdateKind::Operation;

/// The code of the element's type in "_Z10atomic_maxPU3AS1Vii" or "...PU3AS4VU7_Atomicjj".
char elementCode(llvm::StringRef functionName) {
  llvm::StringRef name = builtinName(functionName);
  if (name.size() == functionName.size())
    return 0;
  llvm::StringRef rest(name.end(), static_cast<std::size_t>(functionName.end() - name.end()));
  if (!rest.consume_front("P"))
    return 0;
  while (!rest.empty()) {
    unsigned length = 0;
    if (rest.consume_front("U")) {
      if (rest.consumeInteger(10, length) || length > rest.size())
        return 0;
      rest = rest.drop_front(length);
    } else if (!rest.consume_front("V")) {
      return rest.front();
    }
  }
  return 0;
}

std::optional<UpdateKind> ofWidth(UpdateKind kind, const llvm::Type* type) {
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64))
    return std::nullopt;
  kind.width = type->getIntegerBitWidth() / 8;
  return kind;
}

std::optional<UpdateKind> kindOf(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return std::nullopt;
  llvm::StringRef name = builtinName(callee->getName());
  if (!name.consume_front("atomic_fetch_") && !name.consume_front("atomic_") &&
      !name.consume_front("atom_"))
    return std::nullopt;
  name.consume_back("_explicit");
  auto operation = llvm::StringSwitch<std::optional<Operation>>(name)
                       .Cases("add", "sub", "inc", "dec", Operation::Add)
                       .Case("and", Operation::And)
                       .Case("or", Operation::Or)
                       .Case("xor", Operation::Xor)
                       .Case("min", Operation::Min)
                       .Case("max", Operation::Max)
                       .Default(std::nullopt);
  if (!operation)
    return std::nullopt;
  UpdateKind kind{*operation, 4, false};
  const char code = elementCode(callee->getName());
  if (*operation == Operation::Min || *operation == Operation::Max) {
    if (!llvm::StringRef("ijlm").contains(code))
      return std::nullopt;
    kind.isSigned = code == 'i' || code == 'l';
  }
  return ofWidth(kind, call.getType());
}

std::optional<UpdateKind> kindOf(const llvm::AtomicRMWInst& update) {
  using Rmw = llvm::AtomicRMWInst;
  UpdateKind kind;
  switch (update.getOperation()) {
  case Rmw::Add:
  case Rmw::Sub:
    kind.operation = Operation::Add;
    break;
  case Rmw::And:
    kind.operation = Operation::And;
    break;
  case Rmw::Or:
    kind.operation = Operation::Or;
    break;
  case Rmw::Xor:
    kind.operation = Operation::Xor;
    break;
  case Rmw::Min:
  case Rmw::Max:
    kind.isSigned = true;
    [[fallthrough]];
  case Rmw::UMin:
  case Rmw::UMax:
    kind.operation = update.getOperation() == Rmw::Min || update.getOperation() == Rmw::UMin
                         ? Operation::Min
                         : Operation::Max;
    break;
  default:
    return std::nullopt;
  }
  return ofWidth(kind, update.getType());
}

/// A compare-exchange in either form.
struct Exchange {
  const llvm::Value* pointer = nullptr;
  const llvm::Value* expected = nullptr;
  const llvm::Value* desired = nullptr;
};

std::optional<Exchange> asExchange(const llvm::Instruction& instruction) {
  if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    llvm::StringRef name = callee ? builtinName(callee->getName()) : llvm::StringRef();
    if ((name == "atomic_cmpxchg" || name == "atom_cmpxchg") && call->arg_size() == 3)
      return Exchange{call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)};
  }
  return std::nullopt;
}

const llvm::Value* withoutBitcasts(const llvm::Value* value) {
  while (auto* cast = dyn_cast<llvm::BitCastInst>(value))
    value = cast->getOperand(0);
  return value;
}

} // namespace

AtomicUpdates::AtomicUpdates(const llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (asExchange(instruction))
      recogniseExchangeLoop(instruction);
}

std::optional<UpdateKind> AtomicUpdates::commutingKind(const llvm::Instruction& instruction) {
  if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return kindOf(*update);
  if (auto* call = dyn_cast<llvm::CallBase>(&instruction))
    return kindOf(*call);
  return std::nullopt;
}

std::optional<UpdateKind> AtomicUpdates::find(const llvm::Instruction& instruction) const {
  auto exchange = exchanges_.find(&instruction);
  if (exchange != exchanges_.end())
    return exchange->second;
  return instruction.use_empty() ? commutingKind(instruction) : std::nullopt;
}

/// The loop is one block that ends with the exchange's test and writes nothing else. Its state,
/// `expected`, is loaded from the element in the loop, or is loaded before it and then the
/// exchange's last answer; nothing but the sum and the test looks at it.
void AtomicUpdates::recogniseExchangeLoop(const llvm::Instruction& exchange) {
  const Exchange parts = *asExchange(exchange);
  const llvm::BasicBlock* block = exchange.getParent();
  auto* sum = dyn_cast<llvm::BinaryOperator>(withoutBitcasts(parts.desired));
  auto* branch = dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!sum || sum->getOpcode() != llvm::Instruction::FAdd || sum->getParent() != block || !branch ||
      !branch->isConditional())
    return;
  if (!sum->getType()->isFloatTy() && !sum->getType()->isDoubleTy())
    return;

  // Once more exactly if the exchange failed.
  auto* test = dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!test || !test->isEquality() || !test->hasOneUse())
    return;
  const bool againIfTrue = test->getPredicate() == llvm::ICmpInst::ICMP_NE;
  if (branch->getSuccessor(againIfTrue ? 0 : 1) != block ||
      branch->getSuccessor(againIfTrue ? 1 : 0) == block)
    return;
  const llvm::Value* state = withoutBitcasts(parts.expected);
  auto isState = [&](const llvm::Value* value) { return withoutBitcasts(value) == state; };
  if (!(test->getOperand(0) == &exchange && isState(test->getOperand(1))) &&
      !(test->getOperand(1) == &exchange && isState(test->getOperand(0))))
    return;

  if (isState(sum->getOperand(0)) == isState(sum->getOperand(1)))
    return;

  const llvm::Instruction* loaded = dyn_cast<llvm::LoadInst>(state);
  auto* carried = dyn_cast<llvm::PHINode>(state);
  if (carried) {
    if (carried->getParent() != block || carried->getNumIncomingValues() != 2)
      return;
    const int back = carried->getBasicBlockIndex(block);
    if (back < 0 || withoutBitcasts(carried->getIncomingValue(static_cast<unsigned>(back))) !=
                        static_cast<const llvm::Value*>(&exchange))
      return;
    loaded =
        dyn_cast<llvm::LoadInst>(withoutBitcasts(carried->getIncomingValue(back == 0 ? 1u : 0u)));
  } else if (loaded && loaded->getParent() != block) {
    return;
  }
  if (!loaded || cast<llvm::LoadInst>(loaded)->getPointerOperand()->stripPointerCasts() !=
                     parts.pointer->stripPointerCasts())
    return;

  // Everybody who sees the state, the sum or the exchange's answer is known: so what is added does
  // not depend on them. Nor does it change from one try to the next.
  llvm::SmallPtrSet<const llvm::Value*, 16> members = {&exchange, test, sum, branch, loaded, state};
  llvm::SmallVector<const llvm::Value*, 16> left = {&exchange, sum, loaded, state};
  while (!left.empty())
    for (const llvm::User* user : left.pop_back_val()->users()) {
      if (members.contains(user))
        continue;
      if (!isa<llvm::BitCastInst>(user))
        return;
      members.insert(user);
      left.push_back(user);
    }
  for (const llvm::Instruction& other : *block) {
    const bool changes = isa<llvm::PHINode>(other) || other.mayWriteToMemory() ||
                         other.isVolatile() || other.isAtomic();
    if (!members.contains(&other) && changes)
      return;
  }

  parts_.insert(loaded);
  exchanges_[&exchange] = {Operation::FloatAdd,
                           static_cast<std::uint32_t>(sum->getType()->isDoubleTy() ? 8 : 4), false};
}

} // namespace libsplit
