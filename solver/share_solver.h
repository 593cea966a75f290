// The shares of the devices, refined from launch to launch. Numbers in, shares out; no OpenCL.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit::solver {

/// What one device did in one launch: groups [groupBegin, groupEnd) of the split dimension in
/// `seconds`. A device without work has groupBegin == groupEnd and its seconds are ignored.
struct DeviceSample {
  std::uint64_t groupBegin = 0;
  std::uint64_t groupEnd = 0;
  double seconds = 0; ///< from the launch's start until the device was done, moving included
  double transferSeconds = 0; ///< the part of `seconds` that moved data; 0 if not known
  double startSeconds = 0;    ///< … that passed until it was given its groups, others having theirs

  /// The part in which it was at work.
  double workSeconds() const { return seconds - transferSeconds - startSeconds; }
};

/// One chunk of a launch that was given out piece by piece; see chunk_plan.h.
struct ChunkSample {
  unsigned device = 0;
  std::uint64_t groupBegin = 0;
  std::uint64_t groupEnd = 0;
  double seconds = 0;
};

/// Why the shares are what they are.
enum class Stop {
  Searching,      ///< still moving
  Converged,      ///< imbalance within the tolerance: shares are kept
  SingularUpdate, ///< Broyden: dxᵀ H dG or dGᵀ dG too small, H kept
  LeftSimplex,    ///< Broyden: its step had a negative share; a fixed point step was taken
  Diverged,       ///< Broyden: the last step made it worse; H reset, a fixed point step was taken
  NotMeasured,    ///< the last launch had no usable timing
};
const char* toString(Stop stop);

struct Summary {
  Stop stop = Stop::Searching;
  std::uint64_t launches = 0; ///< observed
  double imbalance = 0;       ///< of the last launch: slowest device over the mean, minus 1
};

/// What a launch would take, by device and range of positions 0..1.
struct LoadProfile {
  std::vector<double> fixed; ///< seconds per launch, by device
  std::vector<double> whole; ///< seconds of all groups, beside those; infinite: not known
  std::vector<double> work;  ///< part of the work in [0, i / (size - 1)); empty: evenly spread

  double seconds(std::size_t device, double begin, double end) const;
};

struct Options {
  /// Imbalance (see Summary) up to which shares are left alone. Below what a launch's noise makes,
  /// shares would only jitter, and every change moves data.
  double tolerance = 0.02;
};

/// Launches that `auto` may ask one device to do alone, to see whether that is faster.
inline constexpr int longestTrial = 8;

/// One way to find the shares that let all devices finish together. Device i is always index i,
/// also while it has no work. Not thread-safe; observe and propose allocate nothing once warm.
class ShareSolver {
public:
  virtual ~ShareSolver() = default;

  /// Takes the timings of a finished launch, one sample per device. Absurd ones (NaN, infinite,
  /// negative, zero for a device with work) are ignored.
  virtual void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) = 0;

  /// Shares for the next launch: one per device, finite, non-negative, summing to 1. The same
  /// observations give the same shares. Valid until the next call on this object.
  virtual std::span<const double> propose() = 0;

  /// A launch begins with what `propose` says: what is only tried is not proposed to many.
  virtual void begins() {}

  /// A launch took so many seconds on that device alone, natively: not one that was proposed.
  virtual void observeAlone(unsigned /*device*/, double /*seconds*/) {}

  /// By how much the last launch took longer because a device without work was tried in it; 0 if it
  /// went by unseen.
  virtual double probeSeconds() const { return 0; }

  /// So many launches went by unseen, on one device or as the last one: they count in how often
  /// others are probed.
  virtual void skip(std::uint64_t /*launches*/) {}

  /// Something is being tried: what the next launch takes has to be observed, also where it runs as
  /// the one before did.
  virtual bool wantsToHear() const { return true; }

  /// True if the next launch should be given out in chunks (chunk_plan.h) if it is long enough.
  /// Whoever can't do that uses propose().
  virtual bool wantsChunks() const { return false; }

  /// Takes the timings of a launch that was given out in chunks, in any order.
  virtual void observeChunks(std::span<const ChunkSample>, std::uint64_t /*totalGroups*/) {}

  /// Groups per second of each device, 0 where not known; to seed the solver of another kernel or
  /// another run. Valid until the next call on this object.
  virtual std::span<const double> speeds() const { return {}; }

  /// Puts what is known of the load into `profile`, one entry per device. False if nothing is.
  virtual bool describe(LoadProfile& /*profile*/, std::uint64_t /*totalGroups*/) const {
    return false;
  }

  virtual Summary summary() const { return {}; }
};

/// Whole work-groups from shares, by largest remainder (ties to the lower index): non-negative
/// multiples of `granularity` that sum to `totalGroups` (the last device with work takes what
/// granularity leaves over).
std::vector<std::uint64_t> roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                                         std::uint64_t granularity = 1);
/// The same into `groups`, as many as shares; allocates nothing.
void roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                   std::uint64_t granularity, std::span<std::uint64_t> groups);

std::unique_ptr<ShareSolver> makeStatic(std::vector<double> shares);

/// The two methods of Huchant, Counilh, Barthou (Euro-Par 2016), section 5. `initialShares`: one
/// per device, uniform if all are 0.
std::unique_ptr<ShareSolver> makeFixedPoint(std::vector<double> initialShares,
                                            Options options = {});
enum class BroydenUpdate { Good, Bad };
std::unique_ptr<ShareSolver> makeBroyden(std::vector<double> initialShares,
                                         BroydenUpdate update = BroydenUpdate::Good,
                                         Options options = {});

/// The load's profile alone: speeds, fixed costs and where in the NDRange the work lies (see
/// load_model.h), solved for the cuts that end first; nothing guards against a wrong model.
std::unique_ptr<ShareSolver> makeProfile(unsigned devices);

struct AutoOptions {
  unsigned devices = 1;
  /// Groups per second, or any common multiple of it, known from elsewhere; empty or 0: unknown.
  std::vector<double> knownSpeeds;
  double tolerance = 0.01;  ///< predicted gain below which shares are left alone
  double movingSeconds = 0; ///< that moving the data of all groups seems to take, until it is seen
  /// Seconds, by device, that the first launch on it alone takes more than others; empty: none.
  std::vector<double> aloneOnce = {};
};
/// Learns speeds, fixed costs and the load's profile over the groups; drops and revives devices;
/// weighs the data that a change moves. See auto_policy.cpp.
std::unique_ptr<ShareSolver> makeAuto(AutoOptions options);

} // namespace libsplit::solver
