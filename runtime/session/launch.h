// One launch, with everything it needs to run after the application has gone on: its arguments as
// they were, and references that keep their objects alive.
#pragma once

#include "runtime/cost/launch_cycle.h"
#include "runtime/device/machine.h"
#include "runtime/program/compiled_graph.h"
#include "runtime/program/program.h"
#include "runtime/session/contents.h"
#include "runtime/session/moved.h"

#include <algorithm>
#include <tuple>

namespace libsplit::runtime {

/// One piece that was issued.
struct LaunchIssued {
  std::size_t device = 0;
  bool isRedone = false; ///< by home, after its own device failed
  std::uint64_t groupBegin = 0, groupEnd = 0;
  std::shared_ptr<const Piece> piece;
  CompletionPtr kernel;
  std::vector<Moved> transfers;
  std::vector<CompletionPtr> arrivals; ///< of what it changed, where that is merged
};

/// Whether what the piece did is there. What home did stays there, to be read again.
inline bool isDone(const LaunchIssued& piece, std::size_t home) {
  return piece.kernel && piece.kernel->succeeded() &&
         (piece.device == home ||
          std::ranges::all_of(piece.arrivals,
                              [](const CompletionPtr& each) { return each->succeeded(); }));
}

struct MergeJob; ///< merger.cpp

struct Launch {
  using Issued = LaunchIssued;

  std::shared_ptr<Program> program;
  std::shared_ptr<KernelCode> code;
  std::shared_ptr<LaneKernel>
      clone;                 ///< the kernel as the application built it, for the home device
  bool hasArguments = false; ///< … a copy of its own, which knows them already
  std::vector<Argument> arguments;
  std::vector<std::shared_ptr<MemoryObject>> objects; ///< by argument; null where it is none
  std::vector<Ref<cl_mem>> keeps;
  std::map<std::size_t, Ref<cl_sampler>> keepsSamplers; ///< by parameter
  /// By device and parameter, those that it gets in place of the program's.
  std::map<std::pair<std::size_t, std::size_t>, Ref<cl_sampler>> samplers;

  std::uint64_t number = 0; ///< in its queue, from 1
  /// As the application gave it. Where it left the local size open, `local` here is the unit of
  /// cutting.
  NDRange range;
  bool localGiven = false;
  LaunchKey key;

  std::string reason;                   ///< why it can't be split; empty: it can
  std::optional<std::size_t> lacksRoom; ///< the device that had no room in the last planning
  /// Taken when the launch was enqueued, if the queue was idle then; else when it is planned.
  std::optional<ShareController::Action> action;
  std::vector<double> shares;
  /// It tries a size of its work-groups: by the search of that key, whose range is the launch's.
  struct ShapeTrial {
    ShapeSearches::Key key;
    GroupShape shape;
  };
  std::unique_ptr<const ShapeTrial> shapeTrial;
  /// It stays at home, but does not go to the driver as it came: its groups would be tiny.
  bool needsParts = false;
  std::uint64_t shapesVersion = 0; ///< of the kernel's, when it was issued
  /// What it is in a cycle, if it is not looked at, but to pass when it is its turn.
  std::optional<std::uint64_t> passing;
  /// Split so, what nobody writes is to be sent ahead beside it.
  std::unique_ptr<const Outlook::Step> sends;
  bool isFirst = false;        ///< of its kernel in this run: the program waits for more than that
  bool isWaiting = false;      ///< at home, until it is known whether splitting pays
  bool isHeldBack = false;     ///< … until what it takes is compiled
  bool isBeyondDriver = false; ///< at home: what it takes can't be compiled any more
  bool isTrial = false;        ///< it is to show whether splitting pays
  double lookSeconds = 0;      ///< what it took the application's call to decide about it

  LaunchRequest request;
  std::vector<std::shared_ptr<Buffer>> buffers; ///< the request's distinct buffers

  // Regions that depend on what buffers hold (contents.h).
  std::vector<ContentsDemand> demands;    ///< what the last planning lacked
  unsigned contentsRounds = 0;            ///< plannings that lacked something
  bool withoutContents = false;           ///< they can't be had, or are not worth it
  std::vector<InspectionKey> inspections; ///< what it lacked of those
  bool withoutInspections = false;        ///< the same of them
  bool askedForInspections = false;       ///< whether they pay

  // What was issued.
  std::vector<Issued> issued;
  bool wasSplit = false;
  double busySeconds = 0; ///< that the program's call was busy with it, if it was split in that
  bool isChunked = false;
  LaunchCycle::Ticket ticket;   ///< of the queue's LaunchCycle
  std::uint64_t bytesMoved = 0; ///< between nodes, for its pieces
  std::shared_ptr<const LaunchPlan> plan;
  std::shared_ptr<const CompiledGraph> compiled; ///< what its instructions go by
  std::shared_ptr<Journal::Ends> ends;           ///< of `issued`, in this order
  std::vector<std::shared_ptr<MergeJob>> merges; ///< of the plan's

  /// Why it was decided that the home device does it as without libsplit.
  const char* whyNative() const;
  /// Those that each launch fills (core/spares.h).
  auto lists() {
    return std::tie(issued, buffers, request.buffers, request.arguments, shares, keeps, objects,
                    arguments);
  }
};

/// Why a launch of one work-group is not split.
inline constexpr const char* onlyOneGroup = "there is only one work-group";

/// Why one is not even looked at.
inline constexpr const char* tooShortToLookAt =
    "launches of the kernel are too short to look at each";

inline const char* Launch::whyNative() const {
  return range.groups() < 2 ? onlyOneGroup
         : isBeyondDriver   ? "the driver can't compile its kernel in this process any more"
         : isHeldBack       ? "its kernel is being compiled for that"
         : isWaiting        ? "moving its data does not pay, or not yet"
                            : "it is not faster split";
}

/// A first guess, which only compares devices.
inline double guessedSpeedOf(const Device& device) {
  return guessedSpeed(device.isGpu, device.computeUnits, device.megahertz);
}

/// Work-groups that the device runs at once, if these are not large.
inline std::uint64_t groupsAtOnce(unsigned computeUnits, bool isGpu) {
  constexpr std::uint64_t perUnitOfGpu = 16;
  return std::max<std::uint64_t>(computeUnits, 1) * (isGpu ? perUnitOfGpu : 1);
}
inline std::uint64_t groupsAtOnce(const Device& device) {
  return groupsAtOnce(device.computeUnits, device.isGpu);
}

/// The part of the work that those devices would do for which `isOne` says so, by that guess, if
/// all took part that may.
template <typename IsOne> double guessedPartOf(const std::vector<Device>& devices, IsOne isOne) {
  double part = 0, all = 0;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].participates) {
      const double speed = guessedSpeedOf(devices[i]);
      all += speed;
      part += isOne(i) ? speed : 0;
    }
  return all > 0 ? part / all : 0;
}

/// Devices of which the driver tells the same in all that a guess of their speed rests on.
inline bool isAlike(const Device& a, const Device& b) {
  return a.isGpu == b.isGpu && a.computeUnits == b.computeUnits && a.megahertz == b.megahertz;
}

/// Has `key` say what the launch's plan is made from, but for shares and contents.
inline void describe(const Launch& launch, PlanKey& key) {
  key.range = launch.range;
  key.values.clear();
  key.sizes.clear();
  key.groups.clear();
  key.versions.clear();
  key.withoutInspections = false;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::shared_ptr<MemoryObject>& object = launch.objects[i];
    const std::span<const std::byte> value = launch.request.arguments[i].bytes;
    if (launch.code->decidingScalars[i])
      key.values.insert(key.values.end(), value.begin(), value.end());
    key.sizes.push_back(object ? object->size : value.size());
  }
  for (const BufferArgument& argument : launch.request.buffers)
    key.sizes.insert(key.sizes.end(), {argument.buffer, argument.origin});
}

/// Has `groups` say, by dimension and there by device, which work-groups the shares come to.
inline void groupsOf(const NDRange& range, std::span<const double> shares,
                     std::vector<std::uint64_t>& groups) {
  groups.resize(range.dimensions * shares.size());
  for (unsigned d = 0; d < range.dimensions; ++d)
    solver::roundToGroups(shares, range.groups(d), 1,
                          std::span(groups).subspan(d * shares.size(), shares.size()));
}

/// Those of the machine as the planner sees them.
inline std::vector<PlanDevice> planDevicesOf(const Machine& machine, const Launch& launch) {
  std::vector<PlanDevice> devices;
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    const Device& device = machine.devices()[i];
    // In the host's memory others work, too.
    const unsigned kind = device.node == hostNode ? 0 : device.kind;
    devices.push_back({device.node, launch.code->summaries[i], device.isGpu, kind});
  }
  return devices;
}

/// Whether the device takes part only after a rehearsal (rehearse.cpp): under `auto`, if it has a
/// memory of its own and its driver describes it as slower than home.
inline bool isLatecomer(const Machine& machine, const Policy& policy, std::size_t device) {
  const Device& each = machine.devices()[device];
  const Device& home = machine.homeDevice();
  auto sharesNode = [&](const Device& other) { return &other != &each && other.node == each.node; };
  return policy.kind == Policy::Kind::Auto && home.participates && !each.isHome &&
         guessedSpeedOf(each) < guessedSpeedOf(home) &&
         std::ranges::none_of(machine.devices(), sharesNode);
}

/// Whether the last work-group of a dimension is smaller than the others.
inline bool isNonUniform(const NDRange& range) {
  return !range.uniform(0) || !range.uniform(1) || !range.uniform(2);
}

/// Whether a work-group of that size keeps to a device's limits by dimension.
inline bool fits(const std::array<std::uint64_t, 3>& local, std::span<const std::size_t> limits) {
  for (std::size_t d = 0; d < 3 && d < limits.size(); ++d)
    if (local[d] > limits[d])
      return false;
  return true;
}

inline std::uint64_t itemsOf(const NDRange& range) {
  return range.global[0] * range.global[1] * range.global[2];
}

/// Work-items of a whole work-group.
inline std::uint64_t groupItems(const NDRange& range) {
  return range.local[0] * range.local[1] * range.local[2];
}

} // namespace libsplit::runtime
