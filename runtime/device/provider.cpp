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
  if (mine.empty())
    return ends;
  auto make = [this, mine] {
    for (const auto& each : mine)
      each->make();
    made_();
  };
  if (!worker_.post(make))
    for (const auto& each : mine)
      each->giveUp();
  return ends;
}

} // namespace libsplit::runtime
