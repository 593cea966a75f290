// What the parts of a session have in common.
#pragma once

#include "runtime/device/machine.h"
#include "runtime/session/stats.h"
#include "runtime/session/tracer.h"

#include <memory>

namespace libsplit::runtime {

/// Under the session's lock; the dispatch table never changes. Outlives the parts.
struct Shared {
  explicit Shared(const Dispatch& table) : cl(table) {}

  const Dispatch& cl;
  std::unique_ptr<Machine> machine; ///< null until the first kernel is made ready
  Stats stats;
  Tracer tracer;
  bool mayHaveLost = false; ///< a device that failed may have had sole copies
};

} // namespace libsplit::runtime
