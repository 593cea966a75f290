// What planning a launch anew, or learning from one, may cost. Pure.
//
// Each share that the solver tries is another plan. Most take some microseconds; where conditions
// and divisions nest one takes a hundred milliseconds, and the launch perhaps one. So a launch
// whose shares alone have changed keeps those that it was planned with before, until its history
// has earned the planning: a part of what its launches take. Likewise, to fit the model of a load
// to one more launch takes as long as half a short one, and the thousandth that is as the others
// tells little.
//
// Launches that are timed at home hold up those behind them, and so do those that are split to see
// whether that pays. What that will cost is known better by how many the program launches between
// two waits than by what the last one held up.
//
// Worked example: plans of 100 ms, launches of 10 ms. After the first plan, 100 ms are owed and 100
// more are to be spent: launches 2 to 1000 go by its shares, for 2 % of 10 s. Fits of 50 us,
// launches of 250 us: each tenth is learnt from.
#pragma once

#include <algorithm>

namespace libsplit::runtime {

class PlanningBudget {
public:
  static constexpr double part = 0.02;

  /// A launch was observed.
  void earn(double seconds) { owned_ += part * seconds; }
  /// A plan was made, or something learnt, in the program's time.
  void spend(double seconds) {
    owned_ -= seconds;
    last_ = seconds;
  }
  /// One was made beside the program: now it is known what one takes.
  void seen(double seconds) { last_ = seconds; }
  bool affords() const { return last_ <= owned_; }
  /// What was earned beyond that is not kept.
  void keepAtMost(double seconds) { owned_ = std::min(owned_, seconds); }
  /// The same of what surely costs no more than that.
  bool affords(double most) const { return std::min(last_, most) <= owned_; }
  /// Seconds that may be spent.
  double left() const { return owned_; }

private:
  double owned_ = 0; ///< seconds
  double last_ = 0;  ///< that the last one took
};

} // namespace libsplit::runtime
