#include "runtime/cost/launch_ends.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libsplit::runtime {

std::optional<double> LaunchEnds::took(const Launch& launch) {
  const bool isNext = launch.number == lastNumber_ + 1 && launch.task == lastTask_ + 1;
  lastNumber_ = 0; // until its end is known
  double end = launch.called;
  for (const End& each : launch.ends) {
    lags_.resize(std::max(lags_.size(), each.device + 1));
    Latest<16>& lags = lags_[each.device];
    if (launch.isSeen && std::isfinite(each.seconds))
      lags.note(launch.noticed - each.seconds);
    if (lags.known().empty() || !std::isfinite(each.seconds))
      return std::nullopt;
    end = std::max(end, each.seconds + lags.quantile(0));
  }
  end = std::min(end, launch.noticed);
  lastNumber_ = launch.number;
  lastTask_ = launch.task;
  const double before = std::exchange(lastEnd_, end);
  if (!isNext)
    return std::nullopt;
  return std::max(0.0, end - std::max(before, launch.called));
}

} // namespace libsplit::runtime
