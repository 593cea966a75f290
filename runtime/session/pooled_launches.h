// Launches on pooled buffers (pool.h): pooled_launches.cpp tells how.
#pragma once

#include "runtime/session/commands.h"
#include "runtime/session/executor.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/kernels.h"
#include "runtime/session/launch.h"
#include "runtime/session/native_work.h"
#include "runtime/session/pool.h"
#include "runtime/session/preparer.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct PooledLaunch; // pooled_launches.cpp

/// One at a time. Under the session's lock, where nothing else is said.
class PooledLaunches {
public:
  /// `failures` need not be there yet.
  PooledLaunches(Shared& shared, Scheduler& scheduler, FailureHandler& failures,
                 TrackedBuffers& tracked, Pool& pool, Kernels& kernels, const Samplers& samplers,
                 Preparer& preparer, Commands& commands, NativeWork& nativeWork, Provider& provider,
                 Issuer& issuer, Mover& mover, Executor& executor, HomeCommands& homeCommands)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), scheduler_(scheduler),
        failures_(failures), tracked_(tracked), pool_(pool), kernels_(kernels), samplers_(samplers),
        preparer_(preparer), commands_(commands), nativeWork_(nativeWork), provider_(provider),
        issuer_(issuer), mover_(mover), executor_(executor), homeCommands_(homeCommands) {}

  /// Nothing: none of the kernel's arguments is pooled. Without the lock.
  std::optional<cl_int> launch(const Command& command, const LaunchArguments& arguments);
  bool isUnderWay() const { return open_ != nullptr; }
  /// Waits, without the lock, until none is being given out.
  void awaitNone(Lock& lock) const;

private:
  bool usesPooled(const Kernel& kernel) const;
  cl_int errorOf(const Stream& stream, const Kernel& kernel, const Command& command,
                 const LaunchArguments& arguments) const;
  std::string whyNotAnalysed(Lock& lock, const Stream& stream, const Kernel& kernel,
                             const LaunchArguments& arguments);

  // What is to be done where.
  std::string choose(Lock& lock, PooledLaunch& work);
  std::string chooseWhole(PooledLaunch& work) const;
  void findDevices(Lock& lock, PooledLaunch& work);
  bool partsRewriteEachOther(const PooledLaunch& work, const LaunchPlan& plan,
                             unsigned dimension) const;
  bool chooseCut(PooledLaunch& work) const;
  bool chooseOne(PooledLaunch& work, std::span<const std::size_t> devices) const;
  std::vector<double> sharesOf(const PooledLaunch& work) const;
  std::vector<Batch> batchesOn(const PooledLaunch& work, std::size_t device, unsigned dimension,
                               std::uint64_t begin, std::uint64_t end) const;
  bool fit(const PooledLaunch& work, std::size_t device, std::span<const PieceUse> uses) const;
  bool takesWindows(Lock& lock, PooledLaunch& work, std::size_t device);
  std::uint64_t neededAtHome(const PooledLaunch& work) const;

  // Copies of buffers.
  struct Wishes {
    cl_context context = nullptr;
    std::vector<std::size_t> buffers; ///< of the launch
    std::vector<CopyWish> of;
  };
  Wishes wishesOf(const PooledLaunch& work, std::size_t device,
                  std::span<const PieceUse> uses) const;
  std::optional<std::vector<ByteRange>> windowsOf(std::size_t device, const Wishes& wishes,
                                                  std::uint64_t taken) const;
  bool takesLarger(std::size_t device, cl_context context) const;
  void makeRoom(Lock& lock, PooledLaunch& work, std::size_t device, std::span<const PieceUse> uses,
                std::string& why);
  bool giveUp(Lock& lock, PooledLaunch& work, const std::weak_ptr<Buffer>& of, std::size_t device);
  bool giveUpOther(Lock& lock, PooledLaunch& work, std::size_t device);
  void await(Lock& lock, const Provisions& pending);

  // Its way.
  void plan(Task& task, const std::shared_ptr<PooledLaunch>& work);
  void giveOut(const std::shared_ptr<PooledLaunch>& work);
  void issueAll(Lock& lock, PooledLaunch& work);
  void issueWhole(Lock& lock, PooledLaunch& work);
  Piece bringNext(Lock& lock, PooledLaunch& work, std::size_t device, std::vector<Batch>& batches);
  void bring(PooledLaunch& work, const Piece& piece);
  void issue(PooledLaunch& work, const Piece& piece);
  [[noreturn]] void lose(const PooledLaunch& work, const std::string& why);
  void close(PooledLaunch& work);
  void count(Task& task, const PooledLaunch& work) const;

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  FailureHandler& failures_;
  TrackedBuffers& tracked_;
  Pool& pool_;
  Kernels& kernels_;
  const Samplers& samplers_;
  Preparer& preparer_;
  Commands& commands_;
  NativeWork& nativeWork_;
  Provider& provider_;
  Issuer& issuer_;
  Mover& mover_;
  Executor& executor_;
  HomeCommands& homeCommands_;
  Worker giver_;                       ///< who gives them out
  std::shared_ptr<PooledLaunch> open_; ///< while it is being given out nobody plans
  /// By device: whether it takes buffers larger than it promises; none: it was not asked.
  mutable std::map<std::size_t, bool> takesLarger_;
  std::uint64_t launches_ = 0;       ///< so far
  std::set<const KernelCode*> told_; ///< of which it was told why they can't be launched
};

} // namespace libsplit::runtime
