#include "analysis-pass/summary/inspection.h"

#include <algorithm>

namespace libsplit {

namespace {

using Op = Expr::Op;

constexpr std::size_t maxLoops = 8;
/// Of one access. More makes a kernel that takes long to build, and long to run.
constexpr unsigned maxNodes = 512;
constexpr std::uint64_t maxLength = 1 << 30; ///< bytes
constexpr std::uint64_t maxClaims = 64;      ///< that one work-item makes for one access
constexpr std::size_t maxClaiming = 64;      ///< accesses, each with a loop over work-items

/// The ids and loop variables that an expression names, one bit each: group and local ids by
/// dimension, then loops. A global id is both.
constexpr unsigned groupBit(unsigned d) {
  return 1u << d;
}
constexpr unsigned localBit(unsigned d) {
  return 8u << d;
}
constexpr unsigned loopBit(unsigned k) {
  return 64u << std::min(k, 25u); // of so many loops none is told from others
}

unsigned variablesOf(const Expr& e) {
  switch (e.op()) {
  case Op::GlobalId:
    return groupBit(e.index()) | localBit(e.index());
  case Op::GroupId:
  case Op::LocalSize: // smaller in the last group
    return groupBit(e.index());
  case Op::LocalId:
    return localBit(e.index());
  case Op::LoopVariable:
    return loopBit(e.index());
  default:
    break;
  }
  unsigned all = 0;
  for (const Expr& operand : e.operands())
    all |= variablesOf(operand);
  return all;
}

bool loadsVaryingly(const Expr& e) {
  if (e.op() == Op::Load && variablesOf(e) != 0)
    return true;
  return std::ranges::any_of(e.operands(), loadsVaryingly);
}

/// An element whose place depends on another, as row[group[i]].
bool loadsByLoaded(const Expr& e) {
  if (e.op() == Op::Load && loadsVaryingly(e.operands()[0]))
    return true;
  return std::ranges::any_of(e.operands(), loadsByLoaded);
}

/// A sum with a loop's variable in it: begin[i] + k.
bool goesAlongRow(const Expr& e) {
  if (e.op() == Op::LoopVariable)
    return true;
  if (e.op() == Op::Add || e.op() == Op::Wrap || e.op() == Op::Mul)
    return std::ranges::any_of(e.operands(), goesAlongRow);
  return false;
}

/// Whether the extremes of slices say where `e` lies over a box of work-groups.
bool extremesTellAll(const Expr& e) {
  if (!loadsVaryingly(e))
    return true;
  const std::vector<Expr>& operands = e.operands();
  if (!std::ranges::all_of(operands, extremesTellAll))
    return false;
  const auto loading = std::ranges::count_if(operands, loadsVaryingly);
  // The one operand that loads, and the variables of the others.
  const auto loaded = std::ranges::find_if(operands, loadsVaryingly);
  unsigned others = 0;
  for (auto each = operands.begin(); each != operands.end(); ++each)
    if (each != loaded)
      others |= variablesOf(*each);
  switch (e.op()) {
  case Op::Load:
    return loading == 0 || goesAlongRow(operands[0]);
  case Op::Wrap:
    return true;
  case Op::Add:
    return loading == 1 && (variablesOf(*loaded) & others) == 0;
  case Op::Mul:
  case Op::Min:
  case Op::Max:
    return loading == 1 && others == 0;
  case Op::DivFloor:
  case Op::DivTrunc:
  case Op::Shl:
  case Op::ShrArith:
    return loaded == operands.begin() && others == 0;
  default:
    return false;
  }
}

/// Nodes of the tree; a lot where any of them is unknown.
unsigned sizeOf(const Expr& e) {
  unsigned size = e.op() == Op::Unknown ? maxNodes + 1 : 1;
  for (const Expr& operand : e.operands())
    if (size <= maxNodes)
      size += sizeOf(operand);
  return size;
}

bool isEvaluable(const Access& access) {
  unsigned size = sizeOf(access.offset);
  for (const Guard& guard : access.guards)
    size += sizeOf(guard.left) + sizeOf(guard.right);
  for (const Loop& loop : access.loops)
    size += sizeOf(loop.count);
  const bool isWorthIt = access.effect == Effect::Read || access.effect == Effect::Write;
  return isWorthIt && size <= maxNodes && access.loops.size() <= maxLoops && access.length > 0 &&
         access.length <= maxLength;
}

/// Whether a condition on elements decides if it happens.
bool isGuardedByData(const Access& access) {
  return std::ranges::any_of(access.guards, [](const Guard& guard) {
    return loadsVaryingly(guard.left) || loadsVaryingly(guard.right);
  });
}

bool dependsOnData(const Access& access) {
  return loadsVaryingly(access.offset) || isGuardedByData(access) ||
         std::ranges::any_of(access.loops, [](const Loop& l) { return loadsVaryingly(l.count); });
}

/// Whether a work-item that does `b` does `a` as well, in the same iterations, to the same bytes.
bool covers(const Access& a, const Access& b) {
  return a.offset == b.offset && a.length == b.length &&
         std::ranges::equal(a.loops, b.loops, {}, &Loop::count, &Loop::count) &&
         std::ranges::all_of(a.guards, [&](const Guard& guard) {
           return std::ranges::find(b.guards, guard) != b.guards.end();
         });
}

} // namespace

std::optional<ClaimedPlaces> placesToClaim(const KernelSummary& kernel, unsigned parameter) {
  ClaimedPlaces places{parameter, std::uint64_t{1} << 63, {}};
  bool byData = false;
  for (const Access& access : kernel.accesses) {
    if (access.parameter != parameter || !access.changes)
      continue;
    if (!isEvaluable(access))
      return std::nullopt;
    byData = byData || dependsOnData(access);
    places.unit = std::min(places.unit, access.length & -access.length); // its least bit
    const auto isCovered = [&](const Access* other) { return covers(*other, access); };
    if (std::ranges::any_of(places.accesses, isCovered))
      continue;
    std::erase_if(places.accesses, [&](const Access* other) { return covers(access, *other); });
    places.accesses.push_back(&access);
    if (places.accesses.size() > maxClaiming)
      return std::nullopt;
  }
  const bool isLong = std::ranges::any_of(places.accesses, [&](const Access* access) {
    return access->length / places.unit > maxClaims;
  });
  return byData && !isLong ? std::optional(std::move(places)) : std::nullopt;
}

bool wantsInspection(const Access& access) {
  if (!loadsVaryingly(access.offset) || !isEvaluable(access))
    return false;
  return !extremesTellAll(access.offset) || isGuardedByData(access) ||
         std::ranges::any_of(access.loops, [](const Loop& l) { return loadsByLoaded(l.count); });
}

} // namespace libsplit
