// What the session's parts have in common.
#pragma once

#include "runtime/core/options.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/device/machine.h"
#include "runtime/session/stats.h"
#include "runtime/session/tracer.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace libsplit::runtime {

/// Under `mutex`, but for what never changes and what is atomic. Outlives the parts.
struct Shared {
  explicit Shared(const Dispatch& table, Options with = {}) : cl(table), options(std::move(with)) {}

  const Dispatch& cl;
  const Options options;
  std::mutex mutex;                 ///< the session's lock
  std::condition_variable progress; ///< a task retired, a kernel got ready
  std::atomic<bool> ending{false};  ///< the process is about to end
  cl_device_id home = nullptr;      ///< the device of the program's first queue
  std::unique_ptr<Machine> machine; ///< null until the first kernel is made ready; then it stays
  std::unique_ptr<KnownSpeeds> knownSpeeds; ///< made with the machine
  Stats stats;
  Tracer tracer;
  bool mayHaveLost = false; ///< a device that failed may have had sole copies
};

} // namespace libsplit::runtime
