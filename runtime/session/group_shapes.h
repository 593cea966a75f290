// How large the work-groups of launches are that leave the local size open: which sizes are tried
// is cost/shape_search.h's to say, and this is when, on what, and what came of it.
//
// Only GPUs are concerned. Drivers of CPUs compile a kernel for each size, some to code that
// rounds differently; and only kernels whose result does not depend on the size.
#pragma once

#include "runtime/plan/piece_range.h"
#include "runtime/session/command.h"
#include "runtime/session/launch.h"
#include "runtime/session/shared.h"
#include "runtime/session/stream.h"

#include <memory>
#include <optional>
#include <span>

namespace libsplit::runtime {

/// What work-groups of a kernel's launches may have on all devices.
GroupLimits groupLimits(const KernelCode& code, std::span<const Device> devices);

/// Under the session's lock.
class GroupShapes {
public:
  explicit GroupShapes(Shared& shared)
      : shared_(shared), options_(shared.options), machine_(shared.machine) {}

  /// It is decided what becomes of the launch: it may have to try a size, and be timed, or not to
  /// go to the driver as it came. `mayHoldUp`: also if that makes those wait longer behind it.
  void decide(Launch& launch, bool mayHoldUp) const;
  /// Whether the launch, if it is timed at home, makes those wait longer that come behind it.
  bool holdsUp(const Launch& launch) const;
  /// The size of the work-groups that it has there. `isWhole`: all of it, on the program's device.
  GroupShape of(const Launch& launch, const Device& device, bool isWhole) const;
  /// Whether a launch at home is to be looked at however short it is, since it should not go to the
  /// driver as it came.
  bool needsParts(KernelCode& code, const NDRange& range, bool localGiven) const;
  /// The whole of a launch on the program's own device, in one part; nothing: as it came.
  std::optional<EnqueuedRange> atHome(KernelCode& code, const NDRange& range, bool localGiven,
                                      const Stream& stream) const;
  std::optional<EnqueuedRange> atHome(const Kernel& kernel, const LaunchArguments& arguments,
                                      const Stream& stream) const;
  /// The launch is over, and nobody knows what it took.
  void pass(const Launch& launch) const;
  /// The launch is over, and was timed.
  void observe(const Launch& launch) const;

private:
  ShapeSearches::Key keyOf(KernelCode& code, const NDRange& range, const std::string& name,
                           std::size_t device, bool isWhole) const;
  ShapeSearch::Limits limitsOf(const KernelCode& code, const NDRange& range,
                               std::size_t device) const;
  ShapeSearch& searchOf(const Launch& launch, const ShapeSearches::Key& key,
                        std::size_t device) const;
  std::optional<PieceRange> chosenAtHome(KernelCode& code, const NDRange& range) const;
  double partOf(const Launch& launch, unsigned kind) const;
  bool isReady(const KernelCode& code) const;
  bool isOpen(const Launch& launch) const;
  /// Calls `visit` with the first device of each kind of GPUs that can run the kernel, until that
  /// says that it is enough.
  template <class Visit> void ofEachKind(const KernelCode& code, Visit visit) const;
  void note(const Launch& launch, const ShapeSearches::Key& key, const ShapeSearch& search) const;
  void adopt(const Launch& launch, const ShapeSearches::Key& key, const GroupShape& before,
             const ShapeSearch& search, double gain) const;

  Shared& shared_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
};

} // namespace libsplit::runtime
