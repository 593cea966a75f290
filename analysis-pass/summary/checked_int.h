// Wide integers that saturate, and intervals of them.
//
// Launch numbers are 64 bits (sizes up to 2^64, signed scalars), their products and sums are not.
// 128 bits hold them; what leaves ±2^100 counts as infinite and stays so, in the safe direction:
// a bound never comes back from infinity.
#pragma once

#include <algorithm>

namespace libsplit {

using Int = __int128;

inline constexpr Int infinity = Int{1} << 100;

inline bool isInfinite(Int a) {
  return a >= infinity || a <= -infinity;
}
inline Int saturate(Int a) {
  return std::clamp(a, -infinity, infinity);
}

inline Int add(Int a, Int b) {
  if (isInfinite(a))
    return a;
  return isInfinite(b) ? b : saturate(a + b);
}

inline Int multiply(Int a, Int b) {
  if (a == 0 || b == 0)
    return 0;
  Int product;
  if (isInfinite(a) || isInfinite(b) || __builtin_mul_overflow(a, b, &product))
    return (a < 0) == (b < 0) ? infinity : -infinity;
  return saturate(product);
}

/// floor(a / b), b > 0.
inline Int floorDivide(Int a, Int b) {
  if (isInfinite(a))
    return a;
  return a / b - (a % b < 0 ? 1 : 0);
}

/// ceil(a / b), b > 0.
inline Int ceilDivide(Int a, Int b) {
  return -floorDivide(-a, b);
}

/// All integers from low to high, both included; empty if low > high.
struct Interval {
  Int low = 0;
  Int high = 0;

  bool empty() const { return low > high; }
  bool isPoint() const { return low == high && !isInfinite(low); }
  bool operator==(const Interval&) const = default;
};

inline constexpr Interval everything{-infinity, infinity};
/// What a hull begins with.
inline constexpr Interval nothing{infinity, -infinity};

inline Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

inline Interval intersection(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

inline Interval operator+(Interval a, Interval b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}

inline Interval operator*(Interval a, Interval b) {
  const Int corners[] = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low),
                         multiply(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

} // namespace libsplit
