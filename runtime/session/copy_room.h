// Gets devices the copies of buffers that a launch needs there: whole ones, or windows where there
// is not room enough (runtime/device/README.md).
//
// A window that no longer covers what the next launch touches is not grown but made anew: the bytes
// that the device has and home has not go home, all work on the copy ends, and only then is it
// given up. Until then the launch's task is parked, as it is while memory is made.
#pragma once

#include "runtime/device/provision.h"
#include "runtime/plan/windows.h"
#include "runtime/session/mover.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace libsplit::runtime {

class Program;
struct KernelCode;
struct Launch;

/// From the first byte that a piece reads or stores to the last.
ByteRange touchedBy(const PieceUse& use);
/// Whether the launch can be done on the device's windows, once their kernel's build is over.
bool canTakeWindows(const Launch& launch, std::size_t device);

/// Under the session's lock.
class CopyRoom {
public:
  /// Has the kernel built that takes windows on a device: over when that is done (KernelCode::
  /// windowed). Null if there is no thread for it.
  using Build = std::function<CompletionPtr(const std::shared_ptr<Program>&,
                                            const std::shared_ptr<KernelCode>&, std::size_t)>;

  CopyRoom(Shared& shared, Mover& mover, Build build)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), mover_(mover),
        build_(std::move(build)) {}

  /// Makes the launch's buffers exist on `device`, which has a memory of its own and is not home,
  /// for a piece that uses them so, or begins to; no `uses`: for any. If some is `pending`, it has
  /// to be asked again once that is over. Why not, if they can't; `launch.lacksRoom` is the device
  /// unless that may change.
  std::string reserve(Task& task, Launch& launch, std::size_t device,
                      std::span<const PieceUse> uses, Provisions& pending);

  /// Has the copy on `device` given up once nobody needs it: `There`, it is. What that device has
  /// alone goes to where the buffer's bytes are at home.
  Room release(Task& task, Buffer& buffer, std::size_t device, Provisions& pending);

private:
  bool areWhole(const Launch& launch, std::size_t device, Provisions& pending) const;
  std::vector<CopyWish> wishesOf(const Launch& launch, std::size_t device,
                                 std::span<const PieceUse> uses) const;
  WindowLimits limitsOf(std::size_t device, std::span<const CopyWish> wishes) const;
  std::string kernelFor(Launch& launch, std::size_t device, std::span<const ByteRange> chosen,
                        Provisions& pending);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Mover& mover_;
  const Build build_;
};

} // namespace libsplit::runtime
