#include "tests/simulator/model/launch_choice.h"

#include "tests/simulator/model/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace libsplit::simulator {

using solver::normalize;
using solver::view;

namespace {

constexpr double sameShare = 1e-9;
/// Evaluated again without news after so many times the launches.
constexpr double patience = 1.25;
/// Decisions after which an answer is not waited for any more.
constexpr std::uint64_t longestSilence = 4096;
/// What a device took alone is known for so many times the launches until then.
constexpr std::uint64_t fresh = 3;
/// Deviation of a speed from which on it is a guess.
constexpr double guess = 1;
/// Launches at home that are timed before its time is known.
constexpr unsigned homeTimings = 2;
/// Uncertainty of a launch's time from which on the next waits for it.
constexpr double uncertain = 0.15;

} // namespace

class LaunchChoice::State {
public:
  State(Setup setup, Tunables tunables);
  Choice next(const Situation& situation);
  std::optional<double> observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups,
                                double wallSeconds, std::uint64_t ticket);
  void observeChunks(std::span<const ChunkSample> samples, std::uint64_t totalGroups);
  void passed() { ++launches_; }
  void setUsable(std::size_t device, bool isUsable);
  const CostModel& model() const { return model_; }
  const Vector& shares() const { return shares_; }
  double seconds() const { return secondsOf(shares_); }
  double secondsAlone(std::size_t device) const;
  bool isHomeAlone() const { return isAlone(shares_, setup_.home); }
  std::string why() const;

private:
  static bool isAlone(const Vector& shares, std::size_t device);
  bool hasCompany(const Vector& shares, std::size_t device) const;
  double secondsOf(const Vector& shares, std::size_t* longest = nullptr) const;
  double makespan(const Vector& shares, std::size_t* longest = nullptr) const;
  CostModel::PieceOf pieceOf(const Vector& shares, std::size_t device) const;
  void fill(const std::vector<bool>& allowed, const Vector& factors, Vector& shares);
  void balance(const std::vector<bool>& allowed, Vector& shares);
  void evaluate(const Situation& situation);
  void consider(const Vector& shares, const Situation& situation);
  void explore(const Situation& situation);
  double budget() const;
  bool isUncertain(const Vector& shares) const;
  bool isUnknown(std::size_t device) const;

  Setup setup_;
  Tunables tunables_;
  CostModel model_;
  std::size_t n_;
  Vector shares_; ///< of launches that are no probes
  Vector probe_;  ///< of one that is
  Vector best_, candidate_, factors_, last_;
  Vector recurring_; ///< seconds that moving takes in each split launch, by device
  std::vector<bool> usable_, allowed_;
  std::vector<std::size_t> order_;
  std::vector<Timing> timings_;
  std::vector<CostModel::PieceOf> pieces_;
  std::vector<double> deviations_;
  struct Alone {
    double seconds = 0; ///< smoothed; 0: never
    std::uint64_t at = 0;
  };
  std::vector<Alone> alone_; ///< by device: launches that it ran alone
  double groups_ = 1;
  double splitSeconds_ = 0, splitDeviation_ = 0;

  std::uint64_t launches_ = 0;
  std::uint64_t tickets_ = 0;
  std::uint64_t changedAt_ = 0; ///< the first ticket with the present shares …
  bool isAnswered_ = true;      ///< … of which something was heard
  std::uint64_t probedAt_ = 0;  ///< ticket of the probe under way; 0: none
  unsigned homeSeen_ = 0;
  bool isNews_ = true; ///< something was learnt since the last evaluation
  std::uint64_t evaluatedAt_ = 0;
  double timeSoFar_ = 0;
  double explored_ = 0; ///< seconds that exploring has cost
  double bestCost_ = 0;
  bool isBetter_ = false;
  std::uint64_t movingAskedAt_ = 0;
  double movingSeconds_ = 0; ///< of the best candidate that was looked at
  double bestSeconds_ = 0;
};

LaunchChoice::State::State(Setup setup, Tunables tunables)
    : setup_(std::move(setup)), tunables_(tunables),
      model_(setup_.devices, setup_.wholeSeconds, setup_.deviation), n_(setup_.devices.size()),
      shares_(Vector::Zero(static_cast<Eigen::Index>(n_))), probe_(shares_), best_(shares_),
      candidate_(shares_), factors_(shares_), last_(shares_), recurring_(shares_),
      usable_(n_, true), allowed_(n_), order_(n_), deviations_(n_), alone_(n_) {
  pieces_.reserve(n_);
  timings_.reserve(256);
  if (n_ > 0)
    shares_[static_cast<Eigen::Index>(setup_.home < n_ ? setup_.home : 0)] = 1;
}

bool LaunchChoice::State::isAlone(const Vector& shares, std::size_t device) {
  return device < static_cast<std::size_t>(shares.size()) &&
         shares[static_cast<Eigen::Index>(device)] > 1 - sameShare;
}

bool LaunchChoice::State::hasCompany(const Vector& shares, std::size_t device) const {
  for (std::size_t d = 0; d < n_; ++d)
    if (d != device && setup_.memories[d] == setup_.memories[device] &&
        shares[static_cast<Eigen::Index>(d)] > 0)
      return true;
  return false;
}

CostModel::PieceOf LaunchChoice::State::pieceOf(const Vector& shares, std::size_t device) const {
  const auto d = static_cast<Eigen::Index>(device);
  const double begin = shares.head(d).sum();
  return {device, begin, std::min(1.0, begin + shares[d]), hasCompany(shares, device)};
}

/// Of the longest piece, moving included.
double LaunchChoice::State::makespan(const Vector& shares, std::size_t* longest) const {
  double most = 0;
  const bool isSplit = shares.maxCoeff() < 1 - sameShare;
  for (std::size_t d = 0; d < n_; ++d) {
    const auto i = static_cast<Eigen::Index>(d);
    if (!(shares[i] > 0))
      continue;
    const CostModel::PieceOf piece = pieceOf(shares, d);
    const double seconds =
        model_.seconds(d, piece.begin, piece.end, piece.hasCompany) + (isSplit ? recurring_[i] : 0);
    if (seconds > most) {
      most = seconds;
      if (longest)
        *longest = d;
    }
  }
  return most;
}

double LaunchChoice::State::secondsOf(const Vector& shares, std::size_t* longest) const {
  // What one device took alone a short while ago is better than what it took beside others.
  for (std::size_t d = 0; d < n_; ++d)
    if (isAlone(shares, d) && alone_[d].seconds > 0 && launches_ <= fresh * (alone_[d].at + 4)) {
      if (longest)
        *longest = d;
      return alone_[d].seconds + (d == setup_.home ? 0 : splitSeconds_);
    }
  return makespan(shares, longest) + (isAlone(shares, setup_.home) ? 0 : splitSeconds_);
}

double LaunchChoice::State::secondsAlone(std::size_t device) const {
  return model_.seconds(device, 0, 1, false);
}

/// It has never run the kernel, and how it compares is no more than a guess.
bool LaunchChoice::State::isUnknown(std::size_t device) const {
  return !model_.hasSeen(device) && setup_.devices[device].deviation > guess;
}

/// Cuts in whole groups that let the allowed devices end together as early as possible, their times
/// taken `factors` times; a device that would not help gets nothing.
void LaunchChoice::State::fill(const std::vector<bool>& allowed, const Vector& factors,
                               Vector& shares) {
  auto company = [&](std::size_t d) {
    for (std::size_t e = 0; e < n_; ++e)
      if (e != d && allowed[e] && setup_.memories[e] == setup_.memories[d])
        return true;
    return false;
  };
  auto endOf = [&](std::size_t d, double at, double limit) {
    const auto i = static_cast<Eigen::Index>(d);
    const double end = model_.reach(d, at, limit - recurring_[i], company(d), factors[i]);
    return end >= 1 ? 1 : std::max(at, std::floor(end * groups_ + 1e-6) / groups_);
  };
  auto covered = [&](double limit) {
    double at = 0;
    for (std::size_t d = 0; d < n_ && at < 1; ++d)
      if (allowed[d])
        at = endOf(d, at, limit);
    return at;
  };
  double low = 0, high = 0;
  for (std::size_t d = 0; d < n_; ++d)
    if (allowed[d]) {
      const auto i = static_cast<Eigen::Index>(d);
      const double alone = factors[i] * model_.seconds(d, 0, 1, company(d)) + recurring_[i];
      high = high > 0 ? std::min(high, alone) : alone;
    }
  high *= 1 + 1e-6;
  for (int i = 0; i < 40 && high - low > 1e-5 * high; ++i) {
    const double middle = (low + high) / 2;
    (covered(middle) >= 1 ? high : low) = middle;
  }
  double at = 0;
  for (std::size_t d = 0; d < n_; ++d) {
    const auto i = static_cast<Eigen::Index>(d);
    shares[i] = 0;
    if (!allowed[d] || at >= 1)
      continue;
    const double end = endOf(d, at, high);
    shares[i] = end - at;
    at = end;
  }
  normalize(shares);
}

/// The same with times that the pieces are unlikely to exceed. These depend on the pieces, so it is
/// done again until they fit.
void LaunchChoice::State::balance(const std::vector<bool>& allowed, Vector& shares) {
  const auto count = static_cast<double>(std::count(allowed.begin(), allowed.end(), true));
  for (int round = 0; round < 3; ++round) {
    pieces_.clear();
    double begin = 0;
    for (std::size_t d = 0; d < n_; ++d) {
      if (!allowed[d])
        continue;
      const auto i = static_cast<Eigen::Index>(d);
      // A device without work is asked what a group would take.
      const double share = round == 0 ? 1 / count : std::max(shares[i], 1 / groups_);
      const double from = std::min(begin, 1 - std::min(share, 1.0));
      pieces_.push_back({d, from, std::min(1.0, from + share), count > 1});
      begin += round == 0 ? share : shares[i];
    }
    model_.deviationsApart(pieces_, {deviations_.data(), pieces_.size()});
    factors_.setOnes();
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      factors_[static_cast<Eigen::Index>(pieces_[i].device)] = std::max(
          1.0,
          std::exp((isUnknown(pieces_[i].device) ? tunables_.cautionAtFirst : tunables_.caution) *
                   deviations_[i]) /
              (1 + tunables_.exploringMost));

    fill(allowed, factors_, shares);
  }
}

/// Takes `shares` for the best candidate if they cost less than what was so far.
void LaunchChoice::State::consider(const Vector& shares, const Situation& situation) {
  if ((shares - shares_).cwiseAbs().maxCoeff() < 0.5 / groups_)
    return;
  std::size_t now = 0, then = 0;
  const double keep = secondsOf(shares_, &now);
  const double seconds = secondsOf(shares, &then);
  const double unsure = tunables_.sureness * keep *
                        model_.deviationOfRatio(pieceOf(shares_, now), pieceOf(shares, then));
  const auto toCome = static_cast<double>(launches_);
  if (toCome * (seconds + unsure) >= std::min(bestCost_, toCome * keep))
    return;
  // To know what moves takes a plan. What was far too much for what it gains still is, a little
  // later.
  const double gain = toCome * (keep - seconds - unsure);
  if (gain < 0.8 * movingSeconds_ &&
      static_cast<double>(launches_) < patience * static_cast<double>(movingAskedAt_))
    return;
  const double moving = situation.moving ? situation.moving(view(shares)) : 0;
  const double cost = toCome * (seconds + unsure) + moving;
  movingAskedAt_ = launches_;
  if (!isBetter_) {
    bestSeconds_ = seconds;
    movingSeconds_ = moving;
  }
  if (cost >= bestCost_)
    return;
  bestCost_ = cost;
  best_ = shares;
  isBetter_ = true;
}

void LaunchChoice::State::evaluate(const Situation& situation) {
  bestCost_ = static_cast<double>(launches_) * secondsOf(shares_);
  isBetter_ = false;
  allowed_ = usable_;
  balance(allowed_, candidate_);
  consider(candidate_, situation);
  for (std::size_t d = 0; d < n_; ++d) {
    candidate_.setZero();
    candidate_[static_cast<Eigen::Index>(d)] = 1;
    if (usable_[d] && model_.hasSeen(d))
      consider(candidate_, situation);
  }
  if (n_ > 2) { // the fastest few
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return secondsAlone(a) < secondsAlone(b); });
    std::fill(allowed_.begin(), allowed_.end(), false);
    allowed_[order_[0]] = usable_[order_[0]];
    for (std::size_t i = 1; i + 1 < n_; ++i) {
      if (!usable_[order_[i]])
        continue;
      allowed_[order_[i]] = true;
      balance(allowed_, candidate_);
      consider(candidate_, situation);
    }
  }
  if (isBetter_) {
    movingSeconds_ = 0;
    movingAskedAt_ = 0;
    shares_ = best_;
    changedAt_ = tickets_ + 1;
    isAnswered_ = isAlone(shares_, setup_.home);
  }
}

double LaunchChoice::State::budget() const {
  return std::min(tunables_.exploringPart * timeSoFar_ - explored_,
                  tunables_.exploringMost * seconds());
}

/// Gives one device a piece that may cost something, if what it may gain is worth it.
void LaunchChoice::State::explore(const Situation& situation) {
  const double keep = seconds();
  const auto toCome = static_cast<double>(launches_);
  double most = 0; // gained, of all that can be afforded
  double mostCost = 0;
  auto offer = [&](const Vector& shares, double optimistic, double worst) {
    const double gain = toCome * (keep - optimistic);
    const double loss = std::max(0.0, worst - keep);
    if (optimistic > (1 - tunables_.leastGain) * keep || gain <= std::max(most, loss) ||
        loss > budget())
      return;
    const double cost = loss + (situation.moving ? situation.moving(view(shares)) : 0);
    if (gain <= cost || cost > budget())
      return;
    most = gain;
    mostCost = cost;
    probe_ = shares;
  };
  std::size_t critical = 0;
  secondsOf(shares_, &critical);
  const CostModel::PieceOf now = pieceOf(shares_, critical);
  for (std::size_t d = 0; d < n_; ++d) {
    const auto i = static_cast<Eigen::Index>(d);
    if (!usable_[d])
      continue;
    if (shares_[i] * groups_ < 0.5) {
      const CostModel::PieceOf whole{d, 0, 1, true};
      const double unsure = tunables_.caution * model_.deviationOfRatio(whole, now);
      factors_.setOnes();
      factors_[i] = std::exp(-unsure);
      allowed_ = usable_;
      fill(allowed_, factors_, candidate_);
      double optimistic = 0;
      for (std::size_t e = 0; e < n_; ++e)
        if (const CostModel::PieceOf piece = pieceOf(candidate_, e); piece.end > piece.begin)
          optimistic =
              std::max(optimistic, factors_[static_cast<Eigen::Index>(e)] *
                                       model_.seconds(e, piece.begin, piece.end, piece.hasCompany));
      candidate_ = shares_ * (1 - 1.01 / groups_);
      candidate_[i] = 1.01 / groups_;
      const CostModel::PieceOf piece = pieceOf(candidate_, d);
      const double longest = std::exp(tunables_.caution * model_.deviationOfRatio(piece, now)) *
                             model_.seconds(d, piece.begin, piece.end, piece.hasCompany);
      const double least = splitSeconds_ * std::exp(-tunables_.caution * splitDeviation_);
      const double worst = splitSeconds_ * std::exp(tunables_.caution * splitDeviation_);
      offer(candidate_, optimistic + least, std::max(makespan(shares_), longest) + worst);
    }
    if (!isAlone(shares_, d) && model_.hasSeen(d) && hasCompany(shares_, d)) {
      const CostModel::PieceOf whole{d, 0, 1, false};
      const double unsure = std::exp(tunables_.caution * model_.deviationOfRatio(whole, now));
      candidate_.setZero();
      candidate_[i] = 1;
      offer(candidate_, secondsOf(candidate_) / unsure, secondsOf(candidate_) * unsure);
    }
  }
  if (!(most > 0))
    return;
  explored_ += mostCost;
  probedAt_ = tickets_ + 1;
}

void LaunchChoice::State::setUsable(std::size_t device, bool isUsable) {
  if (usable_[device] == isUsable)
    return;
  usable_[device] = isUsable;
  isNews_ = true;
  const auto i = static_cast<Eigen::Index>(device);
  if (!isUsable && shares_[i] > 0) {
    shares_[i] = 0;
    normalize(shares_);
    isAnswered_ = true;
    probedAt_ = 0;
  }
}

bool LaunchChoice::State::isUncertain(const Vector& shares) const {
  for (std::size_t d = 0; d < n_; ++d)
    if (const CostModel::PieceOf piece = pieceOf(shares, d);
        piece.end > piece.begin &&
        model_.deviation(d, piece.begin, piece.end, piece.hasCompany) > uncertain)
      return true;
  return false;
}

LaunchChoice::Choice LaunchChoice::State::next(const Situation& situation) {
  ++launches_;
  groups_ = std::max(1.0, situation.groups);
  splitSeconds_ = situation.splitSeconds;
  splitDeviation_ = situation.splitDeviation;
  const bool isSilent = tickets_ - changedAt_ > longestSilence;
  const bool isDue =
      isNews_ || static_cast<double>(launches_) > patience * static_cast<double>(evaluatedAt_);
  if ((isAnswered_ || isSilent) && isDue && n_ > 1) {
    if (isHomeAlone() && launches_ > evaluatedAt_ + 1)
      model_.age(static_cast<double>(launches_ - evaluatedAt_));
    isNews_ = false;
    evaluatedAt_ = launches_;
    evaluate(situation);
    if (!isBetter_ && (probedAt_ == 0 || tickets_ - probedAt_ > longestSilence)) {
      probedAt_ = 0;
      explore(situation);
    }
  }
  timeSoFar_ += seconds();
  Choice choice;
  choice.ticket = ++tickets_;
  const bool isProbe = probedAt_ == choice.ticket;
  const Vector& shares = isProbe ? probe_ : shares_;
  choice.shares = view(shares);
  // To time home costs what a split launch takes beside its pieces.
  bool isTimed = homeSeen_ < homeTimings;
  if (!isTimed && !isProbe && isHomeAlone() && splitSeconds_ <= budget()) {
    explored_ += splitSeconds_;
    isTimed = true;
  }
  choice.isNative = !isProbe && isHomeAlone() && !isTimed;
  choice.isAwaited = !choice.isNative && (isProbe || !isAnswered_ || homeSeen_ < homeTimings) &&
                     isUncertain(shares);
  return choice;
}

std::optional<double> LaunchChoice::State::observe(std::span<const DeviceSample> samples,
                                                   std::uint64_t totalGroups, double wallSeconds,
                                                   std::uint64_t ticket) {
  if (samples.size() != n_ || totalGroups == 0)
    return std::nullopt;
  timings_.clear();
  const auto total = static_cast<double>(totalGroups);
  candidate_.setZero();
  std::uint64_t given = 0;
  for (std::size_t d = 0; d < n_; ++d) {
    const DeviceSample& s = samples[d];
    if (s.groupBegin > s.groupEnd || s.groupEnd > totalGroups)
      return std::nullopt;
    given += s.groupEnd - s.groupBegin;
    candidate_[static_cast<Eigen::Index>(d)] =
        static_cast<double>(s.groupEnd - s.groupBegin) / total;
  }
  if (given != totalGroups)
    return std::nullopt;
  const bool isSame = (candidate_ - last_).cwiseAbs().maxCoeff() < sameShare;
  const bool isSplit = candidate_.maxCoeff() < 1 - sameShare;
  double longest = 0;
  for (std::size_t d = 0; d < n_; ++d) {
    const DeviceSample& s = samples[d];
    if (!measures(s))
      continue;
    longest = std::max(longest, s.seconds);
    const auto i = static_cast<Eigen::Index>(d);
    const double moving = std::clamp(s.transferSeconds, 0.0, s.seconds);
    // What moves though the shares stay will move again.
    if (isSame && isSplit)
      recurring_[i] += 0.3 * (moving - recurring_[i]);
    if (s.seconds > moving)
      timings_.push_back({d, static_cast<double>(s.groupBegin) / total,
                          static_cast<double>(s.groupEnd) / total, s.seconds - moving,
                          hasCompany(candidate_, d), !model_.hasSeen(d)});
  }
  last_ = candidate_;
  for (const Timing& timing : timings_)
    if (isAlone(candidate_, timing.device)) {
      Alone& alone = alone_[timing.device];
      const double weight = alone.seconds > 0 && alone.at + alone.at / 4 + 4 >= launches_ ? 0.3 : 1;
      alone.seconds +=
          weight *
          (std::min(timing.seconds, alone.seconds > 0 ? 2 * alone.seconds : 1e300) - alone.seconds);
      alone.at = launches_;
    }
  if (isAlone(candidate_, setup_.home)) {
    ++homeSeen_;
  }
  model_.learn(timings_);
  isNews_ = true;
  isAnswered_ = isAnswered_ || ticket >= changedAt_;
  if (probedAt_ > 0 && ticket >= probedAt_)
    probedAt_ = 0;
  if (!isSame || !isSplit || !(longest > 0) || !std::isfinite(wallSeconds))
    return std::nullopt;
  return std::max(0.0, wallSeconds - longest);
}

void LaunchChoice::State::observeChunks(std::span<const ChunkSample> samples,
                                        std::uint64_t totalGroups) {
  if (totalGroups == 0)
    return;
  timings_.clear();
  const auto total = static_cast<double>(totalGroups);
  std::vector<bool> seen(n_);
  for (std::size_t d = 0; d < n_; ++d)
    seen[d] = model_.hasSeen(d);
  for (const ChunkSample& s : samples) {
    if (s.device >= n_ || s.groupEnd <= s.groupBegin || s.groupEnd > totalGroups)
      continue;
    timings_.push_back({s.device, static_cast<double>(s.groupBegin) / total,
                        static_cast<double>(s.groupEnd) / total, s.seconds, true, !seen[s.device],
                        true});
    seen[s.device] = true;
  }
  ++launches_;
  model_.learn(timings_);
  isNews_ = true;
}

std::string LaunchChoice::State::why() const {
  char text[200];
  const double home = setup_.home < n_ ? secondsAlone(setup_.home) : 0;
  const double now = seconds();
  std::snprintf(text, sizeof text, "alone %.3g ms, as split now %.3g ms", 1e3 * home, 1e3 * now);
  std::string why = text;
  if (movingSeconds_ > 0 && bestSeconds_ < now) {
    std::snprintf(
        text, sizeof text, "; at best %.3g ms + %.3g ms once to move: pays after %.0f launches",
        1e3 * bestSeconds_, 1e3 * movingSeconds_, std::ceil(movingSeconds_ / (now - bestSeconds_)));
    why += text;
  }
  return why;
}

LaunchChoice::LaunchChoice(Setup setup, Tunables tunables)
    : state_(std::make_unique<State>(std::move(setup), tunables)) {}
LaunchChoice::~LaunchChoice() = default;
LaunchChoice::Choice LaunchChoice::next(const Situation& situation) {
  return state_->next(situation);
}
std::optional<double> LaunchChoice::observe(std::span<const DeviceSample> samples,
                                            std::uint64_t totalGroups, double wallSeconds,
                                            std::uint64_t ticket) {
  return state_->observe(samples, totalGroups, wallSeconds, ticket);
}
void LaunchChoice::observeChunks(std::span<const ChunkSample> samples, std::uint64_t totalGroups) {
  state_->observeChunks(samples, totalGroups);
}
void LaunchChoice::passed() {
  state_->passed();
}
void LaunchChoice::setUsable(std::size_t device, bool isUsable) {
  state_->setUsable(device, isUsable);
}
std::span<const double> LaunchChoice::shares() const {
  return view(state_->shares());
}
double LaunchChoice::seconds() const {
  return state_->seconds();
}
double LaunchChoice::secondsAlone(std::size_t device) const {
  return state_->secondsAlone(device);
}
bool LaunchChoice::hasSeen(std::size_t device) const {
  return state_->model().hasSeen(device);
}
bool LaunchChoice::isHomeAlone() const {
  return state_->isHomeAlone();
}
bool LaunchChoice::describe(LoadProfile& profile) const {
  state_->model().describe(profile);
  return std::any_of(profile.whole.begin(), profile.whole.end(),
                     [](double whole) { return std::isfinite(whole); });
}
std::string LaunchChoice::why() const {
  return state_->why();
}

} // namespace libsplit::simulator
