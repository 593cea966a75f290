#include "runtime/cost/contents_budget.h"

#include <algorithm>

namespace libsplit::runtime {

bool ContentsBudget::pays(double launchSeconds) {
  if (resting_ > 0) {
    --resting_;
    return false;
  }
  constexpr unsigned trials = 2;
  const double perLaunch =
      seconds_ / static_cast<double>(std::max<std::uint64_t>(fetches_ + reuses_, 1));
  if (fetches_ >= trials && launchSeconds > 0 && perLaunch > affordable_ * launchSeconds) {
    resting_ = rest_;
    rest_ = std::min(2 * rest_, 1024U);
    seconds_ = 0;
    reuses_ = fetches_ = 0;
    return false;
  }
  ++fetches_;
  return true;
}

} // namespace libsplit::runtime
