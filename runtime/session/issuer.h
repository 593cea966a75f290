// Hands instructions to the devices' lanes on behalf of tasks.
#pragma once

#include "runtime/session/shared.h"
#include "runtime/session/stream.h"

namespace libsplit::runtime {

/// Under the session's lock.
class Issuer {
public:
  explicit Issuer(Shared& shared) : cl_(shared.cl), machine_(shared.machine) {}

  /// Behind what the task comes after, by the lane of the device's kernels or another one of its;
  /// one more part of the task.
  void issue(Task& task, std::size_t device, Instruction&& instruction);
  void issue(Task& task, std::size_t device, Lane& lane, Instruction&& instruction);
  /// What the times of the task's event begin or end with, if it is asked for times.
  void issueMarkers(Task& task, bool atBegin);

private:
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
};

} // namespace libsplit::runtime
