#include "runtime/journal.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

bool succeeded(const CompletionPtr& done) {
  return done->over() && done->outcome() == Outcome::Succeeded;
}

bool mayHaveBegun(const CompletionPtr& done) {
  return done->outcome() == Outcome::Succeeded || done->outcome() == Outcome::Failed;
}

} // namespace

void Journal::note(const Directory::State& before, Effect effect, NodeId node, ByteSet bytes,
                   std::vector<CompletionPtr> done) {
  while (!entries_.empty() && std::ranges::all_of(entries_.front().done, succeeded))
    entries_.pop_front();
  entries_.push_back({before, effect, node, std::move(bytes), std::move(done)});
}

void Journal::collect(std::vector<CompletionPtr>& pending) const {
  for (const Entry& entry : entries_)
    pending.insert(pending.end(), entry.done.begin(), entry.done.end());
}

bool Journal::settle(Directory& directory) {
  const std::deque<Entry> entries = std::exchange(entries_, {});
  const bool wasRight = std::ranges::all_of(
      entries, [](const Entry& entry) { return std::ranges::all_of(entry.done, succeeded); });
  if (wasRight)
    return false;
  directory.restore(entries.front().before);
  for (const Entry& entry : entries) {
    const bool whole = std::ranges::all_of(entry.done, succeeded);
    const bool partly = std::ranges::any_of(entry.done, mayHaveBegun);
    if (whole && entry.effect == Effect::Arrives)
      directory.confirm(entry.node, entry.bytes);
    else if ((whole && entry.effect == Effect::Writes) ||
             (partly && entry.effect == Effect::Overwrites))
      directory.wrote(entry.node, entry.bytes);
    else if (partly)
      directory.spoiled(entry.node, entry.bytes);
  }
  return true;
}

} // namespace libsplit::runtime
