// Which accesses are better asked of an inspection: a run of their addresses alone, ahead of the
// launch, that notes where each work-group goes.
//
// What buffers hold enters an evaluation as the least and the greatest element of a slice. That
// gives the hull of what is touched where one element, or one of each row, is all that the buffers
// contribute: x[index[i]], row[i] + k, base[g] + lane. It gives too much where
//
//   - the place of an element is an element itself: x[column[permutation[i]]], where the slice of
//     `column` would be all that lies between the least and the greatest of `permutation`;
//   - elements meet each other or ids: index[i] * width[i], i + delta[i];
//   - not every order survives what is done with an element: index[i] & 255, index[i] ^ 1;
//   - a condition on elements decides whether they count: if (index[i] >= 0).
//
// An inspection evaluates the access's expressions at each work-item and iteration, and so sees
// what happens there. What it finds is a hull per group of work-groups, never a certain write.
//
// Another one finds out whether each work-item has places of its own. y[order[i]] += x[i] may be
// done by several devices, and put together, where `order` names nobody twice: a permutation, the
// elements of one colour. Hulls can't tell, since these places lie all over the buffer. So each
// work-item claims the places that it changes, and a place that is claimed twice is not distinct.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace libsplit {

/// Whether an inspection can evaluate the access, and tells more than the extremes of slices do.
bool wantsInspection(const Access& access);

/// What work-items change in one argument, each from what it found there, to be claimed.
struct ClaimedPlaces {
  unsigned parameter = 0;
  std::uint64_t unit = 1; ///< bytes, a power of two: each access changes a few whole ones of these
  std::vector<const Access*> accesses; ///< of the kernel's summary; one of those that go alike
};

/// Nothing if the kernel changes nothing there at places that data decide, or an inspection can't
/// tell all of these.
std::optional<ClaimedPlaces> placesToClaim(const KernelSummary& kernel, unsigned parameter);

/// Whether `expr` takes, for all values of one variable between two, none beyond those at these two
/// (anything else held fast): it is affine in that variable, and does not load by it.
/// `isVariable(leaf)` says which leaves are the variable.
template <class IsVariable> bool usesVariable(const Expr& expr, IsVariable isVariable) {
  if (expr.operands().empty())
    return isVariable(expr);
  for (const Expr& operand : expr.operands())
    if (usesVariable(operand, isVariable))
      return true;
  return false;
}

template <class IsVariable> bool isAffineIn(const Expr& expr, IsVariable isVariable) {
  if (!usesVariable(expr, isVariable) || expr.operands().empty())
    return true;
  unsigned users = 0;
  for (const Expr& operand : expr.operands()) {
    if (!isAffineIn(operand, isVariable))
      return false;
    users += usesVariable(operand, isVariable);
  }
  switch (expr.op()) {
  case Expr::Op::Add:
  case Expr::Op::Wrap: // what fits at both ends fits between
    return true;
  case Expr::Op::Mul:
    return users == 1;
  default:
    return false;
  }
}

} // namespace libsplit
