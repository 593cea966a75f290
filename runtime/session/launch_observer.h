// What launches took: told to their controllers, to other launches and later runs, and to the
// statistics.
#pragma once

#include "runtime/core/spares.h"
#include "runtime/session/group_shapes.h"
#include "runtime/session/launch.h"
#include "runtime/session/merger.h"
#include "runtime/session/shared.h"
#include "runtime/session/stream.h"
#include "solver/sequence.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock.
class LaunchObserver {
public:
  LaunchObserver(Shared& shared, Merger& merger, const GroupShapes& shapes)
      : shared_(shared), options_(shared.options), machine_(shared.machine),
        knownSpeeds_(shared.knownSpeeds), merger_(merger), shapes_(shapes) {}

  /// The launch is over.
  void observe(Task& task, Launch& launch);
  /// The program launches something in a queue: its number there.
  std::uint64_t launches(Stream& stream);
  /// Whether a launch of the queue may make tasks of those that come behind it.
  bool mayHoldUp(const Stream& stream) const;
  /// By how much it makes each of those behind it longer, where the program waits for several.
  double secondsHeldUp(const Stream& stream) const {
    return behind(stream) > 0 ? holdingUpCosts() : 0;
  }
  /// Whether it may be found out if splitting such a launch pays: what that costs those behind it
  /// can be afforded, as far as anything tells. Where they are held up anyway it costs nothing
  /// more, and what they take earns some of it meanwhile.
  bool mayTry(const Stream& stream, const ShareController& controller) const;
  /// Counts a launch that was a task, and says why it was not split.
  static void countUnsplit(Task& task, const Launch& launch, const std::string& why);
  /// Notes what it took to find out that the launch is short.
  void spendOnShort(const Launch& launch, double seconds) const {
    spendOnShort(*launch.code, launch.range, seconds);
  }
  /// A launch of the queue went to the driver, or was planned, split or not.
  void passes(Stream& stream, bool isSplit) {
    stream.splitsOfLate.passes(isSplit);
    splitsOfLate_.passes(isSplit);
  }
  /// Whether launches of that queue, or of any, were split not long ago.
  bool splitsOfLate(const Stream& stream) const {
    return stream.splitsOfLate.isAnyOf(SplitsOfLate::roundOf(stream.cycle.length())) ||
           splitsOfLate_.isAnyOf(SplitsOfLate::usualRound);
  }

private:
  /// What is left of a launch that is over until somebody learns from it.
  struct Over final : Aftermath::Job {
    void run() override { observer->learn(*this, *stream); }
    /// Those that each launch fills (core/spares.h).
    auto lists() { return std::tie(issued); }

    LaunchObserver* observer = nullptr;
    Stream* stream = nullptr;
    std::shared_ptr<KernelCode> code;
    LaunchKey key;
    NDRange range;
    std::shared_ptr<const LaunchPlan> plan;
    std::vector<LaunchIssued> issued;
    LaunchCycle::Ticket ticket;
    LaunchEnds::Launch ended; ///< without the ends
    bool wasSplit = false;
    std::uint64_t bytesMoved = 0;
    double lookSeconds = 0;
    double wall = 0;        ///< seconds that passed; 0: nobody knows
    bool isSeen = false;    ///< when it ended is known
    bool wasAlone = false;  ///< in its queue
    bool wasBehind = false; ///< nothing but others in its queue was before it, and they were
    bool heldUp = false;    ///< others waited for it to be measured before they were planned
    double busy = 0;        ///< seconds of the program's call
    double waited = 0;      ///< seconds for it, from when it was enqueued; 0: not known
  };
  struct Took {
    double wall = 0;        ///< seconds, with what follows
    double own = 0;         ///< … without
    bool complete = false;  ///< what each device did is known
    bool isTelling = false; ///< … and what it took in all
  };
  static std::uint64_t behind(const Stream& stream);
  void countHeldUp(Stream& stream, std::uint64_t number) const;
  /// Seconds that a task costs the program beyond a call of the driver.
  double holdingUpCosts() const {
    return std::max(shared_.splitCost.asTask(), shared_.splitCost.shortestBehind());
  }
  double timingCosts(const Task& task) const;
  void passUntimed(const Task& task, const Launch& launch, double wall, bool wasAlone);
  void passTrial(Task& task, const Launch& launch, double wall);
  Took measure(Over& launch, Stream& stream);
  void countStarts(const Over& launch, StartSkew& starts);
  void learn(Over& launch, Stream& stream);
  void learnHome(Task& task, const Launch& launch, Over& over);
  void spendOnShort(KernelCode& code, const NDRange& range, double seconds) const;
  static void countInRound(Stream& stream, std::chrono::steady_clock::time_point now);
  static void starts(Stream& stream, std::uint64_t number,
                     std::chrono::steady_clock::time_point now);
  void observeChunks(Launch& launch, double wall);
  void count(KernelCode& code, KernelStats::PerRange& range, const LaunchPlan& plan);
  void countSplit(KernelCode& code, const LaunchKey& key, const LaunchPlan& plan, double wall,
                  std::span<const double> shares, std::span<const double> seconds);
  void remember(const KernelCode& code, LaunchHistory& history, std::uint64_t groups);

  Shared& shared_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  const std::unique_ptr<KnownSpeeds>& knownSpeeds_;
  Merger& merger_;
  const GroupShapes& shapes_;
  SplitsOfLate splitsOfLate_; ///< of all queues
  Spares<Over> overs_;
  // By device, of the launch that is observed; they keep their memory.
  std::vector<solver::DeviceSample> samples_;
  std::vector<std::optional<DeviceInterval>> spans_;
  std::vector<LaunchEnds::End> ends_;
  std::vector<double> shares_, seconds_;
  std::vector<std::chrono::steady_clock::time_point> firsts_;
};

} // namespace libsplit::runtime
