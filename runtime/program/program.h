// Programs, kernels, and what it takes to run them on other devices.
#pragma once

#include "analysis-pass/summary/linked_program.h"
#include "runtime/core/small_bytes.h"
#include "runtime/cost/launch_history.h"
#include "runtime/cost/plan_memo.h"
#include "runtime/cost/preparation.h"
#include "runtime/cost/shape_search.h"
#include "runtime/cost/trial_budget.h"
#include "runtime/device/memory.h"
#include "runtime/plan/instruction_graph.h"
#include "runtime/plan/piece_range.h"
#include "runtime/plan/planner.h"
#include "runtime/program/compiled_graph.h"
#include "runtime/program/earlier_runs.h"
#include "runtime/program/inspection.h"
#include "runtime/program/origin.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// What a kernel's parameter takes. Only this tells whether eight bytes are a handle or a number:
/// any number may equal a handle.
enum class ArgumentKind {
  Unknown, ///< the driver does not say, and there is no analysis yet, or none at all
  Memory,  ///< a cl_mem
  Local,
  Value, ///< a sampler too
};

/// One argument of a kernel object, as clSetKernelArg last had it.
struct Argument {
  bool isSet = false;
  std::size_t size = 0;
  SmallBytes value; ///< empty for local memory
  /// The known cl_mem whose handle the value equals. Whether it is meant, the parameter's kind
  /// tells: see `Kernel::memoryOf`. Like the driver, a kernel does not keep it alive.
  std::weak_ptr<MemoryObject> candidate;
  bool isLocal() const { return isSet && value.empty(); }
  /// A cl_mem that is null, in either of the ways to say so: the kernel must not use it.
  bool isNullBuffer() const {
    return isSet && size == sizeof(cl_mem) &&
           std::ranges::all_of(value.view(), [](std::byte b) { return b == std::byte{0}; });
  }
};

/// Counters of one kernel, for LIBSPLIT_STATS; outlive the program.
struct KernelStats {
  KernelStats() = default;
  KernelStats(const KernelStats&) = delete;
  KernelStats& operator=(const KernelStats&) = delete;

  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t splitLaunches = 0;
  int rung = -1; ///< of the last split launch
  /// Seconds that launches took so far when the last was not prepared for that, and that would have
  /// been enough; negative: there was none.
  double tookUnprepared = -1, enoughToPrepare = -1;
  struct PerRange {
    std::uint64_t launches = 0;
    std::uint64_t splitLaunches = 0;
    std::vector<double> lastShares;  ///< by device
    std::vector<double> lastSeconds; ///< by device, of the last split launch
    double homeSeconds = -1;         ///< of the last timed unsplit launch
    double usualHomeSeconds = -1;    ///< the same, if it was not the kernel's first, which compiles
    double wallSeconds = -1;         ///< of the last split launch
    std::vector<double> allSeconds;  ///< by device, of the timed ones
    double allWallSeconds = 0;       ///< of the timed ones
    std::uint64_t timedSplits = 0;   ///< those of them that were timed, whose seconds these are
    unsigned dimension = 0;
    /// "64x4", where that was chosen for the program's own device; empty: it was not.
    std::string wholeShape, pieceShape;
    std::map<std::string, std::uint64_t> reasons; ///< why so many launches were not split
    void countUnsplit(const std::string& why) { ++reasons[why]; }
  };
  void tookAtHome(PerRange& range, double seconds) {
    range.homeSeconds = seconds;
    if (std::exchange(hasRun, true) || splitLaunches > 0)
      range.usualHomeSeconds = seconds;
  }
  bool hasRun = false;                    ///< one at home was timed
  std::map<std::string, PerRange> ranges; ///< by "64x64/8x8"
  /// Those of that name.
  PerRange& of(const std::string& range) {
    if (!last_ || last_->first != range)
      last_ = &*ranges.try_emplace(range).first;
    return last_->second;
  }

private:
  std::pair<const std::string, PerRange>* last_ = nullptr; ///< a kernel's launches mostly repeat it
};

class Program;

/// "kernel argument `out`: index loaded from `col` (line 12)".
std::string toString(const Reason& reason);

/// A kernel of a program, shared by all kernel objects of that name.
struct KernelCode {
  enum class State { New, Preparing, Ready, Unsplittable };

  std::string name;
  std::weak_ptr<Program> program;
  State state = State::New;
  std::string reason;           ///< of Unsplittable
  bool isBeingPrepared = false; ///< a thread fills in what follows, also if it is for nothing now
  std::shared_ptr<KernelStats> stats;
  /// By parameter: from the driver, and where it does not say from the analysis.
  std::vector<ArgumentKind> kinds;
  bool askedForKinds = false; ///< the driver was
  LaunchTimes times;          ///< while it is New
  /// What a launch gained in an earlier run, for which the first one of this run may wait. 0: it is
  /// not known.
  double expectedGain = 0;
  /// Launches before it was ready leave their local size open, and the driver makes tiny groups.
  bool makesTinyGroups = false;
  /// By parameter: may the kernel write through it? Empty: not known.
  std::vector<bool> writes;
  /// It is known to go where pointers that it finds in memory lead: anywhere.
  bool followsPointers = false;
  // From here on valid in state Ready.
  std::shared_ptr<const Origin> origin;                      ///< of its program, as built
  std::vector<std::shared_ptr<const ProgramSummary>> owners; ///< keep the summaries alive
  std::vector<const KernelSummary*> summaries;               ///< by device; null: can't run there
  std::vector<std::shared_ptr<LaneKernel>> kernels;          ///< by device, partition-ready
  /// The same of kernels that take windows (window_rewriter.h), made when a launch first asks.
  struct Windowed {
    CompletionPtr built;                ///< over when that has been tried; null: not asked for
    std::shared_ptr<LaneKernel> kernel; ///< null: not to be had
  };
  std::map<std::size_t, Windowed> windowed;
  /// By device, for kernels whose writes may have to be merged: tells what changed. Null: the host
  /// compares.
  std::vector<std::shared_ptr<LaneKernel>> comparers;
  std::string identity;                ///< hash of text, build options and name; empty: not known
  std::vector<WorkScalar> workScalars; ///< what, beside the NDRange, makes a launch's key
  LaunchHistories histories;
  ShapeSearches shapes;              ///< where the local size is left open
  std::size_t ownMostItems = 0;      ///< of a work-group, as the program built it; 0: nobody asked
  double readySeconds = 0;           ///< that launches took since the kernel could be split
  bool isBuiltForLatecomers = false; ///< or that was tried, or is on its way
  std::vector<bool> decidingScalars; ///< by parameter, on any device
  PlanMemo plans;
  GraphMemo graphs;
  CompiledGraphs compiled;
  TrialBudget trials;                       ///< under `auto`
  std::unique_ptr<Inspections> inspections; ///< null: there are none
  std::set<LoadedElements> elements;        ///< on whose values the regions depend, on any device
  std::vector<bool> loaded; ///< by parameter: whether any of these are in its buffer
  TracedCode traced;        ///< what a trace knows of it

  /// Drops the objects that libsplit made of it, which go with the result.
  std::shared_ptr<const void> dropKernels() {
    struct Dropped {
      decltype(KernelCode::kernels) kernels;
      decltype(KernelCode::windowed) windowed;
      decltype(KernelCode::comparers) comparers;
      CompiledGraphs compiled;
    };
    return std::make_shared<Dropped>(
        Dropped{std::exchange(kernels, {}), std::exchange(windowed, {}),
                std::exchange(comparers, {}), std::exchange(compiled, {})});
  }
  /// From now on its launches stay at home. `why` is for users.
  void neverSplit(const std::string& why) {
    state = State::Unsplittable;
    reason = why;
  }
};

/// A kernel object of the application.
struct Kernel {
  cl_kernel handle = nullptr;
  std::shared_ptr<Program> program;
  std::shared_ptr<KernelCode> code;
  std::vector<Argument> arguments;
  /// The memory object that an argument is. While it is not known whether the parameter takes one,
  /// an argument that could be one counts: at home, where such launches run, the driver gets its
  /// bytes as they are, and the object's are valid there. Null: it is none, or is gone.
  std::shared_ptr<MemoryObject> memoryOf(std::size_t parameter) const {
    const ArgumentKind kind = code->kinds[parameter];
    return kind == ArgumentKind::Memory || kind == ArgumentKind::Unknown
               ? arguments[parameter].candidate.lock()
               : nullptr;
  }
  /// The handle of a memory object that is not in the table, where the argument surely is one: of a
  /// pipe, or one shared with a graphics API. Else null.
  cl_mem foreignMemoryOf(std::size_t parameter) const {
    const Argument& argument = arguments[parameter];
    cl_mem handle = nullptr;
    if (code->kinds[parameter] == ArgumentKind::Memory && !memoryOf(parameter) &&
        argument.value.size() == sizeof handle)
      std::memcpy(&handle, argument.value.data(), sizeof handle);
    return handle;
  }
  int references = 1;
  bool isOpaque = false; ///< the driver alone knows all that it was told of it
  /// The same kernel again, for launches that libsplit issues itself; made on first use.
  std::shared_ptr<LaneKernel> clone;
};

/// In which form a device gets a program.
enum class ProgramForm {
  AsMade,
  PartitionReady, ///< partition_rewriter.h
  Windowed        ///< the same or as it was made, and with kernels that take windows
};

/// One build of a program, and what libsplit makes of it. The next build gets its own, so that work
/// on this one can end in peace.
struct Build {
  /// What was built, by device of the application; a device may have its own options, or its own
  /// binary. No entry: not known. Never changed.
  std::map<cl_device_id, std::shared_ptr<const Origin>> origins;
  std::string doubt;         ///< why it is not known which options it has; empty: it is
  double seconds = 0;        ///< that the driver took for it
  double launchSeconds = 0;  ///< that launches took at home while none was split
  double earlierSeconds = 0; ///< the same of earlier runs
  double compiling = 0;      ///< what compiling its kernels for a device seems to take
  double earlierCompiling = 0;
  double compiled = 0; ///< of those that were prepared
  double earlierBuilding = 0;
  double earlierLife = 0; ///< seconds from its build to the end of the last run
  double heldUp = 0;      ///< EarlierLaunches::heldUp, this run included
  std::map<std::string, double> kernelSeconds; ///< `launchSeconds` by kernel
  std::map<std::string, EarlierLaunches::Kernel> earlierKernels;
  std::map<std::string, bool> prepared; ///< by kernel, whether it can be split
  std::map<std::string, std::shared_ptr<const KernelStats>> kernels; ///< that were made of it
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  bool isAnalysed = false;      ///< in this run or an earlier one
  bool isAnalysedAhead = false; ///< that was begun before it was known to pay
  double analysing = 0;         ///< seconds that it took then, once it is over
  bool isPrepared = false;      ///< for a kernel; what that took is gone
  /// Kernels whose preparation began when launches had paid for it, and is not over. What a run
  /// left of it, drivers' builds for one, the next run goes on from.
  std::set<std::string> begun, begunEarlier;
  /// By kernel: what a launch gained in an earlier run.
  std::map<std::string, double> gains;

  // From here on used by the preparing thread only.
  struct Analysis {
    std::shared_ptr<const Origin> origin;
    DeviceMacros macros;
    cl_device_id askedOf = nullptr; ///< whose compiler had to tell more; null: it holds for all
    std::shared_ptr<const ProgramSummary> summary;
  };
  std::vector<Analysis> analyses;
  /// For other devices, and partition-ready ones for the home device; by device and form.
  std::map<std::pair<std::size_t, ProgramForm>, Ref<cl_program>> lanePrograms;
};

/// A unit as the application compiled it.
struct CompiledUnit {
  SourceUnit source;
  std::shared_ptr<const HeaderSnapshot> headers; ///< that its compilation could read; null: none
};
/// What a program was compiled from, by device: several units for a library.
using SourceUnits = std::map<cl_device_id, std::vector<CompiledUnit>>;

/// What a program is linked from.
struct LinkedUnits {
  std::vector<CompiledUnit> units;
  std::string options;
};

/// A program of the application.
class Program {
public:
  Program(cl_program program, cl_context in) : handle(program), context(in) {}

  const cl_program handle;
  const cl_context context;
  int references = 1;
  unsigned kernelObjects = 0; ///< of the application
  unsigned beingBuilt = 0;    ///< calls of the driver that do it and have not returned
  /// When libsplit last gave up kernels of it, which the driver may hold for a while.
  std::optional<std::chrono::steady_clock::time_point> kernelsGivenUp;
  /// The application gave it up: its handle may be another's by now.
  bool isGone() const { return references == 0; }
  std::optional<std::string> source; ///< nothing: binaries, IL, linked
  /// Where the binaries that it was made from came from, by device.
  std::map<cl_device_id, std::shared_ptr<const Origin>> binaries;
  /// Of these, those of PoCL's devices: they hold IR, which is yet to be compiled.
  std::set<cl_device_id> poclBinaries;
  SourceUnits units;  ///< of the last compilation, where that is known: it may be linked
  std::string opaque; ///< why there is neither
  /// Of what it is made by its next build nothing is known, whatever its last one was made from.
  bool buildsAnew = false;
  /// Made from binaries of which nothing is known: from before the program ran under libsplit.
  bool isForeign = false;
  std::shared_ptr<Build> build = std::make_shared<Build>();
  std::map<std::string, std::shared_ptr<KernelCode>> codes;
  /// Some of these are, and what libsplit made of them can't go meanwhile.
  bool isBeingPrepared() const {
    return std::ranges::any_of(codes,
                               [](const auto& entry) { return entry.second->isBeingPrepared; });
  }
};

} // namespace libsplit::runtime
