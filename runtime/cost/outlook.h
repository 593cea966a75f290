// What splitting the launches of a cycle would gain, found out before anything moves. Pure.
//
// Whether to split a launch can be tried, or worked out. Trying is dear where data lies on several
// nodes: a kernel that takes 2 ms may leave 200 MB where its neighbours don't look for them. But
// all that moving depends on is known beforehand: the planner tells for each cut what every piece
// needs and writes, and the directory tells from that what travels. So the cycle is planned and
// played through twice, on directories of its own. The first time brings the data to where they
// will be used, once; what still moves the second time moves in every cycle.
//
// Each launch may be cut along any dimension or be left at home. The best combination is found by
// descent: from all launches cut as each would be by itself, or only those that take longest, one
// launch after another is changed as long as that shortens the cycle; in long cycles all launches
// of a kernel at once, and some that follow each other. So kernels agree on what suits them all,
// say by heads of an attention block, though by itself each would be cut by rows.
//
// What the program does itself between launches (between_launches.h) is played as well: what it
// writes has to reach each device again, what it copies on its own device has to come home for it,
// and what it reads comes from wherever it lies.
//
// What no launch of the cycle writes, nor the program between them, can go there beside launches
// that are still at home. So it is told apart what that is, and what getting there takes without.
//
// Launches may drift: the steps of an elimination are alike, but each begins one row further down,
// with a row that the one before it wrote. Played twice the same step would need that row once. So
// where they drift the second time is played with the launches of the cycle after, each of which is
// also planned anew.
//
// Worked example: a stencil and a copy of 1 ms each over 4096 rows of 64 KiB, two GPUs alike, 10
// GB/s. Both cut in halves of rows: 0.5 ms each, and a halo of 64 KiB each way for the stencil,
// 6.6 us. What is there to be brought once, 128 MiB of each buffer, takes 27 ms: it pays after 28
// cycles. The copy left at home: 128 MiB there and 128 MiB back in each cycle, 27 ms.
#pragma once

#include "runtime/cost/between_launches.h"
#include "runtime/plan/planner.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// A launch of the cycle.
struct OutlookStep {
  LaunchRequest request; ///< without contents
  /// Empty: the launch is not split; it may read what it is given and writes what `writes` says.
  std::vector<PlanDevice> devices;
  std::vector<double> speeds;         ///< by device, only ratios mean anything; 0: takes no part
  double homeSeconds = 0;             ///< 0: not known, which counts as nothing
  bool isWaitedFor = true;            ///< by the program; else the host is ahead of the devices
  std::optional<unsigned> dimension;  ///< along which it is to be cut, if it can be
  std::vector<const void*> buffers;   ///< by the request's distinct buffers; only compared
  std::vector<std::uint64_t> sizes;   ///< … their bytes
  std::vector<bool> writes;           ///< … whether it may write there, where it is not split
  std::vector<ProgramCommand> before; ///< what the program did since the launch before it
  std::shared_ptr<const void> keeps;  ///< what `request` points at
  /// The launch in its place one cycle later, of the same buffers; null: the same again.
  std::shared_ptr<const OutlookStep> later;
};

struct OutlookMachine {
  std::size_t nodes = 1;
  std::size_t home = 0; ///< the program's own device
  NodeId homeNode = hostNode;
  double secondsPerByte = 0;
  double secondsPerHomeByte = 0; ///< between the program's memory and its own device
  double secondsPerMove = 0;     ///< whatever its size
  double secondsPerSplit = 0;    ///< that a launch takes longer for being split
  double secondsBehind = 0;      ///< … that it takes at least where nobody waits for it
};

struct Outlook {
  struct Step {
    std::vector<double> shares;             ///< by device; empty: it can't be split
    unsigned dimension = 0;                 ///< along which it is cut
    std::shared_ptr<const LaunchPlan> plan; ///< null: home does all of it
    std::vector<bool> isConstant;           ///< by the step's buffers: nobody writes there
    double planningSeconds = 0;             ///< that making it took
  };
  double launchSeconds = 0; ///< all launches of a cycle at home
  double homeSeconds = 0;   ///< … with what the program moves between them
  double seconds = 0;       ///< … split so
  double onceSeconds = 0;   ///< to get there
  double restSeconds = 0;   ///< … where all that is constant was there before
  std::vector<Step> steps;

  /// The gain of a cycle; predictions of so little are not relied on.
  double gain() const {
    return seconds < (1 - leastGain) * homeSeconds ? homeSeconds - seconds : 0;
  }
  static constexpr double leastGain = 0.05;
};

/// The best way found for the launches of one cycle, in order. Takes from microseconds to seconds;
/// `goesOn` is asked now and then, and nothing comes of it once that says no.
std::optional<Outlook> lookAhead(std::span<const OutlookStep> steps, const OutlookMachine& machine,
                                 const std::function<bool()>& goesOn);

} // namespace libsplit::runtime
