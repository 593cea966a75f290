// The devices that share the work, each with a context, a queue, a lane and a memory node.
//
// Built once, for the device that the application chose: its home device. Slow (drivers start,
// contexts are created), so never on the application's thread unless it asked to wait.
#pragma once

#include "runtime/core/device_spec.h"
#include "runtime/core/options.h"
#include "runtime/device/device_macros.h"
#include "runtime/device/lane.h"
#include "runtime/device/provision.h"
#include "runtime/device/quirks.h"
#include "runtime/device/staging_ring.h"
#include "runtime/plan/directory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// A device as enumerated, before anything is done with it.
struct ListedDevice {
  std::string label; ///< "P.D"
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string platformName;
  std::string name;
  cl_device_type type = 0;
  unsigned computeUnits = 0;
};

/// Platforms whose drivers compile a kernel when it is first launched, and keep what they made on
/// disk for other processes, by name.
inline constexpr const char* keepsCompiledKernels = "Portable Computing Language";

/// Whether that goes for the device.
bool keepsWhatItCompiles(const Dispatch& cl, cl_device_id device);

/// Every device of every platform, in the loader's order.
std::vector<ListedDevice> listDevices(const Dispatch& cl);

/// Whether `spec` names anybody to share the work of `home` with.
bool hasOthers(const std::vector<ListedDevice>& listed, const DeviceSpec& spec, cl_device_id home);

/// The devices that `spec` has take part as they are, uncut.
std::vector<ListedDevice> participantsOf(const std::vector<ListedDevice>& listed,
                                         const DeviceSpec& spec);

/// What works on a device beside one another, each with a queue of its own where that is so. What
/// other nodes wait for is computed beside the rest (plan/boundary.h): what it has to wait for
/// itself, a neighbour's boundary, holds up nothing else. The last takes the time: markers that
/// wait for work of all devices hold up nothing there.
enum class Engine { Kernels, Boundaries, CopyIn, CopyOut, Marks };
inline constexpr std::size_t engineCount = 5;

/// Whether devices note when they were at work on commands.
enum class Timing : bool { Off, On };

/// One participant, or the home device where it takes no part.
struct Device {
  std::string label; ///< "P.D", or "P.D/k:n" for the k-th sub-device with n compute units
  std::string name;
  std::string driver; ///< its version
  Ref<cl_device_id> id;
  bool isHome = false;
  bool isGpu = false;
  bool participates = true;
  bool failed = false; ///< it once did not do what it should, and gets nothing to do any more
  unsigned computeUnits = 0;
  unsigned megahertz = 0;
  std::vector<std::size_t> maxItems; ///< work-items of a work-group, by dimension
  bool nonUniformGroups = false;
  std::uint64_t localMemory = 0; ///< bytes of a work-group
  std::uint64_t constants = 0;   ///< bytes that a `__constant` argument may have
  /// Commands run inside the calls that enqueue or wait (PoCL's basic does so). Such a queue may
  /// hang when two threads use it.
  bool runsInCaller = false;
  /// A call that enqueues returns in microseconds, whatever the device does: a GPU's, or a CPU's
  /// that was seen to run commands on threads of its own.
  bool returnsAtOnce = false;
  /// Its driver compiles a kernel when that is first launched, and keeps it for other processes.
  bool keepsCompiled = false;
  /// Its driver keeps what it built by program and options, and gets it wrong when two devices run
  /// the same (PoCL).
  bool needsOwnOptions = false;
  /// Its lane computes itself, and beside the others' threads there is no processor left: it is to
  /// run where the thread does that hands it its part, and then waits (placing.h).
  bool isPlaced = false;
  /// Of buffers' copies: how many bytes there may be in all and in one, and how they are aligned.
  std::uint64_t memory = 0, largestBuffer = 0, bufferAlignment = 1;
  /// … and how many there are. Any thread.
  std::shared_ptr<std::atomic<std::uint64_t>> copied =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  NodeId node = hostNode;
  unsigned kind = 0; ///< from 1; equal where model and driver are: such compute the same bytes
  Quirks quirks;
  DeviceMacros macros;
  Ref<cl_context> context; ///< its own; empty for the home device, which uses the program's
  /// By engine; a GPU has them all, others one, which serves all.
  std::vector<std::unique_ptr<Lane>> lanes;
  /// Of the device in its own context, by engine: in order, profiled. Empty for the home device.
  std::vector<Ref<cl_command_queue>> queues;
  /// Seconds that a command of a profiled queue takes longer than one of another.
  double timingCosts = 0;

  /// How many of its engines work beside one another.
  std::size_t engines() const { return isGpu ? engineCount : 1; }
  Lane& lane(Engine engine = Engine::Kernels) const {
    return *lanes[lanes.size() > 1 ? static_cast<std::size_t>(engine) : 0];
  }
  /// All of them have their threads: what one of them has begun another won't be refused. False:
  /// there is none to be had.
  [[nodiscard]] bool startLanes() {
    areStarted =
        areStarted || std::ranges::all_of(lanes, [](const auto& lane) { return lane->start(); });
    return areStarted;
  }
  bool areStarted = false; ///< the lanes
};

/// Host memory that devices copy to and from.
struct HostMemory {
  std::shared_ptr<HostBlock> block;     ///< null: there is none left
  std::shared_ptr<Provision> provision; ///< that pins it; null: it takes none
};

class Machine {
public:
  struct Setup {
    DeviceSpec spec;
    SeparateNodes separateNodes = SeparateNodes::None;
    std::size_t stagingBytes = std::size_t{24} << 20; ///< of each memory node that sends
    std::size_t deviceMemory = 0; ///< bytes of copies that each other device takes; 0: all it has
  };
  /// `homeContext`: one of the application's contexts with `home` in it, used for a short probe.
  /// What goes wrong with other devices is logged, and they are left out.
  Machine(const Dispatch& cl, const Setup& setup, cl_context homeContext, cl_device_id home);
  ~Machine();

  /// Participants in the order of LIBSPLIT_DEVICES, then the home device if it is none of them.
  const std::vector<Device>& devices() const { return devices_; }
  std::vector<Device>& devices() { return devices_; }
  std::size_t home() const { return home_; }
  const Device& homeDevice() const { return devices_[home_]; }
  /// Whether home's driver goes on with what comes next only when it has called the program back.
  bool homeCallsBackFirst() const { return homeCallsBackFirst_; }
  std::size_t participants() const;
  std::size_t nodes() const { return nodes_; }
  /// Pinned where there is a GPU: usable as it is, but faster when the provision is over.
  HostMemory transferMemory(std::size_t size, cl_context homeContext) const;
  /// Whether there is memory for bytes to go through when they leave `node`.
  Room ringRoom(NodeId node, cl_context homeContext, Provisions& pending);
  /// That memory. Null if there is none.
  StagingRing* ring(NodeId node, cl_context homeContext);
  /// What bytes take from the home device's memory node to another's, by the fastest link that
  /// there is.
  struct MoveTimes {
    double perMove = 0, perByte = 0; ///< seconds
  };
  /// Found out by some copies, of milliseconds; nothing if there is no such link, or no room.
  /// Before others know of the machine.
  std::optional<MoveTimes> measureMoves(cl_context homeContext);
  /// Build options for its programs, behind others: where it needs some of its own. Else there are
  /// none, and a driver that has built the same for a device of the kind may find that.
  std::string ownOptions(std::size_t device) const {
    return devices_[device].needsOwnOptions ? " -DLIBSPLIT_LANE=" + std::to_string(device) : "";
  }
  /// Copies between host memories.
  Lane& hostLane() { return *hostLane_; }
  /// Does on the calling thread what the lanes have to do of devices whose calls return at once,
  /// until `parts` are all enqueued.
  void help(std::span<const CompletionPtr> parts);
  /// Until `resumeCompiling` no device begins what a compiler may be needed for, nor what comes
  /// behind that: the process ends, and with it what compilers need.
  void suspendCompiling();
  void resumeCompiling();
  /// Whether a driver may be compiling for a device.
  bool isCompiling();
  /// The device whose lane reads and writes the memory of `node` (not the host's alone).
  std::size_t deviceOfNode(NodeId node) const { return deviceOfNode_.at(node); }
  bool hasGpu() const;
  /// Of a home device that works in the host's memory: whether `nativeAddress` tells what
  /// `hostAddress` does.
  bool nativeKernelsTell() const { return nativeKernelsTell_; }

  /// The queue on which libsplit's own commands for an engine of a device run: the device's, or for
  /// the home device one in `homeContext`, made on first use. In order, and profiled unless timing
  /// is `Off` and costs something. Null if it can't be made.
  cl_command_queue queueOf(std::size_t device, cl_context homeContext,
                           Engine engine = Engine::Kernels, Timing timing = Timing::On);
  /// Whether the home device has all of these in that context.
  bool hasHomeQueues(cl_context homeContext);
  /// The context in which the device's commands may wait for work of its other queues; null if its
  /// driver is better not trusted with that (Instruction::context).
  cl_context waitingContextOf(std::size_t device, cl_context homeContext) const {
    return devices_[device].isGpu ? contextOf(device, homeContext) : nullptr;
  }
  /// One beside it that never holds more than the command that its caller waits for: with it memory
  /// is made to be there without waiting for the device's work.
  cl_command_queue idleQueueOf(std::size_t device, cl_context homeContext);
  cl_context contextOf(std::size_t device, cl_context homeContext) const;
  /// Gives up the rings, which may be pinned for the home device: they go with the result. Null if
  /// there are none.
  std::shared_ptr<const void> yieldRings();
  /// The application gave up `homeContext`: drops what was made in it, which goes with the result.
  std::shared_ptr<const void> forget(cl_context homeContext);

private:
  void select(const std::vector<ListedDevice>& listed, const DeviceSpec& spec, cl_device_id home);
  void addDevice(const ListedDevice& listed, cl_device_id home);
  void addSubDevices(const ListedDevice& listed, const std::vector<unsigned>& computeUnits);
  void describe(Device& device) const;
  void assignKinds();
  bool open(Device& device) const;
  bool worksInHostMemory(const Device& device) const;
  void findWhoRuns(std::size_t device, cl_context homeContext);
  void findTimingCosts(std::size_t device, cl_context homeContext);
  void makeLanes();
  bool homeSharesMemoryWith(cl_context homeContext, const Device& other);
  void assignNodes(SeparateNodes separate, cl_context homeContext);

  const Dispatch& cl_;
  std::vector<Device> devices_;
  std::size_t home_ = 0;
  bool homeCallsBackFirst_ = false;
  std::size_t nodes_ = 1;
  bool nativeKernelsTell_ = false;
  std::map<NodeId, std::size_t> deviceOfNode_;
  std::size_t stagingBytes_ = 0;
  std::size_t deviceMemory_ = 0;
  struct Ring {
    std::unique_ptr<StagingRing> ring;
    std::shared_ptr<Provision> provision; ///< null: it takes none
  };
  using Rings = std::map<NodeId, Ring>;
  Rings rings_;
  std::unique_ptr<Lane> hostLane_;
  using Queues = std::map<std::pair<cl_context, std::size_t>, Ref<cl_command_queue>>;
  Queues homeQueues_;                   ///< by engine
  cl_context withHomeQueues_ = nullptr; ///< that has been seen to have them all last
  Queues idleQueues_;                   ///< by device
  Queues untimedQueues_;                ///< by device and engine
};

/// Where `size` bytes at `offset` of a CPU device's buffer lie in host memory, or null. Valid as
/// long as the buffer, on devices that Machine found to work in host memory. Asked by a map as the
/// program may make it: `how` is CL_MAP_READ or CL_MAP_WRITE.
void* hostAddress(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::size_t offset,
                  std::size_t size, cl_map_flags how = CL_MAP_READ);
/// The same of the whole buffer where the program may not map it: a native kernel is told where its
/// buffers are. Null if the device has no such kernels.
void* nativeAddress(const Dispatch& cl, cl_command_queue queue, cl_mem buffer);

} // namespace libsplit::runtime
