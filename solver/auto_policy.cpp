// `auto`: the shares that a model of the load (load_model.h) says end first, with what protects a
// program from the model being wrong.
//
//   - Launch 1: chunks if the caller can (wantsChunks), else known speeds, else uniform.
//   - Every launch: the model learns; new cuts are taken if they gain more than the tolerance and,
//     over as many launches as there were so far (whoever ran k times is expected to run k more),
//     more than moving the data costs. Shares grow by steps, and it is what the steps lead to that
//     counts: a device with a hundredth of the work may never gain enough by two hundredths.
//   - One launch in which a device took many times what it should says nothing: drivers compile,
//     systems pause. The next launch is cut as this one was; if it is the same again, it is
//     believed.
//   - The best launch so far is remembered. Where the model's proposals stay worse than it, and the
//     devices still run as they did then, the shares go back to it.
//   - The fastest device alone is tried against the split now and then (alone_trial.h), and what it
//     does alone is kept from the model, which knows the devices in each other's company.
//   - A device without work is probed with one small piece now and then: at once where that hides
//     behind the others, or where it was timed but once and that may have been its driver; else as
//     seldom as keeps probing under 1 % of the time.
#include "solver/alone_trial.h"
#include "solver/load_model.h"
#include "solver/ranges.h"

#include <algorithm>
#include <cmath>

namespace libsplit::solver {

namespace {

constexpr std::uint64_t probePeriod = 5;
constexpr double probePart = 0.01; // of the time that probing may take
constexpr double latestProbe = 16; // launches by which a probe must have been seen
constexpr double trialPart = 0.5;  // of the time so far that a trial may take, or moving for one
constexpr double sameShare = 0.03; // how far shares may differ for launches to count as alike
// Part of what one device takes at which others clearly help: what it is thought to take, or took.
constexpr double clearlyLess = 0.75;
constexpr double clearlyLessThanSeen = 0.9;
constexpr double likelyTrialPart = 0.1; // of the time so far that a trial may cost, if they don't
constexpr std::uint64_t maxHold = 64;
constexpr double littleData = 0.05;      // part of all groups; what moves for fewer tells little
constexpr double outlier = 4;            // times what a device should have taken
constexpr std::uint64_t knowsEnough = 3; // launches after which one can tell

class Auto final : public ShareSolver {
public:
  explicit Auto(const AutoOptions& options)
      : options_(options), n_(static_cast<Eigen::Index>(options.devices)), model_(n_),
        shares_(makeShares(options.knownSpeeds, options.devices)), ran_(Vector::Zero(n_)),
        ranBegin_(ran_), ranTogether_(ran_), candidate_(ran_), goal_(ran_),
        unlimited_(Vector::Ones(n_)), alone_(ran_), seenAlone_(ran_), best_(ran_), speeds_(ran_),
        steadyMove_(ran_), changeMove_(ran_), hasGained_(ran_), limits_(Vector::Ones(n_)),
        largest_(ran_), lastProbe_(ran_), probed_(ran_), took_(ran_), probeCost_(ran_),
        beforeProbe_(ran_) {
    samples_.reserve(256);
    bool anyKnown = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(options.knownSpeeds.size(), options.devices);
         ++i)
      anyKnown = anyKnown || options.knownSpeeds[i] > 0;
    // A device of unknown speed among known ones starts as an average one.
    if (anyKnown) {
      const double total = shares_.sum();
      const auto count = static_cast<double>((shares_.array() > 0).count());
      for (double& x : shares_)
        if (x <= 0)
          x = total / count;
      normalize(shares_);
    }
    seeded_ = anyKnown;
  }

  bool wantsChunks() const override { return n_ > 1 && summary_.launches == 0 && !seeded_; }

  void observeChunks(std::span<const ChunkSample> chunks, std::uint64_t totalGroups) override {
    if (totalGroups == 0)
      return;
    samples_.clear();
    const auto total = static_cast<double>(totalGroups);
    for (const ChunkSample& c : chunks) {
      if (c.device >= n_ || c.groupEnd <= c.groupBegin || c.groupEnd > totalGroups ||
          !measures({c.groupBegin, c.groupEnd, c.seconds}) ||
          samples_.size() == samples_.capacity())
        continue;
      samples_.push_back({static_cast<Eigen::Index>(c.device),
                          static_cast<double>(c.groupBegin) / total,
                          static_cast<double>(c.groupEnd) / total, total, c.seconds, 1});
      // A short chunk tells less: its groups need not be average, nor fill the device.
      const double part = static_cast<double>(c.groupEnd - c.groupBegin) / total;
      samples_.back().weight = std::clamp(part * LoadModel::bins, 0.02, 0.99);
    }
    if (samples_.empty()) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    model_.learn(samples_);
    ++summary_.launches;
    summary_.stop = Stop::Searching;
    candidate_.setZero(); // what each device did in this launch
    speeds_.setZero();    // … and how long
    for (const LoadSample& c : samples_) {
      candidate_[c.device] += c.end - c.begin;
      speeds_[c.device] += c.seconds;
    }
    spent_ += speeds_.maxCoeff();
    allowGrowth(candidate_, total);
    probe(total, model_.balance(shares_, total, limits_));
  }

  void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) override {
    probeSeconds_ = 0;
    if (samples.size() != static_cast<std::size_t>(n_) || totalGroups == 0)
      return;
    if (!take(samples, totalGroups)) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    const auto total = static_cast<double>(totalGroups);
    ++summary_.launches;
    spent_ += last_;
    const bool isFar = isOutlier(total);
    if (ranAsTrial()) {
      doubted_ = isFar;
      learnAlone(total);
      return;
    }
    confirmed_ = doubted_ && isFar;
    doubted_ = !doubted_ && isFar;
    if (!doubted_)
      learnTogether(total);
  }

  double probeSeconds() const override { return probeSeconds_; }

  void observeAlone(unsigned device, double seconds) override {
    if (device < n_ && measures({0, 1, seconds}))
      seenAlone_[device] = seconds;
  }

  void skip(std::uint64_t launches) override {
    skipped_ += launches;
    probeSeconds_ = 0; // it was another one's
  }
  bool wantsToHear() const override { return trial_.isTrying() || isProbing() || doubted_; }

  std::span<const double> propose() override {
    return view(isAlone() ? alone_ : isProbing() && probeBegan_ ? beforeProbe_ : shares_);
  }

  void begins() override {
    trial_.begins();
    probeBegan_ = probeBegan_ || (isProbing() && !isAlone());
  }
  Summary summary() const override { return summary_; }
  bool describe(LoadProfile& profile, std::uint64_t totalGroups) const override {
    if (summary_.launches == 0)
      return false;
    model_.describe(profile, static_cast<double>(totalGroups));
    return true;
  }
  std::span<const double> speeds() const override {
    for (Eigen::Index d = 0; d < n_; ++d)
      speeds_[d] = model_.speed(d);
    return view(speeds_);
  }

private:
  /// Notes what the launch was and what it took; false if no device gave a usable timing.
  bool take(std::span<const DeviceSample> samples, std::uint64_t totalGroups) {
    std::uint64_t given = 0;
    for (const DeviceSample& s : samples) {
      if (s.groupBegin > s.groupEnd || s.groupEnd > totalGroups)
        return false;
      given += s.groupEnd - s.groupBegin;
    }
    if (given != totalGroups)
      return false; // not one launch, cut into parts
    const auto total = static_cast<double>(totalGroups);
    samples_.clear();
    last_ = settled_ = 0;
    took_.setZero();
    double sum = 0;
    double measured = 0;
    before_ = ran_.sum() > 0;
    for (Eigen::Index d = 0; d < n_; ++d) {
      const DeviceSample& s = samples[static_cast<std::size_t>(d)];
      const double begin = static_cast<double>(s.groupBegin) / total;
      const double end = static_cast<double>(s.groupEnd) / total;
      const double gained = gainedBy(d, begin, end);
      ran_[d] = end - begin;
      ranBegin_[d] = begin;
      if (!measures(s))
        continue;
      took_[d] = s.seconds;
      if (s.seconds > last_) {
        last_ = s.seconds;
        slowest_ = d;
      }
      sum += s.seconds;
      ++measured;
      const double moving = std::clamp(s.transferSeconds, 0.0, s.seconds);
      const double start = std::clamp(s.startSeconds, 0.0, s.seconds - moving);
      model_.setStart(d, start);
      const double once = learnMoving(d, moving, gained, total);
      if (s.seconds - once > settled_) {
        settled_ = s.seconds - once;
        slowestSettled_ = d;
      }
      // However long moving took: what is left says how fast the device is.
      if (const double work = s.seconds - moving - start; work > 0)
        samples_.push_back({d, begin, end, total, work, 1});
    }
    if (samples_.empty())
      return false;
    summary_.imbalance = last_ * measured / sum - 1;
    return true;
  }

  bool isOutlier(double total) const {
    return summary_.launches > knowsEnough &&
           std::any_of(samples_.begin(), samples_.end(), [&](const LoadSample& s) {
             return model_.knows(s.device) &&
                    s.seconds > outlier * model_.seconds(s.device, s.begin, s.end, total);
           });
  }

  /// How much of [begin, end) the device did not run in the last launch.
  double gainedBy(Eigen::Index d, double begin, double end) const {
    return newPart(begin, end, ranBegin_[d], ranBegin_[d] + ran_[d]);
  }

  /// What moves in launches that keep their shares recurs; the rest came from what was gained.
  /// Answers the seconds of `moving` that don't recur.
  double learnMoving(Eigen::Index d, double moving, double gained, double total) {
    if (before_ && gained * total < 0.5) {
      steadyMove_[d] = moving / (ran_[d] * total);
      model_.setMoving(d, steadyMove_[d]);
      return 0;
    }
    const double fresh = std::max(0.0, moving - steadyMove_[d] * ran_[d] * total);
    // Little moves where others have brought the data already, which they won't each time.
    if (!before_ && changeMove_.maxCoeff() <= 0)
      changeMove_.setConstant(options_.movingSeconds / total);
    // A probe's piece takes about as long to move as one many times its size.
    const double presumed = options_.movingSeconds > 0 ? littleData : 0;
    const double shown =
        (fresh + presumed * options_.movingSeconds) / (total * (gained + presumed));
    changeMove_[d] = std::max(shown, 0.7 * changeMove_[d]);
    hasGained_[d] = before_ || fresh > 0 ? 1 : hasGained_[d];
    return fresh;
  }

  /// A device's fixed cost is only known from launches of different sizes. Were it thought too
  /// large, more groups would seem to cost nothing: so shares grow by steps.
  void allowGrowth(const Vector& shares, double total) {
    // Later, when there is less to win, by smaller ones: what lies beyond may be a step in the
    // device's performance.
    const double growth = summary_.launches <= 6 || confirmed_ ? 3 : 1.5;
    largest_ = largest_.cwiseMax(shares);
    limits_ = growth * largest_.array() + 2 / total;
  }

  bool isAlone() const { return trial_.way() == AloneTrial::Way::Alone; }

  /// One device ran the launch, and not because the model wanted it so.
  bool ranAsTrial() const {
    return alone_.maxCoeff() > 0 && (ran_ - alone_).cwiseAbs().maxCoeff() < 1e-9 &&
           (shares_ - alone_).cwiseAbs().maxCoeff() > 1e-9;
  }

  void learnAlone(double total) {
    summary_.stop = Stop::Converged;
    const double before = trial_.seconds(AloneTrial::Way::Alone);
    const bool hasSlowed = trial_.took(AloneTrial::Way::Alone, settled_);
    seenAlone_[slowest_] = hasSlowed ? settled_ : trial_.seconds(AloneTrial::Way::Alone);
    if (hasSlowed) {
      // In company it is slower by as much.
      LoadSample& s = samples_.front();
      s.seconds = model_.seconds(s.device, 0, 1, total) * settled_ / before;
      model_.learn(samples_);
      allowGrowth(ran_, total);
      model_.balance(shares_, total, limits_);
    }
    if (isAlone() && affordsTrial(shares_, trial_.seconds(AloneTrial::Way::Alone), total))
      trial_.consider(trial_.seconds(AloneTrial::Way::Together), age(), likelyTrialPart);
  }

  void learnTogether(double total) {
    model_.learn(samples_);
    if ((ran_ - ranTogether_).cwiseAbs().maxCoeff() > sameShare)
      trial_.sharesChanged();
    ranTogether_ = ran_;
    const double predicted = decide(total);
    trial_.took(AloneTrial::Way::Together, settled_);
    considerAlone(total, predicted);
  }

  /// Answers the seconds of the cuts that the model thinks best.
  double decide(double total) {
    const bool wasProbe = settleProbe();
    const bool setBack = remember();
    summary_.stop = Stop::Searching;
    allowGrowth(ran_, total);
    model_.balance(candidate_, total, limits_);
    // What a step gains is what it leads to: the first steps of a device that has little gain next
    // to nothing themselves.
    const double predicted = model_.balance(goal_, total, unlimited_);
    if (setBack) {
      shares_ = beforeProbe_ = best_;
      hold_ = std::min(hold_ + 2, maxHold);
      held_ = hold_;
      return predicted;
    }
    const Vector& now = wasProbe ? beforeProbe_ : ran_;
    if (held_ > 0) {
      --held_;
      shares_ = best_;
    } else if (worthMoving(now, predicted, total)) {
      shares_ = candidate_;
    } else {
      shares_ = now;
      summary_.stop = Stop::Converged;
    }
    probe(total, predicted);
    return predicted;
  }

  bool worthMoving(const Vector& now, double predicted, double total) {
    const double current = model_.makespan(now, total);
    const double gain = current - predicted;
    waits_ = false;
    // What one noisy launch suggests is not worth following again and again.
    const double tolerance = summary_.launches < 4
                                 ? options_.tolerance
                                 : std::max(options_.tolerance, 0.5 * model_.noise());
    if (gain <= tolerance * current)
      return false;
    waits_ = gain * age() <= movingCost(goal_, total);
    return !waits_;
  }

  /// Keeps the best launch. True if the last one was much worse, and that because a device was
  /// given more than in the best launch: a step in its performance that the model does not know.
  /// What moved only because shares changed does not count.
  /// Where a device got no more than then, it has become slower, and the best launch is history.
  bool remember() {
    const double slack = 1.05 + 2 * model_.noise();
    const bool again = (ran_ - best_).cwiseAbs().maxCoeff() < 1e-9;
    if (again && settled_ <= slack * bestSeconds_) {
      bestSeconds_ += 0.4 * (settled_ - bestSeconds_); // one lucky launch is no record
      return false;
    }
    if (bestSeconds_ <= 0 || settled_ <= bestSeconds_) {
      bestSeconds_ = settled_;
      best_ = ran_;
      return false;
    }
    if (settled_ <= slack * bestSeconds_) {
      bestSeconds_ *= 1.002; // old records fade
      return false;
    }
    if (ran_[slowestSettled_] > 1.02 * best_[slowestSettled_] && summary_.launches > 3)
      return true;
    bestSeconds_ = settled_;
    best_ = ran_;
    held_ = 0;
    return false;
  }

  /// After a probe: what it cost sets when the next one may come.
  bool settleProbe() {
    // Launches may be under way that were cut before.
    if (!isProbing() || (probed_.array() * ran_.array()).maxCoeff() <= 0) {
      if (isProbing() && age() - probedAt_ > latestProbe)
        probed_.setZero();
      return false;
    }
    const double others = (took_.array() * (1 - probed_.array())).maxCoeff();
    for (Eigen::Index d = 0; d < n_; ++d)
      if (probed_[d] > 0)
        probeCost_[d] = std::max(0.0, took_[d] - others);
    probed_.setZero();
    probeSeconds_ = last_ - others;
    // The probes' own delay says nothing of the cut that they were added to.
    last_ = others;
    settled_ = std::min(settled_, last_);
    return true;
  }

  /// Of going from the last shares to `shares`. A device that never gained groups is taken to pay
  /// for them what the others did.
  double movingCost(const Vector& shares, double total) const {
    const double known = changeMove_.maxCoeff();
    double cost = 0, begin = 0;
    for (Eigen::Index d = 0; d < n_; begin += shares[d++])
      cost = std::max(cost, (hasGained_[d] > 0 ? changeMove_[d] : known) * total *
                                gainedBy(d, begin, begin + shares[d]));
    return cost;
  }

  /// What launches take on `device` alone: as it was seen, else as the model has it, less what the
  /// others seem to cost it.
  double secondsAlone(Eigen::Index device, double total) const {
    if (seenAlone_[device] > 0)
      return seenAlone_[device];
    double hindrance = 1;
    for (Eigen::Index d = 0; d < n_; ++d)
      if (seenAlone_[d] > 0 && model_.knows(d))
        hindrance = std::max(hindrance, model_.seconds(d, 0, 1, total) / seenAlone_[d]);
    return model_.seconds(device, 0, 1, total) / hindrance;
  }

  void considerAlone(double total, double predicted) {
    // Shares that wait for better ones to pay do not show what splitting gains.
    if (n_ < 2 || trial_.isTrying() || isAlone() || waits_ || summary_.stop != Stop::Converged)
      return;
    Eigen::Index fastest = -1;
    double least = 0;
    for (Eigen::Index d = 0; d < n_; ++d) {
      const double s = model_.knows(d) ? secondsAlone(d, total) : 0;
      if (s > 0 && (fastest < 0 || s < least)) {
        least = s;
        fastest = d;
      }
    }
    // What is only probed does not make it several.
    if (fastest < 0 || (isProbing() ? beforeProbe_ : shares_)[fastest] > 0.999)
      return;
    candidate_.setZero();
    candidate_[fastest] = 1;
    const bool isNew = seenAlone_[fastest] <= 0 && !options_.aloneOnce.empty();
    const double once = isNew ? options_.aloneOnce[static_cast<std::size_t>(fastest)] : 0;
    if (!affordsTrial(candidate_, predicted, total, once))
      return;
    const double most = (seenAlone_[fastest] > 0 ? clearlyLessThanSeen : clearlyLess) * least;
    trial_.consider(least, age(), predicted < most ? probePart : likelyTrialPart);
    if (trial_.isTrying())
      alone_ = candidate_;
  }

  /// Whether the launches since the last trial that changed something, of `seconds` each, are worth
  /// moving the data to where `shares` want it and, perhaps, back, and `once` beside that.
  bool affordsTrial(const Vector& shares, double seconds, double total, double once = 0) const {
    return 2 * movingCost(shares, total) + once <= trialPart * seconds * trial_.since(age());
  }

  /// Launches of this kind so far, seen or not.
  double age() const { return static_cast<double>(summary_.launches + skipped_); }

  bool isProbing() const { return probed_.maxCoeff() > 0; }

  /// Adds pieces to `shares_` for devices without work that are due to show what they do.
  void probe(double total, double predicted) {
    const double piece = 1 / total;
    if (!isProbing()) {
      for (Eigen::Index d = 0; d < n_; ++d) {
        const bool works = shares_[d] * total >= 0.5;
        if (works || isProbeDue(d, piece, predicted, total)) {
          lastProbe_[d] = age();
          probed_[d] = works ? 0 : 1;
        }
      }
      probeBegan_ = false;
      probedAt_ = age();
    }
    if (!isProbing())
      return;
    beforeProbe_ = shares_;
    for (Eigen::Index d = 0; d < n_; ++d)
      if (probed_[d] > 0)
        shares_[d] = std::max(shares_[d], piece * 1.01);
    normalize(shares_);
  }

  bool isProbeDue(Eigen::Index d, double piece, double predicted, double total) const {
    const double expected =
        model_.knows(d) ? std::max(0.0, model_.seconds(d, 0, piece, total) - predicted) : 0;
    if (model_.isDoubtful(d))
      return expected <= trialPart * spent_;
    const double period =
        std::max(static_cast<double>(probePeriod),
                 std::max(expected, probeCost_[d]) / (probePart * std::max(predicted, 1e-12)));
    return age() - lastProbe_[d] >= period;
  }

  AutoOptions options_;
  Eigen::Index n_;
  LoadModel model_;
  AloneTrial trial_;
  Summary summary_;
  Vector shares_;      // proposed, unless one device works alone
  Vector ran_;         // of the last launch
  Vector ranBegin_;    // where each device's part of it began
  Vector ranTogether_; // of the last launch that the model learnt from
  Vector candidate_;   // of the model, a step towards …
  Vector goal_;        // … what it thinks best
  const Vector unlimited_;
  Vector alone_;          // all on the device of the trial; all 0: there was none
  Vector seenAlone_;      // seconds of a launch on one device alone; 0: not seen
  Vector best_;           // of the fastest launch
  mutable Vector speeds_; // what speeds() shows
  Vector steadyMove_;     // seconds per group and launch
  Vector changeMove_;     // seconds per group gained
  Vector hasGained_;      // 1: changeMove_ is measured
  Vector limits_;         // of the next shares
  Vector largest_;        // share that each device ever had
  Vector lastProbe_;      // launch at which a device last worked or was probed
  Vector probed_;         // 1: the device has its piece to show what it does; all 0: none does
  std::vector<LoadSample> samples_;
  Vector took_;      // seconds of each device in the last launch
  Vector probeCost_; // seconds by which the last probe of a device delayed its launch
  Vector beforeProbe_;
  double probeSeconds_ = 0; // of the launch observed last
  double last_ = 0;         // seconds of the last launch
  double spent_ = 0;        // seconds of all launches that were seen
  double settled_ = 0;      // of the last launch, without what moved for new shares
  Eigen::Index slowest_ = 0;
  Eigen::Index slowestSettled_ = 0;
  double bestSeconds_ = 0;
  std::uint64_t hold_ = 0; // launches to stay with the best after the next set-back
  std::uint64_t held_ = 0; // launches left of that
  double probedAt_ = 0;
  bool probeBegan_ = false; // a launch with the probe is under way
  std::uint64_t skipped_ = 0;
  bool seeded_ = false;
  bool before_ = false;
  bool waits_ = false;     // better shares are known, and don't pay for what they move yet
  bool doubted_ = false;   // the last launch was an outlier
  bool confirmed_ = false; // … and the one before
};

} // namespace

std::unique_ptr<ShareSolver> makeAuto(AutoOptions options) {
  return std::make_unique<Auto>(options);
}

} // namespace libsplit::solver
