#include "analysis-pass/summary/expr.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace libsplit {

struct Expr::Node {
  Op op = Op::Constant;
  std::int64_t value = 0;
  unsigned index = 0;
  unsigned width = 0;
  unsigned bit = 0;
  bool isSigned = false;
  unsigned line = 0;
  unsigned size = 1;  // nodes of the tree, shared ones counted each time
  unsigned depth = 1; // of the tree
  std::string text;
  std::vector<Expr> operands;
};

namespace {

using Op = Expr::Op;

std::optional<std::int64_t> checkedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r))
    return std::nullopt;
  return r;
}

std::optional<std::int64_t> checkedMul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r))
    return std::nullopt;
  return r;
}

/// The value of `op` on two constants, or nothing where it is undefined or leaves 64 bits.
std::optional<std::int64_t> foldBinary(Op op, std::int64_t a, std::int64_t b) {
  const bool divides = b != 0 && !(a == INT64_MIN && b == -1);
  switch (op) {
  case Op::DivFloor:
    if (!divides)
      return std::nullopt;
    return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  case Op::DivTrunc:
    return divides ? std::optional(a / b) : std::nullopt;
  case Op::RemTrunc:
    return divides ? std::optional(a % b) : std::nullopt;
  case Op::Shl:
    return b >= 0 && b < 63 ? checkedMul(a, std::int64_t{1} << b) : std::nullopt;
  case Op::ShrArith:
    return b >= 0 && b < 64 ? std::optional(a >> b) : std::nullopt;
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

std::optional<std::int64_t> foldPair(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
  case Op::Add:
    return checkedAdd(a, b);
  case Op::Mul:
    return checkedMul(a, b);
  case Op::Min:
    return std::min(a, b);
  case Op::Max:
    return std::max(a, b);
  default:
    return std::nullopt;
  }
}

bool isConstant(const Expr& e, std::int64_t value) {
  return e.op() == Op::Constant && e.value() == value;
}

/// Flattens nested nodes of an n-ary `op` and gathers the constants into one, placed last.
/// Constants whose sum or product leaves 64 bits stay apart.
std::vector<Expr> flatten(Op op, std::vector<Expr> operands) {
  std::vector<Expr> flat;
  std::vector<Expr> constants;
  auto take = [&](const Expr& e) { (e.op() == Op::Constant ? constants : flat).push_back(e); };
  for (const Expr& e : operands) {
    if (e.op() == op)
      for (const Expr& inner : e.operands())
        take(inner);
    else
      take(e);
  }
  if (constants.empty())
    return flat;
  std::optional<std::int64_t> folded = constants.front().value();
  for (std::size_t i = 1; i < constants.size() && folded; ++i)
    folded = foldPair(op, *folded, constants[i].value());
  if (!folded) {
    flat.insert(flat.end(), constants.begin(), constants.end());
    return flat;
  }
  const bool neutral = (op == Op::Add && *folded == 0) || (op == Op::Mul && *folded == 1);
  if (!neutral || flat.empty())
    flat.push_back(Expr::constant(*folded));
  return flat;
}

/// Unknown operands make these unknown. The others may still be bounded: (?) & 255, min(?, 7).
bool propagatesUnknown(Op op) {
  return op != Op::And && op != Op::RemTrunc && op != Op::Min && op != Op::Max && op != Op::Select;
}

} // namespace

Expr::Expr() : Expr(constant(0)) {}
Expr::Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

Expr Expr::unknown(std::string why, unsigned line) {
  auto node = std::make_shared<Node>();
  node->op = Op::Unknown;
  node->text = std::move(why);
  node->line = line;
  return Expr(std::move(node));
}

Expr Expr::constant(std::int64_t value) {
  static const Expr zero{std::make_shared<Node>()};
  if (value == 0)
    return zero;
  auto node = std::make_shared<Node>();
  node->value = value;
  return Expr(std::move(node));
}

Expr Expr::argument(unsigned parameter, unsigned width, bool isSigned, unsigned bit) {
  auto node = std::make_shared<Node>();
  node->op = Op::Argument;
  node->index = parameter;
  node->width = width;
  node->isSigned = isSigned;
  node->bit = bit;
  return Expr(std::move(node));
}

Expr Expr::id(Op op, unsigned dimension) {
  auto node = std::make_shared<Node>();
  node->op = op;
  node->index = dimension;
  return Expr(std::move(node));
}

Expr Expr::workDim() {
  auto node = std::make_shared<Node>();
  node->op = Op::WorkDim;
  return Expr(std::move(node));
}

Expr Expr::loop(unsigned depth) {
  auto node = std::make_shared<Node>();
  node->op = Op::LoopVariable;
  node->index = depth;
  return Expr(std::move(node));
}

Expr Expr::node(Op op, std::vector<Expr> operands) {
  if (propagatesUnknown(op))
    for (const Expr& e : operands)
      if (e.op() == Op::Unknown)
        return e;

  switch (op) {
  case Op::Add:
  case Op::Mul:
  case Op::Min:
  case Op::Max:
    operands = flatten(op, std::move(operands));
    if (op == Op::Mul)
      for (const Expr& e : operands)
        if (isConstant(e, 0))
          return e;
    if (operands.empty())
      return constant(op == Op::Mul ? 1 : 0);
    if (operands.size() == 1)
      return operands.front();
    break;
  case Op::Select:
    if (operands[0].op() == Op::Constant && operands[1].op() == Op::Constant)
      return operands[0].value() < operands[1].value() ? operands[2] : operands[3];
    if (operands[2] == operands[3])
      return operands[2];
    break;
  default:
    if (operands[0].op() == Op::Constant && operands[1].op() == Op::Constant)
      if (auto folded = foldBinary(op, operands[0].value(), operands[1].value()))
        return constant(*folded);
    if (isConstant(operands[1], 1) && (op == Op::DivFloor || op == Op::DivTrunc))
      return operands[0];
    if (isConstant(operands[1], 0) &&
        (op == Op::Shl || op == Op::ShrArith || op == Op::Or || op == Op::Xor))
      return operands[0];
    break;
  }

  auto node = std::make_shared<Node>();
  node->op = op;
  for (const Expr& e : operands) {
    node->size = std::min(maxSize + 1, node->size + e.node_->size);
    node->depth = std::max(node->depth, e.node_->depth + 1);
  }
  if (node->size > maxSize || node->depth > maxDepth)
    return unknown("expression too large");
  node->operands = std::move(operands);
  return Expr(std::move(node));
}

Expr Expr::wrap(Expr operand, unsigned width, bool isSigned) {
  if (operand.op() == Op::Unknown)
    return operand;
  if (operand.op() == Op::Wrap && operand.width() == width && operand.isSigned() == isSigned)
    return operand;
  if (operand.op() == Op::Constant && width > 0 && width <= 64) {
    const std::int64_t v = operand.value();
    const bool fits = isSigned ? width == 64 || (v >= -(std::int64_t{1} << (width - 1)) &&
                                                 v < (std::int64_t{1} << (width - 1)))
                               : v >= 0 && (width >= 63 || v < (std::int64_t{1} << width));
    if (fits)
      return operand;
  }
  if (operand.node_->size >= maxSize || operand.node_->depth >= maxDepth)
    return unknown("expression too large");
  auto node = std::make_shared<Node>();
  node->op = Op::Wrap;
  node->width = width;
  node->isSigned = isSigned;
  node->size = operand.node_->size + 1;
  node->depth = operand.node_->depth + 1;
  node->operands.push_back(std::move(operand));
  return Expr(std::move(node));
}

Expr Expr::load(unsigned parameter, Expr byteOffset, unsigned width, bool isSigned) {
  if (byteOffset.op() == Op::Unknown)
    return byteOffset;
  if (byteOffset.node_->size >= maxSize || byteOffset.node_->depth >= maxDepth)
    return unknown("expression too large");
  auto node = std::make_shared<Node>();
  node->op = Op::Load;
  node->index = parameter;
  node->width = width;
  node->isSigned = isSigned;
  node->size = byteOffset.node_->size + 1;
  node->depth = byteOffset.node_->depth + 1;
  node->operands.push_back(std::move(byteOffset));
  return Expr(std::move(node));
}

Expr Expr::over(std::vector<Expr> operands) const {
  switch (op()) {
  case Op::Wrap:
    return wrap(std::move(operands.front()), width(), isSigned());
  case Op::Load:
    return load(index(), std::move(operands.front()), width(), isSigned());
  default:
    return operands.empty() ? *this : node(op(), std::move(operands));
  }
}

Expr::Op Expr::op() const {
  return node_->op;
}
std::int64_t Expr::value() const {
  return node_->value;
}
unsigned Expr::index() const {
  return node_->index;
}
unsigned Expr::width() const {
  return node_->width;
}
unsigned Expr::bit() const {
  return node_->bit;
}
bool Expr::isSigned() const {
  return node_->isSigned;
}
const std::string& Expr::text() const {
  return node_->text;
}
unsigned Expr::line() const {
  return node_->line;
}
const std::vector<Expr>& Expr::operands() const {
  return node_->operands;
}

bool Expr::operator==(const Expr& other) const {
  if (node_ == other.node_)
    return true;
  const Node& a = *node_;
  const Node& b = *other.node_;
  return a.op == b.op && a.size == b.size && a.value == b.value && a.index == b.index &&
         a.width == b.width && a.bit == b.bit && a.isSigned == b.isSigned && a.line == b.line &&
         a.text == b.text && a.operands == b.operands;
}

bool containsUnknown(const Expr& expr) {
  return expr.op() == Op::Unknown || std::ranges::any_of(expr.operands(), containsUnknown);
}

Expr operator+(const Expr& a, const Expr& b) {
  return Expr::node(Op::Add, {a, b});
}
Expr operator*(const Expr& a, const Expr& b) {
  return Expr::node(Op::Mul, {a, b});
}

namespace {

/// How tightly the text of a node binds; an operand that binds looser gets parentheses.
enum Binding { Loose, Sum, Product, Atom };

struct Text {
  std::string text;
  Binding binding;
};

Text print(const Expr& e, const std::vector<std::string>& names);

std::string operand(const Expr& e, Binding least, const std::vector<std::string>& names) {
  Text t = print(e, names);
  return t.binding >= least ? std::move(t.text) : '(' + t.text + ')';
}

std::string call(const char* name, const Expr& e, const std::vector<std::string>& names) {
  std::string text = name;
  text += '(';
  for (std::size_t i = 0; i < e.operands().size(); ++i)
    text += (i ? ", " : "") + print(e.operands()[i], names).text;
  return text + ')';
}

std::string infix(const char* op, const Expr& e, Binding least,
                  const std::vector<std::string>& names) {
  return operand(e.operands()[0], least, names) + op + operand(e.operands()[1], Atom, names);
}

/// `offset` / `size`, if the offset is a constant times something that this divides.
std::optional<Expr> inElements(const Expr& offset, std::int64_t size) {
  switch (offset.op()) {
  case Op::Constant:
    return offset.value() % size == 0 ? std::optional(Expr::constant(offset.value() / size))
                                      : std::nullopt;
  case Op::Mul:
    if (const Expr& factor = offset.operands().back();
        factor.op() == Op::Constant && factor.value() % size == 0) {
      std::vector<Expr> factors = offset.operands();
      factors.back() = Expr::constant(factor.value() / size);
      return Expr::node(Op::Mul, std::move(factors));
    }
    return std::nullopt;
  case Op::Add: {
    std::vector<Expr> terms;
    for (const Expr& term : offset.operands())
      if (auto each = inElements(term, size))
        terms.push_back(*each);
      else
        return std::nullopt;
    return Expr::node(Op::Add, std::move(terms));
  }
  case Op::Wrap:
    return inElements(offset.operands()[0], size);
  default:
    return size == 1 ? std::optional(offset) : std::nullopt;
  }
}

Text printSum(const Expr& e, const std::vector<std::string>& names) {
  std::string text;
  for (const Expr& term : e.operands()) {
    std::string part = operand(term, Sum, names);
    if (text.empty())
      text = part;
    else if (part.front() == '-')
      text += " - " + part.substr(1);
    else
      text += " + " + part;
  }
  return {text, Sum};
}

Text printProduct(const Expr& e, const std::vector<std::string>& names) {
  // The constant factor is kept last but reads best first.
  std::string text;
  const auto& factors = e.operands();
  const bool scaled = factors.back().op() == Op::Constant;
  if (scaled)
    text = std::to_string(factors.back().value());
  for (std::size_t i = 0; i + (scaled ? 1 : 0) < factors.size(); ++i)
    text += (text.empty() ? "" : "*") + operand(factors[i], Atom, names);
  return {text, Product};
}

Text print(const Expr& e, const std::vector<std::string>& names) {
  const std::string index = std::to_string(e.index());
  switch (e.op()) {
  case Op::Unknown:
    return {"unknown(" + e.text() + ')', Atom};
  case Op::Constant:
    return {std::to_string(e.value()), e.value() < 0 ? Sum : Atom};
  case Op::Argument: {
    std::string name =
        e.index() < names.size() && !names[e.index()].empty() ? names[e.index()] : "arg" + index;
    if (e.bit() != 0)
      name += '.' + std::to_string(e.bit());
    return {name, Atom};
  }
  case Op::GlobalId:
    return {'G' + index, Atom};
  case Op::LocalId:
    return {'L' + index, Atom};
  case Op::GroupId:
    return {'W' + index, Atom};
  case Op::GlobalSize:
    return {"globalSize" + index, Atom};
  case Op::LocalSize:
    return {"localSize" + index, Atom};
  case Op::EnqueuedLocalSize:
    return {"enqueuedLocalSize" + index, Atom};
  case Op::NumGroups:
    return {"numGroups" + index, Atom};
  case Op::GlobalOffset:
    return {"globalOffset" + index, Atom};
  case Op::WorkDim:
    return {"workDim", Atom};
  case Op::LoopVariable:
    return {'k' + index, Atom};
  case Op::Add:
    return printSum(e, names);
  case Op::Mul:
    return printProduct(e, names);
  case Op::DivFloor:
    return {call("floordiv", e, names), Atom};
  case Op::DivTrunc:
    return {infix("/", e, Product, names), Product};
  case Op::RemTrunc:
    return {infix("%", e, Product, names), Product};
  case Op::Min:
    return {call("min", e, names), Atom};
  case Op::Max:
    return {call("max", e, names), Atom};
  case Op::Shl:
    return {infix(" << ", e, Atom, names), Loose};
  case Op::ShrArith:
    return {infix(" >> ", e, Atom, names), Loose};
  case Op::And:
    return {infix(" & ", e, Atom, names), Loose};
  case Op::Or:
    return {infix(" | ", e, Atom, names), Loose};
  case Op::Xor:
    return {infix(" ^ ", e, Atom, names), Loose};
  case Op::Load: {
    std::string name =
        e.index() < names.size() && !names[e.index()].empty() ? names[e.index()] : "arg" + index;
    if (auto element = inElements(e.operands()[0], e.width() / 8))
      return {name + '[' + print(*element, names).text + ']', Atom};
    return {name + ".bytes[" + print(e.operands()[0], names).text + ']', Atom};
  }
  case Op::Wrap:
    return {(e.isSigned() ? 'i' : 'u') + std::to_string(e.width()) + '(' +
                print(e.operands()[0], names).text + ')',
            Atom};
  case Op::Select:
    return {operand(e.operands()[0], Sum, names) + " < " + operand(e.operands()[1], Sum, names) +
                " ? " + operand(e.operands()[2], Sum, names) + " : " +
                operand(e.operands()[3], Sum, names),
            Loose};
  }
  return {"?", Atom};
}

} // namespace

void eachLoad(const Expr& expr, const std::function<void(const Expr& load)>& visit) {
  if (expr.op() == Expr::Op::Load)
    visit(expr);
  for (const Expr& operand : expr.operands())
    eachLoad(operand, visit);
}

void noteLoads(const Expr& expr, std::vector<bool>& loaded) {
  eachLoad(expr, [&](const Expr& load) {
    if (load.index() < loaded.size())
      loaded[load.index()] = true;
  });
}

std::string toString(const Expr& expr, const std::vector<std::string>& names) {
  return print(expr, names).text;
}

} // namespace libsplit
