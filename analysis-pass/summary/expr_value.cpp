#include "analysis-pass/summary/expr_value.h"

#include <utility>

namespace libsplit {

namespace {

using Op = Expr::Op;

// Deeper trees are answered as unknown: the walk runs on the application's stack.
constexpr unsigned maxDepth = 64;

Interval magnitudes(unsigned bits) {
  return {-(Int{1} << bits), (Int{1} << bits) - 1};
}

bool isBounded(Interval i) {
  return !isInfinite(i.low) && !isInfinite(i.high);
}

/// Bits that two's complement needs for every value of `i`, without the sign.
unsigned bitsOf(Interval i) {
  unsigned bits = 0;
  while (bits < 100 && (i.low < magnitudes(bits).low || i.high > magnitudes(bits).high))
    ++bits;
  return bits;
}

Int truncDivide(Int a, Int b) {
  if (isInfinite(a))
    return (a < 0) == (b < 0) ? infinity : -infinity;
  return a / b;
}

Int floorDivideAny(Int a, Int b) {
  return b > 0 ? floorDivide(a, b) : floorDivide(-a, -b);
}

class Valuer {
public:
  Valuer(Domain& domain, const LaunchValues& launch, bool isPlace)
      : domain_(domain), launch_(launch), isSumOfPlace_(isPlace) {}

  Form value(const Expr& e) {
    if (depth_ == maxDepth)
      return Form::unknown({Cause::Kind::TooDeep});
    ++depth_;
    const bool isSum = e.op() == Op::Add || e.op() == Op::Mul || e.op() == Op::Wrap;
    const bool wasSumOfPlace = std::exchange(isSumOfPlace_, isSumOfPlace_ && isSum);
    Form result = e.operands().empty() ? leaf(e) : compound(e);
    isSumOfPlace_ = wasSumOfPlace;
    --depth_;
    return result;
  }

private:
  Form leaf(const Expr& e) {
    const unsigned d = e.index();
    switch (e.op()) {
    case Op::Unknown:
      return Form::unknown({Cause::Kind::Stated, 0, &e});
    case Op::Constant:
      return Form::constant(e.value());
    case Op::Argument:
      return argument(e);
    case Op::GlobalId:
      return variable(Domain::globalId(d));
    case Op::LocalId:
      return launch_.range.local[d] == 1 ? Form::constant(0) : variable(Domain::localId(d));
    case Op::GroupId:
      return launch_.range.local[d] == 1
                 ? domain_.sum(variable(Domain::globalId(d)),
                               Form::constant(-Int{launch_.range.offset[d]}))
                 : variable(Domain::groupId(d));
    case Op::GlobalSize:
      return Form::constant(launch_.range.global[d]);
    case Op::LocalSize:
      return Form::constant(launch_.localSize[d]);
    case Op::EnqueuedLocalSize:
      return Form::constant(launch_.range.local[d]);
    case Op::NumGroups:
      return Form::constant(launch_.range.groups(d));
    case Op::GlobalOffset:
      return Form::constant(launch_.range.offset[d]);
    case Op::WorkDim:
      return Form::constant(launch_.range.dimensions);
    case Op::LoopVariable:
      if (d >= Domain::maxLoops)
        return Form::unknown({Cause::Kind::TooManyLoops});
      return domain_.isCountedFrom(d) ? domain_.iteration(d) : variable(Domain::loop(d));
    default:
      return Form::unknown({Cause::Kind::TooDeep});
    }
  }

  Form variable(unsigned v) const {
    const Interval range = domain_.range(v);
    return range.isPoint() ? Form::constant(range.low) : Form::variable(v);
  }

  Form argument(const Expr& e) const {
    const std::optional<Int> value = argumentValue(e, launch_.arguments);
    return value ? Form::constant(*value) : Form::unknown({Cause::Kind::NoArgument, e.index()});
  }

  Form compound(const Expr& e) {
    const std::vector<Expr>& operands = e.operands();
    switch (e.op()) {
    case Op::Add: {
      Form total = value(operands[0]);
      for (std::size_t i = 1; i < operands.size(); ++i)
        total = domain_.sum(total, value(operands[i]));
      return total;
    }
    case Op::Mul: {
      Form product = value(operands[0]);
      for (std::size_t i = 1; i < operands.size(); ++i)
        product = multiplied(product, value(operands[i]));
      return product;
    }
    case Op::Min:
    case Op::Max: {
      Form best = value(operands[0]);
      for (std::size_t i = 1; i < operands.size(); ++i)
        best = extreme(e.op(), best, value(operands[i]));
      return best;
    }
    case Op::Wrap:
      return wrapped(e, value(operands[0]));
    case Op::Select:
      return selected(operands);
    case Op::Load:
      return loaded(e);
    default:
      return binary(e.op(), value(operands[0]), value(operands[1]));
    }
  }

  /// The element at a form: itself if that is one place, else a variable between the least and the
  /// greatest of the slice. Places outside the buffer don't count: no launch that reads there means
  /// anything.
  Form loaded(const Expr& e) {
    const Form at = value(e.operands()[0]);
    const Form unknown = Form::unknown({Cause::Kind::Loaded, e.index()});
    if (!launch_.contents || e.index() >= launch_.arguments.size() || domain_.empty())
      return unknown;
    const Int bytes = e.width() / 8;
    const Int size = launch_.arguments[e.index()].bufferSize;
    Interval places = intersection(domain_.interval(at), {0, size - bytes});
    // Places lie a multiple of this apart, from `phase` on.
    Int step = 0, phase = 0;
    if (at.isExact()) {
      phase = at.rest.low;
      forEachVariable(at.mask, [&](unsigned v) { step = commonDivisor(step, at.coefficient[v]); });
    } else {
      step = factorOf(e.operands()[0]);
    }
    if (step > 0) {
      places.low = phase + multiply(ceilDivide(places.low - phase, step), step);
      places.high = phase + multiply(floorDivide(places.high - phase, step), step);
    }
    if (places.empty())
      return unknown;
    const ElementSlice slice{e.index(),
                             e.width(),
                             e.isSigned(),
                             static_cast<std::uint64_t>(places.low),
                             static_cast<std::uint64_t>(places.high),
                             static_cast<std::uint64_t>(step > 0 ? step : bytes)};
    const std::optional<Interval> values = launch_.contents->values(slice);
    if (!values)
      return unknown;
    if (values->isPoint())
      return Form::constant(values->low);
    if (containsUnknown(e)) // what looks the same may be another element
      return Form::interval(*values);
    const std::optional<unsigned> v = domain_.opaque(e);
    if (!v)
      return Form::interval(*values);
    domain_.know(*v, *values);
    return variable(*v);
  }

  /// Not std::gcd: that one knows no 128 bits. Not negative; 0 only if both are.
  static Int commonDivisor(Int a, Int b) {
    while (b != 0)
      a = std::exchange(b, a % b);
    return a < 0 ? -a : a;
  }

  /// A number that divides `e` whatever its leaves are; 0 for the constant 0.
  static Int factorOf(const Expr& e) {
    constexpr Int largest = Int{1} << 30;
    switch (e.op()) {
    case Op::Constant:
      return commonDivisor(e.value(), 0);
    case Op::Wrap: // less a multiple of a power of two
      return commonDivisor(factorOf(e.operands()[0]), Int{1} << e.width());
    case Op::Add:
    case Op::Min:
    case Op::Max: {
      Int factor = 0;
      for (const Expr& operand : e.operands())
        factor = commonDivisor(factor, factorOf(operand));
      return factor;
    }
    case Op::Select:
      return commonDivisor(factorOf(e.operands()[2]), factorOf(e.operands()[3]));
    case Op::Mul: {
      Int factor = 1;
      for (const Expr& operand : e.operands())
        if (const Int by = factorOf(operand); by <= largest && factor <= largest)
          factor *= by;
      return factor;
    }
    default:
      return 1;
    }
  }

  Form binary(Op op, const Form& a, const Form& b) {
    switch (op) {
    case Op::DivFloor:
    case Op::DivTrunc:
      return divided(op, a, b);
    case Op::RemTrunc:
      return remainder(a, b);
    case Op::Shl:
      if (b.isConstant() && b.rest.low >= 0 && b.rest.low < 64)
        return domain_.scaled(a, Int{1} << static_cast<int>(b.rest.low));
      return shifted(op, a, b);
    case Op::ShrArith:
      if (b.isConstant() && b.rest.low >= 0 && b.rest.low < 64)
        return divideFloor(domain_, a, Int{1} << static_cast<int>(b.rest.low)).quotient;
      return shifted(op, a, b);
    case Op::And:
      return masked(a, b);
    default:
      return joined(op, a, b);
    }
  }

  Form multiplied(const Form& a, const Form& b) const {
    if (b.isConstant())
      return domain_.scaled(a, b.rest.low);
    if (a.isConstant())
      return domain_.scaled(b, a.rest.low);
    return bounded(domain_.interval(a) * domain_.interval(b), a, b);
  }

  /// An interval, with the cause of whichever operand was unbounded.
  Form bounded(Interval i, const Form& a, const Form& b) const {
    Form result = Form::interval(i);
    result.cause = a.cause.kind != Cause::Kind::None ? a.cause : b.cause;
    return result;
  }

  Form divided(Op op, const Form& a, const Form& b) {
    const Interval top = domain_.interval(a);
    const Interval bottom = domain_.interval(b);
    if (bottom.low <= 0 && bottom.high >= 0)
      return Form::unknown(b.cause.kind != Cause::Kind::None ? b.cause
                                                             : Cause{Cause::Kind::MayDivideByZero});
    if (b.isConstant() && b.rest.low > 0) {
      if (op == Op::DivFloor || top.low >= 0)
        return divideFloor(domain_, a, b.rest.low).quotient;
      if (top.high <= 0) // towards zero
        return domain_.scaled(divideFloor(domain_, domain_.scaled(a, -1), b.rest.low).quotient, -1);
      domain_.undecided(a);
    }
    // Both quotients are monotone in each operand while the divisor keeps its sign.
    Interval values = nothing;
    for (const Int x : {top.low, top.high})
      for (const Int y : {bottom.low, bottom.high}) {
        const Int q =
            isInfinite(x) || op == Op::DivTrunc ? truncDivide(x, y) : floorDivideAny(x, y);
        values = hull(values, {q, q});
      }
    return bounded(values, a, b);
  }

  Form remainder(const Form& a, const Form& b) {
    const Interval top = domain_.interval(a);
    const Interval bottom = domain_.interval(b);
    if (bottom.low <= 0 && bottom.high >= 0)
      return Form::unknown(b.cause.kind != Cause::Kind::None ? b.cause
                                                             : Cause{Cause::Kind::MayDivideByZero});
    const Int smallest = std::min(bottom.low > 0 ? bottom.low : -bottom.low,
                                  bottom.high > 0 ? bottom.high : -bottom.high);
    const Int largest = std::max(-bottom.low, bottom.high);
    if (top.low > -smallest && top.high < smallest)
      return a;
    if (b.isConstant() && top.low >= 0)
      return divideFloor(domain_, a, largest).remainder; // the divisor's sign plays no part
    if (b.isConstant() && top.high <= 0)
      return domain_.scaled(divideFloor(domain_, domain_.scaled(a, -1), largest).remainder, -1);
    if (b.isConstant())
      domain_.undecided(a);
    Interval values = hull(top, {0, 0}); // the result has the sign of `a` and is no larger
    if (!isInfinite(largest))
      values = intersection(values, {1 - largest, largest - 1});
    return bounded(values, a, b);
  }

  Form shifted(Op op, const Form& a, const Form& b) const {
    const Interval by = domain_.interval(b);
    if (by.low < 0 || by.high >= 64)
      return Form::unknown(b.cause.kind != Cause::Kind::None ? b.cause
                                                             : Cause{Cause::Kind::Overflow, 64});
    const Interval powers{Int{1} << static_cast<int>(by.low), Int{1} << static_cast<int>(by.high)};
    const Interval values = domain_.interval(a);
    if (op == Op::Shl)
      return bounded(values * powers, a, b);
    return bounded(
        {std::min(floorDivide(values.low, powers.low), floorDivide(values.low, powers.high)),
         std::max(floorDivide(values.high, powers.low), floorDivide(values.high, powers.high))},
        a, b);
  }

  Form masked(const Form& a, const Form& b) {
    if (a.isConstant() && !b.isConstant())
      return masked(b, a);
    const Interval x = domain_.interval(a);
    const Interval y = domain_.interval(b);
    if (b.isConstant()) {
      if (a.isConstant())
        return Form::constant(a.rest.low & b.rest.low);
      Int mask = b.rest.low;
      if (mask >= 0 && (mask & (mask + 1)) == 0) // keeps the lowest bits
        return divideFloor(domain_, a, mask + 1).remainder;
      // Clears the lowest bits: ...1000, or so within the bits that the operand has.
      const Int lowest = mask & -mask;
      const Int upTo = mask + lowest;
      if (mask != 0 && (upTo == 0 || ((upTo & (upTo - 1)) == 0 && x.low >= 0 && x.high < upTo)))
        return domain_.scaled(divideFloor(domain_, a, lowest).quotient, lowest);
    }
    if (x.low >= 0 || y.low >= 0)
      return bounded({0, x.low < 0 ? y.high : y.low < 0 ? x.high : std::min(x.high, y.high)}, a, b);
    if (!isBounded(x) || !isBounded(y))
      return bounded(everything, a, b);
    return Form::interval(magnitudes(std::max(bitsOf(x), bitsOf(y))));
  }

  Form joined(Op op, const Form& a, const Form& b) const {
    if (a.isConstant() && b.isConstant())
      return Form::constant(op == Op::Or ? a.rest.low | b.rest.low : a.rest.low ^ b.rest.low);
    const Interval x = domain_.interval(a);
    const Interval y = domain_.interval(b);
    // No common bits: the same as the sum. (i << 1) | 1, (row << 8) | column.
    if (isMultipleBeyond(a, y) || isMultipleBeyond(b, x))
      return domain_.sum(a, b);
    if (!isBounded(x) || !isBounded(y))
      return bounded(everything, a, b);
    Interval values = magnitudes(std::max(bitsOf(x), bitsOf(y)));
    if (x.low >= 0 && y.low >= 0)
      values.low = op == Op::Or ? std::max(x.low, y.low) : 0;
    return Form::interval(values);
  }

  /// True if every value of `form` is a multiple of some 2^k > every value of `small` >= 0.
  static bool isMultipleBeyond(const Form& form, Interval small) {
    if (small.low < 0 || !form.isExact())
      return false;
    Int power = 1;
    while (power <= small.high && power < infinity)
      power *= 2;
    bool multiple = form.rest.low % power == 0;
    forEachVariable(form.mask,
                    [&](unsigned v) { multiple = multiple && form.coefficient[v] % power == 0; });
    return multiple && small.high < power;
  }

  Form extreme(Op op, const Form& a, const Form& b) const {
    const Form& least = op == Op::Min ? a : b;
    const Form& most = op == Op::Min ? b : a;
    const Form difference = domain_.difference(most, least);
    const Interval gap = domain_.interval(difference);
    if (gap.low >= 0)
      return a;
    if (gap.high <= 0)
      return b;
    domain_.undecided(difference);
    const Interval x = domain_.interval(a);
    const Interval y = domain_.interval(b);
    return bounded(op == Op::Min ? Interval{std::min(x.low, y.low), std::min(x.high, y.high)}
                                 : Interval{std::max(x.low, y.low), std::max(x.high, y.high)},
                   a, b);
  }

  /// Elsewhere than in sums that are places, a number is unknown if it may wrap: conditions and
  /// loop counts are simplified on the understanding that theirs do not.
  Form wrapped(const Expr& e, const Form& operand) const {
    const Interval values = domain_.interval(operand);
    const Interval allowed =
        e.isSigned() ? magnitudes(e.width() - 1) : Interval{0, (Int{1} << e.width()) - 1};
    if (values.low >= allowed.low && values.high <= allowed.high)
      return operand;
    if (isSumOfPlace_ && !e.isSigned() && isBounded(values)) {
      const Int period = allowed.high + 1;
      const Int first = floorDivide(values.low, period), last = floorDivide(values.high, period);
      if (first == last)
        return domain_.sum(operand, Form::constant(-first * period));
      if (last == first + 1) // such as the row above the first: each side of that is exact
        domain_.undecided(domain_.sum(operand, Form::constant(-last * period)));
    }
    return Form::unknown(operand.cause.kind != Cause::Kind::None
                             ? operand.cause
                             : Cause{Cause::Kind::Overflow, e.width()});
  }

  Form selected(const std::vector<Expr>& operands) {
    const Form difference = domain_.difference(value(operands[0]), value(operands[1]));
    const Interval gap = domain_.interval(difference);
    if (gap.high < 0)
      return value(operands[2]);
    if (gap.low >= 0)
      return value(operands[3]);
    domain_.undecided(difference);
    const Form a = value(operands[2]);
    const Form b = value(operands[3]);
    // What both have in common stays a form: base + (c ? 1 : 0).
    const Form apart = domain_.difference(b, a);
    if (a.isExact() && apart.isConstant()) {
      Form result = a;
      result.rest = a.rest + hull({0, 0}, apart.rest);
      return result;
    }
    return bounded(hull(domain_.interval(a), domain_.interval(b)), a, b);
  }

  Domain& domain_;
  const LaunchValues& launch_;
  bool isSumOfPlace_; ///< nothing but sums, products and wraps lies around the expression at hand
  unsigned depth_ = 0;
};

} // namespace

std::optional<Int> argumentValue(const Expr& e, std::span<const ArgumentValue> arguments) {
  if (e.index() >= arguments.size())
    return std::nullopt;
  const std::span<const std::byte> bytes = arguments[e.index()].bytes;
  const std::size_t end = (std::size_t{e.bit()} + e.width() + 7) / 8;
  if (e.width() == 0 || e.width() > 64 || end > bytes.size())
    return std::nullopt;
  Int value = 0; // little-endian, as every device that OpenCL runs on here
  for (std::size_t i = end; i-- > e.bit() / 8;)
    value = value << 8 | std::to_integer<unsigned>(bytes[i]);
  value = value >> e.bit() % 8 & ((Int{1} << e.width()) - 1);
  if (e.isSigned() && value >> (e.width() - 1) & 1)
    value -= Int{1} << e.width();
  return value;
}

Form valueOf(const Expr& expr, Domain& domain, const LaunchValues& launch) {
  return Valuer(domain, launch, false).value(expr);
}

Form placeOf(const Expr& offset, Domain& domain, const LaunchValues& launch) {
  return Valuer(domain, launch, true).value(offset);
}

std::string describe(const Cause& cause, std::span<const Parameter> parameters) {
  auto name = [&](unsigned i) {
    return i < parameters.size() ? '`' + parameters[i].name + '`' : std::to_string(i);
  };
  switch (cause.kind) {
  case Cause::Kind::Stated:
    return cause.stated->text();
  case Cause::Kind::Overflow:
    return "the index may overflow " + std::to_string(cause.detail) + " bits";
  case Cause::Kind::MayDivideByZero:
    return "the index divides by what may be zero";
  case Cause::Kind::NoArgument:
    return "argument " + name(cause.detail) + " has no value";
  case Cause::Kind::Loaded:
    return "value loaded from " + name(cause.detail);
  case Cause::Kind::TooDeep:
    return "the index is too deep an expression";
  case Cause::Kind::TooManyLoops:
    return "more than " + std::to_string(Domain::maxLoops) + " loops around the access";
  case Cause::Kind::None:
    break;
  }
  return "the index is not bounded";
}

} // namespace libsplit
