// Has drivers compile the pieces of launches before these are split: in another process
// (device/compile_order.h), while launches stay at home.
//
// It is done once for each kind of launch and each build of a driver. What a driver was seen to
// have on disk is noted in libsplit's cache, so later runs begin at once. So is how long it took in
// vain: a kernel that never ends on bytes that nobody wrote keeps a processor busy for so long
// once, not in each run. Should the driver have lost it by then, or want another form than was
// thought of, it compiles in the launch.
//
// Forms are whether a piece begins where the NDRange does, and whether it is a large one. Those of
// each device's part are compiled, whatever part it may come to be. A launch that takes longer at
// home than compiling its kernel does is not held back, since what it would gain by being split is
// worth more, and only such a one is given out in chunks, by which devices get parts of all forms.
//
// But where the program's own device needs none of this, all are held back that such a driver is to
// have a part of, under given shares as well; a device that joins late neither joins nor rehearses
// before; and none is given out in chunks unless that is asked for. PoCL starts a linker when it
// compiles, and ends the process where it doesn't hear of the linker's end, for which the program
// may wait in a thread of its own (program/driver_trial.h). What can't be ordered, kernels with
// images and those that no text is known of, such a device does not join.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/core/worker.h"
#include "runtime/device/compile_order.h"
#include "runtime/session/launch.h"
#include "runtime/session/shared.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock where nothing else is said.
class AheadCompiler {
public:
  AheadCompiler(Shared& shared, const DiskCache& cache);
  ~AheadCompiler() { stop(); }
  AheadCompiler(const AheadCompiler&) = delete;
  AheadCompiler& operator=(const AheadCompiler&) = delete;

  /// Whether the launch, whose kernel is ready, should wait at home. Begins what it waits for.
  bool holdsBack(const Launch& launch, LaunchHistory& history);
  /// Whether the launch is better not given out in chunks, for which drivers would compile yet
  /// other forms of its kernel.
  bool forbidsChunks(const Launch& launch, const LaunchHistory& history) const;
  /// Whether a device may join such launches, or run `box` of one beside it, as far as its driver
  /// has compiled what that takes, in another process. Begins that.
  bool mayJoin(std::size_t device, const Launch& launch, LaunchHistory& history);
  bool mayRehearse(std::size_t device, const Launch& launch, LaunchHistory& history,
                   const GroupBox& box);
  /// Seconds, by device, that the first launch on it alone would take more than others, for what
  /// its driver would have to compile then: no device's part but the first begins where the NDRange
  /// does.
  std::vector<double> aloneOnce(const Launch& launch) const;
  /// Ends what is under way, and begins nothing any more. Without the lock.
  void stop();

private:
  /// An order, the name under which it is noted what became of it, and seconds left for it.
  struct Named {
    CompileOrder order;
    std::string name;
    double left = 0;
  };
  /// Of a launch that is cut in `dimension`.
  struct Part {
    GroupBox box;
    unsigned dimension = 0;
  };
  struct Work {
    std::optional<Named> order; ///< nothing: the driver has all
    bool isPossible = true;     ///< false: not all can be ordered
  };
  bool isUsed() const;
  bool isGuest(const Device& device) const;
  bool takesPart(std::size_t device, const LaunchHistory& history) const;
  bool hasGuest(const LaunchHistory& history) const;
  bool isAnyUnderWay() const;
  template <class Is> bool anyDevice(const Is& is) const {
    for (std::size_t i = 0; i < shared_.devices().size(); ++i)
      if (is(i))
        return true;
    return false;
  }
  static double compilingSeconds(const Launch& launch);
  bool isShort(const Launch& launch, const LaunchHistory& history) const;
  template <class PartsOf>
  bool isCompiled(std::size_t device, const Launch& launch, LaunchHistory& history,
                  std::uint64_t groups, const PartsOf& partsOf);
  static std::optional<std::vector<CompileOrder::Argument>> argumentsOf(const Launch& launch);
  static std::vector<Part> partsOf(const Launch& launch, const LaunchHistory& history,
                                   std::size_t at, std::size_t count, bool isForAll);
  Work workFor(std::size_t index, const Launch& launch, const std::vector<Part>& parts,
               const std::vector<CompileOrder::Argument>& arguments) const;
  std::vector<Named> ordersFor(const Launch& launch, const LaunchHistory& history) const;
  CompletionPtr ended(cl_int status) const;
  CompletionPtr begin(std::vector<Named> orders);
  cl_int carryOut(std::vector<Named> orders) const;

  Shared& shared_;
  const DiskCache& cache_;
  const std::string splitrun_;                              ///< empty: there is none
  std::map<std::vector<std::string>, CompletionPtr> begun_; ///< by the orders' names
  std::atomic<bool> cancelled_ = false;
  Worker worker_;
};

} // namespace libsplit::runtime
