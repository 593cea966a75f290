// Host memory that bytes go through on their way from one memory node to another.
//
// What travels is cut into chunks (plan/strided_rows.h). Each takes a part of the ring, is written
// there by the node that it comes from, read by those that it goes to, and the part is free again
// once they are done: the next chunk that gets it waits for that, so that some chunks leave while
// others arrive. Every node that sends has a ring of its own, of a size that keeps its link busy
// and has nothing to do with the size of buffers.
//
// Worked example: a ring of 24 MiB, and 64 MiB to send in chunks of 8. The first three go to [0,8),
// [8,16) and [16,24). The fourth gets [0,8) again and may be written there once the first has
// arrived, while the second and the third are on their way.
//
// GPUs copy to and from pinned memory several times as fast as from other, so the ring is pinned if
// there is a GPU: by the driver of one, which is as good for all of them.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/device/host_block.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace libsplit::runtime {

/// One sender's ring. Not thread-safe.
class StagingRing {
public:
  /// A part of it.
  struct Part {
    std::byte* address = nullptr;
    /// The work that used it before: must be over before it is written to.
    std::vector<CompletionPtr> after;
  };

  explicit StagingRing(std::shared_ptr<HostBlock> block) : block_(std::move(block)) {}

  /// So many bytes travel at once at most. Three chunks, so that one leaves, one arrives, and one
  /// lies between them.
  std::size_t chunk() const { return block_->size() / 3; }
  /// `size` bytes, at most `chunk()`, which are `users`' until these are over.
  Part take(std::size_t size, std::vector<CompletionPtr> users);
  /// Whether the next part, if of that size, would wait for users that came since `noteIssued`.
  bool waitsForNew(std::size_t size) const;
  /// All users so far are issued: others may wait for them.
  void noteIssued();
  /// The memory, to be held on to by work that uses it.
  const std::shared_ptr<HostBlock>& block() const { return block_; }

private:
  struct User {
    std::size_t begin = 0, end = 0; ///< of the block
    std::vector<CompletionPtr> done;
    bool isNew = true; ///< perhaps not issued
    bool lies(std::size_t from, std::size_t to) const { return begin < to && from < end; }
  };
  std::size_t placeFor(std::size_t size) const;

  std::shared_ptr<HostBlock> block_;
  std::vector<User> users_; ///< the last ones of their parts
  std::size_t next_ = 0;    ///< byte of the block
};

} // namespace libsplit::runtime
