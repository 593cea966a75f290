// The program's contexts.
#pragma once

#include "runtime/session/shared.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace libsplit::runtime {

/// Any thread, without the session's lock.
class Contexts {
public:
  explicit Contexts(Shared& shared) : shared_(shared) {}

  void created(cl_context context) {
    const Lock lock(shared_.mutex);
    references_[context] = 1;
  }
  void retained(cl_context context) {
    const Lock lock(shared_.mutex);
    if (auto found = references_.find(context); found != references_.end())
      ++found->second;
  }
  /// Whether that was the last of its references.
  bool released(cl_context context) {
    const Lock lock(shared_.mutex);
    auto found = references_.find(context);
    if (found == references_.end() || --found->second > 0)
      return false;
    references_.erase(found);
    return true;
  }
  /// So many there are. With the lock.
  std::size_t count() const { return references_.size(); }
  /// Null if it is one of the program's that is gone. The machine's own are there always.
  Ref<cl_context> retainIfAlive(cl_context context) const {
    const Lock lock(shared_.mutex);
    const bool isOwn = shared_.machine &&
                       std::ranges::any_of(shared_.machine->devices(), [&](const Device& device) {
                         return device.context.get() == context;
                       });
    return isOwn || references_.contains(context) ? Ref<cl_context>::retain(shared_.cl, context)
                                                  : Ref<cl_context>();
  }

private:
  Shared& shared_;
  std::unordered_map<cl_context, int> references_; ///< the program's
};

} // namespace libsplit::runtime
