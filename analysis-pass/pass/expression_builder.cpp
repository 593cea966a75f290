#include "analysis-pass/pass/expression_builder.h"

#include "analysis-pass/pass/divisions.h"
#include "analysis-pass/pass/pointer_uses.h"
#include "analysis-pass/summary/kernel_summary.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cstdint>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
namespace match = llvm::PatternMatch;

namespace libsplit {
namespace {

using Op = Expr::Op;

/// Trees are shared, so a deep recursion over values is cut off rather than the stack.
constexpr std::size_t maxDepth = 400;

Expr power2(unsigned bits) {
  return Expr::constant(std::int64_t{1} << bits);
}

bool isKnown(const Expr& expr) {
  return !findUnknown(expr);
}

/// `expr`, which lies in the n-bit range by itself, read as `natural` says.
Expr viewedAs(View natural, const Expr& expr, unsigned width, View view) {
  return view == View::Modular || view == natural ? expr : viewed(expr, width, view);
}

Expr absolute(const Expr& value) {
  return combine(Op::Max, {value, minus(Expr::constant(0), value)});
}

/// A remainder, a mask, a value between two others: bounded whatever is unknown in it.
bool isBounded(const Expr& expr) {
  const std::vector<Expr>& operands = expr.operands();
  switch (expr.op()) {
  case Op::And:
    return std::ranges::any_of(operands, [](const Expr& operand) {
      return operand.op() == Op::Constant && operand.value() >= 0;
    });
  case Op::RemTrunc:
    return isKnown(operands[1]);
  case Op::Min:
  case Op::Max: {
    Op other = expr.op() == Op::Min ? Op::Max : Op::Min;
    return std::ranges::any_of(operands, isKnown) &&
           std::ranges::all_of(operands, [&](const Expr& operand) {
             return isKnown(operand) ||
                    (operand.op() == other && std::ranges::any_of(operand.operands(), isKnown));
           });
  }
  default:
    return false;
  }
}

/// Of an integer, or of nested arrays of integers: the least and the greatest. False if there is
/// anything else in it.
bool findExtremes(const llvm::Constant& value, unsigned width, std::int64_t& least,
                  std::int64_t& greatest) {
  if (auto* number = dyn_cast<llvm::ConstantInt>(&value)) {
    if (number->getBitWidth() != width || width > 32)
      return false;
    // As a signed and as an unsigned number: which one is meant, the use says.
    for (std::int64_t n :
         {number->getSExtValue(), static_cast<std::int64_t>(number->getZExtValue())}) {
      least = std::min(least, n);
      greatest = std::max(greatest, n);
    }
    return true;
  }
  if (isa<llvm::ConstantAggregateZero>(value)) {
    least = std::min<std::int64_t>(least, 0);
    greatest = std::max<std::int64_t>(greatest, 0);
    return value.getType()->isArrayTy();
  }
  auto* array = dyn_cast<llvm::ArrayType>(value.getType());
  if (!array || array->getNumElements() > 65536)
    return false;
  for (unsigned i = 0; i < array->getNumElements(); ++i)
    if (llvm::Constant* element = value.getAggregateElement(i);
        !element || !findExtremes(*element, width, least, greatest))
      return false;
  return array->getNumElements() > 0;
}

} // namespace

std::optional<Expr> findUnknown(const Expr& expr) {
  if (expr.op() == Op::Unknown)
    return expr;
  if (isBounded(expr))
    return std::nullopt;
  for (const Expr& operand : expr.operands())
    if (auto unknown = findUnknown(operand))
      return unknown;
  return std::nullopt;
}

namespace {

bool namesIdOrLoop(const Expr& expr) {
  switch (expr.op()) {
  case Op::GlobalId:
  case Op::LocalId:
  case Op::GroupId:
  case Op::LocalSize:
  case Op::LoopVariable:
    return true;
  default:
    return std::any_of(expr.operands().begin(), expr.operands().end(), namesIdOrLoop);
  }
}

} // namespace

std::optional<Expr> elementThatVaries(const Expr& expr) {
  if (expr.op() == Op::Load && namesIdOrLoop(expr))
    return expr;
  for (const Expr& operand : expr.operands())
    if (auto element = elementThatVaries(operand))
      return element;
  return std::nullopt;
}

unsigned loopDepthUsed(const Expr& expr) {
  if (expr.op() == Op::LoopVariable)
    return expr.index() + 1;
  unsigned depth = 0;
  for (const Expr& operand : expr.operands())
    depth = std::max(depth, loopDepthUsed(operand));
  return depth;
}

bool usesLoop(const Expr& expr, unsigned depth) {
  if (expr.op() == Op::LoopVariable)
    return expr.index() == depth;
  return std::any_of(expr.operands().begin(), expr.operands().end(),
                     [&](const Expr& operand) { return usesLoop(operand, depth); });
}

Expr combine(Op op, std::vector<Expr> operands) {
  if (Expr node = Expr::node(op, operands); isBounded(node))
    return node;
  for (const Expr& operand : operands)
    if (operand.op() == Op::Unknown)
      return operand;
  return Expr::node(op, std::move(operands));
}

Expr minus(const Expr& a, const Expr& b) {
  return combine(Op::Add, {a, combine(Op::Mul, {Expr::constant(-1), b})});
}

unsigned lineOf(const llvm::Value* value) {
  auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(value);
  return instruction && instruction->getDebugLoc() ? instruction->getDebugLoc().getLine() : 0;
}

bool isReadOnlyByValue(const llvm::Argument& argument) {
  const auto isRead = [](const llvm::User* user, const llvm::Value* pointer) {
    auto* transfer = dyn_cast<llvm::MemTransferInst>(user);
    return isa<llvm::LoadInst>(user) || (transfer && transfer->getRawDest() != pointer);
  };
  return argument.hasByValAttr() &&
         allUses(static_cast<const llvm::Value*>(&argument), isPlaceWithin, isRead);
}

std::optional<GatedPhi> gate(llvm::PHINode& phi, const llvm::DominatorTree& dominators) {
  llvm::BasicBlock* block = phi.getParent();
  const auto* node = dominators.getNode(block);
  if (phi.getNumIncomingValues() != 2 || !node || !node->getIDom())
    return std::nullopt;
  llvm::BasicBlock* above = node->getIDom()->getBlock();
  auto* branch = dyn_cast<llvm::BranchInst>(above->getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
    return std::nullopt;
  llvm::BasicBlockEdge onTrue(above, branch->getSuccessor(0));
  llvm::BasicBlockEdge onFalse(above, branch->getSuccessor(1));
  const llvm::Use& first = phi.getOperandUse(0);
  const llvm::Use& second = phi.getOperandUse(1);
  if (dominators.dominates(onTrue, first) && dominators.dominates(onFalse, second))
    return GatedPhi{above, branch->getCondition(), first.get(), second.get()};
  if (dominators.dominates(onFalse, first) && dominators.dominates(onTrue, second))
    return GatedPhi{above, branch->getCondition(), second.get(), first.get()};
  return std::nullopt;
}

Expr viewed(const Expr& expr, unsigned width, View view) {
  if (view == View::Modular || expr.op() == Op::Unknown)
    return expr;
  bool isSigned = view == View::Signed;
  switch (expr.op()) {
  case Op::Constant:
    if (isSigned ? width == 64 || (expr.value() >= -(std::int64_t{1} << (width - 1)) &&
                                   expr.value() < (std::int64_t{1} << (width - 1)))
                 : expr.value() >= 0 && (width == 64 || expr.value() >> width == 0))
      return expr;
    break;
  case Op::Argument:
  case Op::Load:
  case Op::Wrap:
    // Already in a range that the wanted one contains.
    if (expr.isSigned() == isSigned ? expr.width() <= width : isSigned && expr.width() < width)
      return expr;
    break;
  case Op::And:
    // A non-negative mask bounds the result whatever the other side is.
    for (const Expr& operand : expr.operands())
      if (operand.op() == Op::Constant && operand.value() >= 0 &&
          viewed(operand, width, view).op() == Op::Constant)
        return expr;
    break;
  case Op::WorkDim:
    if (width >= 8)
      return expr;
    break;
  case Op::GlobalId:
  case Op::LocalId:
  case Op::GroupId:
  case Op::GlobalSize:
  case Op::LocalSize:
  case Op::EnqueuedLocalSize:
  case Op::NumGroups:
  case Op::GlobalOffset:
    if (width == 64 && !isSigned)
      return expr; // a size_t by definition
    break;
  default:
    break;
  }
  return Expr::wrap(expr, width, isSigned);
}

ExpressionBuilder::ExpressionBuilder(llvm::Function& function, llvm::LoopInfo& loops,
                                     llvm::ScalarEvolution& evolution,
                                     llvm::DominatorTree& dominators)
    : function_(function), loops_(loops), evolution_(evolution), dominators_(dominators) {}

Expr ExpressionBuilder::build(llvm::Value* value, View view) {
  auto key = std::make_pair(value, view);
  if (auto found = known_.find(key); found != known_.end())
    return found->second;
  if (underway_.size() > maxDepth)
    return Expr::unknown("expression too deep", lineOf(value));
  if (!underway_.insert(value).second)
    return Expr::unknown("value carried around a loop", lineOf(value));
  Expr result = compute(value, view);
  underway_.erase(value);
  known_.emplace(key, result);
  return result;
}

Expr ExpressionBuilder::compute(llvm::Value* value, View view) {
  auto* type = dyn_cast<llvm::IntegerType>(value->getType());
  if (!type || type->getBitWidth() > 64)
    return Expr::unknown("not an integer of at most 64 bits", lineOf(value));
  unsigned width = type->getBitWidth();

  if (auto* constant = dyn_cast<llvm::ConstantInt>(value)) {
    const llvm::APInt& bits = constant->getValue();
    if (view == View::Unsigned && bits.getActiveBits() < 64)
      return Expr::constant(static_cast<std::int64_t>(bits.getZExtValue()));
    return viewed(Expr::constant(bits.getSExtValue()), width, view);
  }
  if (isa<llvm::UndefValue>(value))
    return Expr::unknown("undefined value");
  if (auto* argument = dyn_cast<llvm::Argument>(value))
    return Expr::argument(argument->getArgNo(), width, view != View::Unsigned);

  auto* instruction = dyn_cast<llvm::Instruction>(value);
  if (!instruction)
    return Expr::unknown("constant that the analysis can't read");
  switch (instruction->getOpcode()) {
  case llvm::Instruction::Trunc:
    return viewed(build(instruction->getOperand(0), View::Modular), width, view);
  case llvm::Instruction::SExt:
    return viewed(build(instruction->getOperand(0), View::Signed), width, view);
  case llvm::Instruction::ZExt: {
    llvm::Value* narrow = instruction->getOperand(0);
    if (narrow->getType()->isIntegerTy(1))
      return select(narrow, Expr::constant(1), Expr::constant(0));
    // Narrow casts mean a remainder, and a remainder is exact where a wrap would have to be proven.
    unsigned from = narrow->getType()->getIntegerBitWidth();
    if (isa<llvm::LoadInst>(narrow))
      if (Expr loaded = build(narrow, View::Unsigned); loaded.op() == Op::Load)
        return loaded;
    if (from < 32)
      return combine(Op::And,
                     {build(narrow, View::Modular), Expr::constant((std::int64_t{1} << from) - 1)});
    return build(narrow, View::Unsigned);
  }
  case llvm::Instruction::Freeze:
    return build(instruction->getOperand(0), view);
  case llvm::Instruction::Select:
    return minMaxOrSelect(cast<llvm::SelectInst>(*instruction), view);
  case llvm::Instruction::PHI:
    return phi(cast<llvm::PHINode>(*instruction), view);
  case llvm::Instruction::Load:
    return load(cast<llvm::LoadInst>(*instruction), width, 0, view);
  case llvm::Instruction::Call:
    return call(*instruction, view);
  case llvm::Instruction::ExtractElement:
    return component(cast<llvm::ExtractElementInst>(*instruction), view);
  case llvm::Instruction::FPToSI:
  case llvm::Instruction::FPToUI:
    return Expr::unknown("computed in floating point", lineOf(value));
  case llvm::Instruction::PtrToInt:
    return Expr::unknown("computed from a pointer", lineOf(value));
  default:
    if (isa<llvm::BinaryOperator>(instruction))
      return binary(*instruction, view);
    if (isa<llvm::ICmpInst>(instruction))
      return select(instruction, Expr::constant(view == View::Signed ? -1 : 1), Expr::constant(0));
    return Expr::unknown(std::string("computed by `") + instruction->getOpcodeName() + "`",
                         lineOf(value));
  }
}

namespace {

/// `expr` / 2^`shift`, if it shows that there is no remainder.
std::optional<Expr> shiftedBack(const Expr& expr, unsigned shift) {
  const std::int64_t unit = std::int64_t{1} << shift;
  std::vector<Expr> parts = expr.operands();
  switch (expr.op()) {
  case Op::Constant:
    return expr.value() % unit == 0 ? std::optional(Expr::constant(expr.value() / unit))
                                    : std::nullopt;
  case Op::Mul:
    for (Expr& factor : parts)
      if (auto less = factor.op() == Op::Constant ? shiftedBack(factor, shift) : std::nullopt) {
        factor = *less;
        return Expr::node(Op::Mul, std::move(parts));
      }
    return std::nullopt;
  case Op::Add:
    for (Expr& term : parts) {
      auto less = shiftedBack(term, shift);
      if (!less)
        return std::nullopt;
      term = *less;
    }
    return Expr::node(Op::Add, std::move(parts));
  default:
    return std::nullopt;
  }
}

} // namespace

Expr ExpressionBuilder::binary(llvm::Instruction& instruction, View view) {
  llvm::Value* left = instruction.getOperand(0);
  llvm::Value* right = instruction.getOperand(1);
  unsigned width = instruction.getType()->getIntegerBitWidth();
  auto operands = [&](View how) { return std::vector<Expr>{build(left, how), build(right, how)}; };
  auto modular = [&](Op op) { return viewed(combine(op, operands(View::Modular)), width, view); };
  auto inRange = [&](View natural, const Expr& expr) {
    return viewedAs(natural, expr, width, view);
  };
  auto* amount = dyn_cast<llvm::ConstantInt>(right);
  bool shiftIsKnown = amount && amount->getValue().ult(std::min(width, 63u));
  unsigned shift = shiftIsKnown ? static_cast<unsigned>(amount->getZExtValue()) : 0;

  // LLVM's optimised form of a narrow number's extension: shifted up and back.
  auto extended = [&] {
    return shiftIsKnown && shift > 0 ? shiftedBack(build(left, View::Modular), shift)
                                     : std::nullopt;
  };

  switch (instruction.getOpcode()) {
  case llvm::Instruction::Add:
    return modular(Op::Add);
  case llvm::Instruction::Sub:
    return viewed(minus(build(left, View::Modular), build(right, View::Modular)), width, view);
  case llvm::Instruction::Mul:
    return modular(Op::Mul);
  case llvm::Instruction::Or:
    if (cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint())
      return modular(Op::Add);
    return modular(Op::Or);
  case llvm::Instruction::And:
    return modular(Op::And);
  case llvm::Instruction::Xor:
    return modular(Op::Xor);
  case llvm::Instruction::Shl:
    if (shiftIsKnown)
      return viewed(combine(Op::Mul, {power2(shift), build(left, View::Modular)}), width, view);
    return viewed(combine(Op::Shl, {build(left, View::Modular), build(right, View::Unsigned)}),
                  width, view);
  case llvm::Instruction::LShr:
    if (auto narrow = extended())
      return inRange(View::Unsigned, viewed(*narrow, width - shift, View::Unsigned));
    if (shiftIsKnown)
      return inRange(View::Unsigned,
                     combine(Op::DivFloor, {build(left, View::Unsigned), power2(shift)}));
    return inRange(View::Unsigned, combine(Op::ShrArith, operands(View::Unsigned)));
  case llvm::Instruction::AShr:
    if (auto narrow = extended())
      return inRange(View::Signed, viewed(*narrow, width - shift, View::Signed));
    if (shiftIsKnown)
      return inRange(View::Signed,
                     combine(Op::DivFloor, {build(left, View::Signed), power2(shift)}));
    return inRange(View::Signed, combine(Op::ShrArith, {build(left, View::Signed),
                                                        build(right, View::Unsigned)}));
  case llvm::Instruction::UDiv:
  case llvm::Instruction::SDiv:
  case llvm::Instruction::URem:
  case llvm::Instruction::SRem:
    return division(instruction, cast<llvm::BinaryOperator>(instruction).getOpcode(), view);
  default:
    return Expr::unknown(std::string("computed by `") + instruction.getOpcodeName() + "`",
                         lineOf(&instruction));
  }
}

/// What `opcode` makes of the first two operands of `instruction`, a division or a call for one.
Expr ExpressionBuilder::division(llvm::Instruction& instruction,
                                 llvm::Instruction::BinaryOps opcode, View view) {
  unsigned width = instruction.getType()->getIntegerBitWidth();
  bool isSigned = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
  View natural = isSigned ? View::Signed : View::Unsigned;
  Expr left = build(instruction.getOperand(0), natural);
  Expr right = build(instruction.getOperand(1), natural);
  if (right.op() == Op::Constant && right.value() == 0)
    return Expr::unknown("division by zero", lineOf(&instruction));
  Expr result;
  switch (opcode) {
  case llvm::Instruction::UDiv:
    result = combine(Op::DivFloor, {left, right});
    break;
  case llvm::Instruction::URem:
    if (left.op() == Op::Unknown) // but not negative
      left = Expr::node(Op::Max, {left, Expr::constant(0)});
    result = combine(Op::RemTrunc, {left, right});
    break;
  case llvm::Instruction::SDiv:
    result = combine(Op::DivTrunc, {left, right});
    if (right.op() != Op::Constant || right.value() == -1) // the least number / -1 does not fit
      result = viewed(result, width, View::Signed);
    break;
  default:
    result = combine(Op::RemTrunc, {left, right});
    break;
  }
  return viewedAs(natural, result, width, view);
}

Expr ExpressionBuilder::call(llvm::Instruction& instruction, View view) {
  if (auto opcode = totalDivision(instruction))
    return division(instruction, *opcode, view);
  auto& call = cast<llvm::CallBase>(instruction);
  unsigned width = instruction.getType()->getIntegerBitWidth();
  unsigned line = lineOf(&instruction);
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee)
    return Expr::unknown("result of an indirect call", line);

  auto argument = [&](unsigned i, View how) { return build(call.getArgOperand(i), how); };
  auto extreme = [&](Op op, View how) {
    return viewedAs(how, combine(op, {argument(0, how), argument(1, how)}), width, view);
  };
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::smin:
    return extreme(Op::Min, View::Signed);
  case llvm::Intrinsic::smax:
    return extreme(Op::Max, View::Signed);
  case llvm::Intrinsic::umin:
    return extreme(Op::Min, View::Unsigned);
  case llvm::Intrinsic::umax:
    return extreme(Op::Max, View::Unsigned);
  case llvm::Intrinsic::abs:
    return viewed(absolute(argument(0, View::Signed)), width, view);
  default:
    break;
  }

  llvm::StringRef name = builtinName(callee->getName());
  auto id = [](Op op, unsigned d) { return Expr::id(op, d); };
  Builtin builtin = classifyCall(call);
  switch (builtin.kind) {
  case BuiltinKind::IdQuery: {
    auto* dimension = dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!dimension)
      return Expr::unknown("`" + name.str() + "` of a computed dimension", line);
    // The specification says 0 for ids and 1 for sizes, but PoCL says 0 for sizes as well.
    if (dimension->getValue().uge(3))
      return Expr::unknown("`" + name.str() + "` of a dimension beyond the third", line);
    return viewed(id(builtin.query, static_cast<unsigned>(dimension->getZExtValue())), width, view);
  }
  case BuiltinKind::WorkDim:
    return Expr::workDim();
  case BuiltinKind::GlobalLinearId: {
    auto position = [&](unsigned d) { return minus(id(Op::GlobalId, d), id(Op::GlobalOffset, d)); };
    Expr linear = position(2) * id(Op::GlobalSize, 1) + position(1);
    return viewed(linear * id(Op::GlobalSize, 0) + position(0), width, view);
  }
  case BuiltinKind::ImageQuery:
    if (auto* image = dyn_cast<llvm::Argument>(call.getArgOperand(0)))
      if (const std::optional<unsigned> dimension = imageDimension(call))
        return viewed(ImageNumbers::sizeOf(image->getArgNo(), *dimension), width, view);
    break;
  case BuiltinKind::LocalLinearId: {
    Expr linear = id(Op::LocalId, 2) * id(Op::LocalSize, 1) + id(Op::LocalId, 1);
    return viewed(linear * id(Op::LocalSize, 0) + id(Op::LocalId, 0), width, view);
  }
  case BuiltinKind::IntegerMath:
    return integerMath(call, view);
  default:
    break;
  }
  return Expr::unknown("result of `" + name.str() + "`", line);
}

/// Of `call`, a built-in function of IntegerMath.
Expr ExpressionBuilder::integerMath(llvm::CallBase& call, View view) {
  const llvm::StringRef symbol = call.getCalledFunction()->getName();
  const llvm::StringRef name = builtinName(symbol);
  const unsigned width = call.getType()->getIntegerBitWidth();
  auto argument = [&](unsigned i, View as) { return build(call.getArgOperand(i), as); };
  // The last letter of a mangled integer type says whether it is signed.
  const bool isUnsigned = llvm::StringRef("htjm").contains(symbol.back());
  const View how = isUnsigned ? View::Unsigned : View::Signed;
  if (name == "min" || name == "max")
    return viewedAs(
        how, combine(name == "min" ? Op::Min : Op::Max, {argument(0, how), argument(1, how)}),
        width, view);
  if (name == "clamp") { // min(max(x, low), high)
    Expr raised = combine(Op::Max, {argument(0, how), argument(1, how)});
    return viewedAs(how, combine(Op::Min, {raised, argument(2, how)}), width, view);
  }
  if (name == "abs") {
    Expr value = argument(0, how);
    return viewed(isUnsigned ? value : absolute(value), width, view);
  }
  if (name == "mul24" || name == "mad24") {
    // Defined only for factors of 24 bits.
    auto factor = [&](unsigned i) { return viewed(argument(i, how), 24, how); };
    Expr product = combine(Op::Mul, {factor(0), factor(1)});
    if (name == "mad24")
      product = combine(Op::Add, {product, argument(2, View::Modular)});
    return viewed(product, width, view);
  }
  return Expr::unknown("result of `" + name.str() + "`", lineOf(&call));
}

Expr ExpressionBuilder::component(llvm::ExtractElementInst& extract, View view) {
  unsigned width = extract.getType()->getIntegerBitWidth();
  llvm::Value* vector = extract.getVectorOperand();
  auto* lane = dyn_cast<llvm::ConstantInt>(extract.getIndexOperand());
  auto* type = dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (lane && type && width % 8 == 0 && lane->getValue().ult(type->getNumElements())) {
    unsigned bit = static_cast<unsigned>(lane->getZExtValue()) * width;
    if (auto* argument = dyn_cast<llvm::Argument>(vector))
      return Expr::argument(argument->getArgNo(), width, view != View::Unsigned, bit);
    if (auto* whole = dyn_cast<llvm::LoadInst>(vector))
      return load(*whole, width, bit, view);
    // get_image_dim: width and height, and of three dimensions the depth, and 0.
    if (auto* call = dyn_cast<llvm::CallInst>(vector); call && call->getCalledFunction())
      if (auto* image =
              call->arg_empty() ? nullptr : dyn_cast<llvm::Argument>(call->getArgOperand(0));
          image && builtinName(call->getCalledFunction()->getName()) == "get_image_dim" &&
          lane->getValue().ult(3))
        return viewed(
            ImageNumbers::sizeOf(image->getArgNo(), static_cast<unsigned>(lane->getZExtValue())),
            width, view);
  }
  return Expr::unknown("component of a computed vector", lineOf(&extract));
}

/// `width` bits from bit `bit` of what `load` reads.
Expr ExpressionBuilder::load(llvm::LoadInst& load, unsigned width, unsigned bit, View view) {
  const llvm::DataLayout& layout = function_.getDataLayout();
  llvm::Value* pointer = load.getPointerOperand();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const llvm::Value* base =
      pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  if (auto* argument = dyn_cast<llvm::Argument>(base); argument && argument->hasByValAttr()) {
    if (!isReadOnlyByValue(*argument))
      return Expr::unknown("parameter " + nameOf(argument) + " is changed in the kernel",
                           lineOf(&load));
    std::uint64_t size = layout.getTypeAllocSize(argument->getParamByValType()).getFixedValue();
    if (width % 8 == 0 && offset.isNonNegative() && offset.ult(size) &&
        offset.getZExtValue() + (bit + width) / 8 <= size)
      return Expr::argument(argument->getArgNo(), width, view != View::Unsigned,
                            static_cast<unsigned>(offset.getZExtValue() * 8) + bit);
  }
  const bool isElement = (width == 8 || width == 16 || width == 32 || width == 64) && bit % 8 == 0;
  if (isElement && load.isSimple() && placeOf_)
    if (auto place = placeOf_(pointer)) {
      Expr bytes = combine(Op::Add, {place->offset, Expr::constant(bit / 8)});
      return Expr::load(place->parameter, viewed(bytes, 64, View::Signed), width,
                        view != View::Unsigned);
    }
  Expr unknown = Expr::unknown("value loaded from " + nameOf(pointer), lineOf(&load));
  // Of a constant table as much is known as its greatest and least element say.
  auto* table = dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(pointer, 0));
  std::int64_t least = INT64_MAX, greatest = INT64_MIN;
  if (table && table->isConstant() && table->hasInitializer() && bit == 0 &&
      findExtremes(*table->getInitializer(), width, least, greatest)) {
    if (view == View::Signed)
      greatest = std::min(greatest, (std::int64_t{1} << (width - 1)) - 1);
    else if (view == View::Unsigned)
      least = std::max<std::int64_t>(least, 0);
    return Expr::node(
        Op::Min, {Expr::node(Op::Max, {unknown, Expr::constant(least)}), Expr::constant(greatest)});
  }
  return unknown;
}

std::string ExpressionBuilder::nameOf(unsigned parameter) const {
  return parameter < names_.size() ? "`" + names_[parameter] + "`"
                                   : "parameter " + std::to_string(parameter);
}

std::string ExpressionBuilder::nameOf(const llvm::Value* pointer) const {
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
  if (auto* argument = dyn_cast<llvm::Argument>(object))
    return nameOf(argument->getArgNo());
  if (isa<llvm::AllocaInst>(object))
    return "private memory";
  if (auto* global = dyn_cast<llvm::GlobalVariable>(object)) {
    llvm::StringRef name = global->getName();
    if (global->getAddressSpace() == 3)
      name = name.rsplit('.').second.empty() ? name : name.split('.').second;
    return "`" + name.str() + "`";
  }
  return "memory";
}

Expr ExpressionBuilder::offsetOf(const llvm::GEPOperator& gep) {
  const llvm::DataLayout& layout = function_.getDataLayout();
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  unsigned width = layout.getIndexTypeSizeInBits(gep.getType());
  llvm::APInt constant(width, 0);
  if (width != 64 || !gep.collectOffset(layout, width, variable, constant))
    return Expr::unknown("address that the analysis can't read", lineOf(&gep));
  Expr offset = Expr::constant(constant.getSExtValue());
  for (const auto& [index, scale] : variable) {
    // An index narrower than a pointer is sign-extended.
    View how = index->getType()->getIntegerBitWidth() < 64 ? View::Signed : View::Modular;
    if (index->getType()->getIntegerBitWidth() > 64)
      return Expr::unknown("address that the analysis can't read", lineOf(&gep));
    Expr scaled = combine(Op::Mul, {Expr::constant(scale.getSExtValue()), build(index, how)});
    offset = combine(Op::Add, {offset, scaled});
  }
  return offset;
}

Expr ExpressionBuilder::offsetOf(const llvm::CallBase& call, const VectorAccess& access) {
  return combine(Op::Mul, {Expr::constant(static_cast<std::int64_t>(access.stride)),
                           build(call.getArgOperand(access.indexOperand), View::Modular)});
}

Expr ExpressionBuilder::minMaxOrSelect(llvm::SelectInst& instruction, View view) {
  unsigned width = instruction.getType()->getIntegerBitWidth();
  llvm::Value *left = nullptr, *right = nullptr;
  auto extreme = [&](Op op, View how) {
    return viewedAs(how, combine(op, {build(left, how), build(right, how)}), width, view);
  };
  switch (llvm::matchSelectPattern(&instruction, left, right).Flavor) {
  case llvm::SPF_SMIN:
    return extreme(Op::Min, View::Signed);
  case llvm::SPF_SMAX:
    return extreme(Op::Max, View::Signed);
  case llvm::SPF_UMIN:
    return extreme(Op::Min, View::Unsigned);
  case llvm::SPF_UMAX:
    return extreme(Op::Max, View::Unsigned);
  default:
    return select(instruction.getCondition(), build(instruction.getTrueValue(), view),
                  build(instruction.getFalseValue(), view));
  }
}

Expr ExpressionBuilder::select(llvm::Value* condition, const Expr& ifTrue, const Expr& ifFalse) {
  if (ifTrue == ifFalse)
    return ifTrue;
  if (ifTrue.op() == Op::Unknown)
    return ifTrue;
  if (ifFalse.op() == Op::Unknown)
    return ifFalse;
  llvm::Value *a = nullptr, *b = nullptr;
  if (auto* constant = dyn_cast<llvm::ConstantInt>(condition))
    return constant->isZero() ? ifFalse : ifTrue;
  if (auto* freeze = dyn_cast<llvm::FreezeInst>(condition))
    return select(freeze->getOperand(0), ifTrue, ifFalse);
  if (match::match(condition, match::m_Not(match::m_Value(a))))
    return select(a, ifFalse, ifTrue);
  if (match::match(condition, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b))))
    return select(a, select(b, ifTrue, ifFalse), ifFalse);
  if (match::match(condition, match::m_LogicalOr(match::m_Value(a), match::m_Value(b))))
    return select(a, ifTrue, select(b, ifTrue, ifFalse));
  auto* compare = dyn_cast<llvm::ICmpInst>(condition);
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy())
    return Expr::unknown("value depends on a condition that is not over ids and arguments",
                         lineOf(condition));
  if (compare->getOperand(0)->getType()->isIntegerTy(1))
    return Expr::unknown("value depends on a condition over conditions", lineOf(condition));

  View how = compare->isUnsigned() ? View::Unsigned : View::Signed;
  Expr left = build(compare->getOperand(0), how);
  Expr right = build(compare->getOperand(1), how);
  auto less = [&](const Expr& low, const Expr& high, const Expr& yes, const Expr& no) {
    return combine(Op::Select, {low, high, yes, no});
  };
  switch (compare->getPredicate()) {
  case llvm::ICmpInst::ICMP_SLT:
  case llvm::ICmpInst::ICMP_ULT:
    return less(left, right, ifTrue, ifFalse);
  case llvm::ICmpInst::ICMP_SGT:
  case llvm::ICmpInst::ICMP_UGT:
    return less(right, left, ifTrue, ifFalse);
  case llvm::ICmpInst::ICMP_SLE:
  case llvm::ICmpInst::ICMP_ULE:
    return less(right, left, ifFalse, ifTrue);
  case llvm::ICmpInst::ICMP_SGE:
  case llvm::ICmpInst::ICMP_UGE:
    return less(left, right, ifFalse, ifTrue);
  case llvm::ICmpInst::ICMP_EQ:
    return less(left, right, ifFalse, less(right, left, ifFalse, ifTrue));
  case llvm::ICmpInst::ICMP_NE:
    return less(left, right, ifTrue, less(right, left, ifTrue, ifFalse));
  default:
    return Expr::unknown("value depends on a comparison", lineOf(condition));
  }
}

} // namespace libsplit
