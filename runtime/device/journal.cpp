#include "runtime/device/journal.h"

#include <algorithm>
#include <span>
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

template <class Visit> void Journal::Entry::forEach(const Visit& visit) const {
  std::vector<CompletionPtr> done;
  if (changes)
    for (const Changes::Change& each : changes->each) {
      done.assign(1, ends->kernels[each.by]);
      for (const auto& [kernel, arrival] : ends->arrivals)
        if (kernel == each.by)
          done.push_back(arrival);
      visit(each.effect, each.node, each.bytes, std::span<const CompletionPtr>(done));
    }
  for (const Item& each : items)
    visit(each.effect, each.node, each.bytes, std::span<const CompletionPtr>(each.done));
}

bool Journal::Entry::succeeded() const {
  const auto isDone = [](const CompletionPtr& each) { return each->succeeded(); };
  return (!ends || (std::ranges::all_of(ends->kernels, isDone) &&
                    std::ranges::all_of(ends->arrivals, isDone,
                                        &std::pair<std::size_t, CompletionPtr>::second))) &&
         std::ranges::all_of(
             items, [&](const Item& item) { return std::ranges::all_of(item.done, isDone); });
}

/// What is known to have succeeded with all before it needs no putting right.
void Journal::forgetDone() {
  entries_.erase(entries_.begin(), std::ranges::find_if_not(entries_, &Entry::succeeded));
}

void Journal::note(const Directory::State& before, Effect effect, NodeId node, ByteSet bytes,
                   std::vector<CompletionPtr> done) {
  if (done.empty()) {
    forgetDone();
    if (entries_.empty())
      return; // nothing is left that could go back to before it
  }
  Item item{effect, node, std::move(bytes), std::move(done)};
  const auto isOfOneTransfer = [&](const Entry& last) {
    return effect == Effect::Arrives && !last.changes &&
           last.items.back().effect == Effect::Arrives && isSame(last.noted, before);
  };
  if (!entries_.empty() && isOfOneTransfer(entries_.back())) {
    entries_.back().items.push_back(std::move(item));
    return;
  }
  forgetDone();
  Entry& entry = entries_.emplace_back();
  entry.noted = before;
  entry.items.push_back(std::move(item));
}

void Journal::note(std::shared_ptr<const Changes> changes, std::shared_ptr<const Ends> ends) {
  forgetDone();
  Entry& entry = entries_.emplace_back();
  entry.changes = std::move(changes);
  entry.ends = std::move(ends);
}

void Journal::collect(std::vector<CompletionPtr>& pending) const {
  for (const Entry& entry : entries_)
    entry.forEach([&](Effect, NodeId, const ByteSet&, std::span<const CompletionPtr> done) {
      pending.insert(pending.end(), done.begin(), done.end());
    });
}

bool Journal::settle(Directory& directory) {
  const std::vector<Entry> entries = std::exchange(entries_, {});
  if (std::ranges::all_of(entries, &Entry::succeeded))
    return false;
  directory.restore(entries.front().before());
  for (const Entry& entry : entries)
    entry.forEach([&](Effect effect, NodeId node, const ByteSet& bytes,
                      std::span<const CompletionPtr> done) {
      const bool whole =
          std::ranges::all_of(done, [](const CompletionPtr& each) { return each->succeeded(); });
      const bool partly = done.empty() || std::ranges::any_of(done, mayHaveBegun);
      if (whole && effect == Effect::Arrives)
        directory.confirm(node, bytes);
      else if ((whole && effect == Effect::Writes) || (partly && effect == Effect::Overwrites))
        directory.wrote(node, bytes);
      else if (partly)
        directory.spoiled(node, bytes);
    });
  return true;
}

} // namespace libsplit::runtime
