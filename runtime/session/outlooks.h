// What splitting the launches of a queue's cycle would gain, worked out beside the program.
//
// Planning all launches of a cycle takes from some microseconds to a second, so it happens on a
// thread of its own; until it is done the cycle stays at home. The plans that the answer rests on
// are kept with their kernels: the first launches that are split find them made.
#pragma once

#include "runtime/core/worker.h"
#include "runtime/cost/outlook.h"
#include "runtime/session/command.h"
#include "runtime/session/launch.h"
#include "runtime/session/shared.h"
#include "solver/sequence.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

struct Kernel;

/// Under the session's lock.
class Outlooks {
public:
  explicit Outlooks(Shared& shared) : shared_(shared) {}
  ~Outlooks() { stop(10); }
  Outlooks(const Outlooks&) = delete;
  Outlooks& operator=(const Outlooks&) = delete;

  /// The program itself does this between launches.
  void note(const Buffer& buffer, ProgramCommand::Kind kind, ByteRange bytes) {
    if (isWatching_)
      between_.note(&buffer, kind, bytes);
  }
  /// A launch with that id may be split: remembers what it takes to plan it, if that is news.
  void note(std::uint64_t id, const Launch& launch, const LaunchHistory& history);
  /// The id of a launch that goes to the driver as it came: the same as when its like was last
  /// looked at.
  std::uint64_t noteNative(const Kernel& kernel, const LaunchArguments& arguments);
  std::uint64_t noteNative(const Launch& launch);
  /// Whether any launch was seen that is long enough for all this. Also without the lock.
  bool isWatching() const { return isWatching_; }

  /// Of the launches with these ids, in order; null while that is not known. Valid until the next
  /// call.
  const Outlook* find(std::span<const std::uint64_t> ids);

  /// Has something about launches worked out beside the program, by `work`, which throws nothing;
  /// false if there is no thread for it, or the program is to wait for all such.
  bool workOut(std::function<void()> work);

  /// Launches that are remembered.
  std::size_t size() const { return steps_.size(); }
  static constexpr std::size_t mostSteps =
      4 * solver::CycleDetector::longest; ///< then all is forgotten

  /// Gives up looking ahead, and waits for that, but not longer than `seconds`. Without the
  /// lock.
  void stop(double seconds);

private:
  struct Noted {
    OutlookStep step;
    std::weak_ptr<KernelCode> code; ///< that `step` points into; it goes when the program does
    bool isNative = true;           ///< there is none: it is not split
    LaunchKey launchKey;
    PlanKey planKey; ///< without groups
    UsualCommands usual;
    std::uint64_t version = 0;
    PlanKey lastKey;        ///< of the last launch with that id
    bool drifts = false;    ///< which was planned otherwise than the one before it
    bool passed = false;    ///< … or was not looked at
    unsigned wanted = 0;    ///< of the next ones, so many are to be remembered
    std::uint64_t pair = 0; ///< … of the rounds that began then; 0: they are not of two rounds
    void giveUp() { wanted = 0, pair = 0; }
  };
  /// Shared with the job that makes it.
  struct Made {
    std::uint64_t version = 0;
    double secondsPerByte = 0;
    bool isOver = false;
    std::optional<Outlook> outlook;
  };
  template <class ObjectOf>
  static std::uint64_t idOfCall(const KernelCode& code, const std::string& range,
                                std::size_t arguments, const ObjectOf& objectOf);
  template <class ObjectOf>
  std::uint64_t pass(const KernelCode& code, const std::string& range, std::size_t arguments,
                     const ObjectOf& objectOf);
  void cameWithCommands(Noted& noted);
  OutlookStep stepOf(const Launch& launch, const LaunchHistory& history,
                     std::vector<double> speeds) const;
  bool areOfTwoRounds(std::span<const std::uint64_t> drifting) const;
  void wantTwoRounds(std::span<const std::uint64_t> drifting);
  OutlookMachine machine() const;
  void forgetIfMany();
  void make(std::span<const std::uint64_t> ids, const std::shared_ptr<Made>& made);
  void keepPlans(std::span<const std::uint64_t> ids, const Outlook& outlook);

  Shared& shared_;
  std::unordered_map<std::uint64_t, Noted> steps_;
  std::unordered_map<std::uint64_t, std::uint64_t> byCall_; ///< to the id when it was looked at
  std::map<std::vector<std::uint64_t>, std::shared_ptr<Made>> outlooks_;
  BetweenLaunches between_;
  std::uint64_t versions_ = 0;
  std::uint64_t looks_ = 0; ///< at cycles of launches that drift
  PlanKey planKey_;         ///< of the launch that is noted
  std::atomic<bool> isWatching_ = false;
  std::shared_ptr<std::atomic<bool>> goesOn_ = std::make_shared<std::atomic<bool>>(true);
  Worker worker_;
};

} // namespace libsplit::runtime
