// Which shares the next launch gets, by what a model of the cost (cost_model.h) says of a few
// candidates.
//
//     cost(candidate) = launches to come * seconds(candidate) + seconds to move what it needs, once
//
// Whoever ran a launch k times is expected to run it k times more. seconds() is that of the longest
// piece, with what is moved each time anew, and what a split launch takes beside its pieces.
// Candidates are
//
//   - keep: the shares as they are;
//   - balance: all end together, over all devices and over the fastest two, three, …;
//   - alone: each device that is known by itself;
//   - a probe: one device that nobody knows well gets a piece.
//
// The cheapest is taken, but another than `keep` only if it gains more than the model is sure of:
// one standard deviation of the ratio of the two.
//
// Balances are made with cautious times: the longest that a piece is likely to take (`caution`
// deviations above its mean, as far as it is uncertain beside the others' pieces, less the quarter
// of a launch that exploring may cost). A device that is known gets its share by its speed; one
// that is not gets what it will have done in time even if it turns out to be slow, at least if that
// is a whole work-group. So it is known after that launch, and its share grows. That needs no steps
// and no rule for how fast shares may grow.
//
// Where even one group may end later than the others' work, giving it costs something, and is
// exploration: the device might gain more, by a time that is as short as it is likely to be. It is
// bought if over the launches to come that would gain more than the group may cost, and if this
// cost lies within a budget: a hundredth of the time so far, and never more than a quarter of one
// launch. A device alone, where it was only seen in company, is explored in the same way.
//
// Launches may be decided while others are under way. After a change nothing else is changed until
// the first launch with the new shares was seen, and there is one probe at a time.
//
// Worked example. Home takes 250 ms for 4,096 groups; a CPU may be 30 times slower, by a factor of
// e^2 either way. Cautiously (two deviations) it takes 250 ms * 30 * e^4 / 4,096 = 100 ms for a
// group: two of these end in time, and it gets two. They take 0.24 s: it is 2,000 times slower than
// home, and now that is known to a few percent. One group is what it is worth, and it keeps that.
//
// Not thread-safe. Nothing is allocated once warm, except by what `Situation` asks.
#pragma once

#include "solver/share_solver.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libsplit::simulator {

using solver::ChunkSample;
using solver::DeviceSample;
using solver::LoadProfile;

/// What is known of one device before it ran the kernel here.
struct DevicePrior {
  double relative = 1;  ///< speed beside the others', any unit
  double deviation = 2; ///< of its logarithm
};

class LaunchChoice {
public:
  /// Everything that can be tuned.
  struct Tunables {
    double cautionAtFirst = 2;   ///< the same, of a device whose speed is a guess
    double caution = 1;          ///< deviations above the mean that balances allow for
    double sureness = 0.3;       ///< deviations by which a gain must be certain
    double exploringPart = 0.01; ///< of the time so far, that exploring may take
    double exploringMost = 0.25; ///< of one launch
    double leastGain = 0.02;     ///< of a launch, for which exploring is worth it
  };

  struct Setup {
    std::vector<DevicePrior> devices;
    std::vector<unsigned> memories; ///< by device: which memory it works in
    std::size_t home = 0;           ///< where a launch runs natively; devices.size(): nowhere
    double wholeSeconds = 1e-3;     ///< of a launch on device 0, as expected …
    double deviation = 5;           ///< … to a factor e^deviation
  };
  LaunchChoice(Setup setup, Tunables tunables);
  explicit LaunchChoice(Setup setup) : LaunchChoice(std::move(setup), Tunables()) {}
  ~LaunchChoice();

  /// How things are when a launch is to be decided.
  struct Situation {
    double groups = 1; ///< of the split dimension
    /// Seconds that a split launch takes beside its pieces, more than one at home.
    double splitSeconds = 0;
    double splitDeviation = 0; ///< of its logarithm: how well that is known
    /// Seconds to move what launches with these shares lack, once; empty: nothing moves.
    std::function<double(std::span<const double>)> moving;
  };

  struct Choice {
    std::span<const double> shares; ///< by device; valid until the next call
    std::uint64_t ticket = 0;       ///< to be handed back with what it took
    bool isNative = false;          ///< home alone, and timing it would tell nothing new
    bool isAwaited = false;         ///< what it takes is worth knowing before the next is decided
  };
  Choice next(const Situation& situation);

  /// What the launch with that ticket took. Absurd timings are ignored. Answers what a split launch
  /// took beside its longest piece, where it was one like others: nothing moved for the first time.
  std::optional<double> observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups,
                                double wallSeconds, std::uint64_t ticket);
  void observeChunks(std::span<const ChunkSample> samples, std::uint64_t totalGroups);
  /// A launch went by that others decided on, unseen.
  void passed();

  /// The device may take part from now on, or may not. All may, at first.
  void setUsable(std::size_t device, bool isUsable);

  /// The shares of launches that are no probes. Valid until the next call.
  std::span<const double> shares() const;
  /// Expected seconds of the launch as it is cut now, and on one device.
  double seconds() const;
  double secondsAlone(std::size_t device) const;
  /// The device has run a launch, or a part of one.
  bool hasSeen(std::size_t device) const;
  bool isHomeAlone() const;
  /// One entry per device; devices that were not seen are infinitely slow. False if none was.
  bool describe(LoadProfile& profile) const;
  /// Why the shares are what they are, in one sentence with numbers.
  std::string why() const;

private:
  class State;
  std::unique_ptr<State> state_;
};

} // namespace libsplit::simulator
