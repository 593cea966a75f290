#include "runtime/cost/plan_memo.h"

#include <algorithm>
#include <functional>

namespace libsplit::runtime {

namespace {

void note(const Expr& expr, std::vector<bool>& deciding) {
  if (expr.op() == Expr::Op::Argument && expr.index() < deciding.size())
    deciding[expr.index()] = true;
  for (const Expr& operand : expr.operands())
    note(operand, deciding);
}

/// A plan without any ranges takes some memory, too.
constexpr std::size_t leastWeight = 32;

std::size_t weightOf(const MadePlan& made) {
  std::size_t weight = leastWeight;
  if (!made.plan)
    return weight;
  for (const Piece& piece : made.plan->pieces)
    for (const PieceUse& use : piece.uses)
      weight += use.needs.ranges().size() + use.writes.ranges().size() +
                use.merged.ranges().size() + use.rewrites.ranges().size();
  for (const Merge& merge : made.plan->merges) {
    weight += merge.bytes.ranges().size();
    for (const Merge::Part& part : merge.parts)
      weight += part.bytes.ranges().size();
  }
  return weight;
}

} // namespace

std::vector<bool> decidingScalars(const KernelSummary& summary) {
  std::vector<bool> deciding(summary.parameters.size());
  for (const Access& access : summary.accesses) {
    note(access.offset, deciding);
    for (const Guard& guard : access.guards) {
      note(guard.left, deciding);
      note(guard.right, deciding);
    }
    for (const Loop& loop : access.loops)
      note(loop.count, deciding);
  }
  return deciding;
}

std::size_t PlanMemo::Hash::operator()(const PlanKey& key) const {
  std::size_t hash = key.withoutInspections;
  auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15 + 1; };
  for (const auto& list : {key.range.global, key.range.local, key.range.offset})
    for (const std::uint64_t value : list)
      mix(value);
  for (const std::byte each : key.values)
    mix(std::to_integer<std::size_t>(each));
  for (const auto& list : {std::cref(key.sizes), std::cref(key.groups), std::cref(key.versions)})
    for (const std::uint64_t value : list.get())
      mix(value);
  return hash;
}

const MadePlan* PlanMemo::find(const PlanKey& key) {
  if (!uses_.empty() && uses_.front()->first == key) // as it mostly is
    return &uses_.front()->second.made;
  const auto found = entries_.find(key);
  if (found == entries_.end())
    return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second.use);
  return &found->second.made;
}

void PlanMemo::keep(PlanKey key, MadePlan made) {
  const std::size_t weight = weightOf(made);
  const auto [entry, isNew] = entries_.try_emplace(std::move(key));
  if (isNew) {
    uses_.push_front(&*entry);
    entry->second.use = uses_.begin();
  }
  weight_ += weight - std::exchange(entry->second.weight, weight);
  entry->second.made = std::move(made);
  while (weight_ > capacity && entries_.size() > always) {
    const auto oldest = entries_.find(uses_.back()->first);
    weight_ -= oldest->second.weight;
    uses_.pop_back();
    entries_.erase(oldest);
  }
}

} // namespace libsplit::runtime
