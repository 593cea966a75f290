// Decides, launch by launch of one kernel under one key, whether to split and with which shares.
// Pure.
//
// Under `auto` the first launch is split at once if this launch or its like is known to gain from
// it; else it is given out in chunks where that can be done and it is not known to be short; else
// it runs on the program's own device and is timed. If it is too short to split, the kernel stays
// there, and is looked at again now and then, ever more rarely. From the second launch on the
// solver refines what was measured.
//
// Splitting is under suspicion when its last launches surely took longer than one at home is
// thought to: by more than the standard error of that difference. Until they do, or surely took
// less, there are twice as many before the verdict, and twice as many again. What one launch took
// at home may say little of the next: launches under one key may have loads that differ many times
// over, which is seen in those that are split. So where it is home of which less is known, and
// nothing has to be moved for that, launches are timed there, as many again each time.
// Before it is given up, home is measured again: the machine may have become busy since, and a
// wrong verdict costs the user more than some launches at home. Launches that moved data because
// their shares were new are not judged: that was paid once. What follows a split launch belongs to
// what splitting costs (rest_times.h); until home is known to be followed by as much, it is enough
// for suspicion.
//
// A program that waits for a launch waits longer than the device is at work: its call has to reach
// the driver, and it has to be woken up. Split launches show that, so it is added to what home
// takes; and to split launches that nobody waited for, so that both sides have it.
#pragma once

#include "runtime/core/options.h"
#include "runtime/cost/latest.h"
#include "runtime/cost/rest_times.h"
#include "solver/share_solver.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// Of a split launch that is over.
struct SplitCircumstances {
  /// Its seconds are how long the program had to wait, for this launch alone.
  bool isWaitedFor = true;
  /// There is time for the solver to learn from it; under `auto` it need not, once it knows
  /// launches with these shares.
  bool mayLearn = true;
  /// What it took in all is known.
  bool isTelling = true;
  /// It had the shares that the solver proposed.
  bool isProposed = true;
};

class ShareController {
public:
  /// What is known of a launch before it first ran here.
  struct Prior {
    enum class From {
      Nothing,
      OtherKernels,  ///< how the devices compare: only ratios of `speeds` mean anything
      OtherLaunches, ///< of the same kernel: work-items per second
      SameLaunch,    ///< … under the same key, in an earlier run or long ago
    };
    From from = From::Nothing;
    std::vector<double> speeds; ///< by device; 0: not known
    double homeSeconds = 0;     ///< expected at home; 0: not known
    double gain = 0;            ///< at home over split, as measured then; 0: not known
    std::vector<double> atMost; ///< that each can be by home's speed, as seen then; 0: not known
  };
  struct Setup {
    Policy policy;
    std::vector<double>
        speeds; ///< guessed relative speeds of the devices, > 0; 0: can't run the kernel
    /// Devices that their drivers describe just as the home device: a guessed ratio of 1 can be
    /// relied on.
    std::vector<bool> likeHome;
    /// Devices of which the prior knows only what few groups took.
    std::vector<bool> hasRehearsed;
    std::size_t home = 0;         ///< the program's own device; speeds.size() if it takes no part
    double minLaunchSeconds = 0;  ///< `auto`: shorter ones stay at home if they are waited for
    double minChunkedSeconds = 0; ///< what takes less stays there, too, where it begins in chunks
    double movingSeconds = 0;     ///< that moving all its data to another memory seems to take
    /// By device, that the first launch on it alone takes more than others; empty: none.
    std::vector<double> aloneOnce;
    bool tellsWaits = false;  ///< `observeHome` may get to know what the program waits for
    double timedAtHome = 0;   ///< what such launches took there before any was split; 0: not known
    std::uint64_t groups = 0; ///< of such a launch, in the dimension that has most; 0: not known
    Prior prior;
  };
  explicit ShareController(Setup setup);

  enum class Action {
    Native,  ///< as without libsplit
    Measure, ///< unsplit at home, timed: report by observeHome
    Split,   ///< by `shares`: report by observeSplit
    Chunks,  ///< piece by piece: report by observeChunks, or observeHome if home did it alone
  };
  struct Decision {
    Action action = Action::Native;
    /// Of Split: one per device. Of Chunks: relative speeds of the devices, 0 where not known.
    /// Valid until the next call.
    std::span<const double> shares;
    /// Of Split: others get less than they should, since nothing was moved yet.
    bool isKeptShort = false;
  };
  /// `canChunk`: the caller can give the launch out in chunks, should it be asked to. `mayTry`:
  /// what it costs others to find out whether splitting pays can be afforded.
  Decision next(bool canChunk = false, bool mayTry = true);
  /// The solver's shares, for a launch that others decided to split.
  Decision split();

  /// `totalGroups`: of the launch, if it was planned; else 0. `waitedSeconds`: how long the program
  /// had to wait for it, if it was alone in its queue and began at once; 0: not known. `shortest`:
  /// what takes less can't gain, as it was launched; nothing: as the setup has it.
  void observeHome(double seconds, std::uint64_t totalGroups = 0, double waitedSeconds = 0,
                   std::optional<double> shortest = {});
  /// `wallSeconds`: from the first transfer or kernel to the end of the last, all devices; of a
  /// launch for which nobody waits, what it took of its queue. Whether the solver learnt from it.
  bool observeSplit(std::span<const solver::DeviceSample> samples, std::uint64_t totalGroups,
                    double wallSeconds, const SplitCircumstances& circumstances = {});
  /// What the next launch by the solver's shares takes is to be reported, also where that costs
  /// something.
  bool wantsTimes() const;
  /// One that it did not want to hear of is over. `waitedSeconds`: as of `observeHome`.
  void passUntimed(double waitedSeconds);
  /// In the order in which they were begun.
  void observeChunks(std::span<const solver::ChunkSample> chunks, std::uint64_t totalGroups);
  /// The launch takes so many times as long from now on: home alone, or pieces on those devices.
  void changeHome(double factor);
  void changePieces(std::span<const std::size_t> devices, double factor);
  /// So many seconds passed between a launch and the one after it.
  void passed(bool wasSplit, double seconds) { rests_.passed(wasSplit, seconds); }
  /// Seconds that a split launch costs beyond its own; 0 where that is not known.
  double restCosts() const { return rests_.splitCosts(); }
  /// Launches that are timed or split are to show whether splitting pays; nothing has yet, or not
  /// since it was last found not to.
  bool isOnTrial() const { return setup_.policy.kind == Policy::Kind::Auto && isOnTrial_; }
  /// The launch can't be given out in chunks after all: not asked for again.
  void refuseChunks() { chunksRefused_ = true; }

  /// Whether the device can run the launch at all.
  bool canUse(std::size_t device) const { return setup_.speeds[device] > 0; }
  /// Groups per second that each device showed, 0 where not known. Valid until the next call.
  std::span<const double> speeds() const { return speeds_; }
  /// By device: it can't be more than so many times as fast as home; 0: not known.
  std::span<const double> atMost() const { return atMost_; }
  /// How fast the devices are beside home, by all that is known or guessed; 0: takes no part.
  std::vector<double> expectedSpeeds() const;
  /// Seconds at home that are known, or known of a launch like it; 0: none are.
  double expectedHomeSeconds() const {
    return homeSeconds_ > 0               ? homeSeconds()
           : homeBefore_ > 0              ? homeBefore_
           : setup_.prior.homeSeconds > 0 ? setup_.prior.homeSeconds
                                          : setup_.timedAtHome;
  }
  /// At home over split, as an earlier run measured it for this launch; 0: none did.
  double gainBefore() const {
    return setup_.prior.from == Prior::From::SameLaunch ? setup_.prior.gain : 0;
  }
  /// What is known of the load by position, one entry per device (whole: infinite where nothing
  /// is). False if nothing is known at all.
  bool describe(solver::LoadProfile& profile, std::uint64_t totalGroups) const;
  /// Seconds at home and split, as the last verdict knew them, for a program that waits; 0 where
  /// not known.
  double homeSeconds() const { return homeSeconds_ > 0 ? homeSeconds_ + waitCosts() : 0; }
  /// … that home itself is at work.
  double homeWorkSeconds() const { return std::max(homeSeconds_, 0.0); }
  /// What is known of home is what it did beside others, and by itself it was far faster at the
  /// groups that it began with: not to be relied on.
  bool homeIsDoubtful() const;
  double splitSeconds() const { return split_.mean > 0 ? split_.mean + restCosts() : 0; }

private:
  Decision nextAuto(bool canChunk, bool mayTry);
  Decision chunks();
  bool keepFirstMoveShort();
  bool gainsByWhatIsKnown() const;
  bool gainsNothingByChunks() const;
  struct Expected {
    std::vector<double> speeds;  ///< by device, home's is 1; 0: takes no part
    std::vector<double> caution; ///< the part of it that may be relied on
  };
  Expected expected() const;
  std::vector<double> startingShares() const;
  void show(std::size_t device, double groups, double seconds);
  bool mustLearn(std::uint64_t totalGroups, bool isProposed) const;
  bool isCutAnew(std::uint64_t totalGroups) const;
  void weigh(double wallSeconds, bool keepsShares, bool isWaitedFor);
  double waitCosts() const;
  bool keepsShares(std::uint64_t totalGroups);
  void tellSolver(double homeSeconds, std::uint64_t totalGroups);
  struct Estimate {
    double mean = 0;
    double error = 0;  ///< of the mean: standard
    double spread = 0; ///< of what it is of: standard deviation by the mean
  };
  static Estimate estimate(std::span<const double> readings);
  void beginTrial();
  void notePaid();
  bool concludes();
  void askHome(std::size_t launches);
  bool tellsMoreAtHome() const;
  double comparedHome() const;
  double homeError() const;
  double likelyError() const;
  double lossBySplitting(double restCosts) const;
  bool isSlower(double restCosts) const { return lossBySplitting(restCosts) > likelyError(); }
  bool isClose() const;
  void judge();
  void rest();
  bool isHomeAlone(const Decision& decision) const;
  void bound(std::span<const solver::DeviceSample> samples);
  std::unique_ptr<solver::ShareSolver> makeSolver() const;

  Setup setup_;
  std::vector<std::size_t> usable_; ///< devices that can run the kernel: the solver's devices
  std::unique_ptr<solver::ShareSolver> solver_;
  std::vector<double> shares_;       ///< by device
  std::vector<double> lastShares_;   ///< of the last split launch, by usable device
  std::vector<double> learntGroups_; ///< that each had in the one last learnt from
  unsigned learnt_ = 0;              ///< split launches
  std::vector<double> speeds_;       ///< by device: groups per second, smoothed
  std::vector<double> atMost_;       ///< … by home's, as the last split shows; 0: not known
  std::vector<solver::DeviceSample> usableSamples_;
  std::vector<solver::ChunkSample> usableChunks_;
  double homeSeconds_ = -1;      ///< that it is at work
  double homeBefore_ = 0;        ///< … before the last rest; 0: not known
  std::vector<double> heard_;    ///< readings whose mean `homeSeconds_` is; empty: it is not of any
  Latest<4> waits_;              ///< what waiting cost for those at home that tell
  bool homeIsMeasured_ = false;  ///< in this run
  bool homeIsGuessed_ = false;   ///< from what home did beside others
  double homeAlone_ = 0;         ///< … and from what it did before they began; 0: not known
  RestTimes rests_;              ///< after the launches
  Estimate split_;               ///< of the launches that the last verdict was about, without rests
  std::vector<double> judged_;   ///< wall times of those that the next is about
  double fastestSplit_ = 0;      ///< since the last verdict
  double lost_ = 0;              ///< seconds that splits took longer than home, in all
  double age_ = 0;               ///< launches observed
  unsigned slowInARow_ = 0;      ///< splits that did, the last ones
  unsigned tried_ = 0;           ///< splits since the last verdict
  unsigned verdictAfter_;        ///< launches that a verdict is about, at least
  unsigned verdictAt_;           ///< … that the next one is
  std::size_t toRemeasure_ = 0;  ///< launches at home still to be asked for
  std::size_t toHear_ = 0;       ///< … and still to be reported
  std::vector<double> fresh_;    ///< readings of those that were reported
  bool isSuspected_ = false;     ///< splitting: these replace the readings before, and decide
  std::uint64_t groups_;         ///< of the last split launch, or the most that there may be
  unsigned homeProposals_ = 0;   ///< in a row: the solver wants home alone
  unsigned homeToTell_ = 0;      ///< of those that are under way
  unsigned restingLaunches_ = 0; ///< native launches left before the next look
  unsigned rest_ = 16;           ///< … and of one that was slower split
  unsigned unmoved_ = 0;         ///< launches that might have been split, before the first that was
  bool isToJudge_ = false; ///< both sides have been measured, but for what follows the last launch
  bool isFirst_ = true;
  bool hasSplit_ = false;        ///< the solver has seen the other devices
  bool hasMoved_ = false;        ///< a launch was split by shares
  bool hasPaid_ = false;         ///< splits were found to be faster, once
  bool isOnTrial_ = true;        ///< … or not since they last were not
  bool hasPaidForTrial_ = false; ///< of what an earlier run found to be slower
  bool hasLookedTwice_ = false;  ///< before the first launch that seemed too short was one
  bool chunksRefused_ = false;
};

/// A first guess at a device's speed, from what drivers tell; only ratios mean anything.
double guessedSpeed(bool isGpu, unsigned computeUnits, unsigned megahertz);

} // namespace libsplit::runtime
