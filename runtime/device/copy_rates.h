// Which of two ways of copying is the faster one, told from what each took. Pure.
//
// A rate rises at once to what was reached, since nothing makes a copy faster than it is, and falls
// by half of what is missing: one copy that something else held up decides nothing. The first
// copies of a way that has just been made are slower than what follows, so it is judged after
// several. And once in a while the slower way has another chance, the more rarely the more it
// copies then.
#pragma once

#include <algorithm>
#include <cstddef>

namespace libsplit::runtime {

class CopyRates {
public:
  enum class Way { Driver, Pump };

  /// `piece`: bytes that are copied to try a way, where there are so many.
  explicit CopyRates(std::size_t piece) : piece_(piece) {}

  /// The way to take next.
  Way next() const {
    if (driver_ == 0)
      return Way::Driver; // unknown
    if (tries_ < triesToJudge)
      return Way::Pump;
    return isSettled() == (pump_ >= driver_) ? Way::Pump : Way::Driver;
  }
  /// Whether that is because it is the faster one, so that all may go by it, and not to try it.
  bool isSettled() const { return driver_ > 0 && tries_ >= triesToJudge && since_ < untilTrial(); }
  /// `bytes` went by `way`.
  void note(Way way, std::size_t bytes, double seconds) {
    if (seconds <= 0 || bytes < piece_ / 2)
      return;
    double& rate = way == Way::Driver ? driver_ : pump_;
    const double now = static_cast<double>(bytes) / seconds;
    rate = std::max(now, (rate + now) / 2);
    tries_ += way == Way::Pump;
    if (way == Way::Driver)
      trial_ = std::max(trial_, bytes);
    since_ = (way == Way::Pump) == (pump_ >= driver_) ? since_ + bytes : 0;
  }

private:
  static constexpr unsigned triesToJudge = 3;
  std::size_t untilTrial() const { return 128 * trial_; }

  std::size_t piece_;
  std::size_t trial_ = piece_;   ///< bytes that a trial takes
  double driver_ = 0, pump_ = 0; ///< bytes a second; 0: not known
  unsigned tries_ = 0;           ///< by pump
  std::size_t since_ = 0;        ///< bytes that went the faster way since the slower one was tried
};

} // namespace libsplit::runtime
