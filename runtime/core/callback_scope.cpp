#include "runtime/core/callback_scope.h"

#include <utility>

namespace libsplit::runtime {

namespace {
/// In the threads' static block: LeakSanitizer stumbles over blocks of libraries that come late.
[[gnu::tls_model("initial-exec")]] thread_local bool isActive = false;
} // namespace

CallbackScope::CallbackScope() : before_(std::exchange(isActive, true)) {}

CallbackScope::~CallbackScope() {
  isActive = before_;
}

bool CallbackScope::active() {
  return isActive;
}

} // namespace libsplit::runtime
