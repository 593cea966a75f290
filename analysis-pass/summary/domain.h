// Which work-items and loop iterations perform an access, as ranges of integer variables.
//
// The variables are the ids of each dimension, the loop variables, and the digits that division
// makes of them. Ids are not independent: G = offset + localSize * W + L. Such a relation is a
// Split: a parent, a period, and the two digits. A 1-D id that the program takes apart into
// row = G / 100 and column = G % 100 is the very same thing with period 100, so one mechanism
// serves both. A point of the domain is a value for each root variable (global ids, loops); the
// digits follow.
//
// Worked example: local size 4, groups 1 and 2, guard G < 10. The roots say G in [4, 9]; the digits
// follow: W in [1, 2], L in [0, 3]. As rectangles of (W, L), which an access to tile[W][L] needs,
// this is {1} x [0, 3] and {2} x [0, 1].
//
// An *opaque* variable stands for a value that the point decides in a way that no form says: an
// element of a buffer, at a position that is a form. All that is known of it is its range, and what
// conditions say: in a loop `for (j = row[i]; j < row[i + 1]; ++j)` with a = row[i], b = row[i + 1]
// and j = a + k, the condition a + k + 1 <= b is *assumed*, so that j < b follows, and not only
// j < (greatest a) + (greatest count).
//
// Of two variables the sum or the difference may be bounded more closely than their ranges say. In
// a loop `for (k = j; k < n; ++k)` over the upper triangle of a matrix, k is j + i in iteration i:
// j and i each go up to n - 1, and so does their sum. The domain keeps such *relations* beside the
// ranges. It can also take the loop's variable for the sum itself: then k is a variable, and the
// iteration is k - j.
#pragma once

#include "analysis-pass/summary/checked_int.h"
#include "analysis-pass/summary/ndrange.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

namespace libsplit {

class Expr;

/// Why a value is unbounded; turned into words only if it matters in the end.
struct Cause {
  enum class Kind {
    None,
    Stated,
    Overflow,
    MayDivideByZero,
    NoArgument,
    TooDeep,
    TooManyLoops,
    Loaded
  };
  Kind kind = Kind::None;
  unsigned detail = 0;          ///< Overflow: bits. NoArgument, Loaded: the parameter.
  const Expr* stated = nullptr; ///< Stated: the Unknown node
};

/// sum of coefficient[v] * v over the variables in `mask`, plus a value within `rest`.
/// Exact where `rest` is a point.
struct Form {
  static constexpr unsigned maxVariables = 32;

  std::uint32_t mask = 0;
  Interval rest;
  Cause cause;                                        ///< of an infinite rest
  std::array<std::int64_t, maxVariables> coefficient; ///< defined where mask has a bit

  /// Copies the coefficients that are there: copying is most of what evaluation does.
  Form(const Form& other) { *this = other; }
  Form& operator=(const Form& other) {
    mask = other.mask;
    rest = other.rest;
    cause = other.cause;
    for (std::uint32_t m = mask; m; m &= m - 1)
      coefficient[std::countr_zero(m)] = other.coefficient[std::countr_zero(m)];
    return *this;
  }

  static Form constant(Int value) { return interval({value, value}); }
  static Form interval(Interval rest) {
    Form f;
    f.rest = rest;
    return f;
  }
  static Form unknown(Cause cause) {
    Form f = interval(everything);
    f.cause = cause;
    return f;
  }
  static Form variable(unsigned v) {
    Form f;
    f.mask = 1u << v;
    f.coefficient[v] = 1;
    return f;
  }

  bool has(unsigned v) const { return mask >> v & 1; }
  std::int64_t of(unsigned v) const { return has(v) ? coefficient[v] : 0; }
  void set(unsigned v, std::int64_t c) {
    coefficient[v] = c;
    mask = c ? mask | 1u << v : mask & ~(1u << v);
  }
  bool isExact() const { return rest.isPoint(); }
  bool isConstant() const { return mask == 0 && isExact(); }

private:
  Form() = default;
};

/// Calls `body(v)` for every variable of `mask`, ascending.
template <typename Body> void forEachVariable(std::uint32_t mask, Body body) {
  for (; mask; mask &= mask - 1)
    body(static_cast<unsigned>(std::countr_zero(mask)));
}

class Domain {
public:
  /// parent = base + period * high + low, 0 <= low < period.
  struct Split {
    unsigned parent = 0;
    unsigned high = 0;
    unsigned low = 0;
    Int base = 0;
    Int period = 1;
    std::uint32_t mask() const { return 1u << parent | 1u << high | 1u << low; }
  };

  static constexpr unsigned maxLoops = 8;
  static unsigned globalId(unsigned d) { return 3 * d; }
  static unsigned groupId(unsigned d) { return 3 * d + 1; }
  static unsigned localId(unsigned d) { return 3 * d + 2; }
  static unsigned loop(unsigned depth) { return 9 + depth; }

  /// All work-items of the groups of `box`, which is not empty, and unbounded loops. Group and
  /// local ids exist in the dimensions of the bit mask `withGroups` only.
  Domain(const NDRange& range, const GroupBox& box, unsigned withGroups);

  Interval range(unsigned v) const { return ranges_[v]; }
  bool empty() const { return empty_; }
  void makeEmpty() { empty_ = true; }

  /// Confines `v` to `to`; true if that took values away. Ranges of related variables follow.
  bool confine(unsigned v, Interval to);

  /// The split of `parent` by `base` and `period` > 1, made if need be; nothing when out of room.
  const Split* split(unsigned parent, Int base, Int period);
  const Split* find(unsigned parent, Int base, Int period) const;
  unsigned splitCount() const { return splitCount_; }
  const Split& splitAt(unsigned i) const { return splits_[i]; }

  /// Digits that were restricted by themselves, not through their parent.
  std::uint32_t restrictedDigits() const { return restrictedDigits_; }

  /// The opaque variable that stands for `value`, the same for the same expression; nothing when
  /// out of room. Its range is at first unbounded.
  std::optional<unsigned> opaque(const Expr& value);
  /// `v` is known to lie in `to` wherever the domain is; other than `confine`, this takes no point
  /// away.
  void know(unsigned v, Interval to);
  /// Opaque variables, and digits of such.
  std::uint32_t opaques() const { return opaques_; }
  /// Variables that assumptions speak of.
  std::uint32_t assumed() const { return assumed_; }
  /// `form` <= 0 holds wherever the access happens, by condition `slot` (the newest replaces).
  void assume(unsigned slot, const Form& form);

  /// A place to cut the domain at: `variable` <= `at`, or above.
  struct Cut {
    unsigned variable = 0;
    Int at = 0;
  };
  /// Notes that the sign of `form` is not the same everywhere, and where to cut so that it is, or
  /// comes closer to that. The cuts that decide at once come first.
  void undecided(const Form& form);
  /// For cuts to come: an offset of `length` bytes at each point. Where a condition over several
  /// variables does not decide between them, that one is cut which leaves fewest runs of bytes.
  void cutFor(const Form& offset, Int length);
  /// Notes that `parent` is taken apart in two ways at once.
  void undecided(const Split& a, const Split& b);
  const std::optional<Cut>& cut() const { return cut_; }
  void forgetCut() {
    cut_.reset();
    cutDecides_ = false;
  }

  /// From here on the variable of loop k is its iteration and sign * x. Of a new domain only; what
  /// this says of the iteration, that it is not below 0, is a condition to be added.
  void countFrom(unsigned k, unsigned x, int sign);
  /// How often loop k has been gone through.
  Form iteration(unsigned k) const;
  bool isCountedFrom(unsigned k) const { return starts_[k].sign != 0; }

  /// x + sign * y lies in `sum` wherever the access happens.
  struct Relation {
    unsigned x = 0, y = 0;
    int sign = 1;
    Interval sum = everything;
  };
  /// Keeps what `form` <= 0 says, if that is a relation.
  void relate(const Form& form);
  std::span<const Relation> relations() const { return {relations_.data(), relationCount_}; }

  /// Every value that `form` takes where the access happens, and maybe more.
  Interval interval(const Form& form) const;
  /// The same for all points of the ranges, assumptions or not.
  Interval reach(const Form& form) const;

  Form sum(const Form& a, const Form& b) const;
  Form scaled(const Form& form, Int factor) const;
  Form difference(const Form& a, const Form& b) const { return sum(a, scaled(b, -1)); }
  /// `form` with the parent of `split` written as its digits; false if a coefficient overflows.
  static bool expand(Form& form, const Split& split);
  /// Without its variables: the interval alone.
  Form widened(const Form& form) const;

private:
  void normalize(Form& form) const;
  void propagate();
  Interval narrowed(const Form& form, Interval values) const;
  Interval reachOf(Int factor, unsigned v) const; ///< of factor * v
  Interval reachOfDigits(const Form& form, const Split& s) const;
  bool narrow(unsigned v, Interval to);

  static constexpr unsigned maxSplits = 10;
  static constexpr unsigned maxAssumptions = 12;
  std::array<Interval, Form::maxVariables> ranges_;
  std::array<Split, maxSplits> splits_;
  unsigned splitCount_ = 0;
  unsigned variableCount_ = 9 + maxLoops;
  std::uint32_t digits_ = 0;
  std::uint32_t restrictedDigits_ = 0;
  bool empty_ = false;
  std::optional<Cut> cut_;
  bool cutDecides_ = false;
  std::uint32_t scattering_ = 0; ///< variables of which each value has bytes of its own
  struct Start {
    unsigned x = 0;
    int sign = 0; ///< 0: 0
  };
  std::array<Start, maxLoops> starts_; ///< what the loops' variables begin at
  std::array<Relation, 4> relations_;
  std::size_t relationCount_ = 0;

  std::array<const Expr*, Form::maxVariables> stands_{}; ///< by opaque variable
  std::uint32_t opaques_ = 0;
  std::uint32_t loads_ = 0; ///< opaque variables that are no digits
  std::array<std::optional<Form>, maxAssumptions> assumptions_;
  std::uint32_t assumed_ = 0; ///< variables of assumptions
};

/// floor(form / divisor) and what remains, in [0, divisor); divisor > 0. Exact where the digits
/// can be had, else intervals.
struct Division {
  Form quotient;
  Form remainder;
};
Division divideFloor(Domain& domain, const Form& form, Int divisor);

} // namespace libsplit
