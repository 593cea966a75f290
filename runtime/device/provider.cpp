#include "runtime/device/provider.h"

namespace libsplit::runtime {

std::vector<CompletionPtr> Provider::provide(const Provisions& pending) {
  std::vector<CompletionPtr> ends;
  Provisions mine;
  for (const auto& each : pending) {
    ends.push_back(each->done());
    if (each->claim())
      mine.push_back(each);
  }
  if (!mine.empty())
    worker_.post([this, mine = std::move(mine)] {
      for (const auto& each : mine)
        each->make();
      made_();
    });
  return ends;
}

} // namespace libsplit::runtime
