#include "tests/property/host_inspector.h"

#include "analysis-pass/summary/expr_value.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace libsplit {
namespace {

using Op = Expr::Op;
using Value = std::optional<Int>; ///< of 64 bits, or none

Value fitting(Int value) {
  return value >= INT64_MIN && value <= INT64_MAX ? Value(value) : std::nullopt;
}

class HostInspector {
public:
  HostInspector(const Access& access, const NDRange& range,
                std::span<const ArgumentValue> arguments, BufferBytes buffers,
                std::uint64_t maxSteps)
      : access_(access), range_(range), arguments_(arguments), buffers_(buffers), steps_(maxSteps) {
  }

  Interval run(const GroupBox& box) {
    auto first = [&](unsigned d) { return box.begin[d] * range_.local[d]; };
    auto end = [&](unsigned d) { return std::min(range_.global[d], box.end[d] * range_.local[d]); };
    for (item_[2] = first(2); item_[2] < end(2); ++item_[2])
      for (item_[1] = first(1); item_[1] < end(1); ++item_[1])
        for (item_[0] = first(0); item_[0] < end(0) && known_; ++item_[0])
          iterate();
    return known_ ? bytes_ : everything;
  }

private:
  /// Conditions and counts as far as the loops around allow: what fails there needs no more.
  void iterate() {
    for (const Guard& guard : access_.guards)
      if (holds(guard) == false)
        return;
    if (loops_.size() == access_.loops.size())
      return perform();
    const Value count = value(access_.loops[loops_.size()].count);
    if (!count)
      known_ = false;
    for (Int k = 0; known_ && k < *count; ++k) {
      if (steps_-- == 0)
        known_ = false;
      loops_.push_back(k);
      iterate();
      loops_.pop_back();
    }
  }

  void perform() {
    const Value offset = value(access_.offset);
    known_ = known_ && offset && fitting(*offset + Int{access_.length}) &&
             std::ranges::all_of(access_.guards,
                                 [&](const Guard& guard) { return holds(guard).has_value(); });
    if (known_)
      bytes_ = hull(bytes_, {*offset, *offset + Int{access_.length} - 1});
  }

  std::optional<bool> holds(const Guard& guard) {
    const Value left = value(guard.left), right = value(guard.right);
    if (!left || !right)
      return std::nullopt;
    switch (guard.relation) {
    case Guard::Relation::Less:
      return *left < *right;
    case Guard::Relation::LessEqual:
      return *left <= *right;
    case Guard::Relation::Equal:
      return *left == *right;
    case Guard::Relation::NotEqual:
      return *left != *right;
    }
    return std::nullopt;
  }

  Value value(const Expr& e) {
    const unsigned d = e.index();
    switch (e.op()) {
    case Op::Constant:
      return e.value();
    case Op::Argument: {
      const auto argument = argumentValue(e, arguments_);
      return argument ? fitting(*argument) : std::nullopt;
    }
    case Op::GlobalId:
    case Op::LocalId:
    case Op::GroupId:
    case Op::GlobalSize:
    case Op::LocalSize:
    case Op::EnqueuedLocalSize:
    case Op::NumGroups:
    case Op::GlobalOffset:
    case Op::WorkDim:
      return itemQuery(e, range_, item_);
    case Op::LoopVariable: // of a loop further in: no value yet
      return d < loops_.size() ? Value(loops_[d]) : std::nullopt;
    default:
      break;
    }
    std::vector<Value> operands;
    for (const Expr& operand : e.operands())
      operands.push_back(value(operand));
    if (e.op() == Op::Select) {
      if (!operands[0] || !operands[1])
        return std::nullopt;
      return *operands[0] < *operands[1] ? operands[2] : operands[3];
    }
    Value result = operands.empty() ? std::nullopt : operands[0];
    if (operands.size() == 1)
      return result ? ofOne(e, *result) : std::nullopt;
    for (std::size_t i = 1; i < operands.size() && result; ++i)
      result = operands[i] ? ofTwo(e.op(), *result, *operands[i]) : std::nullopt;
    return result;
  }

  Value ofOne(const Expr& e, Int a) const {
    if (e.op() == Op::Wrap) {
      const Int limit = Int{1} << (e.isSigned() ? e.width() - 1 : e.width());
      return a < limit && a >= (e.isSigned() ? -limit : 0) ? Value(a) : std::nullopt;
    }
    const std::span<const std::byte> bytes = buffers_[e.index()];
    const Int size = e.width() / 8;
    if (a < 0 || a + size > Int{bytes.size()} || a % size != 0)
      return std::nullopt;
    std::uint64_t raw = 0;
    std::memcpy(&raw, bytes.data() + static_cast<std::size_t>(a), e.width() / 8);
    Int element = raw;
    if (e.isSigned() && raw >> (e.width() - 1) & 1)
      element -= Int{1} << e.width();
    return fitting(element);
  }

  static Value ofTwo(Op op, Int a, Int b) {
    const bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    const bool shifts = b >= 0 && b < 63;
    switch (op) {
    case Op::Add:
      return fitting(a + b);
    case Op::Mul:
      return fitting(a * b);
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::DivFloor:
      return divides ? Value(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0)) : std::nullopt;
    case Op::DivTrunc:
      return divides ? Value(a / b) : std::nullopt;
    case Op::RemTrunc:
      return divides ? Value(a % b) : std::nullopt;
    case Op::Shl:
      return shifts ? fitting(a * (Int{1} << static_cast<int>(b))) : std::nullopt;
    case Op::ShrArith:
      return shifts ? Value(a >> static_cast<int>(b)) : std::nullopt;
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    default:
      return std::nullopt;
    }
  }

  const Access& access_;
  const NDRange& range_;
  const std::span<const ArgumentValue> arguments_;
  const BufferBytes buffers_;
  std::uint64_t steps_;
  std::array<std::uint64_t, 3> item_{};
  std::vector<Int> loops_;
  bool known_ = true;
  Interval bytes_ = nothing;
};

} // namespace

Interval inspectOnHost(const Access& access, const NDRange& range,
                       std::span<const ArgumentValue> arguments, const GroupBox& box,
                       BufferBytes buffers, std::uint64_t maxSteps) {
  return HostInspector(access, range, arguments, buffers, maxSteps).run(box);
}

} // namespace libsplit
