#include "runtime/device/accesses.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace libsplit::runtime {

/// Whether work that uses a copy so must wait for `before`, which uses the same copy.
bool Accesses::conflicts(const BufferAccess& before, const ByteSet& reads,
                         const ByteSet& writes) const {
  if (before.writes.empty() && writes.empty())
    return false;
  return sets_.intersects(before.writes, reads) || sets_.intersects(before.writes, writes) ||
         sets_.intersects(before.reads, writes);
}

bool Accesses::usesAny(const BufferAccess& access, const ByteSet& bytes) const {
  return sets_.intersects(access.reads, bytes) || sets_.intersects(access.writes, bytes);
}

void Accesses::collect(NodeId node, const ByteSet& reads, const ByteSet& writes,
                       std::vector<CompletionPtr>& after) const {
  for (const BufferAccess& access : accesses_)
    if (!access.done->succeeded() &&
        (access.node == node ? conflicts(access, reads, writes)
                             : access.mayBeRepeated && !writes.empty() && usesAny(access, writes)))
      after.push_back(access.done);
}

void Accesses::collectForArrival(NodeId node, const ByteSet& bytes,
                                 std::vector<CompletionPtr>& after) const {
  for (const BufferAccess& access : accesses_)
    if (access.node == node && !access.done->succeeded() && conflicts(access, {}, bytes))
      after.push_back(access.done);
}

bool Accesses::arrives(NodeId node, const ByteSet& bytes) const {
  return std::ranges::any_of(accesses_, [&](const BufferAccess& access) {
    return access.node == node && !access.mayBeRepeated && access.writes.intersects(bytes) &&
           !access.done->poll();
  });
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

void Accesses::add(BufferAccess access) {
  forgetDone();
  accesses_.push_back(std::move(access));
}

void Accesses::addBehind(BufferAccess access, std::size_t& earlier) {
  if (!access.writes.empty()) {
    const auto begin = accesses_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(earlier);
    // What uses no byte nobody waits for; but the copy must not go before it.
    const auto isCovered = [&](const BufferAccess& before) {
      return before.node == access.node && !(before.reads.empty() && before.writes.empty()) &&
             sets_.contains(access.writes, before.writes) &&
             sets_.contains(access.writes, before.reads);
    };
    const auto left = std::remove_if(begin, end, isCovered);
    earlier = static_cast<std::size_t>(left - begin);
    accesses_.erase(left, end);
  }
  accesses_.push_back(std::move(access));
}

bool Accesses::isIdle(NodeId node, const ByteSet& bytes, bool writes) const {
  return std::ranges::none_of(accesses_, [&](const BufferAccess& access) {
    // Nobody else may ask what became of what was sent ahead in vain.
    return access.node == node &&
           (sets_.intersects(access.writes, bytes) ||
            (writes && sets_.intersects(access.reads, bytes))) &&
           !(access.done->poll() && access.done->succeeded());
  });
}

} // namespace libsplit::runtime
