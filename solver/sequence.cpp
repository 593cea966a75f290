#include "solver/sequence.h"

#include "solver/ranges.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace libsplit::solver {

/// Whether the last launches were like those a period before, so often as to count.
bool CycleDetector::repeatsAfter(std::size_t period) const {
  if (count_ < repeats * period)
    return false;
  for (std::size_t before = 0; before < (repeats - 1) * period; ++before)
    if (past(before) != past(before + period))
      return false;
  return true;
}

std::size_t CycleDetector::next(std::uint64_t id) {
  ids_[count_ % capacity] = id;
  ++count_;
  if (period_ > 0 && past(period_) == id)
    return period_;
  period_ = 0;
  for (std::size_t period = 1; period <= longest; ++period)
    if (repeatsAfter(period))
      return period_ = period;
  return 0;
}

namespace {

using Cuts = std::vector<double>; // of all kernels: kernel k's inner cuts at k * (devices - 1)

class Cycle {
public:
  Cycle(std::span<const LoadProfile> kernels, std::span<const CycleLink> links)
      : kernels_(kernels), links_(kernels.size()), devices_(kernels.front().fixed.size()),
        inner_(devices_ - 1) {
    for (const CycleLink& link : links)
      links_[link.to].push_back(link);
  }

  std::size_t size() const { return kernels_.size() * inner_; }
  std::size_t inner() const { return inner_; }
  std::size_t kernels() const { return kernels_.size(); }

  double cut(const Cuts& cuts, std::size_t kernel, std::size_t i) const {
    return i == 0 ? 0 : i == devices_ ? 1 : cuts[kernel * inner_ + i - 1];
  }

  double kernelSeconds(const Cuts& cuts, std::size_t k) const {
    double longest = 0;
    for (std::size_t d = 0; d < devices_; ++d) {
      const double begin = cut(cuts, k, d);
      const double end = cut(cuts, k, d + 1);
      if (end - begin < 1e-9)
        continue;
      double seconds = kernels_[k].seconds(d, begin, end);
      for (const CycleLink& link : links_[k])
        seconds += link.secondsPerUnit *
                   newPart(begin, end, cut(cuts, link.from, d), cut(cuts, link.from, d + 1));
      longest = std::max(longest, seconds);
    }
    return longest;
  }

  double seconds(const Cuts& cuts) const {
    double sum = 0;
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      sum += kernelSeconds(cuts, k);
    return sum;
  }

  Cuts cutsOf(const std::vector<std::vector<double>>& shares) const {
    Cuts cuts;
    for (const auto& of : shares) {
      double at = 0;
      for (std::size_t d = 0; d < inner_; ++d)
        cuts.push_back(at = std::min(1.0, at + of[d]));
    }
    return cuts;
  }

  std::vector<std::vector<double>> sharesOf(const Cuts& cuts) const {
    std::vector<std::vector<double>> shares(kernels_.size());
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (std::size_t d = 0; d < devices_; ++d)
        shares[k].push_back(std::max(0.0, cut(cuts, k, d + 1) - cut(cuts, k, d)));
    return shares;
  }

private:
  std::span<const LoadProfile> kernels_;
  std::vector<std::vector<CycleLink>> links_; ///< by the kernel that reads
  std::size_t devices_;
  std::size_t inner_;
};

struct Step {
  std::size_t cut = 0;
  double weight = 1;
};

/// Moves cuts along a line, each by its weight, as far as their neighbours allow, to where the
/// cycle is shortest: by steps that grow while they help and shrink where they don't.
double descend(const Cycle& cycle, Cuts& cuts, std::span<const Step> line, double best,
               bool looksAround) {
  const std::size_t inner = cycle.inner();
  // Orders of neighbours, 0 and 1 among them, that must hold at every offset.
  double down = -1e9;
  double up = 1e9;
  auto keepOrder = [&](double gap, double closing) { // gap - offset * closing >= 0
    if (closing > 1e-12)
      up = std::min(up, gap / closing);
    else if (closing < -1e-12)
      down = std::max(down, gap / closing);
  };
  auto weightOf = [&](std::size_t cut) {
    for (const Step& step : line)
      if (step.cut == cut)
        return step.weight;
    return 0.0;
  };
  for (const auto& [cut, weight] : line) {
    const bool isFirst = cut % inner == 0;
    const bool isLast = cut % inner + 1 == inner;
    keepOrder(cuts[cut] - (isFirst ? 0 : cuts[cut - 1]),
              (isFirst ? 0 : weightOf(cut - 1)) - weight);
    keepOrder((isLast ? 1 : cuts[cut + 1]) - cuts[cut], weight - (isLast ? 0 : weightOf(cut + 1)));
  }
  if (!(down < up) || up - down > 1e8)
    return best;
  Cuts tried = cuts;
  auto moveTo = [&](double offset, Cuts& moved) {
    for (const auto& [cut, weight] : line)
      moved[cut] = std::clamp(cuts[cut] + offset * weight, 0.0, 1.0);
  };
  auto secondsAt = [&](double offset) {
    moveTo(offset, tried);
    return cycle.seconds(tried);
  };
  double at = 0;
  // Not convex where a device drops out or ranges no longer meet.
  constexpr int looks = 16;
  for (int i = 0; looksAround && i <= looks; ++i) {
    const double offset = down + (up - down) * i / looks;
    const double seconds = secondsAt(offset);
    if (seconds < best * (1 - 1e-9)) {
      best = seconds;
      at = offset;
    }
  }
  double step = (up - down) / looks;
  while (std::abs(step) > 1e-5 * (up - down)) {
    const double next = std::clamp(at + step, down, up);
    const double seconds = next == at ? best : secondsAt(next);
    const bool helps = seconds < best * (1 - 1e-9);
    if (helps) {
      best = seconds;
      at = next;
    }
    step *= helps ? 1.5 : -0.5;
  }
  Cuts moved = cuts;
  moveTo(at, moved);
  cuts = std::move(moved);
  return best;
}

/// Reproducible numbers in [-1, 1); xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
class Directions {
public:
  double next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }

private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

/// All kernels' cuts of one place, which move together.
std::vector<Step> commonLine(const Cycle& cycle, std::size_t place) {
  std::vector<Step> line;
  for (std::size_t k = 0; k < cycle.kernels(); ++k)
    line.push_back({k * cycle.inner() + place, 1});
  return line;
}

/// Descent in rounds over all kernels' cuts of one place.
double searchTogether(const Cycle& cycle, Cuts& cuts) {
  constexpr int maxRounds = 4;
  double best = cycle.seconds(cuts);
  for (int round = 0; round < maxRounds; ++round) {
    const double before = best;
    for (std::size_t place = 0; place < cycle.inner(); ++place)
      best = descend(cycle, cuts, commonLine(cycle, place), best, round == 0);
    if (best > before * (1 - 1e-3))
      break;
  }
  return best;
}

/// Descent in rounds over single cuts, over all kernels' cuts of one place, and over lines in any
/// direction: the cycle's length has kinks that neither of the former can follow.
double search(const Cycle& cycle, Cuts& cuts) {
  constexpr int maxRounds = 12;
  constexpr std::size_t linesPerCut = 4;
  Directions directions;
  double best = cycle.seconds(cuts);
  std::vector<Step> line;
  for (int round = 0; round < maxRounds; ++round) {
    const double before = best;
    for (std::size_t place = 0; place < cycle.inner(); ++place) {
      line = commonLine(cycle, place);
      for (const Step& single : line)
        best = descend(cycle, cuts, {&single, 1}, best, round == 0);
      best = descend(cycle, cuts, line, best, round == 0);
    }
    for (std::size_t i = 0; i < linesPerCut * cycle.size(); ++i) {
      line.clear();
      for (std::size_t cut = 0; cut < cycle.size(); ++cut)
        line.push_back({cut, directions.next()});
      best = descend(cycle, cuts, line, best, false);
    }
    if (best > before * (1 - 1e-3))
      break;
  }
  return best;
}

/// With more of them a descent over each takes too long.
constexpr std::size_t mostSingleCuts = 24;

bool fit(std::span<const LoadProfile> kernels, const std::vector<std::vector<double>>& shares) {
  if (kernels.empty() || shares.size() != kernels.size() || kernels.front().fixed.empty())
    return false;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (kernels[k].fixed.size() != kernels.front().fixed.size() ||
        kernels[k].whole.size() != kernels[k].fixed.size() ||
        shares[k].size() != kernels[k].fixed.size())
      return false;
  return true;
}

} // namespace

double cycleSeconds(std::span<const LoadProfile> kernels, std::span<const CycleLink> links,
                    const std::vector<std::vector<double>>& shares) {
  if (!fit(kernels, shares))
    return 0;
  const Cycle cycle(kernels, links);
  return cycle.seconds(cycle.cutsOf(shares));
}

CycleShares balanceCycle(std::span<const LoadProfile> kernels, std::span<const CycleLink> links,
                         const std::vector<std::vector<double>>& own) {
  CycleShares answer{own, 0};
  if (!fit(kernels, own))
    return answer;
  const Cycle cycle(kernels, links);
  Cuts best = cycle.cutsOf(own);
  answer.seconds = cycle.seconds(best);
  if (cycle.inner() == 0)
    return answer;
  if (cycle.size() > mostSingleCuts) {
    // From the cuts of one kernel that suit all best, or from each its own.
    Cuts start = best;
    double least = answer.seconds;
    std::set<std::vector<double>> tried;
    for (const std::vector<double>& shares : own) {
      if (!tried.insert(shares).second)
        continue;
      Cuts cuts = cycle.cutsOf(std::vector<std::vector<double>>(kernels.size(), shares));
      if (const double seconds = cycle.seconds(cuts); seconds < least) {
        least = seconds;
        start = std::move(cuts);
      }
    }
    answer.seconds = std::min(answer.seconds, searchTogether(cycle, start));
    answer.shares = cycle.sharesOf(start);
    return answer;
  }
  auto consider = [&](Cuts cuts) {
    const double seconds = search(cycle, cuts);
    if (seconds < answer.seconds) {
      answer.seconds = seconds;
      best = std::move(cuts);
    }
  };
  consider(best);
  for (std::size_t k = 0; k < kernels.size(); ++k) // all as kernel k alone would have it
    consider(cycle.cutsOf(std::vector<std::vector<double>>(kernels.size(), own[k])));
  // A device that gets nothing saves its fixed cost and its moving: no descent leads there.
  const std::size_t devices = own.front().size();
  for (std::size_t d = 0; d < devices; ++d) {
    std::vector<double> alone(devices);
    alone[d] = 1;
    consider(cycle.cutsOf(std::vector<std::vector<double>>(kernels.size(), alone)));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      for (auto shares : {cycle.sharesOf(best), own}) {
        shares[k] = alone;
        consider(cycle.cutsOf(shares));
      }
    }
  }
  answer.shares = cycle.sharesOf(best);
  return answer;
}

} // namespace libsplit::solver
