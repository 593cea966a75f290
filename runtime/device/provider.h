// Has provisions made, by a thread that holds no lock.
#pragma once

#include "runtime/core/worker.h"
#include "runtime/device/provision.h"

#include <functional>
#include <utility>
#include <vector>

namespace libsplit::runtime {

class Provider {
public:
  /// `made` is called by that thread whenever some have been made, or can't be.
  explicit Provider(std::function<void()> made) : made_(std::move(made)) {}

  /// Has those made that nobody else has. The ends of all, which may have failed already. Under the
  /// session's lock.
  std::vector<CompletionPtr> provide(const Provisions& pending);

private:
  const std::function<void()> made_;
  Worker worker_;
};

} // namespace libsplit::runtime
