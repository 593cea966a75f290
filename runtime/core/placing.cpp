#include "runtime/core/placing.h"

#include <unistd.h>

namespace libsplit::runtime {

void Placing::begin() {
  thread_ = ::gettid();
}

void Placing::here() {
  const int processor = ::sched_getcpu();
  if (isPlaced_ || thread_ == 0 || processor < 0 || processor >= CPU_SETSIZE ||
      ::sched_getaffinity(thread_, sizeof before_, &before_) != 0 ||
      !CPU_ISSET(static_cast<std::size_t>(processor), &before_))
    return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(processor), &only);
  isPlaced_ = ::sched_setaffinity(thread_, sizeof only, &only) == 0;
}

void Placing::lift() {
  if (isPlaced_)
    ::sched_setaffinity(thread_, sizeof before_, &before_);
  isPlaced_ = false;
}

} // namespace libsplit::runtime
