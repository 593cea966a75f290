// The devices that share the work, each with a context, a queue, a lane and a memory node.
//
// Built once, for the device that the application chose: its home device. Slow (drivers start,
// contexts are created), so never on the application's thread unless it asked to wait.
#pragma once

#include "runtime/analyzer.h"
#include "runtime/device_spec.h"
#include "runtime/directory.h"
#include "runtime/lane.h"
#include "runtime/options.h"

#include <atomic>
#include <map>
#include <memory>
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

/// Every device of every platform, in the loader's order.
std::vector<ListedDevice> listDevices(const Dispatch& cl);

/// What the program's compiler knows about `device`.
DeviceMacros deviceMacros(const Dispatch& cl, cl_device_id device);

/// One participant, or the home device where it takes no part.
struct Device {
  std::string label; ///< "P.D", or "P.D/k:n" for the k-th sub-device with n compute units
  std::string name;
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
  /// Of the home device: commands run inside the calls that enqueue or wait (PoCL's basic does so).
  /// Such a queue may hang when two threads use it.
  bool runsInCaller = false;
  NodeId node = hostNode;
  DeviceMacros macros;
  Ref<cl_context> context;     ///< its own; empty for the home device, which uses the program's
  Ref<cl_command_queue> queue; ///< in order, profiled; empty for the home device
  std::unique_ptr<Lane> lane;
};

/// What host blocks (host_block.h) have reserved and not touched: the system does not count it as
/// used yet.
using PromisedMemory = std::atomic<std::size_t>;

class Machine {
public:
  struct Setup {
    DeviceSpec spec;
    SeparateNodes separateNodes = SeparateNodes::None;
  };
  /// `homeContext`: one of the application's contexts with `home` in it, used for a short probe.
  /// What goes wrong with other devices is logged, and they are left out.
  Machine(const Dispatch& cl, const Setup& setup, cl_context homeContext, cl_device_id home);

  /// Participants in the order of LIBSPLIT_DEVICES, then the home device if it is none of them.
  const std::vector<Device>& devices() const { return devices_; }
  std::vector<Device>& devices() { return devices_; }
  std::size_t home() const { return home_; }
  const Device& homeDevice() const { return devices_[home_]; }
  std::size_t participants() const;
  std::size_t nodes() const { return nodes_; }
  /// Does on the calling thread what the GPUs' lanes have to do until `parts` are all enqueued.
  void help(const std::vector<CompletionPtr>& parts);
  /// The device whose lane reads and writes the memory of `node` (not the host's alone).
  std::size_t deviceOfNode(NodeId node) const { return deviceOfNode_.at(node); }
  bool hasGpu() const;
  const std::shared_ptr<PromisedMemory>& promisedMemory() const { return promisedMemory_; }

  /// The queue on which libsplit's own commands for a device run: the device's, or for the home
  /// device one in `homeContext`, made on first use. In order, profiled. Null if it can't be made.
  cl_command_queue queueOf(std::size_t device, cl_context homeContext);
  /// One beside it that never holds more than the command that its caller waits for: with it memory
  /// is made to be there without waiting for the device's work.
  cl_command_queue idleQueueOf(std::size_t device, cl_context homeContext);
  cl_context contextOf(std::size_t device, cl_context homeContext) const;
  /// The application gave up `homeContext`: drops what was made in it.
  void forget(cl_context homeContext);

private:
  void select(const std::vector<ListedDevice>& listed, const DeviceSpec& spec, cl_device_id home);
  void addDevice(const ListedDevice& listed, cl_device_id home);
  void addSubDevices(const ListedDevice& listed, const std::vector<unsigned>& computeUnits);
  void describe(Device& device) const;
  bool open(Device& device) const;
  bool worksInHostMemory(const Device& device) const;
  bool homeRunsInCaller(cl_context homeContext);
  bool homeSharesMemoryWith(cl_context homeContext, const Device& other);
  void assignNodes(SeparateNodes separate, cl_context homeContext);

  const Dispatch& cl_;
  std::vector<Device> devices_;
  std::size_t home_ = 0;
  std::size_t nodes_ = 1;
  std::shared_ptr<PromisedMemory> promisedMemory_ = std::make_shared<PromisedMemory>(0);
  std::map<NodeId, std::size_t> deviceOfNode_;
  std::map<cl_context, Ref<cl_command_queue>> homeQueues_;
  std::map<std::pair<std::size_t, cl_context>, Ref<cl_command_queue>> idleQueues_;
};

/// Where `size` bytes at `offset` of a CPU device's buffer lie in host memory, or null. Valid as
/// long as the buffer, on devices that Machine found to work in host memory.
void* hostAddress(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::size_t offset,
                  std::size_t size);

} // namespace libsplit::runtime
