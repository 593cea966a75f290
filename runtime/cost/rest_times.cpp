#include "runtime/cost/rest_times.h"

#include <algorithm>

namespace libsplit::runtime {

void RestTimes::passed(bool wasSplit, double seconds) {
  (wasSplit ? split_ : home_).note(seconds);
}

double RestTimes::leastAfterSplit() const {
  return split_.known().size() < least ? 0 : split_.quantile(0);
}

double RestTimes::mostSplitCosts() const {
  return home_.known().size() < least ? leastAfterSplit() : splitCosts();
}

double RestTimes::splitCosts() const {
  return home_.known().size() < least ? 0 : std::max(0.0, leastAfterSplit() - home_.quantile(0.5));
}

} // namespace libsplit::runtime
