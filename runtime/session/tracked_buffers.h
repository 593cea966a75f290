// The buffers whose bytes are kept book of.
#pragma once

#include "runtime/device/memory.h"
#include "runtime/session/shared.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
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
    std::erase_if(all_, [](const Tracked& each) { return each.buffer.expired(); });
    all_.emplace_back(buffer);
  }
  /// Keeps no book any more of those of `buffers`, which are all, that are not engaged.
  void forgetLetGo(const std::vector<std::shared_ptr<Buffer>>& buffers) noexcept {
    all_.clear();
    for (const std::shared_ptr<Buffer>& each : buffers)
      if (each->engaged())
        all_.emplace_back(*each); // for which there is room
  }
  /// Those that there still are, to be let go of without the lock.
  std::vector<std::shared_ptr<Buffer>> buffers() const {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const Tracked& each : all_)
      if (auto buffer = each.buffer.lock())
        buffers.push_back(std::move(buffer));
    return buffers;
  }
  /// Sizes of those that the device works on copies of, or would.
  std::uint64_t bytesCopiedTo(std::size_t device) const {
    std::uint64_t bytes = 0;
    for (const Tracked& each : all_)
      if ((each.isPooled || device != machine_->home()) && !each.buffer.expired())
        bytes += each.size;
    return bytes;
  }

  /// Nobody but `user` may touch these until it has left them: it works on them step by step.
  void reserve(const void* user, const std::vector<std::shared_ptr<Buffer>>& buffers) {
    reserved_[user] = buffers;
  }
  void leave(const void* user) { reserved_.erase(user); }
  bool isReserved(const std::shared_ptr<Buffer>& buffer) const {
    return std::ranges::any_of(reserved_, [&](const auto& entry) {
      return std::ranges::find(entry.second, buffer) != entry.second.end();
    });
  }
  bool isAnyReserved() const { return !reserved_.empty(); }

private:
  struct Tracked {
    explicit Tracked(Buffer& of)
        : buffer(of.weak_from_this()), size(of.size()), isPooled(of.pooled() != nullptr) {}
    std::weak_ptr<Buffer> buffer;
    std::uint64_t size;
    bool isPooled;
  };

  const std::unique_ptr<Machine>& machine_;
  std::vector<Tracked> all_; ///< perhaps with some that are gone
  std::map<const void*, std::vector<std::shared_ptr<Buffer>>> reserved_; ///< by user
};

} // namespace libsplit::runtime
