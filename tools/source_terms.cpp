#include "tools/source_terms.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

namespace libsplit {
namespace {

using Op = Expr::Op;

/// A factor that is no sum and no product, by its text.
struct Atom {
  /// In which order factors read best: `q*N`, not `N*q`.
  enum Rank { LoopVariable, Id, Other, Argument } rank = Other;
  std::string text;
  auto operator<=>(const Atom&) const = default;
};
using Product = std::vector<Atom>; ///< sorted; empty for a number

/// Products of higher degree first, then by their atoms; the number last.
struct ReadingOrder {
  bool operator()(const Product& a, const Product& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};
using Sum = std::map<Product, std::int64_t, ReadingOrder>;

/// Sums that are longer, or whose coefficients don't fit, are no help to a reader.
constexpr std::size_t maxTerms = 24;
struct TooLong {};

void add(Sum& sum, const Product& product, std::int64_t coefficient) {
  std::int64_t& total = sum[product];
  if (__builtin_add_overflow(total, coefficient, &total) || sum.size() > maxTerms)
    throw TooLong();
  if (total == 0)
    sum.erase(product);
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw TooLong();
  return result;
}

Sum number(std::int64_t value) {
  Sum sum;
  add(sum, {}, value);
  return sum;
}

Sum operator+(Sum a, const Sum& b) {
  for (const auto& [product, coefficient] : b)
    add(a, product, coefficient);
  return a;
}

Sum operator*(const Sum& a, const Sum& b) {
  Sum result;
  for (const auto& [left, m] : a)
    for (const auto& [right, n] : b) {
      Product product;
      std::ranges::merge(left, right, std::back_inserter(product));
      add(result, product, times(m, n));
    }
  return result;
}

Sum operator-(const Sum& a, const Sum& b) {
  return a + b * number(-1);
}

std::optional<std::int64_t> asNumber(const Sum& sum) {
  if (sum.empty())
    return 0;
  return sum.size() == 1 && sum.begin()->first.empty() ? std::optional(sum.begin()->second)
                                                       : std::nullopt;
}

std::string text(const Product& product, std::int64_t coefficient) {
  std::string result;
  if (product.empty() || std::llabs(coefficient) != 1)
    result = std::to_string(coefficient);
  else if (coefficient == -1)
    result = "-";
  for (const Atom& atom : product)
    result += (result.empty() || result == "-" ? "" : "*") + atom.text;
  return result;
}

/// As it stands, without a common factor.
std::string plainText(const Sum& sum) {
  std::string result;
  // A sum that begins with a minus reads badly, if another summand could begin it.
  auto first = std::ranges::find_if(sum, [](const auto& term) { return term.second > 0; });
  if (first != sum.end())
    result = text(first->first, first->second);
  for (auto term = sum.begin(); term != sum.end(); ++term) {
    if (term == first)
      continue;
    std::string next = text(term->first, term->second);
    if (result.empty())
      result = next;
    else
      result += next.front() == '-' ? " - " + next.substr(1) : " + " + next;
  }
  return result.empty() ? "0" : result;
}

/// With the common factor of its products in front: 4*(q*N + i), 12*i + 4.
std::string text(const Sum& sum) {
  std::int64_t factor = 0;
  for (const auto& [product, coefficient] : sum)
    if (!product.empty())
      factor = std::gcd(factor, coefficient);
  auto constant = sum.find({});
  const std::int64_t rest = constant == sum.end() ? 0 : constant->second;
  if (factor < 2 || sum.size() < 2)
    return plainText(sum);
  Sum inside;
  for (const auto& [product, coefficient] : sum)
    if (!product.empty() || rest % factor == 0)
      inside[product] = coefficient / factor;
  std::string result = inside.size() == 1
                           ? text(inside.begin()->first, inside.begin()->second * factor)
                           : std::to_string(factor) + "*(" + plainText(inside) + ")";
  if (rest % factor != 0)
    result += (rest < 0 ? " - " : " + ") + std::to_string(std::llabs(rest));
  return result;
}

/// Whether `text` has none of `breaks` outside of parentheses.
bool isOneWord(const std::string& text, std::string_view breaks = " ") {
  int depth = 0;
  return std::ranges::none_of(text, [&](char c) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    return depth == 0 && breaks.find(c) != std::string_view::npos;
  });
}

/// Without parentheses around all of it.
std::string bare(std::string text) {
  if (text.starts_with('(') && text.ends_with(')') && isOneWord(text)) {
    std::string inside = text.substr(1, text.size() - 2);
    int depth = 0;
    bool closes =
        std::ranges::any_of(inside, [&](char c) { return (depth += (c == '(') - (c == ')')) < 0; });
    if (!closes)
      return inside;
  }
  return text;
}

Expr withoutWraps(const Expr& expr) {
  if (expr.op() == Op::Wrap)
    return withoutWraps(expr.operands().front());
  std::vector<Expr> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(withoutWraps(operand));
  return expr.over(std::move(operands));
}

Expr replaced(const Expr& expr, const Expr& what, const Expr& by) {
  if (expr == what)
    return by;
  std::vector<Expr> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(replaced(operand, what, by));
  return expr.over(std::move(operands));
}

/// The integer parts of vectors and structs: `n.y`, `p.bytes[4..7]`.
std::string argumentText(const Parameter& parameter, const Expr& argument) {
  const unsigned bits = parameter.size * 8;
  if (auto member = parameter.members.find(argument.bit()); member != parameter.members.end())
    return parameter.name + member->second;
  if (argument.bit() == 0 && argument.width() >= bits)
    return parameter.name;
  const bool isVector = !parameter.type.empty() && !parameter.type.starts_with("struct") &&
                        parameter.type.back() >= '2' && parameter.type.back() <= '8' &&
                        argument.width() != 0 && argument.bit() % argument.width() == 0;
  const unsigned lane = argument.width() == 0 ? 0 : argument.bit() / argument.width();
  if (isVector && lane < 4)
    return parameter.name + "." + "xyzw"[lane];
  const unsigned first = argument.bit() / 8;
  return parameter.name + ".bytes[" + std::to_string(first) + ".." +
         std::to_string(first + argument.width() / 8 - 1) + "]";
}

/// The words for one access: which loop goes by which name.
class Speaker {
public:
  Speaker(const KernelSummary& kernel, const std::vector<Loop>& loops);

  Sum sum(const Expr& expr);
  std::string say(const Expr& expr) {
    try {
      return text(resolved(sum(withoutWraps(expr))));
    } catch (const TooLong&) {
      return toString(withoutWraps(expr), parameterNames_);
    }
  }
  std::string sayLoop(unsigned depth, const Expr& offset, std::uint64_t length);

  const std::string& name(unsigned depth) const { return names_[depth].text; }

  /// Loops whose own variable does not fit the expressions that were said; they are called by
  /// counters in the next attempt.
  std::set<unsigned> misfits;
  void callByCounter(const std::set<unsigned>& loops);

private:
  struct Name {
    std::string text;
    bool isVariable = false; ///< of the program, and no counter
  };

  Atom counter(unsigned depth) const {
    return {Atom::LoopVariable, "\x01" + std::to_string(depth)};
  }
  Sum named(unsigned depth) const { return {{{{Atom::LoopVariable, names_[depth].text}}, 1}}; }
  Sum resolved(Sum sum);
  Sum putName(const Sum& sum, unsigned depth);
  Atom atom(const Expr& expr);
  std::string inside(const Expr& expr, bool asOperand);
  std::string freshName(std::string wanted);

  const KernelSummary& kernel_;
  const std::vector<Loop>& loops_;
  std::vector<std::string> parameterNames_;
  std::vector<Name> names_; ///< by loop
  std::set<std::string> taken_;
};

Speaker::Speaker(const KernelSummary& kernel, const std::vector<Loop>& loops)
    : kernel_(kernel), loops_(loops) {
  for (const Parameter& parameter : kernel.parameters)
    parameterNames_.push_back(parameter.name);
  callByCounter({});
}

void Speaker::callByCounter(const std::set<unsigned>& loops) {
  misfits.clear();
  names_.clear();
  taken_.clear();
  taken_.insert(parameterNames_.begin(), parameterNames_.end());
  for (const NamedValue& variable : kernel_.variables)
    taken_.insert(variable.name);
  for (unsigned depth = 0; depth < loops_.size(); ++depth) {
    bool isVariable = !loops_[depth].name.empty() && !loops.contains(depth);
    names_.push_back({freshName(isVariable ? loops_[depth].name : "k"), isVariable});
  }
}

std::string Speaker::freshName(std::string wanted) {
  std::string name = wanted;
  for (unsigned i = 2; !taken_.insert(name).second; ++i)
    name = wanted + std::to_string(i);
  return name;
}

/// Counters are left in it; `resolved` takes them out.
Sum Speaker::sum(const Expr& expr) {
  Sum result;
  switch (expr.op()) {
  case Op::Constant:
    return number(expr.value());
  case Op::Add:
    for (const Expr& operand : expr.operands())
      result = result + sum(operand);
    return result;
  case Op::Mul:
    result = number(1);
    for (const Expr& operand : expr.operands())
      result = result * sum(operand);
    return result;
  case Op::LoopVariable:
    add(result, {counter(expr.index())}, 1);
    return result;
  default:
    add(result, {atom(expr)}, 1);
    return result;
  }
}

/// The sum with the program's variables in the place of counters, innermost first: where a loop's
/// variable starts may depend on an outer loop's.
Sum Speaker::resolved(Sum sum) {
  for (auto depth = static_cast<unsigned>(names_.size()); depth-- > 0;)
    sum = putName(sum, depth);
  return sum;
}

Sum Speaker::putName(const Sum& sum, unsigned depth) {
  const Atom old = counter(depth);
  auto usesIt = [&](const auto& term) { return std::ranges::count(term.first, old) > 0; };
  if (std::ranges::none_of(sum, usesIt))
    return sum;
  Sum result;
  Sum moved, step;
  if (names_[depth].isVariable) {
    moved = named(depth) - this->sum(withoutWraps(loops_[depth].first));
    step = this->sum(withoutWraps(loops_[depth].step));
  } else {
    moved = named(depth);
    step = number(1);
  }
  for (const auto& [product, coefficient] : sum) {
    auto uses = std::ranges::count(product, old);
    if (uses == 0) {
      add(result, product, coefficient);
      continue;
    }
    // product * coefficient = step * rest * k, and step * k = moved.
    Product rest;
    std::ranges::copy_if(product, std::back_inserter(rest),
                         [&](const Atom& atom) { return !(atom == old); });
    bool divides = uses == 1 && step.size() == 1 && step.begin()->second != 0 &&
                   coefficient % step.begin()->second == 0;
    Product without;
    if (divides) {
      const Product& by = step.begin()->first;
      divides = std::ranges::includes(rest, by);
      std::ranges::set_difference(rest, by, std::back_inserter(without));
    }
    if (!divides) {
      misfits.insert(depth);
      add(result, product, coefficient);
      continue;
    }
    result = result + moved * Sum{{without, coefficient / step.begin()->second}};
  }
  return result;
}

std::string Speaker::inside(const Expr& expr, bool asOperand) {
  std::string result = text(resolved(sum(expr)));
  return asOperand && !isOneWord(result) ? "(" + result + ")" : result;
}

Atom Speaker::atom(const Expr& expr) {
  for (const NamedValue& variable : kernel_.variables)
    if (withoutWraps(variable.value) == expr)
      return {Atom::Id, variable.name};
  auto query = [&](const char* name, Atom::Rank rank) {
    return Atom{rank, std::string(name) + "(" + std::to_string(expr.index()) + ")"};
  };
  auto infix = [&](const char* op) {
    std::string right = inside(expr.operands()[1], true);
    if (!isOneWord(right, "*")) // x / (h*w)
      right = "(" + right + ")";
    return Atom{Atom::Other, "(" + inside(expr.operands()[0], true) + op + right + ")"};
  };
  auto call = [&](const char* name) {
    std::string result = std::string(name) + "(";
    for (const Expr& operand : expr.operands())
      result += (result.ends_with("(") ? "" : ", ") + bare(inside(operand, false));
    return Atom{Atom::Other, result + ")"};
  };
  switch (expr.op()) {
  case Op::GlobalId:
    return query("get_global_id", Atom::Id);
  case Op::LocalId:
    return query("get_local_id", Atom::Id);
  case Op::GroupId:
    return query("get_group_id", Atom::Id);
  case Op::GlobalSize:
    return query("get_global_size", Atom::Argument);
  case Op::LocalSize:
    return query("get_local_size", Atom::Argument);
  case Op::EnqueuedLocalSize:
    return query("get_enqueued_local_size", Atom::Argument);
  case Op::NumGroups:
    return query("get_num_groups", Atom::Argument);
  case Op::GlobalOffset:
    return query("get_global_offset", Atom::Argument);
  case Op::WorkDim:
    return {Atom::Argument, "get_work_dim()"};
  case Op::Argument:
    return {Atom::Argument, argumentText(kernel_.parameters[expr.index()], expr)};
  case Op::Load: {
    const std::string& name = kernel_.parameters[expr.index()].name;
    Sum bytes = resolved(sum(expr.operands()[0]));
    const std::int64_t size = expr.width() / 8;
    bool isElement =
        std::ranges::all_of(bytes, [&](const auto& term) { return term.second % size == 0; });
    if (isElement)
      for (auto& [product, coefficient] : bytes)
        coefficient /= size;
    return {Atom::Other, name + (isElement ? "[" : ".bytes[") + bare(text(bytes)) + "]"};
  }
  case Op::DivFloor:
  case Op::DivTrunc:
    return infix(" / ");
  case Op::RemTrunc:
    return infix(" % ");
  case Op::Shl:
    return infix(" << ");
  case Op::ShrArith:
    return infix(" >> ");
  case Op::And:
    return infix(" & ");
  case Op::Or:
    return infix(" | ");
  case Op::Xor:
    return infix(" ^ ");
  case Op::Min:
    return call("min");
  case Op::Max:
    return call("max");
  case Op::Select:
    return {Atom::Other, "(" + inside(expr.operands()[0], true) + " < " +
                             inside(expr.operands()[1], true) + " ? " +
                             inside(expr.operands()[2], true) + " : " +
                             inside(expr.operands()[3], true) + ")"};
  case Op::Unknown:
    return {Atom::Other, "?"};
  default:
    return {Atom::Other, toString(expr, parameterNames_)};
  }
}

/// "q = 0..18", "j = i..n - 1 step 4".
std::string Speaker::sayLoop(unsigned depth, const Expr& offset, std::uint64_t length) {
  const Loop& loop = loops_[depth];
  const Name& name = names_[depth];
  Expr count = withoutWraps(loop.count);
  const Expr zero = Expr::constant(0);
  if (count.op() == Op::Max && count.operands().size() == 2 && count.operands()[1] == zero)
    count = count.operands()[0];
  const Expr one = Expr::constant(1);
  Expr first = zero, step = one;
  std::string by;
  Expr last = count + Expr::constant(-1);
  if (name.isVariable) {
    first = withoutWraps(loop.first);
    step = withoutWraps(loop.step);
    const bool isNumber = step.op() == Op::Constant;
    const bool isDown = isNumber && step.value() < 0;
    const Expr width = isNumber ? Expr::constant(std::llabs(step.value())) : step;
    // A step that an argument gives is kept from being less than 1.
    for (std::int64_t least : {0, 1})
      count = replaced(count, Expr::node(Op::Max, {step, Expr::constant(least)}), width);
    if (count.op() == Op::DivFloor && count.operands()[1] == width) {
      // floor((bound + width - 1 - first) / width) iterations, and the mirror image of that.
      Expr reach = count.operands()[0] + Expr::constant(-1) * width;
      last = isDown ? first + Expr::constant(-1) * reach : first + reach;
    } else {
      last = first + step * last;
    }
    if (!(step == one))
      by = " step " + say(step);
  }
  std::string result = name.text + " = " + say(first) + "..";
  result += (loop.exact ? "" : "at most ") + say(last) + by;
  try {
    // What the offset changes by from one iteration to the next.
    Sum stride;
    for (const auto& [product, coefficient] : resolved(sum(withoutWraps(offset))))
      if (auto self = std::ranges::find(product, named(depth).begin()->first.front());
          self != product.end()) {
        Product rest = product;
        rest.erase(rest.begin() + (self - product.begin()));
        add(stride, rest, coefficient);
      }
    stride = stride * resolved(sum(step));
    auto known = asNumber(stride);
    if (!stride.empty() && !(known && *known == static_cast<std::int64_t>(length)))
      result += ", stride " + text(stride);
  } catch (const TooLong&) {
    // Then the offset itself has said as much as can be said.
  }
  return result;
}

const char* relation(Guard::Relation relation) {
  switch (relation) {
  case Guard::Relation::Less:
    return " < ";
  case Guard::Relation::LessEqual:
    return " <= ";
  case Guard::Relation::Equal:
    return " == ";
  case Guard::Relation::NotEqual:
    return " != ";
  }
  return "";
}

/// Whether `name` stands in `text` as a word of its own.
bool mentions(const std::string& text, const std::string& name) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

AccessTerms speak(Speaker& speaker, const Access& access) {
  AccessTerms terms;
  if (access.offset.op() == Op::Unknown) {
    terms.region = "anywhere: " + access.offset.text();
    if (access.offset.line() != 0 && access.offset.line() != access.where.line)
      terms.region += " (line " + std::to_string(access.offset.line()) + ")";
  } else {
    terms.region =
        "bytes [" + speaker.say(access.offset) + ", +" + std::to_string(access.length) + ")";
  }
  for (const Guard& guard : access.guards)
    terms.guards.push_back(speaker.say(guard.left) + relation(guard.relation) +
                           speaker.say(guard.right) + (guard.isInspected ? " (inspected)" : ""));
  std::string said = terms.region;
  for (const std::string& guard : terms.guards)
    said += " " + guard;
  for (auto depth = static_cast<unsigned>(access.loops.size()); depth-- > 0;) {
    // A loop that changes nothing, but may be left out.
    if (access.loops[depth].count.op() == Op::Constant && !mentions(said, speaker.name(depth)))
      continue;
    terms.loops.insert(terms.loops.begin(), speaker.sayLoop(depth, access.offset, access.length));
    said += " " + terms.loops.front();
  }
  return terms;
}

} // namespace

AccessTerms inSourceTerms(const KernelSummary& kernel, const Access& access) {
  Speaker speaker(kernel, access.loops);
  AccessTerms terms = speak(speaker, access);
  std::set<unsigned> counters;
  while (!speaker.misfits.empty()) {
    counters.merge(speaker.misfits);
    speaker.callByCounter(counters);
    terms = speak(speaker, access);
  }
  return terms;
}

std::vector<std::string> variablesInSourceTerms(const KernelSummary& kernel,
                                                const std::vector<AccessTerms>& accesses) {
  std::string said;
  for (const AccessTerms& terms : accesses) {
    said += terms.region + "\n";
    for (const auto* list : {&terms.loops, &terms.guards})
      for (const std::string& text : *list)
        said += text + "\n";
  }
  std::vector<std::string> result;
  for (std::size_t i = kernel.variables.size(); i-- > 0;) {
    const NamedValue& variable = kernel.variables[i];
    if (!mentions(said, variable.name))
      continue;
    // Said in what is left without the variable itself, and without those that come later.
    KernelSummary before = kernel;
    before.variables.resize(i);
    const std::vector<Loop> none;
    std::string value = bare(Speaker(before, none).say(variable.value));
    said += value + "\n";
    result.push_back(variable.name + " = " + value);
  }
  std::ranges::reverse(result);
  return result;
}

} // namespace libsplit
