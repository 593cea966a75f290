// The buffers whose bytes are kept book of.
#pragma once

#include "runtime/device/memory.h"
#include "runtime/session/shared.h"

#include <memory>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock.
class TrackedBuffers {
public:
  explicit TrackedBuffers(Shared& shared) : machine_(shared.machine) {}

  /// Keeps book of the buffer's bytes from now on.
  void track(Buffer& buffer) {
    if (buffer.engaged())
      return;
    buffer.engage(*machine_);
    std::erase_if(all_, [](const std::weak_ptr<Buffer>& each) { return each.expired(); });
    all_.push_back(buffer.weak_from_this());
  }
  /// Those that there still are.
  std::vector<std::shared_ptr<Buffer>> buffers() const {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const std::weak_ptr<Buffer>& each : all_)
      if (auto buffer = each.lock())
        buffers.push_back(std::move(buffer));
    return buffers;
  }

private:
  const std::unique_ptr<Machine>& machine_;
  std::vector<std::weak_ptr<Buffer>> all_; ///< perhaps with some that are gone
};

} // namespace libsplit::runtime
