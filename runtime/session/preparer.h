// When kernels are made ready for their launches to be split, and what an earlier run knows of
// that. It is slow, so it happens on a thread of its own while launches run unsplit.
//
// A kernel is New, Preparing, then Ready or Unsplittable for good (program.h). Under `auto` one is
// prepared once that is likely to pay (cost/preparation.h): by what launches took in this run and
// in earlier ones, and by what the machine's other devices seem to be worth, once that is met; and
// what gained in an earlier run is prepared while the driver still builds the program. Otherwise
// each is when it is first launched.
#pragma once

#include "runtime/core/cpu_use.h"
#include "runtime/core/worker.h"
#include "runtime/program/earlier_runs.h"
#include "runtime/program/origin.h"
#include "runtime/session/command.h"
#include "runtime/session/contexts.h"
#include "runtime/session/kernel_preparer.h"
#include "runtime/session/shared.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Why one is not even prepared.
inline constexpr const char* notWorthPreparing =
    "its launches did not take long enough yet for splitting them to be prepared";
inline constexpr const char* endsBefore = "earlier runs ended before it could have been prepared";
inline constexpr const char* notTimedYet = "how long its launches take was not known yet";
inline constexpr const char* tooShortToSplit =
    "its launches are too short to be split (LIBSPLIT_MIN_LAUNCH)";

inline constexpr const char* noThread = "there is no thread to be had that would prepare it";

/// Why launches wait for one that is being prepared.
inline constexpr const char* notBuiltYet = "it is not built for the other devices yet";
inline constexpr const char* notAnalysedYet = "its analysis is not ready yet";

/// Under the session's lock where nothing else is said.
class Preparer {
public:
  Preparer(Shared& shared, const DiskCache& cache, BinaryOrigins& binaries,
           const Contexts& contexts, Merger& merger);

  // What the program does.
  /// It begins to build `program`.
  void building(const std::shared_ptr<Program>& program);
  /// It has made a kernel object of `code`, one of `program`'s.
  void created(const std::shared_ptr<Program>& program, const std::shared_ptr<KernelCode>& code);
  /// It launches a kernel that is not prepared. Whether that is to be timed.
  bool launches(const Kernel& kernel, const LaunchArguments& arguments);
  /// What one that was timed took.
  void launchTook(KernelCode& code, Build& build, std::uint64_t items, double seconds) const;
  /// It keeps the binary with this hash, which was `made` at `place`. Without the lock.
  void keepOrigin(const std::string& binary, const std::shared_ptr<Build>& build,
                  const std::shared_ptr<const Origin>& made, const Place& place);

  /// Why launches of the kernel, which the caller holds, on `device` can't be split now; empty:
  /// they can. Begins to prepare what should be, and waits for it where the program is to.
  /// Where it is not even worth preparing, it stays New, and its launches should be timed.
  std::string whyNotReady(Lock& lock, const Kernel& kernel, cl_device_id device);
  /// The same of a kernel that is to be ready whatever that gains: waits until it is, or never will
  /// be.
  std::string whyNeverReady(Lock& lock, const Kernel& kernel, cl_device_id device);
  /// Waits until the machine is there. False: it can't be had in this thread, or at all.
  bool awaitMachine(Lock& lock, cl_context context, cl_device_id home);
  /// Builds a kernel for the devices that join late, once.
  void buildForLatecomers(const std::shared_ptr<Program>& program,
                          const std::shared_ptr<KernelCode>& code);
  /// Builds a kernel, which is ready, so that it takes windows on a device, once. Over when that
  /// was tried; null if there is no thread for it.
  CompletionPtr buildWindowed(const std::shared_ptr<Program>& program,
                              const std::shared_ptr<KernelCode>& code, std::size_t device);
  /// Whether it is likely to pay, for a kernel whose launches took `seconds` in all.
  bool latecomersPay(double seconds) const;
  /// The program is gone: what was built of it for devices goes, soon, and with it what it has the
  /// driver keep of the program's context.
  void letGo(const std::shared_ptr<Build>& build);
  /// Waits until none of the program's kernels is being prepared.
  void awaitPrepared(Lock& lock, const Program& program) const;
  /// Prints what splitc tells of a program, and waits for that without the lock.
  void explain(Lock& lock, const Program& program, const std::shared_ptr<const Origin>& origin,
               cl_device_id device, const std::vector<std::string>& words);

  /// Ends background analyses, and waits for a background build, without the lock. None begins
  /// after.
  void stop(Lock& lock);
  /// Keeps for later runs what this one knows. After `stop`, without the lock.
  void save();

private:
  bool isWorthPreparing(const KernelCode& code, const Build& build);
  double preparing(const Build& build) const;
  double preparingAll(const Build& build) const;
  double holdUp(const Build& build, double cost) const;
  static bool affords(const Build& build, double holdUp);
  double guessedGainOf(const Build& build, const std::string& kernel) const;
  bool recallLaunches(const std::shared_ptr<Build>& build, const Origin& origin);
  bool isAlone(cl_device_id device);
  void lookForOthers();
  void prepareAhead(const std::shared_ptr<Program>& program, const std::shared_ptr<Build>& build,
                    const Origin& origin, const std::shared_ptr<const ProgramSummary>& summary,
                    const Place& place);
  [[nodiscard]] bool begin(const std::shared_ptr<Program>& program,
                           const std::shared_ptr<KernelCode>& code, cl_device_id device);
  double promise(const KernelCode& code) const;
  double promiseOfOthers() const;
  bool makesTinyGroups(const LaunchArguments& arguments) const;
  const char* whyUnprepared(const Kernel& kernel, cl_device_id device);
  void analyseAhead(const Kernel& kernel, cl_device_id device);
  std::string prepareNow(const Program& program, KernelCode& code, cl_device_id device,
                         bool isCertain, bool& isFirst);
  void await(Lock& lock, KernelCode& code);
  void notePreparation(std::chrono::duration<double> took);

  Shared& shared_;
  const Dispatch& cl_;
  const Options& options_;
  const DiskCache& cache_;
  BinaryOrigins& binaries_;
  const Contexts& contexts_;
  /// Nothing is prepared that does not seem to pay, and nobody waits for it.
  const bool onlyWhatPays_;
  const EarlierRuns earlierRuns_;
  DriverTrial trial_; ///< the worker's, as the next two
  ProgramAnalyses analyses_;
  KernelPreparer kernels_;
  bool cacheTrimmed_ = false;
  std::size_t unkeptOrigins_ = 0; ///< of binaries, still being flattened
  /// Builds of which an earlier run left nothing, for what their launches took.
  std::vector<std::shared_ptr<Build>> unprepared_;
  std::optional<CpuUse> launchUse_;                    ///< since the first launch
  bool homeIsGpu_ = false;                             ///< once that is there
  std::uint64_t homeAtOnce_ = 0;                       ///< work-groups that it runs, the same
  std::optional<double> idleBefore_;                   ///< processors, before the first build
  double preparationSeconds_ = guessedPreparation;     ///< that preparing a program takes
  bool hasPrepared_ = false;                           ///< that was seen, in this run or before
  std::optional<std::vector<ListedDevice>> listed_;    ///< empty: nobody has looked
  std::optional<std::pair<cl_device_id, bool>> alone_; ///< what was last found of a device
  Worker worker_;
};

} // namespace libsplit::runtime
