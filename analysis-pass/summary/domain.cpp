#include "analysis-pass/summary/domain.h"

#include "analysis-pass/summary/expr.h"

#include <numeric>

namespace libsplit {

Domain::Domain(const NDRange& range, const GroupBox& box, unsigned withGroups) {
  ranges_.fill({0, 0});
  for (unsigned d = 0; d < 3; ++d) {
    const Int offset = range.offset[d];
    const Int local = range.local[d];
    const Int end = std::min(Int{range.global[d]}, local * Int{box.end[d]});
    ranges_[globalId(d)] = {offset + local * Int{box.begin[d]}, offset + end - 1};
    if (local > 1 && withGroups >> d & 1) {
      ranges_[groupId(d)] = {Int{box.begin[d]}, Int{box.end[d]} - 1};
      ranges_[localId(d)] = {0, local - 1};
      splits_[splitCount_++] = {globalId(d), groupId(d), localId(d), offset, local};
      digits_ |= 1u << groupId(d) | 1u << localId(d);
    }
  }
  for (unsigned k = 0; k < maxLoops; ++k)
    ranges_[loop(k)] = {0, infinity};
  propagate();
}

bool Domain::narrow(unsigned v, Interval to) {
  const Interval before = ranges_[v];
  ranges_[v] = intersection(before, to);
  empty_ = empty_ || ranges_[v].empty();
  return ranges_[v] != before;
}

bool Domain::confine(unsigned v, Interval to) {
  if (empty_ || !narrow(v, to))
    return false;
  restrictedDigits_ |= digits_ & ~opaques_ & 1u << v;
  if (!empty_)
    propagate();
  return true;
}

void Domain::propagate() {
  // Each round only narrows by what the relations imply; a fixed number of rounds suffices for
  // precision, and stopping early only leaves ranges wider.
  for (int round = 0; round < 4 && !empty_; ++round) {
    bool changed = false;
    for (unsigned i = 0; i < splitCount_ && !empty_; ++i) {
      const Split& s = splits_[i];
      const Interval p = ranges_[s.parent];
      const Interval h = ranges_[s.high];
      const Interval l = ranges_[s.low];
      changed |= narrow(s.high, {ceilDivide(add(p.low, -s.base - l.high), s.period),
                                 floorDivide(add(p.high, -s.base - l.low), s.period)});
      if (h.isPoint())
        changed |= narrow(s.low, {add(p.low, -s.base - s.period * h.low),
                                  add(p.high, -s.base - s.period * h.low)});
      const Interval digits = Interval{s.base, s.base} + h * Interval{s.period, s.period} + l;
      changed |= narrow(s.parent, digits);
    }
    if (!changed)
      return;
  }
}

const Domain::Split* Domain::find(unsigned parent, Int base, Int period) const {
  for (unsigned i = 0; i < splitCount_; ++i)
    if (splits_[i].parent == parent && splits_[i].base == base && splits_[i].period == period)
      return &splits_[i];
  return nullptr;
}

const Domain::Split* Domain::split(unsigned parent, Int base, Int period) {
  if (const Split* found = find(parent, base, period))
    return found;
  const Interval p = ranges_[parent];
  if (splitCount_ == maxSplits || variableCount_ + 2 > Form::maxVariables || isInfinite(p.low) ||
      isInfinite(p.high))
    return nullptr;
  Split& s = splits_[splitCount_++];
  s = {parent, variableCount_, variableCount_ + 1, base, period};
  variableCount_ += 2;
  digits_ |= 1u << s.high | 1u << s.low;
  if (opaques_ >> parent & 1)
    opaques_ |= 1u << s.high | 1u << s.low;
  ranges_[s.high] = {floorDivide(p.low - base, period), floorDivide(p.high - base, period)};
  ranges_[s.low] = {0, period - 1};
  propagate();
  return &s;
}

std::optional<unsigned> Domain::opaque(const Expr& value) {
  for (std::uint32_t left = loads_; left; left &= left - 1) {
    const auto v = static_cast<unsigned>(std::countr_zero(left));
    if (*stands_[v] == value)
      return v;
  }
  if (variableCount_ == Form::maxVariables)
    return std::nullopt;
  const unsigned v = variableCount_++;
  stands_[v] = &value;
  ranges_[v] = everything;
  loads_ |= 1u << v;
  opaques_ |= 1u << v;
  return v;
}

void Domain::know(unsigned v, Interval to) {
  if (!empty_ && narrow(v, to) && !empty_)
    propagate();
}

void Domain::undecided(const Form& form) {
  if (!form.isExact() || form.mask == 0 || form.mask & opaques_ || cutDecides_)
    return;
  if (std::popcount(form.mask) == 1) {
    const auto v = static_cast<unsigned>(std::countr_zero(form.mask));
    const Int c = form.coefficient[v];
    const Int r = form.rest.low;
    // c*v + r < 0 up to here, or from here on.
    const Int at = c > 0 ? ceilDivide(-r, c) - 1 : floorDivide(r, -c);
    if (at >= ranges_[v].low && at < ranges_[v].high) {
      cut_ = Cut{v, at};
      cutDecides_ = true;
    }
    return;
  }
  if (cut_)
    return;
  // Two variables at least: with the one that has fewest values at a point, one less. For a cut in
  // the middle, the other half often needs no more. Each part has all runs of the other variables.
  constexpr Int mostParts = 2048, mostRuns = 1 << 17; // some milliseconds
  auto valuesOf = [&](unsigned v) { return add(ranges_[v].high, 1 - ranges_[v].low); };
  Int parts = 0, least = infinity;
  forEachVariable(form.mask, [&](unsigned v) {
    const Int values = valuesOf(v);
    if (isInfinite(ranges_[v].low) || values < 2)
      return;
    Int runs = values;
    forEachVariable(scattering_ & ~(1u << v),
                    [&](unsigned other) { runs = multiply(runs, valuesOf(other)); });
    const Int cost = add(values, runs);
    if (cost >= least)
      return;
    least = cost;
    parts = values;
    cut_ = Cut{v, ranges_[v].low + (values - 1) / 2};
  });
  if (parts > mostParts || least > mostRuns)
    cut_.reset();
}

void Domain::cutFor(const Form& offset, Int length) {
  scattering_ = 0;
  forEachVariable(offset.mask, [&](unsigned v) {
    if (offset.coefficient[v] > length || offset.coefficient[v] < -length)
      scattering_ |= 1u << v;
  });
}

void Domain::undecided(const Split& a, const Split& b) {
  if (cut_)
    return;
  const Interval range = ranges_[a.parent];
  const Int middle = range.low + (range.high - range.low) / 2;
  for (const Split* s : {a.period > b.period ? &a : &b, a.period > b.period ? &b : &a}) {
    Int at = s->base + s->period * floorDivide(middle - s->base, s->period) - 1;
    if (at < range.low)
      at += s->period;
    if (at < range.high) {
      cut_ = Cut{s->parent, at};
      return;
    }
  }
}

void Domain::countFrom(unsigned k, unsigned x, int sign) {
  starts_[k] = {x, sign};
  ranges_[loop(k)] = reachOf(sign, x) + Interval{0, infinity};
}

Form Domain::iteration(unsigned k) const {
  Form form = Form::variable(loop(k));
  if (starts_[k].sign != 0)
    form.set(starts_[k].x, -starts_[k].sign);
  return form;
}

void Domain::relate(const Form& form) {
  if (!form.isExact() || std::popcount(form.mask) != 2 || form.mask & opaques_)
    return;
  const auto x = static_cast<unsigned>(std::countr_zero(form.mask));
  const auto y = static_cast<unsigned>(std::bit_width(form.mask)) - 1;
  const Int c = form.coefficient[x], d = form.coefficient[y];
  if (c != d && c != -d)
    return;
  const int sign = c == d ? 1 : -1;
  // c * (x + sign * y) + r <= 0
  const Int r = form.rest.low;
  const Interval sum =
      c > 0 ? Interval{-infinity, floorDivide(-r, c)} : Interval{ceilDivide(r, -c), infinity};
  for (std::size_t i = 0; i < relationCount_; ++i)
    if (Relation& known = relations_[i]; known.x == x && known.y == y && known.sign == sign) {
      known.sum = intersection(known.sum, sum);
      return;
    }
  if (relationCount_ < relations_.size())
    relations_[relationCount_++] = {x, y, sign, sum};
}

void Domain::assume(unsigned slot, const Form& form) {
  if (slot >= maxAssumptions)
    return;
  assumptions_[slot] = form;
  assumed_ |= form.mask;
}

Interval Domain::interval(const Form& form) const {
  const Interval values = reach(form);
  return form.mask & assumed_ ? narrowed(form, values) : values;
}

/// An assumption c <= 0 makes form <= form - q*c for q > 0, and form >= form - q*c for q < 0. The
/// useful q are those that make a variable of both go away.
Interval Domain::narrowed(const Form& form, Interval values) const {
  Interval result = values;
  for (const std::optional<Form>& assumption : assumptions_) {
    if (!assumption)
      continue;
    forEachVariable(form.mask & assumption->mask, [&](unsigned v) {
      const std::int64_t by = assumption->coefficient[v];
      const Int q = Int{form.coefficient[v]} / by;
      if (q == 0 || q * by != form.coefficient[v])
        return;
      const Interval without = reach(difference(form, scaled(*assumption, q)));
      if (q > 0)
        result.high = std::min(result.high, without.high);
      else
        result.low = std::max(result.low, without.low);
    });
  }
  return result.empty() ? values : result;
}

Interval Domain::reach(const Form& form) const {
  Interval total = form.rest;
  std::uint32_t left = form.mask;
  if (left & digits_)
    for (unsigned i = 0; i < splitCount_; ++i)
      if (left >> splits_[i].high & left >> splits_[i].low & 1) {
        total = total + reachOfDigits(form, splits_[i]);
        left &= ~(1u << splits_[i].high | 1u << splits_[i].low);
      }
  forEachVariable(left, [&](unsigned v) { total = total + reachOf(form.coefficient[v], v); });
  return total;
}

Interval Domain::reachOf(Int factor, unsigned v) const {
  const Interval r = ranges_[v];
  return factor > 0 ? Interval{multiply(factor, r.low), multiply(factor, r.high)}
                    : Interval{multiply(factor, r.high), multiply(factor, r.low)};
}

/// The ranges of both digits together reach beyond the parent's where its first or last period is
/// cut, so what can be said of the parent is taken as well: with h = c * period,
/// h * high + l * low = c * (parent - base) + (l - c) * low.
Interval Domain::reachOfDigits(const Form& form, const Split& s) const {
  const Int h = form.coefficient[s.high], l = form.coefficient[s.low];
  const Interval byDigits = reachOf(h, s.high) + reachOf(l, s.low);
  const Int c = h / s.period;
  if (c * s.period != h)
    return byDigits;
  const Int base = multiply(-c, s.base);
  const Interval byParent = reachOf(c, s.parent) + reachOf(l - c, s.low) + Interval{base, base};
  const Interval both = intersection(byDigits, byParent);
  return both.empty() ? byDigits : both;
}

Form Domain::widened(const Form& form) const {
  Form result = Form::interval(reach(form)); // not `interval`: that one adds and scales
  result.cause = form.cause;
  return result;
}

Form Domain::sum(const Form& a, const Form& b) const {
  Form result = a;
  result.rest = a.rest + b.rest;
  if (a.cause.kind == Cause::Kind::None)
    result.cause = b.cause;
  bool overflow = false;
  forEachVariable(b.mask, [&](unsigned v) {
    std::int64_t c;
    if (__builtin_add_overflow(result.of(v), b.coefficient[v], &c))
      overflow = true;
    else
      result.set(v, c);
  });
  if (overflow)
    return sum(widened(a), widened(b));
  normalize(result);
  return result;
}

Form Domain::scaled(const Form& form, Int factor) const {
  if (factor == 0)
    return Form::constant(0);
  Form result = form;
  result.rest = form.rest * Interval{factor, factor};
  bool overflow = factor > INT64_MAX || factor < INT64_MIN;
  if (!overflow)
    forEachVariable(form.mask, [&](unsigned v) {
      overflow |= __builtin_mul_overflow(form.coefficient[v], static_cast<std::int64_t>(factor),
                                         &result.coefficient[v]);
    });
  if (!overflow)
    return result;
  return form.mask ? scaled(widened(form), factor) : result;
}

bool Domain::expand(Form& form, const Split& s) {
  const std::int64_t c = form.of(s.parent);
  const Int high = Int{form.of(s.high)} + multiply(c, s.period);
  const Int low = Int{form.of(s.low)} + c;
  if (high > INT64_MAX || high < INT64_MIN || low > INT64_MAX || low < INT64_MIN)
    return false;
  form.set(s.parent, 0);
  form.set(s.high, static_cast<std::int64_t>(high));
  form.set(s.low, static_cast<std::int64_t>(low));
  const Int base = multiply(c, s.base);
  form.rest = form.rest + Interval{base, base};
  return true;
}

void Domain::normalize(Form& form) const {
  // Digits first made of deeper splits, so that they can fold into their parents in turn.
  for (unsigned i = splitCount_; i-- > 0;) {
    const Split& s = splits_[i];
    if (std::popcount(form.mask & s.mask()) < 2)
      continue;
    if (form.has(s.parent) && !expand(form, s))
      continue;
    const std::int64_t c = form.of(s.low);
    if (c == 0 || multiply(c, s.period) != form.of(s.high))
      continue;
    const Int base = multiply(-Int{c}, s.base);
    form.set(s.high, 0);
    form.set(s.low, 0);
    form.set(s.parent, c);
    form.rest = form.rest + Interval{base, base};
  }
}

namespace {

class Divider {
public:
  Divider(Domain& domain) : domain_(domain) {}

  Division divide(const Form& form, Int divisor, int depth) {
    if (divisor == 1)
      return {form, Form::constant(0)};
    // form = divisor * whole + part: multiples of the divisor leave the question.
    Form whole = Form::constant(0);
    Form part = Form::interval(form.rest);
    part.cause = form.cause;
    forEachVariable(form.mask, [&](unsigned v) {
      const std::int64_t c = form.coefficient[v];
      if (c % divisor == 0)
        whole.set(v, static_cast<std::int64_t>(c / divisor));
      else
        part.set(v, c);
    });
    const Interval values = domain_.interval(part);
    if (isInfinite(values.low) || isInfinite(values.high))
      return inexact(form, divisor);
    const Int first = floorDivide(values.low, divisor);
    if (first == floorDivide(values.high, divisor)) // all in one period
      return {domain_.sum(whole, Form::constant(first)),
              domain_.sum(part, Form::constant(-divisor * first))};
    if (depth > 4 || !form.isExact() || std::popcount(part.mask) != 1)
      return refined(whole, part, divisor);

    const auto v = static_cast<unsigned>(std::countr_zero(part.mask));
    const std::int64_t c = part.coefficient[v];
    if (c < 0) {
      // floor(x / d) = -floor((d - 1 - x) / d), where the variable counts upwards.
      const Form mirrored = domain_.sum(domain_.scaled(part, -1), Form::constant(divisor - 1));
      const Division d = divide(mirrored, divisor, depth + 1);
      return plus(whole, {domain_.scaled(d.quotient, -1),
                          domain_.difference(Form::constant(divisor - 1), d.remainder)});
    }
    for (unsigned i = 0; i < domain_.splitCount(); ++i) {
      const Domain::Split s = domain_.splitAt(i);
      if (s.parent != v)
        continue;
      const Int step = multiply(c, s.period);
      if (step % divisor == 0) { // the high digit leaves, the low one stays
        Form digits = part;
        if (Domain::expand(digits, s))
          return plus(whole, divide(digits, divisor, depth + 1));
      }
      if (step != divisor && divisor % step == 0) { // floor(v/ab) = floor(floor(v/a)/b)
        const Division inner = divide(part, step, depth + 1);
        const Division outer = divide(inner.quotient, divisor / step, depth + 1);
        return plus(whole, {outer.quotient,
                            domain_.sum(inner.remainder, domain_.scaled(outer.remainder, step))});
      }
    }
    if (divisor % c != 0)
      return refined(whole, part, divisor);
    // floor((c*v + k) / divisor) = floor((v + floor(k/c)) / (divisor/c)): a digit of v.
    const Int shift = floorDivide(part.rest.low, c);
    const Domain::Split* s = domain_.split(v, -shift, divisor / c);
    if (!s)
      return refined(whole, part, divisor);
    Form remainder = domain_.scaled(Form::variable(s->low), c);
    remainder.rest = {part.rest.low - c * shift, part.rest.low - c * shift};
    return plus(whole, {Form::variable(s->high), remainder});
  }

private:
  Division plus(const Form& whole, const Division& d) const {
    return {domain_.sum(whole, d.quotient), d.remainder};
  }

  Division refined(const Form& whole, const Form& part, Int divisor) const {
    return plus(whole, inexact(part, divisor));
  }

  Division inexact(const Form& form, Int divisor) const {
    const Interval values = domain_.interval(form);
    Form quotient =
        Form::interval({floorDivide(values.low, divisor), floorDivide(values.high, divisor)});
    quotient.cause = form.cause;
    return {quotient, Form::interval({0, divisor - 1})};
  }

  Domain& domain_;
};

} // namespace

Division divideFloor(Domain& domain, const Form& form, Int divisor) {
  return Divider(domain).divide(form, divisor, 0);
}

} // namespace libsplit
