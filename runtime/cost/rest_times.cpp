#include "runtime/cost/rest_times.h"

#include <algorithm>

namespace libsplit::runtime {

void RestTimes::passed(bool wasSplit, double seconds) {
  Times& times = wasSplit ? split_ : home_;
  times.seconds[times.count++ % most] = seconds;
}

double RestTimes::leastAfterSplit() const {
  return split_.size() < least
             ? 0
             : *std::min_element(split_.seconds.begin(), split_.seconds.begin() + split_.size());
}

double RestTimes::mostSplitCosts() const {
  return home_.size() < least ? leastAfterSplit() : splitCosts();
}

double RestTimes::splitCosts() const {
  if (home_.size() < least)
    return 0;
  auto home = home_.seconds;
  auto* const end = home.begin() + home_.size();
  auto* const median = home.begin() + home_.size() / 2;
  std::nth_element(home.begin(), median, end);
  return std::max(0.0, leastAfterSplit() - *median);
}

} // namespace libsplit::runtime
