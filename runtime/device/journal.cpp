#include "runtime/device/journal.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

bool mayHaveBegun(const CompletionPtr& done) {
  return done->outcome() == Outcome::Succeeded || done->outcome() == Outcome::Failed;
}

bool isSame(const Directory::State& a, const Directory::State& b) {
  return std::ranges::equal(a, b, [](const ByteSet& x, const ByteSet& y) { return x.isSame(y); });
}

} // namespace

bool Journal::Item::succeeded() const {
  return std::ranges::all_of(done, [](const CompletionPtr& each) { return each->succeeded(); });
}

bool Journal::Entry::succeeded() const {
  return std::ranges::all_of(items, &Item::succeeded);
}

Journal::Entry& Journal::entryOf(const Directory::State& before) {
  auto isOfThese = [&](const Entry& entry) { return isSame(entry.before, before); };
  while (!entries_.empty() && entries_.front().succeeded() && !isOfThese(entries_.front()))
    entries_.pop_front();
  if (entries_.empty() || !isOfThese(entries_.back()))
    entries_.push_back({before, {}});
  return entries_.back();
}

void Journal::note(const Directory::State& before, Effect effect, NodeId node, ByteSet bytes,
                   std::vector<CompletionPtr> done) {
  entryOf(before).items.push_back({effect, node, std::move(bytes), std::move(done)});
}

void Journal::note(const Directory::State& before, std::vector<Item> items) {
  while (!entries_.empty() && entries_.front().succeeded())
    entries_.pop_front();
  entries_.push_back({before, std::move(items)});
}

void Journal::collect(std::vector<CompletionPtr>& pending) const {
  for (const Entry& entry : entries_)
    for (const Item& item : entry.items)
      pending.insert(pending.end(), item.done.begin(), item.done.end());
}

bool Journal::settle(Directory& directory) {
  const std::deque<Entry> entries = std::exchange(entries_, {});
  if (std::ranges::all_of(entries, &Entry::succeeded))
    return false;
  directory.restore(entries.front().before);
  for (const Entry& entry : entries)
    for (const Item& item : entry.items) {
      const bool whole = item.succeeded();
      const bool partly = std::ranges::any_of(item.done, mayHaveBegun);
      if (whole && item.effect == Effect::Arrives)
        directory.confirm(item.node, item.bytes);
      else if ((whole && item.effect == Effect::Writes) ||
               (partly && item.effect == Effect::Overwrites))
        directory.wrote(item.node, item.bytes);
      else if (partly)
        directory.spoiled(item.node, item.bytes);
    }
  return true;
}

} // namespace libsplit::runtime
