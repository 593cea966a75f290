#include "analysis-pass/pass/access_collector.h"

#include <algorithm>

namespace libsplit {
namespace {

/// Evaluating more at every launch would cost more than it saves.
constexpr std::size_t maxAccesses = 4096;

Expr renumber(const Expr& expr, const std::vector<unsigned>& position) {
  if (expr.op() == Expr::Op::LoopVariable)
    return Expr::loop(position[expr.index()]);
  if (loopDepthUsed(expr) == 0)
    return expr;
  std::vector<Expr> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(renumber(operand, position));
  return expr.over(std::move(operands));
}

bool guardUsesLoop(const Guard& guard, unsigned depth) {
  return usesLoop(guard.left, depth) || usesLoop(guard.right, depth);
}

/// Whether the two differ at most in certainty, grain, what is written and line.
bool sameBytes(const Access& a, const Access& b) {
  return a.parameter == b.parameter && a.effect == b.effect && a.length == b.length &&
         a.update == b.update && a.offset == b.offset && sameConditions(a, b);
}

/// A certain write is none for this reason.
void doubt(Access& access, const std::string& why, unsigned line) {
  if (access.certain)
    access.doubt = {why, {{}, line == access.where.line ? 0 : line}};
  access.certain = false;
}

/// A count that depends on a loop whose own count is unknown is unknown too.
void dropUnknownLoops(Access& access, std::vector<LoopRuns>& loops) {
  for (unsigned d = 0; d < loops.size(); ++d) {
    if (!findUnknown(loops[d].count))
      continue;
    Expr unknown = *findUnknown(loops[d].count);
    for (unsigned inner = d + 1; inner < loops.size(); ++inner)
      if (usesLoop(loops[inner].count, d))
        loops[inner].count = unknown;
    if (usesLoop(access.offset, d))
      access.offset = unknown;
    auto dropped =
        std::erase_if(access.guards, [&](const Guard& guard) { return guardUsesLoop(guard, d); });
    if (dropped > 0 || !loops[d].atLeastOnce)
      doubt(access, unknown.text(), unknown.line());
  }
}

/// The loops whose variable is used or that may not run at all, and what their counts use.
std::vector<bool> neededLoops(const Access& access, const std::vector<LoopRuns>& loops) {
  std::vector<bool> keep(loops.size(), false);
  for (std::size_t i = loops.size(); i-- > 0;) {
    auto d = static_cast<unsigned>(i);
    if (findUnknown(loops[d].count))
      continue;
    bool used = usesLoop(access.offset, d) ||
                std::any_of(access.guards.begin(), access.guards.end(),
                            [&](const Guard& guard) { return guardUsesLoop(guard, d); });
    for (unsigned inner = d + 1; inner < loops.size(); ++inner)
      used |= keep[inner] && usesLoop(loops[inner].count, d);
    keep[d] = used || !loops[d].atLeastOnce;
  }
  return keep;
}

/// Gives the access those of its `loops` that are to be kept, counted anew.
void keepLoops(Access& access, const std::vector<LoopRuns>& loops, const std::vector<bool>& keep) {
  std::vector<unsigned> position(loops.size(), 0);
  for (unsigned d = 0; d < loops.size(); ++d) {
    if (!keep[d])
      continue;
    position[d] = static_cast<unsigned>(access.loops.size());
    if (!loops[d].exact)
      doubt(access, "a loop that may end early", 0);
    access.loops.push_back({renumber(loops[d].count, position), loops[d].exact});
    const LoopVariable& variable = loops[d].variable;
    bool known = !variable.name.empty();
    for (unsigned outer = 0; outer < d; ++outer)
      known &= keep[outer] || !(usesLoop(variable.first, outer) || usesLoop(variable.step, outer));
    if (known) {
      access.loops.back().name = variable.name;
      access.loops.back().first = renumber(variable.first, position);
      access.loops.back().step = renumber(variable.step, position);
    }
  }
  access.offset = renumber(access.offset, position);
  for (Guard& guard : access.guards) {
    guard.left = renumber(guard.left, position);
    guard.right = renumber(guard.right, position);
  }
}

} // namespace

std::vector<Access> AccessCollector::take() {
  if (accesses_.size() <= maxAccesses)
    return std::move(accesses_);
  std::vector<Access> summed;
  for (const Access& access : accesses_) {
    const auto known = std::ranges::find_if(summed, [&](const Access& other) {
      return other.parameter == access.parameter && other.effect == access.effect &&
             other.update == access.update;
    });
    if (known != summed.end()) {
      known->changes |= access.changes;
      continue;
    }
    Access& whole = summed.emplace_back();
    whole.parameter = access.parameter;
    whole.effect = access.effect;
    whole.update = access.update;
    whole.changes = access.changes;
    whole.length = std::max<std::uint64_t>(access.length, 1); // of none, nothing would be touched
    whole.offset = Expr::unknown("too many accesses", access.where.line);
    whole.where = access.where;
  }
  return summed;
}

void AccessCollector::add(Access access, const PathOfBlock& path) {
  if (!path.condition.exact)
    doubt(access, path.condition.doubt.text, path.condition.doubt.line);
  if (containsUnknown(access.offset))
    doubt(access, "its place is not known", 0);
  // The address is a number of 64 bits like any other.
  if (auto unknown = findUnknown(access.offset)) {
    access.offset = *unknown;
    access.length = std::max<std::uint64_t>(access.length, 1); // which may not be known, either
  } else {
    access.offset = viewed(access.offset, 64, View::Signed);
  }
  for (const auto& guards : path.condition.anyOf) {
    Access alternative = access;
    alternative.guards = guards;
    add(std::move(alternative), path.loops);
  }
}

void AccessCollector::add(Access access, std::vector<LoopRuns> loops) {
  // No inspection tells more of what does not depend on data.
  if (access.effect == Effect::Update || access.effect == Effect::Rewrite ||
      !elementThatVaries(access.offset))
    std::erase_if(access.guards, [](const Guard& guard) { return guard.isInspected; });

  dropUnknownLoops(access, loops);
  if (access.offset.op() == Expr::Op::Unknown) {
    access.certain = false;
    std::erase_if(access.guards, [](const Guard& guard) {
      return loopDepthUsed(guard.left) > 0 || loopDepthUsed(guard.right) > 0;
    });
    loops.clear();
  }
  keepLoops(access, loops, neededLoops(access, loops));

  // The text only makes the search short: it leaves out what `sameBytes` compares.
  std::vector<std::size_t>& candidates = known_[toString(access.offset)];
  for (std::size_t candidate : candidates)
    if (sameBytes(accesses_[candidate], access)) {
      accesses_[candidate].certain |= access.certain;
      accesses_[candidate].grain = std::min(accesses_[candidate].grain, access.grain);
      accesses_[candidate].changes |= access.changes;
      return;
    }
  candidates.push_back(accesses_.size());
  accesses_.push_back(std::move(access));
}

} // namespace libsplit
