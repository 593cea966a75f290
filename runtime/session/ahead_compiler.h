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
  static std::optional<std::vector<CompileOrder::Argument>> argumentsOf(const Launch& launch);
  bool isUsed() const;
  bool isAnyUnderWay() const;
  bool usesProcessors() const;
  static double compilingSeconds(const Launch& launch);
  bool isShort(const Launch& launch, const LaunchHistory& history) const;
  CompletionPtr begin(const Launch& launch, const LaunchHistory& history);
  std::vector<Named> ordersFor(const Launch& launch, const LaunchHistory& history) const;
  cl_int carryOut(std::vector<Named> orders) const;

  Shared& shared_;
  const DiskCache& cache_;
  const std::string splitrun_;                              ///< empty: there is none
  std::map<std::vector<std::string>, CompletionPtr> begun_; ///< by the orders' names
  std::atomic<bool> cancelled_ = false;
  Worker worker_;
};

} // namespace libsplit::runtime
