#include "runtime/device/machine.h"

#include "runtime/core/completion.h"
#include "runtime/core/cpu_use.h"
#include "runtime/core/log.h"
#include "runtime/device/link_times.h"
#include "runtime/device/timing_costs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

namespace libsplit::runtime {

namespace {

Ref<cl_command_queue> makeQueue(const Dispatch& cl, cl_context context, cl_device_id device,
                                Timing timing = Timing::On) {
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = cl.clCreateCommandQueue(
      context, device, timing == Timing::On ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
  return Ref<cl_command_queue>::adopt(cl, error == CL_SUCCESS ? queue : nullptr);
}

std::string labelOf(const DeviceSpec::Item& item) {
  return std::to_string(item.platform) + "." + std::to_string(item.device);
}

/// Null: it is not there.
const ListedDevice* find(const std::vector<ListedDevice>& listed, const DeviceSpec::Item& item) {
  const std::string label = labelOf(item);
  auto found = std::ranges::find(listed, label, &ListedDevice::label);
  return found == listed.end() ? nullptr : &*found;
}

/// Of a `spec` that is no list.
bool isOfKind(const ListedDevice& device, const DeviceSpec& spec) {
  const bool isGpu = device.type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR);
  return spec.kind == DeviceSpec::Kind::All || isGpu == (spec.kind == DeviceSpec::Kind::Gpus);
}

std::string subLabel(const std::string& label, std::size_t index, unsigned units) {
  return label + "/" + std::to_string(index) + ":" + std::to_string(units);
}

} // namespace

std::vector<ListedDevice> listDevices(const Dispatch& cl) {
  // Drivers begin when they are first asked, and PoCL's answers whoever asks meanwhile with devices
  // that are not there yet.
  static std::mutex oneAtATime;
  const std::lock_guard lock(oneAtATime);
  std::vector<ListedDevice> listed;
  cl_uint platformCount = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &platformCount) != CL_SUCCESS)
    return listed;
  std::vector<cl_platform_id> platforms(platformCount);
  cl.clGetPlatformIDs(platformCount, platforms.data(), nullptr);
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> ids(count);
    cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
    for (std::size_t d = 0; d < ids.size(); ++d)
      listed.push_back(
          {std::to_string(p) + "." + std::to_string(d), platforms[p], ids[d],
           stringProperty(cl.clGetPlatformInfo, platforms[p], CL_PLATFORM_NAME),
           stringProperty(cl.clGetDeviceInfo, ids[d], CL_DEVICE_NAME),
           property<cl_device_type>(cl.clGetDeviceInfo, ids[d], CL_DEVICE_TYPE),
           property<cl_uint>(cl.clGetDeviceInfo, ids[d], CL_DEVICE_MAX_COMPUTE_UNITS)});
  }
  return listed;
}

bool hasOthers(const std::vector<ListedDevice>& listed, const DeviceSpec& spec, cl_device_id home) {
  if (spec.kind != DeviceSpec::Kind::List)
    return std::ranges::any_of(
        listed, [&](const ListedDevice& each) { return isOfKind(each, spec) && each.id != home; });
  return std::ranges::any_of(spec.items, [&](const DeviceSpec::Item& item) {
    const ListedDevice* found = find(listed, item);
    return found && (found->id != home || !item.computeUnits.empty());
  });
}

std::vector<ListedDevice> participantsOf(const std::vector<ListedDevice>& listed,
                                         const DeviceSpec& spec) {
  std::vector<ListedDevice> participants;
  if (spec.kind != DeviceSpec::Kind::List)
    std::ranges::copy_if(listed, std::back_inserter(participants),
                         [&](const ListedDevice& each) { return isOfKind(each, spec); });
  for (const DeviceSpec::Item& item : spec.items)
    if (const ListedDevice* found = find(listed, item); found && item.computeUnits.empty())
      participants.push_back(*found);
  return participants;
}

Machine::Machine(const Dispatch& cl, const Setup& setup, cl_context homeContext, cl_device_id home)
    : cl_(cl), stagingBytes_(setup.stagingBytes), deviceMemory_(setup.deviceMemory),
      hostLane_(std::make_unique<Lane>(cl, "host memory")) {
  select(listDevices(cl), setup.spec, home);
  auto isClosed = [&](Device& device) { return !device.isHome && !open(device); };
  devices_.erase(std::remove_if(devices_.begin(), devices_.end(), isClosed), devices_.end());
  auto found = std::find_if(devices_.begin(), devices_.end(),
                            [](const Device& device) { return device.isHome; });
  if (found == devices_.end()) {
    Device device;
    device.label = "home";
    device.id = Ref<cl_device_id>::retain(cl_, home);
    device.isHome = true;
    device.participates = false;
    describe(device);
    devices_.push_back(std::move(device));
    found = std::prev(devices_.end());
  }
  home_ = static_cast<std::size_t>(found - devices_.begin());
  assignKinds();
  assignNodes(setup.separateNodes, homeContext);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    findWhoRuns(i, homeContext);
    devices_[i].quirks = probeQuirks(cl_, contextOf(i, homeContext), queueOf(i, homeContext));
    findTimingCosts(i, homeContext);
  }
  homeCallsBackFirst_ = callsBackFirst(cl_, queueOf(home_, homeContext));
  makeLanes();
  // Helpers start theirs when they are to help; what home has to do nobody may refuse.
  if (!hostLane_->start() || !devices_[home_].startLanes())
    throw std::runtime_error("there is no thread to be had");
  // What takes milliseconds is done here rather than when a launch waits for it.
  for (const Device& device : devices_)
    if (nodes_ > 1 && device.isGpu)
      ring(device.node, homeContext);
}

/// A lane's thread goes on with what its followers have to do: none goes before all have ended.
Machine::~Machine() {
  for (const Device& device : devices_)
    for (const std::unique_ptr<Lane>& lane : device.lanes)
      lane->end();
}

void Machine::makeLanes() {
  static constexpr const char* suffixes[engineCount] = {"", " boundaries", " in", " out", " marks"};
  for (Device& device : devices_) {
    for (std::size_t engine = 0; engine < device.engines(); ++engine)
      device.lanes.push_back(std::make_unique<Lane>(cl_, device.label + suffixes[engine]));
    if (device.engines() > 1) { // copies in, kernels, copies out: each step of an exchange
      for (const Engine computing : {Engine::Boundaries, Engine::Kernels}) {
        device.lane(Engine::CopyIn).addFollower(device.lane(computing));
        device.lane(computing).addFollower(device.lane(Engine::CopyOut));
      }
    }
  }
  // Only one can have the processor of who launches.
  unsigned processors = 0;
  for (const Device& device : devices_)
    processors += device.isGpu ? 0 : device.computeUnits;
  const auto computes = [](const Device& device) { return !device.returnsAtOnce; };
  const auto only = std::ranges::find_if(devices_, computes);
  if (only != devices_.end() && processors >= static_cast<unsigned>(usableProcessors()))
    only->isPlaced = std::ranges::count_if(devices_, computes) == 1;
}

std::size_t Machine::participants() const {
  return static_cast<std::size_t>(std::count_if(
      devices_.begin(), devices_.end(), [](const Device& device) { return device.participates; }));
}

bool Machine::hasGpu() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const Device& device) { return device.isGpu; });
}

void Machine::select(const std::vector<ListedDevice>& listed, const DeviceSpec& spec,
                     cl_device_id home) {
  if (spec.kind != DeviceSpec::Kind::List) {
    for (const ListedDevice& device : listed)
      if (isOfKind(device, spec))
        addDevice(device, home);
    return;
  }
  std::set<const ListedDevice*> named;
  for (const DeviceSpec::Item& item : spec.items) {
    const ListedDevice* found = find(listed, item);
    if (!found)
      writeLogOnce(LogLevel::Warn, "LIBSPLIT_DEVICES names device " + labelOf(item) +
                                       ", which is not there; see splitrun --list-devices");
    else if (!named.insert(found).second)
      writeLogOnce(LogLevel::Warn, "LIBSPLIT_DEVICES names device " + found->label + " twice");
    else if (item.computeUnits.empty())
      addDevice(*found, home);
    else
      addSubDevices(*found, item.computeUnits);
  }
}

void Machine::addDevice(const ListedDevice& listed, cl_device_id home) {
  Device device;
  device.label = listed.label;
  device.id = Ref<cl_device_id>::retain(cl_, listed.id);
  device.isHome = listed.id == home;
  describe(device);
  devices_.push_back(std::move(device));
}

void Machine::addSubDevices(const ListedDevice& listed, const std::vector<unsigned>& computeUnits) {
  std::vector<cl_device_partition_property> properties = {CL_DEVICE_PARTITION_BY_COUNTS};
  properties.insert(properties.end(), computeUnits.begin(), computeUnits.end());
  properties.push_back(CL_DEVICE_PARTITION_BY_COUNTS_LIST_END);
  properties.push_back(0);
  std::vector<cl_device_id> parts(computeUnits.size());
  cl_uint count = 0;
  cl_int status = cl_.clCreateSubDevices(listed.id, properties.data(),
                                         static_cast<cl_uint>(parts.size()), parts.data(), &count);
  if (status != CL_SUCCESS) {
    writeLogOnce(LogLevel::Warn, "device " + listed.label +
                                     " can't be cut as LIBSPLIT_DEVICES says (error " +
                                     std::to_string(status) + ")");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Device device;
    device.label = subLabel(listed.label, i, computeUnits[i]);
    device.id = Ref<cl_device_id>::adopt(cl_, parts[i]);
    describe(device);
    devices_.push_back(std::move(device));
  }
}

namespace {

bool isOfPocl(const Dispatch& cl, cl_device_id device) {
  const auto platform = property<cl_platform_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  return stringProperty(cl.clGetPlatformInfo, platform, CL_PLATFORM_NAME) == keepsCompiledKernels;
}

bool isGpu(const Dispatch& cl, cl_device_id device) {
  return !(property<cl_device_type>(cl.clGetDeviceInfo, device, CL_DEVICE_TYPE) &
           CL_DEVICE_TYPE_CPU);
}

} // namespace

bool keepsWhatItCompiles(const Dispatch& cl, cl_device_id device) {
  return isOfPocl(cl, device) && !isGpu(cl, device);
}

void Machine::describe(Device& device) const {
  cl_device_id id = device.id.get();
  auto query = cl_.clGetDeviceInfo;
  device.name = stringProperty(query, id, CL_DEVICE_NAME);
  device.driver = stringProperty(query, id, CL_DRIVER_VERSION);
  device.isGpu = isGpu(cl_, id);
  device.needsOwnOptions = isOfPocl(cl_, id);
  device.keepsCompiled = keepsWhatItCompiles(cl_, id);
  device.computeUnits = property<cl_uint>(query, id, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
  device.megahertz = property<cl_uint>(query, id, CL_DEVICE_MAX_CLOCK_FREQUENCY, 1);
  device.maxItems = arrayProperty<std::size_t>(query, id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  device.localMemory = property<cl_ulong>(query, id, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  device.constants = property<cl_ulong>(query, id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 0);
  constexpr auto any = std::numeric_limits<cl_ulong>::max();
  device.memory = property<cl_ulong>(query, id, CL_DEVICE_GLOBAL_MEM_SIZE, any);
  if (deviceMemory_ > 0)
    device.memory = std::min<std::uint64_t>(device.memory, deviceMemory_);
  device.largestBuffer = property<cl_ulong>(query, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, any);
  constexpr std::uint64_t page = 4096;
  const cl_uint bits = property<cl_uint>(query, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 0);
  device.bufferAlignment = std::max<std::uint64_t>(page, std::bit_ceil(bits / 8));
  device.macros = deviceMacros(cl_, id);
  std::string version = stringProperty(query, id, CL_DEVICE_VERSION); // "OpenCL 2.0 …"
  device.nonUniformGroups =
      version.starts_with("OpenCL 2.") ||
      property<cl_bool>(query, id, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_FALSE);
}

/// Parts of one processor are of one kind, too.
void Machine::assignKinds() {
  std::map<std::vector<std::string>, unsigned> kinds;
  for (Device& device : devices_) {
    std::vector<std::string> model = {device.isGpu ? "gpu" : "cpu"};
    for (const cl_device_info what :
         {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
      model.push_back(stringProperty(cl_.clGetDeviceInfo, device.id.get(), what));
    const auto next = static_cast<unsigned>(kinds.size() + 1);
    device.kind = kinds.emplace(std::move(model), next).first->second;
  }
}

bool Machine::open(Device& device) const {
  cl_int error = CL_SUCCESS;
  cl_device_id id = device.id.get();
  cl_context context = cl_.clCreateContext(nullptr, 1, &id, nullptr, nullptr, &error);
  if (error == CL_SUCCESS) {
    device.context = Ref<cl_context>::adopt(cl_, context);
    for (std::size_t engine = 0; engine < device.engines(); ++engine)
      device.queues.push_back(makeQueue(cl_, context, id));
  }
  auto isThere = [](const Ref<cl_command_queue>& queue) { return static_cast<bool>(queue); };
  if (!device.queues.empty() && std::ranges::all_of(device.queues, isThere))
    return true;
  log(LogLevel::Warn, "device ", device.label, " (", device.name, ") can't be used (error ", error,
      ")");
  return false;
}

void Machine::findTimingCosts(std::size_t device, cl_context homeContext) {
  Device& of = devices_[device];
  if (!of.isGpu)
    return;
  const cl_context context = contextOf(device, homeContext);
  const auto untimed = makeQueue(cl_, context, of.id.get(), Timing::Off);
  of.timingCosts = timingCosts(cl_, context, untimed.get(), queueOf(device, homeContext));
}

cl_command_queue Machine::queueOf(std::size_t device, cl_context homeContext, Engine engine,
                                  Timing timing) {
  const std::size_t index = devices_[device].engines() > 1 ? static_cast<std::size_t>(engine) : 0;
  if (timing == Timing::Off && devices_[device].timingCosts > 0) {
    const cl_context context = contextOf(device, homeContext);
    Ref<cl_command_queue>& queue = untimedQueues_[{context, device * engineCount + index}];
    if (!queue)
      queue = makeQueue(cl_, context, devices_[device].id.get(), Timing::Off);
    if (queue)
      return queue.get();
  }
  if (!devices_[device].queues.empty())
    return devices_[device].queues[index].get();
  Ref<cl_command_queue>& queue = homeQueues_[{homeContext, index}];
  if (!queue)
    queue = makeQueue(cl_, homeContext, devices_[device].id.get());
  return queue.get();
}

bool Machine::hasHomeQueues(cl_context homeContext) {
  if (homeContext == withHomeQueues_)
    return true;
  for (std::size_t i = 0; i < devices_[home_].engines(); ++i)
    if (!queueOf(home_, homeContext, static_cast<Engine>(i)))
      return false;
  withHomeQueues_ = homeContext;
  return true;
}

cl_command_queue Machine::idleQueueOf(std::size_t device, cl_context homeContext) {
  const cl_context context = contextOf(device, homeContext);
  Ref<cl_command_queue>& queue = idleQueues_[{context, device}];
  if (!queue)
    queue = makeQueue(cl_, context, devices_[device].id.get());
  return queue.get();
}

HostMemory Machine::transferMemory(std::size_t size, cl_context homeContext) const {
  // What drivers send so fast from anywhere that pinning gains nothing.
  constexpr std::size_t smallBlock = std::size_t{1} << 16;
  HostMemory memory{HostBlock::reserve(size), nullptr};
  if (!memory.block || size <= smallBlock || !hasGpu())
    return memory;
  // By a device in a context of libsplit's own, if there is one: the program gives up its contexts.
  std::size_t by = home_;
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (devices_[i].isGpu && (devices_[i].context || !devices_[by].isGpu))
      by = i;
  memory.provision = std::make_shared<Provision>(
      cl_, [&cl = cl_, block = memory.block,
            context = Ref<cl_context>::retain(cl_, contextOf(by, homeContext))] {
        block->pin(cl, context.get());
        return CL_SUCCESS; // unpinned it works as well
      });
  return memory;
}

Room Machine::ringRoom(NodeId node, cl_context homeContext, Provisions& pending) {
  Ring& ring = rings_[node];
  if (!ring.ring) {
    HostMemory memory = transferMemory(stagingBytes_, homeContext);
    if (!memory.block)
      return Room::None;
    ring.ring = std::make_unique<StagingRing>(std::move(memory.block));
    ring.provision = std::move(memory.provision);
  }
  return readyRoomOf(ring.provision, pending);
}

StagingRing* Machine::ring(NodeId node, cl_context homeContext) {
  Provisions pending; // in vain: whoever had time asked before
  return ringRoom(node, homeContext, pending) == Room::None ? nullptr : rings_[node].ring.get();
}

std::optional<Machine::MoveTimes> Machine::measureMoves(cl_context homeContext) {
  std::optional<MoveTimes> least;
  const NodeId homeNode = homeDevice().node;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device& device = devices_[i];
    Provisions pending;
    if (!device.participates || device.node == homeNode || device.node == hostNode ||
        ringRoom(device.node, homeContext, pending) == Room::None)
      continue;
    for (const std::shared_ptr<Provision>& provision : pending)
      if (provision->claim())
        provision->make();
    const StagingRing& ring = *rings_[device.node].ring;
    const auto times = linkTimes(cl_, contextOf(i, homeContext), queueOf(i, homeContext),
                                 {ring.block()->address(), ring.chunk()});
    if (!times || !(std::max(times->in.perByte, times->out.perByte) > 0))
      continue;
    // Home's own link is like this one, for all one knows, and chunks are on both at a time.
    const MoveTimes found{homeNode == hostNode ? std::max(times->in.small, times->out.small)
                                               : times->in.small + times->out.small,
                          std::max(times->in.perByte, times->out.perByte)};
    if (!least || found.perByte < least->perByte)
      least = found;
  }
  return least;
}

std::shared_ptr<const void> Machine::yieldRings() {
  if (!devices_[home_].isGpu || rings_.empty())
    return nullptr;
  auto yielded = std::make_shared<Rings>();
  yielded->swap(rings_);
  return yielded;
}

std::shared_ptr<const void> Machine::forget(cl_context homeContext) {
  struct Dropped {
    std::shared_ptr<const void> rings;
    std::vector<Ref<cl_command_queue>> queues;
  };
  auto dropped = std::make_shared<Dropped>();
  dropped->rings = yieldRings();
  withHomeQueues_ = nullptr;
  for (Queues* queues : {&homeQueues_, &idleQueues_, &untimedQueues_})
    std::erase_if(*queues, [&](auto& entry) {
      if (entry.first.first != homeContext)
        return false;
      dropped->queues.push_back(std::move(entry.second));
      return true;
    });
  return dropped;
}

cl_context Machine::contextOf(std::size_t device, cl_context homeContext) const {
  return devices_[device].context ? devices_[device].context.get() : homeContext;
}

void* hostAddress(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::size_t offset,
                  std::size_t size, cl_map_flags how) {
  cl_int error = CL_SUCCESS;
  void* address =
      cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, how, offset, size, 0, nullptr, nullptr, &error);
  if (error != CL_SUCCESS || !address)
    return nullptr;
  cl_event unmapped = nullptr;
  if (cl.clEnqueueUnmapMemObject(queue, buffer, address, 0, nullptr, &unmapped) != CL_SUCCESS)
    return nullptr;
  auto owned = Ref<cl_event>::adopt(cl, unmapped);
  return awaitEvent(cl, unmapped) == CL_SUCCESS ? address : nullptr;
}

void* nativeAddress(const Dispatch& cl, cl_command_queue queue, cl_mem buffer) {
  struct Question {
    void* place; ///< the driver puts the buffer's address here
    void** answer;
  };
  auto answer = std::make_unique<void*>(nullptr);
  Question question{nullptr, answer.get()};
  auto tell = [](void* data) {
    const auto* asked = static_cast<const Question*>(data);
    *asked->answer = asked->place;
  };
  const void* place = &question.place;
  cl_event told = nullptr;
  if (cl.clEnqueueNativeKernel(queue, tell, &question, sizeof question, 1, &buffer, &place, 0,
                               nullptr, &told) != CL_SUCCESS)
    return nullptr;
  auto owned = Ref<cl_event>::adopt(cl, told);
  if (awaitEvent(cl, told) == CL_SUCCESS)
    return *answer;
  static_cast<void>(answer.release()); // it may still be told
  return nullptr;
}

namespace {

constexpr std::size_t probeBytes = 256;
using ProbePattern = std::array<unsigned char, probeBytes>;

ProbePattern pattern(unsigned char seed) {
  ProbePattern bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(seed + 7 * i);
  return bytes;
}

/// What the device writes into a buffer over `memory` appears in `memory`, and the other way round.
bool sharesMemory(const Dispatch& cl, cl_context context, cl_command_queue queue, void* memory) {
  cl_int error = CL_SUCCESS;
  auto buffer =
      Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                               probeBytes, memory, &error));
  if (error != CL_SUCCESS)
    return false;
  ProbePattern written = pattern(1), placed = pattern(91), read{};
  if (cl.clEnqueueWriteBuffer(queue, buffer.get(), CL_TRUE, 0, probeBytes, written.data(), 0,
                              nullptr, nullptr) != CL_SUCCESS ||
      std::memcmp(memory, written.data(), probeBytes) != 0)
    return false;
  std::memcpy(memory, placed.data(), probeBytes);
  return cl.clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, 0, probeBytes, read.data(), 0,
                                nullptr, nullptr) == CL_SUCCESS &&
         read == placed;
}

/// What the device itself writes into the buffer appears at `address`. Asked before anything is
/// written there: a driver may map a copy, which it frees when it is unmapped.
bool showsFills(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, const void* address) {
  for (unsigned char value : {0x5a, 0xc3}) {
    ProbePattern expected;
    expected.fill(value);
    if (cl.clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, probeBytes, 0, nullptr,
                               nullptr) != CL_SUCCESS ||
        cl.clFinish(queue) != CL_SUCCESS || std::memcmp(address, expected.data(), probeBytes) != 0)
      return false;
  }
  return true;
}

bool hasNativeKernels(const Dispatch& cl, const Device& device) {
  return property<cl_device_exec_capabilities>(cl.clGetDeviceInfo, device.id.get(),
                                               CL_DEVICE_EXECUTION_CAPABILITIES) &
         CL_EXEC_NATIVE_KERNEL;
}

} // namespace

bool Machine::worksInHostMemory(const Device& device) const {
  alignas(4096) std::array<unsigned char, probeBytes> memory{};
  return sharesMemory(cl_, device.context.get(), device.queues[0].get(), memory.data());
}

/// On which thread the device runs commands: a native kernel tells. Of those that have none, GPUs
/// aside, nothing is known.
void Machine::findWhoRuns(std::size_t device, cl_context homeContext) {
  Device& asked = devices_[device];
  asked.returnsAtOnce = asked.isGpu;
  cl_command_queue queue = queueOf(device, homeContext);
  if (!hasNativeKernels(cl_, asked) || !queue)
    return;
  struct Answer {
    std::thread::id* thread;
  };
  auto thread = std::make_unique<std::thread::id>();
  Answer answer{thread.get()};
  auto tell = [](void* data) { *static_cast<Answer*>(data)->thread = std::this_thread::get_id(); };
  cl_event told = nullptr;
  if (cl_.clEnqueueNativeKernel(queue, tell, &answer, sizeof answer, 0, nullptr, nullptr, 0,
                                nullptr, &told) != CL_SUCCESS)
    return;
  const auto owned = Ref<cl_event>::adopt(cl_, told);
  if (awaitEvent(cl_, told) != CL_SUCCESS) {
    static_cast<void>(thread.release()); // it may still be told
    return;
  }
  if (*thread == std::thread::id())
    return;
  asked.runsInCaller = *thread == std::this_thread::get_id();
  asked.returnsAtOnce = asked.isGpu || !asked.runsInCaller;
}

/// Whether the home device's buffers lie in host memory, and `other` can work on them there in
/// place.
bool Machine::homeSharesMemoryWith(cl_context homeContext, const Device& other) {
  cl_command_queue queue = queueOf(home_, homeContext);
  cl_int error = CL_SUCCESS;
  auto buffer = Ref<cl_mem>::adopt(
      cl_, cl_.clCreateBuffer(homeContext, CL_MEM_READ_WRITE, probeBytes, nullptr, &error));
  if (!queue || error != CL_SUCCESS)
    return false;
  void* address = hostAddress(cl_, queue, buffer.get(), 0, probeBytes);
  if (!address || !showsFills(cl_, queue, buffer.get(), address))
    return false;
  if (!other.isHome && !sharesMemory(cl_, other.context.get(), other.queues[0].get(), address))
    return false;
  if (other.isHome && hasNativeKernels(cl_, other))
    nativeKernelsTell_ = nativeAddress(cl_, queue, buffer.get()) == address;
  ProbePattern left = pattern(17), read{};
  std::memcpy(address, left.data(), probeBytes);
  return cl_.clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, 0, probeBytes, read.data(), 0,
                                 nullptr, nullptr) == CL_SUCCESS &&
         read == left;
}

void Machine::assignNodes(SeparateNodes separate, cl_context homeContext) {
  auto ownNode = [&](std::size_t device) {
    devices_[device].node = static_cast<NodeId>(nodes_++);
    deviceOfNode_[devices_[device].node] = device;
  };
  auto mayShare = [&](const Device& device) {
    switch (separate) {
    case SeparateNodes::All:
      return false;
    case SeparateNodes::AllButLast:
      return !device.isGpu && &device == &devices_.back();
    case SeparateNodes::Home:
      return !device.isGpu && !device.isHome;
    case SeparateNodes::None:
      break;
    }
    return !device.isGpu;
  };
  bool homeOnHost = mayShare(devices_[home_]) && homeSharesMemoryWith(homeContext, devices_[home_]);
  if (!homeOnHost)
    ownNode(home_);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (i == home_)
      continue;
    bool shares =
        mayShare(devices_[i]) && (homeOnHost ? homeSharesMemoryWith(homeContext, devices_[i])
                                             : worksInHostMemory(devices_[i]));
    if (!shares)
      ownNode(i);
  }
}

void Machine::help(std::span<const CompletionPtr> parts) {
  auto isSubmitted = [](const CompletionPtr& part) { return part->submitted(); };
  bool helped = true;
  while (helped && !std::all_of(parts.begin(), parts.end(), isSubmitted)) {
    helped = false;
    for (const Device& device : devices_)
      for (std::size_t lane = 0; device.returnsAtOnce && lane < device.lanes.size(); ++lane)
        helped |= device.lanes[lane]->help();
  }
}

void Machine::suspendCompiling() {
  for (const Device& device : devices_)
    for (const std::unique_ptr<Lane>& lane : device.lanes)
      lane->suspendCompiling();
}

void Machine::resumeCompiling() {
  for (const Device& device : devices_)
    for (const std::unique_ptr<Lane>& lane : device.lanes)
      lane->resumeCompiling();
}

bool Machine::isCompiling() {
  return std::ranges::any_of(devices_, [](const Device& device) {
    return std::ranges::any_of(device.lanes, [](const auto& lane) { return lane->isCompiling(); });
  });
}

} // namespace libsplit::runtime
