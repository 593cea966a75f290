#include "runtime/cost/share_controller.h"

#include "runtime/cost/trial_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Split launches from which all there is to learn is learnt.
constexpr unsigned firstLearnt = 16;
/// Of all groups: parts that are no further apart are much the same.
constexpr double littleApart = 0.03;
/// Splitting is judged by the latter half of so many launches. Their mean, not their best: when
/// launches overlap, only the sum of their times means anything.
constexpr unsigned firstVerdict = 6;
constexpr unsigned longestVerdict = 96;
/// By so many standard errors what a launch takes at home and split must differ. Short of that
/// twice as many launches are waited for: one that the system held up says nothing.
constexpr double sureness = 1;
/// Nor is it judged while it takes so much less than in the quarter before: threads, caches and
/// drivers warm up, shares get better. What came first counts no more by then: one launch that was
/// ten times as slow would keep the verdict open for a long while.
constexpr double stillFalling = 0.95;
/// If none of the first splits comes near home's time, the rest is not waited for, nor the third of
/// them where two that bring nothing over took much longer, and none was ever faster.
constexpr unsigned hopelessSplits = 3;
constexpr double hopelessFactor = 1.1;
constexpr double utterlyHopelessFactor = 2;
/// What was never faster split is not tried again before so much of the time in between makes up
/// for what that would cost.
constexpr double retryPart = 0.05;
/// Nor is it where all of the last ones were slower, and what was lost by that, moving included,
/// comes to this part of what all launches would have taken at home.
constexpr double ruinousPart = 0.5;
/// A launch with other shares than the one before is judged only if moving was at most this part of
/// it, or if so many others had other shares already since the last verdict.
constexpr double littleMoving = 0.02;
constexpr unsigned mostUntypical = 12;
constexpr double sameShare = 0.01; ///< how far shares may differ that count as the same
/// How much longer than natively a launch at home may have seemed to take in the company of others.
constexpr double companyMargin = 2;
/// Launches at home that decide about a suspicion, unless they leave it open: then there are as
/// many again.
constexpr std::size_t remeasures = 2, mostRemeasures = 16;
/// Launches at home that the solver may ask for in a row, before it is left alone for a while.
constexpr unsigned homeTrial = solver::longestTrial;
constexpr unsigned firstRest = 16;
constexpr unsigned longestRest = 4096;
/// Native launches after one that was too short, at least: the others of its key may not be. What
/// looking at them may cost is TrialBudget's to say.
constexpr unsigned shortRest = 64;
/// In the first split launch a device gets at most this part of what is expected of it: a guess
/// that is wrong by a factor then costs little.
constexpr double guessCaution = 0.25;
constexpr double otherKernelsCaution = 0.7;
/// What another launch of the kernel says of this one's length may be off by this factor.
constexpr double lengthMargin = 4;
/// A device that seems to be like home is not, if it takes so much more for its part than home
/// would, whose readings may be off by as much as this.
constexpr double farSlower = 0.25;
constexpr double readingError = 0.1;
constexpr double leastGain = 1.02;

std::vector<double> normalised(std::vector<double> values) {
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values)
    value = sum > 0 ? value / sum : 1.0 / static_cast<double>(values.size());
  return values;
}

double groupsOf(const solver::DeviceSample& sample) {
  return static_cast<double>(sample.groupEnd - sample.groupBegin);
}

/// `device` gets what the others leave.
void giveRest(std::vector<double>& shares, std::size_t device) {
  shares[device] = 0;
  shares[device] = 1 - std::accumulate(shares.begin(), shares.end(), 0.0);
}

} // namespace

ShareController::Estimate ShareController::estimate(std::span<const double> readings) {
  const auto count = static_cast<double>(readings.size());
  if (readings.empty())
    return {};
  const double mean = std::accumulate(readings.begin(), readings.end(), 0.0) / count;
  double squares = 0;
  for (const double reading : readings)
    squares += (reading - mean) * (reading - mean);
  const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {mean, deviation / std::sqrt(count), mean > 0 ? deviation / mean : 0};
}

double guessedSpeed(bool isGpu, unsigned computeUnits, unsigned megahertz) {
  double lanesPerUnit = isGpu ? 64 : 8;
  return lanesPerUnit * std::max(1u, computeUnits) * std::max(1u, megahertz);
}

ShareController::ShareController(Setup setup)
    : setup_(std::move(setup)), verdictAfter_(firstVerdict), verdictAt_(firstVerdict),
      groups_(setup_.groups) {
  setup_.prior.speeds.resize(setup_.speeds.size());
  for (std::size_t i = 0; i < setup_.speeds.size(); ++i)
    if (setup_.speeds[i] > 0)
      usable_.push_back(i);
  shares_.assign(setup_.speeds.size(), 0.0);
  speeds_ = shares_;
  atMost_ = setup_.prior.atMost;
  atMost_.resize(shares_.size());
  solver_ = makeSolver();
}

/// The policy's solver, over the usable devices only; null if the policy never splits.
std::unique_ptr<solver::ShareSolver> ShareController::makeSolver() const {
  std::vector<double> uniform(usable_.size(), 1.0 / static_cast<double>(usable_.size()));
  if (usable_.empty())
    return nullptr;
  switch (setup_.policy.kind) {
  case Policy::Kind::Off:
    return nullptr;
  case Policy::Kind::Static: {
    std::vector<double> shares;
    for (std::size_t i : usable_)
      shares.push_back(i < setup_.policy.shares.size() ? setup_.policy.shares[i] : 0);
    return solver::makeStatic(normalised(std::move(shares)));
  }
  case Policy::Kind::Single: {
    std::vector<double> shares;
    for (std::size_t i : usable_)
      shares.push_back(i == setup_.policy.device ? 1 : 0);
    if (std::find(shares.begin(), shares.end(), 1) == shares.end())
      return nullptr;
    return solver::makeStatic(std::move(shares));
  }
  case Policy::Kind::FixedPoint:
    return solver::makeFixedPoint(std::move(uniform));
  case Policy::Kind::Broyden:
    return solver::makeBroyden(std::move(uniform), solver::BroydenUpdate::Good);
  case Policy::Kind::BroydenBad:
    return solver::makeBroyden(std::move(uniform), solver::BroydenUpdate::Bad);
  case Policy::Kind::Profile:
    return solver::makeProfile(static_cast<unsigned>(usable_.size()));
  case Policy::Kind::Dynamic:
  case Policy::Kind::Auto:
    break;
  }
  solver::AutoOptions options;
  options.devices = static_cast<unsigned>(usable_.size());
  std::vector<double> shares = startingShares();
  for (std::size_t i : usable_)
    options.knownSpeeds.push_back(shares[i]);
  options.movingSeconds = setup_.movingSeconds;
  if (!setup_.aloneOnce.empty())
    for (std::size_t i : usable_)
      options.aloneOnce.push_back(setup_.aloneOnce[i]);
  return solver::makeAuto(std::move(options));
}

ShareController::Expected ShareController::expected() const {
  const std::size_t home = setup_.home;
  const Prior& prior = setup_.prior;
  const bool known = prior.from != Prior::From::Nothing && prior.speeds[home] > 0;
  Expected expected{std::vector<double>(setup_.speeds.size()),
                    std::vector<double>(setup_.speeds.size(), 1.0)};
  for (std::size_t i : usable_) {
    expected.speeds[i] = setup_.speeds[i] / setup_.speeds[home];
    double& caution = expected.caution[i];
    if (known && prior.speeds[i] > 0) {
      expected.speeds[i] = prior.speeds[i] / prior.speeds[home];
      const bool isWellKnown = !(i < setup_.hasRehearsed.size() && setup_.hasRehearsed[i]);
      caution = prior.from == Prior::From::OtherKernels ? otherKernelsCaution
                : isWellKnown                           ? 1
                                                        : guessCaution;
    } else if (!(i < setup_.likeHome.size() && setup_.likeHome[i])) {
      caution = guessCaution;
    }
  }
  return expected;
}

std::vector<double> ShareController::expectedSpeeds() const {
  if (setup_.home >= setup_.speeds.size() || setup_.speeds[setup_.home] <= 0)
    return std::vector<double>(setup_.speeds.size());
  std::vector<double> speeds = expected().speeds;
  const double home = speeds_[setup_.home];
  for (std::size_t i : usable_) {
    if (home > 0 && speeds_[i] > 0)
      speeds[i] = speeds_[i] / home;
    // What one of them did slower lay in its part of the launch, unless home does the rest of a
    // launch in far less time than that.
    const bool isFarSlower = atMost_[i] > 0 && atMost_[i] < farSlower;
    if (i < setup_.likeHome.size() && setup_.likeHome[i] && !isFarSlower)
      speeds[i] = 1;
  }
  return speeds;
}

/// What the others did home would have done in what it takes for the whole less what it took for
/// its own part: so none of them can be faster, beside home, than that by its own time.
void ShareController::bound(std::span<const solver::DeviceSample> samples) {
  const double whole = homeWorkSeconds();
  if (!homeIsMeasured_ || !(whole > 0) || setup_.home >= samples.size())
    return;
  const auto seconds = [&](std::size_t i) { return samples[i].workSeconds(); };
  const double rest = (1 + readingError) * whole - seconds(setup_.home);
  for (std::size_t i : usable_)
    if (i != setup_.home && groupsOf(samples[i]) > 0 && seconds(i) > 0)
      atMost_[i] = std::max(rest, readingError * whole) / seconds(i);
}

/// The shares of the first split launch under `auto`: by what is known of the devices, else by what
/// their drivers tell, the less the less that is worth.
std::vector<double> ShareController::startingShares() const {
  const std::size_t home = setup_.home;
  if (home >= setup_.speeds.size() || setup_.speeds[home] <= 0)
    return normalised(setup_.speeds);
  auto [speeds, caution] = expected();
  std::vector<double> shares = normalised(std::move(speeds));
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (i != home)
      shares[i] *= caution[i];
  giveRest(shares, home);
  return shares;
}

ShareController::Decision ShareController::split() {
  std::span<const double> proposed = solver_->propose();
  for (std::size_t i = 0; i < usable_.size(); ++i)
    shares_[usable_[i]] = proposed[i];
  const bool isKeptShort =
      setup_.policy.kind == Policy::Kind::Auto && !hasMoved_ && keepFirstMoveShort();
  return {Action::Split, shares_, isKeptShort};
}

/// Nobody knows yet how many launches there will be: the first moving takes no longer than those so
/// far, of which this is one more. What more pays is then weighed by what moving was seen to take.
/// Whether that leaves less to the others.
bool ShareController::keepFirstMoveShort() {
  if (setup_.home >= shares_.size() || !(homeSeconds_ > 0) || !(setup_.movingSeconds > 0))
    return false;
  const double away = 1 - shares_[setup_.home];
  const double most = ++unmoved_ * homeSeconds_ / setup_.movingSeconds;
  if (away <= most)
    return false;
  for (double& share : shares_)
    share *= most / away;
  giveRest(shares_, setup_.home);
  return true;
}

/// Relative speeds as far as anything tells them: measured, known from elsewhere, or alike.
ShareController::Decision ShareController::chunks() {
  const bool measured = std::any_of(speeds_.begin(), speeds_.end(), [](double s) { return s > 0; });
  const bool known = setup_.prior.from != Prior::From::Nothing;
  std::ranges::fill(shares_, 0); // of who can't run it, too: `split` sets the others' alone
  for (std::size_t i : usable_)
    shares_[i] = measured ? speeds_[i]
                 : known  ? setup_.prior.speeds[i]
                 : i == setup_.home || (i < setup_.likeHome.size() && setup_.likeHome[i]) ? 1
                                                                                          : 0;
  return {Action::Chunks, shares_};
}

ShareController::Decision ShareController::next(bool canChunk, bool mayTry) {
  canChunk = canChunk && !chunksRefused_ && usable_.size() > 1;
  if (!solver_)
    return {};
  if (setup_.policy.kind == Policy::Kind::Auto)
    return nextAuto(canChunk, mayTry);
  return setup_.policy.kind == Policy::Kind::Dynamic && canChunk ? chunks() : split();
}

bool ShareController::gainsByWhatIsKnown() const {
  const Prior& prior = setup_.prior;
  if (prior.from != Prior::From::SameLaunch && prior.from != Prior::From::OtherLaunches)
    return false;
  const bool isSame = prior.from == Prior::From::SameLaunch;
  const double margin = isSame ? 1 : lengthMargin;
  const auto known = std::count_if(usable_.begin(), usable_.end(),
                                   [&](std::size_t i) { return prior.speeds[i] > 0; });
  // Of the launch itself home's time is enough: others begin with a careful part.
  return (known > 1 || isSame) && prior.homeSeconds >= margin * setup_.minLaunchSeconds &&
         (prior.gain == 0 || prior.gain > leastGain);
}

/// It is thought to be so short that all chunks would be home's. That tells no more than a launch
/// that is timed there, and costs more: drivers may have to compile the kernel anew for a part of
/// its NDRange.
bool ShareController::gainsNothingByChunks() const {
  const Prior& prior = setup_.prior;
  const double before = prior.from == Prior::From::SameLaunch ? prior.homeSeconds : 0;
  const double own = before > 0 ? before : setup_.timedAtHome;
  const double seconds = own > 0 ? own : lengthMargin * prior.homeSeconds;
  return seconds > 0 && seconds < std::max(setup_.minLaunchSeconds, setup_.minChunkedSeconds);
}

ShareController::Decision ShareController::nextAuto(bool canChunk, bool mayTry) {
  if (std::exchange(isToJudge_, false))
    judge();
  if (restingLaunches_ > 0) {
    if (restingLaunches_ > 1 || mayTry)
      --restingLaunches_;
    if (restingLaunches_ == 0)
      homeBefore_ = std::exchange(homeSeconds_, -1);
    return {};
  }
  if (toRemeasure_ > 0) {
    --toRemeasure_;
    return {Action::Measure, {}};
  }
  if (isFirst_ && gainsByWhatIsKnown()) {
    // Where no run had enough launches for a verdict, shares have not settled, either.
    const bool isUntold = setup_.prior.gain == 0;
    if (isUntold && canChunk && !gainsNothingByChunks())
      return chunks();
    homeSeconds_ = setup_.prior.homeSeconds;
    isOnTrial_ = isUntold;
  }
  if (isOnTrial_ && !mayTry)
    return {};
  if (homeSeconds_ < 0) {
    if (isFirst_ && canChunk && !gainsNothingByChunks() && launchesBeforeTrial(gainBefore()) == 0)
      return chunks();
    return {Action::Measure, {}};
  }
  const Decision decision = split();
  solver_->begins();
  if (!isHomeAlone(decision)) {
    homeProposals_ = 0;
    return decision;
  }
  // A trial of home, or the solver has dropped all others. Then home does it natively, which costs
  // nothing; the solver is asked again after a rest, and may then probe them.
  if (++homeProposals_ <= homeTrial) {
    ++homeToTell_;
    return {Action::Measure, {}};
  }
  homeProposals_ = 0;
  rest();
  return {};
}

/// Whether no other device gets a whole group, as far as their number is known. Shares that are
/// kept small for now do not count: they grow from launch to launch.
bool ShareController::isHomeAlone(const Decision& decision) const {
  const std::span<const double> shares = decision.shares;
  if (setup_.home >= shares.size())
    return false;
  const double away = 1 - shares[setup_.home];
  if (away < 1e-9)
    return true;
  if (decision.isKeptShort || groups_ == 0 ||
      away * static_cast<double>(groups_) >= static_cast<double>(shares.size()))
    return false;
  return solver::roundToGroups(shares, groups_)[setup_.home] == groups_;
}

void ShareController::rest() {
  if (!hasPaid_ && comparedHome() > 0) {
    const double lost = std::max(0.0, split_.mean / comparedHome() - 1);
    rest_ = std::max(rest_, static_cast<unsigned>(
                                std::min<double>(longestRest, hopelessSplits * lost / retryPart)));
  }
  isOnTrial_ = true;
  beginTrial();
  askHome(0);
  restingLaunches_ = rest_;
  solver_->skip(rest_);
  rest_ = std::min(longestRest, rest_ * 2);
}

/// What home did alone is a launch as proposed, or else says what the others cost it.
void ShareController::tellSolver(double homeSeconds, std::uint64_t totalGroups) {
  const auto home = std::find(usable_.begin(), usable_.end(), setup_.home);
  if (!solver_ || home == usable_.end())
    return;
  const auto index = static_cast<std::size_t>(home - usable_.begin());
  const bool wasProposed = homeToTell_ > 0;
  homeToTell_ -= wasProposed;
  if (!hasSplit_ || totalGroups == 0 || !wasProposed) {
    solver_->observeAlone(static_cast<unsigned>(index), homeSeconds);
    return;
  }
  usableSamples_.clear();
  for (std::size_t i = 0; i < usable_.size(); ++i)
    usableSamples_.push_back(
        {i <= index ? 0 : totalGroups, i < index ? 0 : totalGroups, homeSeconds});
  solver_->observe(usableSamples_, totalGroups);
}

/// Seconds that a program waits longer for a launch at home than home is at work. The least of the
/// last few: what held one up says nothing of the others.
double ShareController::waitCosts() const {
  return waits_.known().empty() ? 0 : waits_.quantile(0);
}

void ShareController::observeHome(double seconds, std::uint64_t totalGroups, double waitedSeconds,
                                  std::optional<double> shortest) {
  isFirst_ = false;
  homeIsGuessed_ = false;
  if (waitedSeconds > 0)
    waits_.note(std::max(waitedSeconds - seconds, 0.0));
  ++age_;
  tellSolver(seconds, totalGroups);
  if (toHear_ > 0) {
    fresh_.push_back(seconds);
    if (--toHear_ > 0)
      return;
    heard_.insert(heard_.end(), fresh_.begin(), fresh_.end());
    homeSeconds_ = estimate(heard_).mean;
    isToJudge_ = isSuspected_;
    return;
  }
  heard_ = {seconds};
  homeSeconds_ = seconds;
  homeIsMeasured_ = true;
  beginTrial();
  if (homeSeconds() < shortest.value_or(setup_.minLaunchSeconds)) {
    if (setup_.tellsWaits && waits_.known().empty() && !std::exchange(hasLookedTwice_, true)) {
      homeSeconds_ = -1; // the next one is behind no native one, and may tell
      return;
    }
    restingLaunches_ = shortRest;
  } else if (!hasSplit_ && !std::exchange(hasPaidForTrial_, true)) {
    restingLaunches_ =
        static_cast<unsigned>(std::min<double>(longestRest, launchesBeforeTrial(gainBefore())));
  }
}

bool ShareController::observeSplit(std::span<const solver::DeviceSample> samples,
                                   std::uint64_t totalGroups, double wallSeconds,
                                   const SplitCircumstances& circumstances) {
  if (!solver_) // it was split before a device was left out
    return false;
  isFirst_ = false;
  groups_ = totalGroups;
  hasSplit_ = hasMoved_ = true;
  usableSamples_.clear();
  for (std::size_t i : usable_) {
    const solver::DeviceSample& s = samples[i];
    usableSamples_.push_back(s);
    show(i, groupsOf(s), s.workSeconds());
  }
  bound(samples);
  const bool learns = circumstances.mayLearn || mustLearn(totalGroups, circumstances.isProposed);
  if (learns) {
    solver_->observe(usableSamples_, totalGroups);
    ++learnt_;
    learntGroups_.clear();
    for (const solver::DeviceSample& s : usableSamples_)
      learntGroups_.push_back(groupsOf(s));
  } else {
    solver_->skip(1);
  }
  const bool keeps = keepsShares(totalGroups);
  if (setup_.policy.kind == Policy::Kind::Auto && circumstances.isTelling)
    weigh(wallSeconds, keeps, circumstances.isWaitedFor);
  return learns;
}

/// Whether the solver has to hear of the launch of `usableSamples_`, whatever time that takes.
bool ShareController::mustLearn(std::uint64_t totalGroups, bool isProposed) const {
  return learnt_ < firstLearnt || (isProposed && solver_->wantsToHear()) || isCutAnew(totalGroups);
}

/// Whether devices had other parts in that launch than in the last that was learnt from. What
/// differs by less comes from readings as noisy as what it would tell.
bool ShareController::isCutAnew(std::uint64_t totalGroups) const {
  const double little = littleApart * static_cast<double>(totalGroups);
  return !std::ranges::equal(
      usableSamples_, learntGroups_, [&](const solver::DeviceSample& now, double then) {
        const double groups = groupsOf(now);
        return (groups > 0) == (then > 0) && std::abs(groups - then) <= little;
      });
}

bool ShareController::wantsTimes() const {
  switch (setup_.policy.kind) {
  case Policy::Kind::Static:
  case Policy::Kind::Single:
    return false;
  case Policy::Kind::Auto:
    return learnt_ < firstLearnt || toHear_ > 0 || solver_->wantsToHear();
  default:
    return true;
  }
}

void ShareController::passUntimed(double waitedSeconds) {
  if (!solver_) // as of `observeSplit`
    return;
  solver_->skip(1);
  if (setup_.policy.kind == Policy::Kind::Auto && waitedSeconds > 0)
    weigh(waitedSeconds, true, true);
}

/// Whether splitting pays, by what the launch took in all.
void ShareController::weigh(double wallSeconds, bool keepsShares, bool isWaitedFor) {
  double moving = 0;
  for (const solver::DeviceSample& s : usableSamples_)
    moving = std::max(moving, s.transferSeconds);
  // A device that was tried and is slow says nothing of a launch without it.
  const double seconds = wallSeconds - std::min(solver_->probeSeconds(), wallSeconds) +
                         (isWaitedFor ? 0 : waitCosts());
  // What moves because the shares have changed does not move again.
  const bool isTypical =
      keepsShares || moving <= littleMoving * seconds || tried_ >= judged_.size() + mostUntypical;
  const double home = homeSeconds();
  const double cost = seconds + restCosts(), hopeless = hopelessFactor * home;
  slowInARow_ = cost > hopeless ? slowInARow_ + 1 : 0;
  lost_ += cost - home;
  ++age_;
  // It was on its way when the verdict fell, or a cycle asked for it.
  if (restingLaunches_ > 0 || homeSeconds_ < 0)
    return;
  const double shown = isTypical ? seconds : seconds - std::min(moving, seconds);
  fastestSplit_ = tried_++ == 0 ? shown : std::min(fastestSplit_, shown);
  if (isTypical)
    judged_.push_back(seconds);
  // What was on its way when home was asked says nothing new. A report that never comes must not
  // leave the question open for ever.
  if ((isToJudge_ || toHear_ > 0) && tried_ < longestVerdict)
    return;
  const bool isUtterlyHopeless = !hasPaid_ && judged_.size() + 1 == hopelessSplits &&
                                 std::ranges::all_of(judged_, [&](double each) {
                                   return each > utterlyHopelessFactor * comparedHome();
                                 });
  const bool isHopeless =
      isUtterlyHopeless || (tried_ == hopelessSplits && fastestSplit_ + restCosts() > hopeless);
  const bool isRuinous = slowInARow_ >= hopelessSplits && lost_ > ruinousPart * age_ * home;
  const double least = isUtterlyHopeless ? std::ranges::min(judged_) : fastestSplit_;
  if (isHopeless || isRuinous)
    split_ = {isRuinous ? seconds : least, 0, estimate(judged_).spread};
  else if (!concludes())
    return;
  beginTrial();
  askHome(0);
  isSuspected_ = isHopeless || isRuinous || isSlower(rests_.mostSplitCosts());
  if (isSuspected_) {
    heard_.clear();
    askHome(remeasures);
  } else {
    notePaid();
  }
}

/// Has so many launches timed there, and no others of those that it was asked for.
void ShareController::askHome(std::size_t launches) {
  toRemeasure_ = toHear_ = launches;
  fresh_.clear();
  isToJudge_ = false;
}

void ShareController::changeHome(double factor) {
  if (homeSeconds_ > 0)
    homeSeconds_ *= factor;
  for (double& seconds : heard_)
    seconds *= factor;
  homeBefore_ *= factor;
  homeAlone_ *= factor;
  setup_.prior.homeSeconds *= factor;
  setup_.timedAtHome *= factor;
  beginTrial();
}

void ShareController::changePieces(std::span<const std::size_t> devices, double factor) {
  for (const std::size_t device : devices) {
    speeds_[device] /= factor;
    setup_.prior.speeds[device] /= factor;
  }
  beginTrial();
}

void ShareController::beginTrial() {
  tried_ = 0;
  judged_.clear();
  verdictAt_ = verdictAfter_;
}

/// Whether the launches since the last verdict say whether splitting is slower than home. If not,
/// more are waited for.
bool ShareController::concludes() {
  if (judged_.size() < verdictAt_)
    return false;
  const std::span<const double> all = judged_, latter = all.subspan(all.size() / 2);
  split_ = estimate(latter);
  const std::size_t quarter = all.size() / 4;
  const double former = estimate(all.subspan(quarter, all.size() / 2 - quarter)).mean;
  const bool close = isClose();
  const bool isFalling = isSlower(restCosts()) && split_.mean < stillFalling * former;
  if (!(close || isFalling) || verdictAt_ >= longestVerdict)
    return true;
  verdictAt_ = std::min(longestVerdict, 2 * verdictAt_);
  if (close && tellsMoreAtHome()) {
    isSuspected_ = false;
    askHome(std::max<std::size_t>(heard_.size(), 1));
  }
  return false;
}

/// Whether it is rather home of which more should be known, and can be at little cost.
bool ShareController::tellsMoreAtHome() const {
  return homeError() > split_.error && heard_.size() < mostRemeasures &&
         !(setup_.movingSeconds > 0);
}

bool ShareController::homeIsDoubtful() const {
  return homeIsGuessed_ && homeAlone_ > 0 && homeSeconds_ > companyMargin * homeAlone_;
}

/// What a launch takes at home, as far as splitting is judged by it.
double ShareController::comparedHome() const {
  if (!homeIsGuessed_)
    return homeSeconds();
  const double least = homeIsDoubtful() ? homeAlone_ : homeSeconds_ / companyMargin;
  return least + waitCosts();
}

/// Of what is known of home, which has a margin of its own where it is guessed. Loads differ as
/// much there as where they are split.
double ShareController::homeError() const {
  if (homeIsGuessed_)
    return 0;
  const double spread = std::max(estimate(heard_).spread, split_.spread);
  return homeSeconds_ * spread / std::sqrt(std::max<double>(static_cast<double>(heard_.size()), 1));
}

/// Of the difference between both ways.
double ShareController::likelyError() const {
  return sureness * std::hypot(split_.error, homeError());
}

/// Seconds that a launch takes longer split than at home.
double ShareController::lossBySplitting(double restCosts) const {
  return split_.mean + restCosts - comparedHome();
}

/// Which of both ways is faster is not known yet.
bool ShareController::isClose() const {
  return std::abs(lossBySplitting(restCosts())) <= likelyError();
}

/// Whether the shares are those of the split launch before. Notes them.
bool ShareController::keepsShares(std::uint64_t totalGroups) {
  bool same = lastShares_.size() == usableSamples_.size();
  lastShares_.resize(usableSamples_.size());
  for (std::size_t i = 0; i < usableSamples_.size(); ++i) {
    const double share =
        static_cast<double>(usableSamples_[i].groupEnd - usableSamples_[i].groupBegin) /
        static_cast<double>(std::max<std::uint64_t>(totalGroups, 1));
    same = same && std::abs(share - lastShares_[i]) <= sameShare;
    lastShares_[i] = share;
  }
  return same;
}

/// Splits are faster.
void ShareController::notePaid() {
  hasPaid_ = true;
  isOnTrial_ = false;
  rest_ = firstRest;
}

/// Both sides of the comparison are fresh.
void ShareController::judge() {
  if (isClose() && tellsMoreAtHome())
    return askHome(heard_.size());
  if (lossBySplitting(restCosts()) > 0) {
    rest();
    verdictAfter_ = firstVerdict;
  } else {
    notePaid();
    verdictAfter_ = std::min(longestVerdict, verdictAfter_ * 2);
  }
  verdictAt_ = verdictAfter_;
}

void ShareController::observeChunks(std::span<const solver::ChunkSample> chunks,
                                    std::uint64_t totalGroups) {
  isFirst_ = false;
  hasSplit_ = true;
  usableChunks_.clear();
  std::vector<double> groups(speeds_.size()), seconds(speeds_.size());
  for (const solver::ChunkSample& chunk : chunks) {
    auto found = std::find(usable_.begin(), usable_.end(), chunk.device);
    if (found == usable_.end())
      continue;
    usableChunks_.push_back(chunk);
    usableChunks_.back().device = static_cast<unsigned>(found - usable_.begin());
    groups[chunk.device] += static_cast<double>(chunk.groupEnd - chunk.groupBegin);
    seconds[chunk.device] += chunk.seconds;
  }
  solver_->observeChunks(usableChunks_, totalGroups);
  for (std::size_t i : usable_)
    show(i, groups[i], seconds[i]);
  if (homeSeconds_ < 0 && setup_.home < speeds_.size() && speeds_[setup_.home] > 0) {
    homeSeconds_ = static_cast<double>(totalGroups) / speeds_[setup_.home];
    homeIsGuessed_ = true;
    const auto first = std::ranges::find_if(chunks, [&](const solver::ChunkSample& chunk) {
      return chunk.device == setup_.home && chunk.groupEnd > chunk.groupBegin;
    });
    homeAlone_ = first == chunks.end()
                     ? 0
                     : first->seconds * static_cast<double>(totalGroups) /
                           static_cast<double>(first->groupEnd - first->groupBegin);
  }
}

bool ShareController::describe(solver::LoadProfile& profile, std::uint64_t totalGroups) const {
  solver::LoadProfile usable;
  if (!solver_ || !solver_->describe(usable, totalGroups))
    return false;
  profile.fixed.assign(setup_.speeds.size(), 0.0);
  profile.whole.assign(setup_.speeds.size(), std::numeric_limits<double>::infinity());
  profile.work = std::move(usable.work);
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    profile.fixed[usable_[i]] = usable.fixed[i];
    profile.whole[usable_[i]] = usable.whole[i];
  }
  return true;
}

/// Not the solver's own idea of the speeds: a load that lies unevenly it may put down to a device.
/// What each device showed on its part makes the shares that fit the next launch of this kind.
void ShareController::show(std::size_t device, double groups, double seconds) {
  if (!(groups > 0) || !(seconds > 0) || !std::isfinite(groups / seconds))
    return;
  double& speed = speeds_[device];
  speed = speed > 0 ? 0.5 * (speed + groups / seconds) : groups / seconds;
}

} // namespace libsplit::runtime
