// Whether and how a launch is split: plan_launch.cpp tells how that is found.
#pragma once

#include "runtime/session/ahead_compiler.h"
#include "runtime/session/chunked_launch.h"
#include "runtime/session/contents_fetcher.h"
#include "runtime/session/executor.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/launch.h"
#include "runtime/session/launch_observer.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/native_work.h"
#include "runtime/session/outlooks.h"
#include "runtime/session/prefetcher.h"
#include "runtime/session/rehearsals.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace libsplit::runtime {

/// Under the session's lock.
class LaunchPlanner {
public:
  LaunchPlanner(Shared& shared, NativeWork& nativeWork, ContentsFetcher& contents,
                Executor& executor, HomeCommands& homeCommands, ChunkedLaunches& chunks,
                Rehearsals& rehearsals, Prefetcher& prefetcher, LaunchObserver& observer,
                Outlooks& outlooks, AheadCompiler& ahead, const GroupShapes& shapes,
                const MemoryTable& memory)
      : shared_(shared), options_(shared.options), machine_(shared.machine),
        knownSpeeds_(shared.knownSpeeds), nativeWork_(nativeWork), contentsFetcher_(contents),
        executor_(executor), homeCommands_(homeCommands), chunks_(chunks), rehearsals_(rehearsals),
        prefetcher_(prefetcher), observer_(observer), outlooks_(outlooks), ahead_(ahead),
        shapes_(shapes), memory_(memory) {}

  /// The program launches what will not be looked at, which may be part of what repeats: as what
  /// it is to pass, once it is its turn. Nothing: nobody wants to know.
  std::optional<std::uint64_t> noteNative(const Kernel& kernel, const LaunchArguments& arguments);
  void passNative(Stream& stream, const Program& program, const KernelCode& code, std::uint64_t id);
  /// Whether a launch is probably too short to be worth a look. Where data lies on several nodes,
  /// short launches are part of what longer ones gain; and some should not go to the driver as they
  /// came.
  bool rests(const Stream& stream, KernelCode& code, const NDRange& range, bool localGiven,
             TrialBudget::Clock::time_point now) const;
  /// What is to become of the launch: its action and its shares.
  void decide(Stream& stream, Launch& launch);
  /// Plans the launch and issues it, split or not; or the task waits for what that takes.
  void plan(Task& task, const std::shared_ptr<Launch>& launch);
  /// It would take less at home than is worth splitting, as far as one knows.
  bool isShort(const Launch& launch) const;
  /// What it is expected to take at home; 0: that is not known.
  double homeSeconds(const Launch& launch) const;
  /// Issues it for the home device alone, as the program had it.
  void planUnsplit(Task& task, const std::shared_ptr<Launch>& launch);

private:
  double movingSeconds(const Launch& launch) const;
  bool hasNewcomer(const Launch& launch, LaunchHistory& history);
  bool isFasterElsewhere(const Launch& launch) const;
  void takeControl(const Launch& launch, LaunchHistory& history);
  bool decideWithout(std::size_t device, Launch& launch);
  void adopt(Launch& launch, const ShareController::Decision& decision);
  LaunchCycle::Ruling rulingOf(Stream& stream, const Launch& launch, LaunchHistory& history);
  bool canLookAhead() const;
  LaunchCycle::Passing onThisMachine();
  void lookAhead(Stream& stream, LaunchCycle::Passing& passing);
  std::string planAsDecided(Task& task, const std::shared_ptr<Launch>& launch);
  std::string planChunks(Task& task, const std::shared_ptr<Launch>& launch);
  std::shared_ptr<const LaunchPlan>
  boundariesFirstOf(Launch& launch, const std::shared_ptr<const LaunchPlan>& plan);
  std::shared_ptr<const LaunchPlan> overlappedOf(const Launch& launch,
                                                 const std::shared_ptr<const LaunchPlan>& plan);
  std::shared_ptr<const LaunchPlan> planAtHome(const Launch& launch) const;
  bool wantsTimes(const Task& task, const Launch& launch, const LaunchHistory& history) const;
  std::string planSplit(Task& task, const std::shared_ptr<Launch>& launch);
  std::shared_ptr<const LaunchPlan> planOrFetch(Task& task, const std::shared_ptr<Launch>& launch,
                                                std::span<const double> shares, std::string& why);
  std::shared_ptr<const LaunchPlan> choosePlan(const Task& task, Launch& launch,
                                               std::span<const double> shares, std::string& why);
  std::vector<PlanDevice> planDevices(const Launch& launch) const {
    return planDevicesOf(*machine_, launch);
  }

  Shared& shared_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  const std::unique_ptr<KnownSpeeds>& knownSpeeds_;
  NativeWork& nativeWork_;
  ContentsFetcher& contentsFetcher_;
  Executor& executor_;
  HomeCommands& homeCommands_;
  ChunkedLaunches& chunks_;
  Rehearsals& rehearsals_;
  Prefetcher& prefetcher_;
  LaunchObserver& observer_;
  Outlooks& outlooks_;
  AheadCompiler& ahead_;
  const GroupShapes& shapes_;
  const MemoryTable& memory_;
  PlanKey planKey_; ///< of the launch that is planned; keeps its memory
};

} // namespace libsplit::runtime
