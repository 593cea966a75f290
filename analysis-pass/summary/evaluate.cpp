// From a summary and the numbers of a launch to bytes.
//
// An access happens at every point of its domain: the work-items of the box and the iterations of
// its loops for which all guards hold. Evaluation goes
//
//   1. domain: guards and loop counts narrow the ranges of single ids, and so on until nothing
//      changes. If every guard then holds on all that is left, the domain is *exact*; otherwise it
//      is too large, and writes are possible only.
//   2. offset: an affine form over ids, loop variables and digits of divisions; the part that is
//      not affine is an interval that is added to it.
//   3. image: the form over the domain is a set of strided runs (image.h). Digits that matter are
//      laid out as at most three rectangles each: a cut first row, whole rows, a cut last row.
//
// Worked example: out[get_global_id(0)] = ... if get_global_id(0) < n, floats, n = 10, local size
// 4, the box of groups 1 and 2. Domain: G in [4, 11], narrowed by the guard to [4, 9], where it
// always holds: exact. Offset: 4*G. Image: base 16, six steps of 4 bytes, 4 bytes each: [16, 40),
// certainly written.
//
// Where a condition over two variables (k <= i), a choice (x == 0 ? w - 1 : x - 1), a minimum or
// whether an unsigned index wraps (y - 1) is not the same on all of the domain, the domain is cut
// in two there, and each part again, as long as that makes it exact and not too many.
//
// Where that would be too many parts, the image is bounded by what two variables can be together.
//
// Elements of buffers are opaque variables (domain.h): the image takes them as intervals, and what
// conditions say of them together with other variables cuts the result once more.
//
// Where an inspection has seen what an access does, that is taken instead: a hull, and for writes a
// possible one.
//
// Accesses under one condition are evaluated together where each is exact by itself: p[3*i],
// p[3*i+1] and p[3*i+2] are one run of 12 bytes every 12 bytes, however many there are.
//
// Uncertainty only ever enlarges reads and possible writes and empties certain writes.
#include "analysis-pass/summary/evaluate.h"

#include "analysis-pass/summary/expr_value.h"
#include "analysis-pass/summary/image.h"
#include "analysis-pass/summary/with_stack.h"

#include <algorithm>
#include <compare>
#include <utility>

namespace libsplit {

namespace {

/// Which dimensions an access asks about, one bit each.
struct Mentions {
  unsigned groups = 0;     ///< by group or local id
  unsigned localSizes = 0; ///< by get_local_size

  void scan(const Expr& e) {
    if (e.op() == Expr::Op::LocalSize)
      localSizes |= 1u << e.index();
    else if (e.op() == Expr::Op::LocalId || e.op() == Expr::Op::GroupId)
      groups |= 1u << e.index();
    for (const Expr& operand : e.operands())
      scan(operand);
  }

  explicit Mentions(std::span<const Access* const> alike) {
    for (const Access* access : alike)
      scan(access->offset);
    const Access& access = *alike.front();
    for (const Guard& guard : access.guards) {
      if (guard.isInspected)
        continue;
      scan(guard.left);
      scan(guard.right);
    }
    for (const Loop& loop : access.loops)
      scan(loop.count);
  }
};

/// What the evaluations of one launch share: what they may spend, and memory for the runs of the
/// access at hand.
struct Workspace {
  unsigned& budget;                ///< parts of domains that may still be made, all together
  std::vector<StridedRuns> runs{}; ///< of the access at hand
  /// Sets of regions that had too many ranges, and became their hulls.
  std::vector<const ByteSet*> widened{};
};

/// Of a part of the domain of `access`, for which all conditions are looked at again. The few that
/// most accesses have cost nothing.
unsigned costOf(const Access& access) {
  constexpr std::size_t few = 16, most = 1000;
  return 1 +
         static_cast<unsigned>(std::min((access.guards.size() + access.loops.size()) / few, most));
}

/// What is found of an access that adds to such a set.
constexpr std::size_t fewRuns = 64;

/// One access over one box of groups in which every group has the same local size.
class AccessEvaluation {
public:
  AccessEvaluation(const Access& access, const Mentions& mentions, const LaunchValues& launch,
                   const GroupBox& box, std::span<const Parameter> parameters, std::size_t maxRuns,
                   Workspace& workspace, ArgumentRegions& regions)
      : access_(access), launch_(launch), parameters_(parameters), maxRuns_(maxRuns),
        regions_(regions), bufferSize_(launch.arguments[access.parameter].bufferSize),
        length_(access.length), box_(box), groups_(mentions.groups),
        domain_(launch.range, box, groups_), budget_(workspace.budget), costOfPart_(costOf(access)),
        runs_(workspace.runs), widened_(workspace.widened),
        isRough_(std::ranges::find(widened_, target()) != widened_.end()),
        mostLaidOut_(isRough_ ? std::min(maxRuns, fewRuns) : maxRuns) {
    runs_.clear();
  }

  void run() {
    if (isRough_)
      return runRoughly();
    ByteSet bytes;
    bool exact = attempt(bytes) && addFound(bytes);
    if (!exact && domain_.cut() && !domain_.opaques()) {
      straighten();
      bytes = {};
      exact = attempt(bytes) && addFound(bytes);
    }
    ByteSet certain;
    std::optional<Cause> unknown = unknown_;
    if (exact) {
      certain = bytes;
    } else if (const Domain whole = domain_; refine(bytes, certain)) {
      unknown = unknown_;
    } else {
      domain_ = whole;
      addFound(bytes);
      boundBySums(bytes);
    }
    if (unknown)
      explain(*unknown);
    keep(std::move(bytes), std::move(certain));
  }

  /// The access and others that are like it but for their place and length. False, and nothing is
  /// added, if what they touch together can't be told exactly.
  bool runTogether(std::span<const Access* const> all) {
    if (isRough_ || !narrowDomain())
      return false;
    struct Piece {
      Form offset;
      Int length = 0;
    };
    std::vector<Piece> pieces;
    for (const Access* access : all) {
      pieces.push_back({placeOf(access->offset, domain_, launch_), Int{access->length}});
      const Form& offset = pieces.back().offset;
      if (!offset.isExact() || (offset.mask & (domain_.opaques() | domain_.assumed())))
        return false;
    }
    if (domain_.empty())
      return true;
    auto order = [](const Form& a, const Form& b) {
      if (a.mask != b.mask)
        return a.mask <=> b.mask;
      for (std::uint32_t m = a.mask; m; m &= m - 1)
        if (const unsigned v = std::countr_zero(m); a.coefficient[v] != b.coefficient[v])
          return a.coefficient[v] <=> b.coefficient[v];
      return std::strong_ordering::equal;
    };
    std::sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
      const auto shape = order(a.offset, b.offset);
      return shape != 0 ? shape < 0 : a.offset.rest.low < b.offset.rest.low;
    });
    ByteSet bytes;
    for (std::size_t i = 0; i < pieces.size();) {
      const Form& first = pieces[i].offset;
      Int end = add(first.rest.low, pieces[i].length);
      for (++i; i < pieces.size() && order(pieces[i].offset, first) == 0 &&
                pieces[i].offset.rest.low <= end;
           ++i)
        end = std::max(end, add(pieces[i].offset.rest.low, pieces[i].length));
      length_ = end - first.rest.low;
      if (!findLaidOut(first, bytes))
        return false;
    }
    if (!addFound(bytes))
      return false;
    keep(bytes, bytes);
    return true;
  }

private:
  /// The set of regions that it adds to; null for updates, which are made as they come.
  ByteSet* target() const {
    switch (access_.effect) {
    case Effect::Read:
      return &regions_.reads;
    case Effect::Rewrite:
      return &regions_.rewrites;
    case Effect::Write:
      return &regions_.possibleWrites;
    case Effect::Update:
      break;
    }
    return nullptr;
  }

  /// The set is a hull already, and no more is told by many ranges within it.
  void runRoughly() {
    ByteSet bytes;
    const bool found = attempt(bytes);
    const bool exact = addFound(bytes) && found;
    if (unknown_)
      explain(*unknown_);
    ByteSet certain = exact ? bytes : ByteSet();
    keep(std::move(bytes), std::move(certain));
  }

  void keep(ByteSet bytes, ByteSet certain) {
    if (access_.effect == Effect::Write && access_.certain)
      keepCertain(certain);
    ByteSet* own = target();
    ByteSet& all = own ? *own : regions_.updatedBy(access_);
    all.uniteWith(bytes);
    if (all.ranges().size() <= maxRuns_)
      return;
    all = ByteSet(all.hull());
    if (own)
      widened_.push_back(own);
  }

  /// What would be too many ranges is left out.
  void keepCertain(const ByteSet& bytes) {
    ByteSet& all = regions_.certainWrites;
    const bool mayBeTooMany = all.ranges().size() + bytes.ranges().size() > maxRuns_;
    ByteSet before = mayBeTooMany ? all : ByteSet();
    all.uniteWith(bytes);
    if (all.ranges().size() > maxRuns_)
      all = std::move(before);
  }

  /// Finds the runs that the access touches over the domain, or more, and adds to `bytes` what is
  /// no run. True if that is exactly it; else the domain may know where it could be cut.
  bool attempt(ByteSet& bytes) {
    runs_.clear();
    dataDecides_ = false;
    loopCause_ = {};
    unknown_.reset();
    const bool exact = narrowDomain();
    if (domain_.empty())
      return true;
    const Form offset = placeOf(access_.offset, domain_, launch_);
    if (domain_.empty())
      return true; // what buffers hold contradicts the conditions
    return findImage(offset, bytes) && exact;
  }

  /// Makes the domain one that is easily cut. A loop that begins at an id, k = j + i in iteration
  /// i, often goes with an offset over k and j that lays out rows of a matrix; over i and j it is
  /// all aslant. Then k becomes the variable.
  void straighten() {
    const Form offset = placeOf(access_.offset, domain_, launch_);
    auto isInRows = [&](Int a, Int extentOfA, Int b, Int extentOfB) {
      a = a < 0 ? -a : a;
      b = b < 0 ? -b : b;
      return a < b ? multiply(a, extentOfA) <= b : multiply(b, extentOfB) <= a;
    };
    for (const Domain::Relation& relation : domain_.relations()) {
      const auto [x, y, sign, sum] = relation;
      const unsigned first = Domain::loop(0);
      if (y < first || y >= first + Domain::maxLoops || !offset.has(x) || !offset.has(y))
        continue;
      const Int p = offset.coefficient[x], q = offset.coefficient[y];
      auto extentOf = [&](unsigned v) {
        return add(domain_.range(v).high, 1 - domain_.range(v).low);
      };
      if (isInRows(p, extentOf(x), q, extentOf(y)) ||
          !isInRows(p - sign * q, extentOf(x), q, std::max(extentOf(x), extentOf(y))))
        continue;
      domain_ = Domain(launch_.range, box_, groups_);
      domain_.countFrom(y - first, x, sign);
      narrowDomain();
      if (!domain_.empty())
        domain_.cutFor(placeOf(access_.offset, domain_, launch_), length_);
      return;
    }
    domain_.cutFor(offset, length_);
  }

  /// Cuts the domain where a condition, a choice or a minimum was undecided, and the parts again,
  /// until each is exact or can't be cut; then `bytes` and `certain` are what all touch. False if
  /// there would be too many.
  bool refine(ByteSet& bytes, ByteSet& certain) {
    if (!domain_.cut() || domain_.opaques())
      return false;
    std::optional<Cause> unknown;
    std::vector<StridedRuns> inexact = std::move(runs_), exactRuns, otherRuns;
    ByteSet unbounded;
    std::vector<Domain> open{domain_};
    while (!open.empty()) {
      const Domain whole = open.back();
      open.pop_back();
      const Domain::Cut cut = *whole.cut();
      for (const Interval half : {Interval{cut.at + 1, infinity}, Interval{-infinity, cut.at}}) {
        if (budget_ == 0) {
          runs_ = std::move(inexact);
          return false;
        }
        budget_ -= std::min(budget_, costOfPart_);
        domain_ = whole;
        domain_.forgetCut();
        domain_.confine(cut.variable, half);
        if (domain_.empty())
          continue;
        ByteSet beyond;
        const bool exact = attempt(beyond);
        if (!exact && domain_.cut()) {
          open.push_back(domain_);
          continue;
        }
        if (unknown_ && !unknown)
          unknown = unknown_;
        unbounded.uniteWith(beyond);
        std::vector<StridedRuns>& all = exact ? exactRuns : otherRuns;
        all.insert(all.end(), runs_.begin(), runs_.end());
      }
    }
    unknown_ = unknown;
    // What is too scattered to be laid out exactly is not certain.
    const bool isAll = layOut(exactRuns, certain);
    bytes = certain;
    if (!isAll || !otherRuns.empty()) {
      exactRuns.insert(exactRuns.end(), otherRuns.begin(), otherRuns.end());
      layOut(exactRuns, bytes);
      if (!isAll)
        certain = {};
    }
    bytes.uniteWith(unbounded);
    return true;
  }

  /// Adds the bytes of the runs that were found, which are done with then. Not before it is known
  /// that it is these: where rows are cut there are many ranges, and parts of the domain may have
  /// few.
  bool addFound(ByteSet& bytes) {
    if (runs_.empty())
      return true;
    bool isExact = true;
    if (runs_.size() == 1) {
      isExact = addRuns(bytes, runs_.front(), mostLaidOut_);
    } else {
      ByteSet all;
      isExact = layOut(runs_, all);
      bytes.uniteWith(all);
    }
    runs_.clear();
    return isExact;
  }

  /// `bytes` becomes the bytes of `runs`, or more: then false.
  bool layOut(std::vector<StridedRuns>& runs, ByteSet& bytes) const {
    coalesce(runs);
    bool isExact = true;
    std::vector<ByteSet> sets;
    for (const StridedRuns& each : runs)
      isExact &= addRuns(sets.emplace_back(), each, mostLaidOut_);
    bytes = unionOf(std::move(sets));
    return isExact;
  }

  /// Two by two, so that no range is looked at again for each set.
  static ByteSet unionOf(std::vector<ByteSet> sets) {
    for (std::size_t step = 1; step < sets.size(); step *= 2)
      for (std::size_t i = 0; i + step < sets.size(); i += 2 * step)
        sets[i].uniteWith(std::exchange(sets[i + step], {}));
    return sets.empty() ? ByteSet() : std::move(sets.front());
  }

  /// Where the domain is no box and could not be cut into such: what its relations leave of
  /// `bytes`. A form over x and y is one over x and their sum as well, which has a range of its
  /// own.
  ///
  /// Worked example: m[k][j] for k = j .. n - 1, floats, the box of j in [h, n), k = j + i. Over
  /// j and i, 4*(n+1)*j + 4*n*i is a lattice of all rows from h on; over j and k, it is
  /// 4*j + 4*n*k: bytes [4*h, 4*n) of the rows h .. n - 1.
  void boundBySums(ByteSet& bytes) {
    if (domain_.empty() || domain_.relations().empty())
      return;
    Form offset = placeOf(access_.offset, domain_, launch_);
    if (offset.mask & (domain_.opaques() | domain_.assumed()) || !layOut(offset))
      return;
    const Interval reach = domain_.interval(offset);
    if (isInfinite(reach.low) || isInfinite(reach.high))
      return;
    std::uint32_t digits = 0;
    for (unsigned i = 0; i < activeCount_; ++i)
      digits |= domain_.splitAt(active_[i]).mask();
    for (const Domain::Relation& relation : domain_.relations()) {
      const auto [x, y, sign, sum] = relation;
      if (!offset.has(x) || !offset.has(y) || digits & (1u << x | 1u << y))
        continue;
      Form both = Form::variable(x);
      both.set(y, sign);
      const Interval within = intersection(sum, domain_.reach(both));
      if (within.empty()) {
        bytes = {};
        return;
      }
      // `gone` stands for the sum from here on.
      auto bound = [&](unsigned gone, Int ofSum, unsigned stays, Int ofOther) {
        if (std::max(ofSum, ofOther) > INT64_MAX || std::min(ofSum, ofOther) < INT64_MIN)
          return;
        Form form = offset;
        form.set(gone, static_cast<std::int64_t>(ofSum));
        form.set(stays, static_cast<std::int64_t>(ofOther));
        const Interval before = std::exchange(ranges_[gone], within);
        ByteSet image;
        findRectangles(form, 0);
        addFound(image);
        ranges_[gone] = before;
        bytes = intersect(bytes, image);
      };
      // p*x + q*y = (p - sign*q)*x + sign*q*sum = p*sum + (q - sign*p)*y
      const Int p = offset.coefficient[x], q = offset.coefficient[y];
      bound(y, sign * q, x, p - sign * q);
      bound(x, p, y, q - sign * p);
    }
  }

  /// Narrows the domain by every condition until nothing changes. True if the domain then holds
  /// exactly the points where the access happens.
  bool narrowDomain() {
    constexpr int maxRounds = 8;
    constexpr unsigned noSlot = ~0u;
    for (int round = 0; round < maxRounds; ++round) {
      changed_ = false;
      domain_.forgetCut();
      bool all = access_.loops.size() <= Domain::maxLoops;
      for (unsigned k = 0; k < access_.loops.size() && k < Domain::maxLoops; ++k) {
        all &= restrictAtMostZero(noted(loopCondition(k)), k) && access_.loops[k].exact;
        if (domain_.isCountedFrom(k))
          all &= restrictAtMostZero(domain_.scaled(domain_.iteration(k), -1), noSlot);
      }
      for (unsigned i = 0; i < access_.guards.size(); ++i)
        all &= !access_.guards[i].isInspected && confine(access_.guards[i], Domain::maxLoops + i);
      if (domain_.empty() || !changed_)
        return all && !dataDecides_;
    }
    return false;
  }

  /// k < count, as k - count + 1 <= 0. Since 0 <= k, a count max(n, 0) is as good as n; and if n is
  /// a quotient floor(m / s) of what forms don't divide, s*k - m + s <= 0 says the same.
  Form loopCondition(unsigned k) {
    const Expr* counted = &access_.loops[k].count;
    if (counted->op() == Expr::Op::Max && counted->operands().size() == 2 &&
        counted->operands()[1].op() == Expr::Op::Constant && counted->operands()[1].value() <= 0)
      counted = &counted->operands()[0];
    const Form variable = domain_.iteration(k);
    if (counted->op() == Expr::Op::DivFloor) {
      const Form divisor = valueOf(counted->operands()[1], domain_, launch_);
      const Form whole = valueOf(counted->operands()[0], domain_, launch_);
      if ((whole.mask & domain_.opaques()) && divisor.isConstant() && divisor.rest.low > 0)
        return domain_.sum(domain_.difference(domain_.scaled(variable, divisor.rest.low), whole),
                           divisor);
    }
    const Form count = valueOf(*counted, domain_, launch_);
    if (isInfinite(domain_.interval(count).high) && loopCause_.kind == Cause::Kind::None)
      loopCause_ = count.cause;
    const Form past = domain_.difference(variable, count);
    return domain_.sum(past, Form::constant(1));
  }

  Form gap(const Guard& guard) {
    return noted(domain_.difference(valueOf(guard.left, domain_, launch_),
                                    valueOf(guard.right, domain_, launch_)));
  }

  /// A condition on buffers' elements leaves points in the domain at which it does not hold.
  const Form& noted(const Form& condition) {
    dataDecides_ = dataDecides_ || (condition.mask & domain_.opaques());
    return condition;
  }

  // Each of these takes away from the domain what can't satisfy a condition, notes if that changed
  // anything, and returns true if the condition held on all of the domain beforehand.

  bool confine(const Guard& guard, unsigned slot) {
    if (domain_.empty())
      return false;
    const Form form = gap(guard);
    switch (guard.relation) {
    case Guard::Relation::Less:
      return restrictAtMostZero(domain_.sum(form, Form::constant(1)), slot);
    case Guard::Relation::LessEqual:
      return restrictAtMostZero(form, slot);
    case Guard::Relation::Equal: {
      const bool notAbove = restrictAtMostZero(form, slot);
      return restrictAtMostZero(domain_.scaled(form, -1), slot) && notAbove;
    }
    case Guard::Relation::NotEqual:
      return restrictNonZero(form);
    }
    return false;
  }

  /// Keeps of each variable what `form` <= 0 leaves it while the others are at their best. `slot`:
  /// which condition it is.
  bool restrictAtMostZero(const Form& form, unsigned slot) {
    if (domain_.empty())
      return false;
    if (form.mask & domain_.opaques())
      domain_.assume(slot, form);
    const Interval values = domain_.reach(form); // assumed conditions must not prove themselves
    if (values.low > 0)
      domain_.makeEmpty();
    if (values.high <= 0 || values.low > 0 || isInfinite(form.rest.low))
      return values.high <= 0;
    forEachVariable(form.mask, [&](unsigned v) {
      if (domain_.empty())
        return;
      Form others = form;
      others.set(v, 0);
      const Int room = -domain_.reach(others).low; // coefficient * v <= room
      if (isInfinite(room))
        return;
      const Int c = form.coefficient[v];
      changed_ |= domain_.confine(v, c > 0 ? Interval{-infinity, floorDivide(room, c)}
                                           : Interval{ceilDivide(-room, -c), infinity});
    });
    domain_.undecided(domain_.difference(form, Form::constant(1))); // form - 1 < 0
    domain_.relate(form);
    return false;
  }

  bool restrictNonZero(const Form& form) {
    const Interval values = domain_.reach(form);
    if (values.low > 0 || values.high < 0)
      return true;
    if (values == Interval{0, 0}) {
      domain_.makeEmpty();
      return false;
    }
    if (!form.isExact() || std::popcount(form.mask) != 1) {
      domain_.undecided(form);
      return false;
    }
    const auto v = static_cast<unsigned>(std::countr_zero(form.mask));
    const Int c = form.coefficient[v];
    if (form.rest.low % c != 0)
      return true; // never zero
    const Int hole = -form.rest.low / c;
    const Interval range = domain_.range(v);
    if (hole == range.low)
      changed_ |= domain_.confine(v, {hole + 1, infinity});
    else if (hole == range.high)
      changed_ |= domain_.confine(v, {-infinity, hole - 1});
    else
      domain_.undecided(form);
    return false;
  }

  /// Finds the runs at `offset` over the domain, or more, and adds to `bytes` what is no run. True
  /// if that is exactly it.
  bool findImage(const Form& offset, ByteSet& bytes) {
    if (offset.mask & (domain_.opaques() | domain_.assumed())) {
      addWithinAssumptions(offset, bytes);
      return false;
    }
    return findLaidOut(offset, bytes);
  }

  /// Where buffers' elements play a part: their variables as intervals, and no more than what the
  /// assumptions leave of the whole.
  void addWithinAssumptions(Form offset, ByteSet& bytes) {
    const Interval values = domain_.interval(offset);
    forEachVariable(offset.mask & domain_.opaques(), [&](unsigned v) {
      const Form one = domain_.scaled(Form::variable(v), offset.coefficient[v]);
      offset.rest = offset.rest + domain_.reach(one);
      offset.set(v, 0);
    });
    ByteSet image;
    findLaidOut(offset, image);
    addFound(image);
    const Interval reach{values.low, add(values.high, length_ - 1)};
    bytes.uniteWith(intersect(image, ByteSet(cut(reach, bufferSize_))));
  }

  bool findLaidOut(Form offset, ByteSet& bytes) {
    const bool exact = layOut(offset) && offset.isExact();
    // Conditions may bound a difference of variables each of which has no bound.
    const Interval reach = domain_.interval(offset), ofRanges = domain_.reach(offset);
    if (!isInfinite(ofRanges.low) && !isInfinite(ofRanges.high)) {
      findRectangles(offset, 0);
      return exact;
    }
    bytes.uniteWith(ByteSet(cut({reach.low, add(reach.high, length_ - 1)}, bufferSize_)));
    if (!isInfinite(reach.low) && !isInfinite(reach.high))
      return false;
    unknown_ = offset.cause.kind != Cause::Kind::None ? offset.cause : loopCause_;
    return false;
  }

  /// Chooses the splits whose digits must be enumerated and writes `offset` in their digits. False
  /// if two of them take the same variable apart: then ranges stay independent, and too large.
  bool layOut(Form& offset) {
    activeCount_ = 0;
    bool consistent = true;
    std::uint32_t wanted = offset.mask | domain_.restrictedDigits();
    std::uint32_t taken = 0;
    for (unsigned i = domain_.splitCount(); i-- > 0;) {
      const Domain::Split& s = domain_.splitAt(i);
      if (!(wanted & (1u << s.high | 1u << s.low)))
        continue;
      wanted |= 1u << s.parent;
      if (taken & 1u << s.parent) {
        for (unsigned k = 0; k < activeCount_; ++k)
          if (domain_.splitAt(active_[k]).parent == s.parent)
            domain_.undecided(s, domain_.splitAt(active_[k]));
        consistent = false;
        continue;
      }
      taken |= 1u << s.parent;
      active_[activeCount_++] = i;
    }
    std::reverse(active_.begin(), active_.begin() + activeCount_); // parents before their digits
    for (unsigned i = 0; i < activeCount_; ++i)
      if (!Domain::expand(offset, domain_.splitAt(active_[i])))
        consistent = false;
    for (unsigned v = 0; v < Form::maxVariables; ++v)
      ranges_[v] = domain_.range(v);
    return consistent;
  }

  /// Finds the runs of every combination of the active splits' rectangles, from split `next` on.
  void findRectangles(const Form& offset, unsigned next) {
    if (next == activeCount_) {
      findRectangle(offset);
      return;
    }
    const Domain::Split& s = domain_.splitAt(active_[next]);
    const Interval high = ranges_[s.high];
    const Interval low = ranges_[s.low];
    const Interval parent = ranges_[s.parent];

    // The digits of the parent's ends: rows before `first` or after `last` do not exist, these two
    // may be cut, those between are whole.
    const Int first = std::max(high.low, floorDivide(parent.low - s.base, s.period));
    const Int last = std::min(high.high, floorDivide(parent.high - s.base, s.period));
    auto rowOf = [&](Int h) {
      const Int begin = s.base + s.period * h;
      return intersection(low, {parent.low - begin, parent.high - begin});
    };
    auto descend = [&](Interval h, Interval l) {
      if (h.empty() || l.empty())
        return;
      ranges_[s.high] = h;
      ranges_[s.low] = l;
      findRectangles(offset, next + 1);
    };
    Interval whole{first, last};
    if (whole.empty())
      return;
    if (rowOf(first) != low) {
      descend({first, first}, rowOf(first));
      ++whole.low;
    }
    if (!whole.empty() && rowOf(last) != low) {
      descend({last, last}, rowOf(last));
      --whole.high;
    }
    descend(whole, low);
    ranges_[s.high] = high;
    ranges_[s.low] = low;
  }

  void findRectangle(const Form& offset) {
    StridedRuns& runs = runs_.emplace_back();
    runs.base = offset.rest.low;
    runs.length = add(length_, offset.rest.high - offset.rest.low);
    runs.bufferSize = bufferSize_;
    forEachVariable(offset.mask, [&](unsigned v) {
      const Int c = offset.coefficient[v];
      const Interval r = ranges_[v];
      runs.base = add(runs.base, multiply(c, c > 0 ? r.low : r.high));
      runs.add({c > 0 ? c : -c, r.high - r.low + 1});
    });
  }

  void explain(const Cause& cause) {
    if (access_.effect == Effect::Update || access_.effect == Effect::Rewrite)
      return; // anywhere is as good as somewhere
    std::optional<Reason>& reason =
        access_.effect == Effect::Read ? regions_.unknownReads : regions_.unknownWrites;
    if (reason)
      return;
    reason = Reason{describe(cause, parameters_), access_.where};
    if (cause.kind == Cause::Kind::Stated && cause.stated->line() != 0)
      reason->where.line = cause.stated->line();
  }

  const Access& access_;
  const LaunchValues& launch_;
  const std::span<const Parameter> parameters_;
  const std::size_t maxRuns_;
  ArgumentRegions& regions_;
  const std::uint64_t bufferSize_;
  Int length_; ///< of what is touched at each point of the domain
  const GroupBox& box_;
  const unsigned groups_; ///< dimensions whose group and local ids play a part
  Domain domain_;
  bool dataDecides_ = false;     ///< whether the access happens at a point of the domain
  bool changed_ = false;         ///< by a condition, in this round
  Cause loopCause_;              ///< why a loop is not bounded
  std::optional<Cause> unknown_; ///< why the bytes are
  unsigned& budget_;             ///< parts that may still be made
  const unsigned costOfPart_;
  std::vector<StridedRuns>& runs_; ///< of what is touched, laid out by `addFound`
  std::vector<const ByteSet*>& widened_;
  const bool isRough_;            ///< the set that it adds to is one of these
  const std::size_t mostLaidOut_; ///< ranges of one run
  std::array<unsigned, 16> active_{};
  unsigned activeCount_ = 0;
  std::array<Interval, Form::maxVariables> ranges_;
};

/// Cuts `box` where the local size changes, in the dimensions from `d` on where the accesses ask
/// for it, and evaluates each part. The accesses are alike.
void evaluateParts(std::span<const Access* const> alike, const Mentions& mentions,
                   const LaunchValues& launch, const GroupBox& box, unsigned d,
                   std::span<const Parameter> parameters, std::size_t maxRuns, Workspace& workspace,
                   ArgumentRegions& regions) {
  const NDRange& range = launch.range;
  for (; d < 3; ++d) {
    const std::uint64_t last = range.groups(d) - 1;
    if (range.uniform(d) || box.end[d] <= last || !(mentions.localSizes >> d & 1))
      continue;
    if (box.begin[d] < last) {
      GroupBox whole = box;
      whole.end[d] = last;
      evaluateParts(alike, mentions, launch, whole, d + 1, parameters, maxRuns, workspace, regions);
    }
    GroupBox rest = box;
    rest.begin[d] = last;
    LaunchValues smaller = launch;
    smaller.localSize[d] = range.global[d] % range.local[d];
    evaluateParts(alike, mentions, smaller, rest, d + 1, parameters, maxRuns, workspace, regions);
    return;
  }
  auto evaluation = [&](const Access& access) {
    return AccessEvaluation(access, mentions, launch, box, parameters, maxRuns, workspace, regions);
  };
  if (alike.size() > 1 && evaluation(*alike.front()).runTogether(alike))
    return;
  for (const Access* access : alike)
    evaluation(*access).run();
}

/// Whether the two differ at most in where they are and how long.
bool isAlike(const Access& a, const Access& b) {
  return a.parameter == b.parameter && a.effect == b.effect &&
         (a.effect != Effect::Write || a.certain == b.certain) && a.update == b.update &&
         sameConditions(a, b);
}

/// The groups of `box` that exist; none if there is no such launch.
GroupBox existing(const GroupBox& box, const NDRange& range) {
  GroupBox inside = box;
  for (unsigned d = 0; d < 3; ++d)
    inside.end[d] = range.local[d] == 0 ? 0 : std::min(inside.end[d], range.groups(d));
  return inside;
}

/// Whether there is something to evaluate.
bool touchesBuffer(const Access& access, const KernelSummary& summary,
                   std::span<const ArgumentValue> arguments) {
  return access.parameter < std::min(summary.parameters.size(), arguments.size()) &&
         arguments[access.parameter].bufferSize > 0 && access.length > 0;
}

} // namespace

ByteSet& ArgumentRegions::updatedBy(const Access& access) {
  for (UpdatedBytes& updated : updates)
    if (updated.kind == access.update)
      return updated.bytes;
  updates.push_back({access.update, {}, access.where});
  return updates.back().bytes;
}

namespace {

/// Of stack, that it takes to follow the deepest of expressions; with sanitizers several times as
/// much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stackNeeded = std::size_t{4} << 20;
#else
constexpr std::size_t stackNeeded = std::size_t{512} << 10;
#endif

/// `evaluate`, on a thread that has the stack for it; `inside` is not empty.
void evaluateInside(const KernelSummary& summary, const NDRange& range,
                    std::span<const ArgumentValue> arguments, const GroupBox& inside,
                    std::size_t maxRanges, Contents* contents, const std::vector<bool>& unasked,
                    unsigned maxParts, std::vector<ArgumentRegions>& regions) {
  LaunchValues launch{range, arguments, range.local, nullptr};
  unsigned budget = maxParts;
  Workspace workspace{budget};
  std::vector<const Access*> open; // not evaluated yet
  for (std::size_t i = 0; i < summary.accesses.size(); ++i) {
    const Access& access = summary.accesses[i];
    if (!touchesBuffer(access, summary, arguments) ||
        (access.parameter < unasked.size() && unasked[access.parameter]))
      continue;
    // Updates may overlap: where exactly they lie is not worth looking through buffers.
    const bool isPlain = access.effect == Effect::Read || access.effect == Effect::Write;
    Contents* known = isPlain ? contents : nullptr;
    if (const auto inspected = known ? known->touched(summary, i, inside) : std::nullopt) {
      ArgumentRegions& of = regions[access.parameter];
      if (!inspected->empty())
        (access.effect == Effect::Read ? of.reads : of.possibleWrites)
            .add(cut(*inspected, arguments[access.parameter].bufferSize));
      continue;
    }
    open.push_back(&access);
  }
  // Those that are alike mostly stand together.
  constexpr std::size_t farthest = 32;
  std::vector<const Access*> alike;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!open[i])
      continue;
    alike.assign(1, open[i]);
    for (std::size_t k = i + 1; k < std::min(open.size(), i + farthest); ++k)
      if (open[k] && isAlike(*open[i], *open[k]))
        alike.push_back(std::exchange(open[k], nullptr));
    const Access& access = *alike.front();
    launch.contents = access.effect == Effect::Update ? nullptr : contents;
    evaluateParts(alike, Mentions(alike), launch, inside, 0, summary.parameters, maxRanges,
                  workspace, regions[access.parameter]);
  }
}

} // namespace

std::vector<ArgumentRegions> evaluate(const KernelSummary& summary, const NDRange& range,
                                      std::span<const ArgumentValue> arguments, const GroupBox& box,
                                      std::size_t maxRanges, Contents* contents,
                                      const std::vector<bool>& unasked, unsigned maxParts) {
  std::vector<ArgumentRegions> regions(summary.parameters.size());
  if (const GroupBox inside = existing(box, range); !inside.empty())
    withStack(stackNeeded, [&] {
      evaluateInside(summary, range, arguments, inside, maxRanges, contents, unasked, maxParts,
                     regions);
    });
  return regions;
}

ByteSet certainBytes(const KernelSummary& summary, const Access& access, const NDRange& range,
                     std::span<const ArgumentValue> arguments, const GroupBox& box,
                     unsigned& budget, std::size_t maxRanges) {
  const GroupBox inside = existing(box, range);
  if (inside.empty() || !access.certain || !touchesBuffer(access, summary, arguments))
    return {};
  Access asWrite = access;
  asWrite.effect = Effect::Write;
  const Access* alone[] = {&asWrite};
  const LaunchValues launch{range, arguments, range.local, nullptr};
  ArgumentRegions regions;
  Workspace workspace{budget};
  withStack(stackNeeded, [&] {
    evaluateParts(alone, Mentions(alone), launch, inside, 0, summary.parameters, maxRanges,
                  workspace, regions);
  });
  return regions.certainWrites;
}

} // namespace libsplit
