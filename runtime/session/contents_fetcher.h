// Gets what launches can't be planned without: bytes of buffers on the host, tables of their
// extremes, what inspectors find. contents.h tells when and why.
#pragma once

#include "runtime/core/worker.h"
#include "runtime/device/device_extremes.h"
#include "runtime/session/launch.h"
#include "runtime/session/mover.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace libsplit::runtime {

/// Under the session's lock, `mutex`.
class ContentsFetcher {
public:
  /// `found` is called with the lock when a task that waited can be planned again.
  ContentsFetcher(Shared& shared, std::mutex& mutex, Issuer& issuer, Mover& mover,
                  std::function<void()> found)
      : cl_(shared.cl), machine_(shared.machine), stats_(shared.stats), tracer_(shared.tracer),
        mutex_(mutex), issuer_(issuer), mover_(mover), found_(std::move(found)) {}

  /// Launches like it may want to know what buffers hold: begins to build what looks through them
  /// on the program's device, for which the first that is split would have to wait.
  void expect(const Launch& launch);
  /// Sets out to get what the launch's last planning lacked; it is planned again then. False if
  /// that can't be, or does not pay.
  bool fetch(Task& task, const std::shared_ptr<Launch>& launch);
  /// Whether the inspections that the launch's planning lacked are worth it. Asked once per launch.
  static bool inspectionsPay(Launch& launch);
  /// The program gave up `context`: drops what was made in it, which goes with the result.
  std::shared_ptr<const void> forget(cl_context context);
  /// Nothing begins any more, and what has begun is waited for so long; longer where a compiler is
  /// at work. Without the lock.
  void stop(double seconds) {
    worker_.stop(seconds);
    builder_.stop(std::max(seconds, untilBuilt));
  }

private:
  std::optional<std::size_t> deviceToLookThrough(const Buffer& buffer,
                                                 const ElementLayout& layout) const;
  std::shared_ptr<ExtremesKernel> extremesKernel(std::size_t device, cl_context context,
                                                 const ElementLayout& layout);
  std::shared_ptr<InspectionPass> issueInspection(Task& work, const Launch& launch,
                                                  const InspectionKey& key);

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Stats& stats_;
  Tracer& tracer_;
  std::mutex& mutex_;
  Issuer& issuer_;
  Mover& mover_;
  const std::function<void()> found_;
  /// By device, the program's context, and the elements' width and sign.
  std::map<std::tuple<std::size_t, cl_context, unsigned, bool>, std::shared_ptr<ExtremesKernel>>
      extremesKernels_;
  static constexpr double untilBuilt = 30; ///< seconds
  Worker worker_;                          ///< waits for contents, looks through them
  Worker builder_;                         ///< of those kernels
};

} // namespace libsplit::runtime
