#include "runtime/core/program_wait.h"

namespace libsplit::runtime {

namespace {
/// In the threads' static block, as in callback_scope.cpp.
[[gnu::tls_model("initial-exec")]] constinit thread_local ProgramWait::OfThread ofThread;
} // namespace

ProgramWait::ProgramWait(std::atomic<std::uint64_t>& counter, bool waits) : waits_(waits) {
  if (waits)
    ++counter;
}

ProgramWait::~ProgramWait() {
  if (!waits_)
    return;
  ++ofThread.waits;
  ofThread.end = std::chrono::steady_clock::now();
}

const ProgramWait::OfThread& ProgramWait::ofThisThread() {
  return ofThread;
}

} // namespace libsplit::runtime
