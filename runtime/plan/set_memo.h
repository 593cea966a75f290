// Operations on sets of bytes that were done before are not done again.
//
// An interior of a grid is thousands of ranges, one for each row, and a launch asks a dozen times
// what is valid where. A program that repeats its launches repeats these questions: so results are
// kept by the operands' identity (ByteSet::isSame; small ones by value), and a result that is equal
// to an earlier one becomes a copy of that, which lets the next question be recognised too.
// Decision diagrams know this as a computed and a unique table.
//
// Not thread-safe.
#pragma once

#include "analysis-pass/summary/byte_set.h"

#include <cstddef>
#include <vector>

namespace libsplit::runtime {

/// `set` with those gaps that `filler` covers and that are moved sooner than left out: small ones,
/// and all up to a vector of four, the holes in what is written point by point, as by the colours
/// of a chessboard. A memory moves no less than that at once, and each range takes its time.
inline ByteSet fillGapsToMove(const ByteSet& set, const ByteSet& filler) {
  constexpr std::uint64_t vectorOfFour = 16;
  return fillGaps(set, filler, vectorOfFour);
}

class SetMemo {
public:
  static constexpr std::size_t capacity = 48;
  /// Smaller operands are cheaper to work with than to look up.
  static constexpr std::size_t leastRanges = 32;

  ByteSet unite(const ByteSet& a, const ByteSet& b) { return find(libsplit::unite, a, b); }
  ByteSet intersect(const ByteSet& a, const ByteSet& b) { return find(libsplit::intersect, a, b); }
  ByteSet subtract(const ByteSet& a, const ByteSet& b) { return find(libsplit::subtract, a, b); }
  ByteSet fillGapsToMove(const ByteSet& a, const ByteSet& b) {
    return find(runtime::fillGapsToMove, a, b);
  }
  bool contains(const ByteSet& a, const ByteSet& b) { return answer(&ByteSet::contains, a, b); }
  bool intersects(const ByteSet& a, const ByteSet& b) { return answer(&ByteSet::intersects, a, b); }

  /// Whether they are known to be equal in no time: small ones, which are made anew each time, can
  /// be compared.
  static bool areSame(const ByteSet& a, const ByteSet& b) {
    return a.isSame(b) || (a.ranges().size() <= leastRanges && a == b);
  }

private:
  using Operation = ByteSet (*)(const ByteSet&, const ByteSet&);
  using Question = bool (ByteSet::*)(const ByteSet&) const;
  template <class What, class Result> struct Known {
    What what = nullptr;
    ByteSet a, b;
    Result result{};
  };
  template <class What, class Result> struct Ring {
    std::vector<Known<What, Result>> entries;
    std::size_t oldest = 0;
    const Result* find(What what, const ByteSet& a, const ByteSet& b) const;
    void keep(Known<What, Result> known);
  };
  ByteSet find(Operation operation, const ByteSet& a, const ByteSet& b);
  bool answer(Question question, const ByteSet& a, const ByteSet& b);
  ByteSet known(const ByteSet& set) const;

  Ring<Operation, ByteSet> results_;
  Ring<Question, bool> answers_;
};

} // namespace libsplit::runtime
