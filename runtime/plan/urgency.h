// Whether bytes that one node sends to another ahead of their use should be computed first. Pure.
//
// What arrives before the launch that needs it is planned held nobody up: to compute it first would
// only make more parts of a launch. What is still on its way by then, since it takes longer than
// the program pauses between launches, or since the program does not pause at all, should leave
// earlier. So it is looked at, a few times in a row and then not for a while, whether what was sent
// was late. Where it is computed first that says nothing of how it would be otherwise; so that
// lasts for a while as well, ever longer if it is late again without.
//
// Worked example: a lattice exchanges 4 MB, which takes 0.3 ms; its program pauses for 0.05 ms. The
// first four exchanges are late, so that the next 64 are computed first, after four more 128, and
// so on. A grid whose exchange takes 0.04 ms is left as it is, until its program enqueues several
// launches without a pause.
#pragma once

#include <algorithm>
#include <cstdint>

namespace libsplit::runtime {

/// Not thread-safe.
class Urgency {
public:
  /// Whether they should be computed first the next time.
  bool isUrgent() const { return isUrgent_; }
  /// They are wanted, and on their way still, if `isLate` says so, or there.
  template <typename IsLate> void wanted(const IsLate& isLate) {
    if (rest_ > 0) {
      isUrgent_ = --rest_ > 0 && isUrgent_;
      return;
    }
    ++seen_;
    late_ += isLate() ? 1 : 0;
    if (late_ < enough && seen_ < most)
      return;
    isUrgent_ = late_ == enough;
    rest_ = isUrgent_ ? patience_ : calm;
    patience_ = isUrgent_ ? std::min(longest, 2 * patience_) : shortest;
    seen_ = late_ = 0;
  }

private:
  static constexpr unsigned most = 8;   ///< times that are looked at together
  static constexpr unsigned enough = 4; ///< of which so many late ones will do
  static constexpr std::uint64_t calm = 56, shortest = 64, longest = 1 << 14; ///< times

  unsigned seen_ = 0, late_ = 0;
  std::uint64_t rest_ = 0; ///< times that are left until it is looked at again
  bool isUrgent_ = false;
  std::uint64_t patience_ = shortest; ///< times for them to be computed first, if they are late
};

} // namespace libsplit::runtime
