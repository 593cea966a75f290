#include "runtime/device/accesses.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Whether work that uses a copy so must wait for `before`, which uses the same copy.
bool conflicts(const BufferAccess& before, const ByteSet& reads, const ByteSet& writes) {
  return before.writes.intersects(reads) || before.writes.intersects(writes) ||
         before.reads.intersects(writes);
}

bool usesAny(const BufferAccess& access, const ByteSet& bytes) {
  return access.reads.intersects(bytes) || access.writes.intersects(bytes);
}

} // namespace

void Accesses::collect(NodeId node, const ByteSet& reads, const ByteSet& writes,
                       std::vector<CompletionPtr>& after) const {
  for (const BufferAccess& access : accesses_)
    if (access.node == node ? conflicts(access, reads, writes)
                            : access.mayBeRepeated && usesAny(access, writes))
      after.push_back(access.done);
}

void Accesses::collectAll(NodeId node, std::vector<CompletionPtr>& after) const {
  for (const BufferAccess& access : accesses_)
    if (access.node == node)
      after.push_back(access.done);
}

/// But for work that failed: others must still learn of it, until a recovery has dealt with it.
void Accesses::forgetDone() {
  std::erase_if(accesses_, [](const BufferAccess& each) { return each.done->succeeded(); });
}

void Accesses::add(std::vector<BufferAccess> accesses) {
  forgetDone();
  std::ranges::move(accesses, std::back_inserter(accesses_));
}

void Accesses::add(BufferAccess access) {
  forgetDone();
  accesses_.push_back(std::move(access));
}

bool Accesses::isIdle(NodeId node, const ByteSet& bytes, bool writes) const {
  return std::ranges::none_of(accesses_, [&](const BufferAccess& access) {
    // Nobody else may ask what became of what was sent ahead in vain.
    return access.node == node &&
           (access.writes.intersects(bytes) || (writes && access.reads.intersects(bytes))) &&
           !(access.done->poll() && access.done->succeeded());
  });
}

} // namespace libsplit::runtime
