// Whether what a launch depends on is worth finding out.
#pragma once

#include <cstdint>

namespace libsplit::runtime {

/// Whether finding contents out pays for launches of one kind. Pure.
///
/// A program that rewrites its index arrays before each launch makes each launch wait for them.
/// That is given up for a while, ever longer, when it took more than a part of the launch's own
/// time.
class ContentsBudget {
public:
  /// `affordable`: the part of the launch's time, or of whatever `pays` is told.
  explicit ContentsBudget(double affordable = 0.25) : affordable_(affordable) {}

  /// Asked once per launch that would have to find contents out. `launchSeconds`: of the launch
  /// unsplit; negative: not known.
  bool pays(double launchSeconds);
  /// The launch found out, in `seconds`.
  void spent(double seconds) { seconds_ += seconds; }
  /// A launch was planned by contents that were known already.
  void saved() { ++reuses_; }

private:
  double affordable_;
  double seconds_ = 0;       ///< since the last look
  std::uint64_t reuses_ = 0; ///< since the last look
  unsigned fetches_ = 0;     ///< since the last rest
  unsigned resting_ = 0;     ///< launches left before the next try
  unsigned rest_ = 16;
};

} // namespace libsplit::runtime
