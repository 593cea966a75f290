#include "runtime/session/pool.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Of the buffer that stands for a pooled one.
constexpr std::size_t standInSize = 64;

constexpr cl_mem_flags hostMemoryFlags =
    CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR;
constexpr cl_mem_flags kernelAccess = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
constexpr cl_mem_flags hostAccess =
    CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY;

/// What the standard says of the program's own memory for a buffer.
cl_int errorOf(cl_mem_flags flags, const void* host) {
  if ((flags & CL_MEM_USE_HOST_PTR) && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
    return CL_INVALID_VALUE;
  const bool wantsHost = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  return wantsHost == (host != nullptr) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

/// The same of a part's flags beside its parent's.
bool mayNarrow(cl_mem_flags flags, cl_mem_flags parent) {
  const auto forbids = [&](cl_mem_flags of, cl_mem_flags wanted) {
    return (parent & of) && (flags & wanted);
  };
  return !(flags & hostMemoryFlags) &&
         !forbids(CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY) &&
         !forbids(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY) &&
         !forbids(CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY) &&
         !forbids(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY) &&
         !forbids(CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
}

} // namespace

std::shared_ptr<const void> Promises::add(std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  const auto added = state_->bytes.insert(bytes);
  return {state_.get(), [state = state_, added](const void*) {
            const std::lock_guard guard(state->mutex);
            state->bytes.erase(added);
          }};
}

std::uint64_t Promises::most() const {
  const std::lock_guard lock(state_->mutex);
  return state_->bytes.empty() ? 0 : *state_->bytes.rbegin();
}

// --- what the program is told

const std::vector<ListedDevice>& Pool::listed() {
  std::call_once(isListed_, [&] { listed_ = listDevices(cl_); });
  return listed_;
}

bool Pool::hasOwnMemory(const ListedDevice& device) const {
  return !(device.type & CL_DEVICE_TYPE_CPU) || shared_.options.separateNodes == SeparateNodes::All;
}

/// Of a device beside `home`, which may be itself.
std::uint64_t Pool::memoryToPool(const ListedDevice& device, cl_device_id home) const {
  const auto memory = property<cl_ulong>(cl_.clGetDeviceInfo, device.id, CL_DEVICE_GLOBAL_MEM_SIZE);
  const std::size_t most = shared_.options.deviceMemory;
  return device.id == home || most == 0 ? memory : std::min<std::uint64_t>(memory, most);
}

std::optional<std::uint64_t> Pool::memoryOf(cl_device_id device) {
  if (!isOn())
    return std::nullopt;
  const auto own = std::ranges::find(listed(), device, &ListedDevice::id);
  if (own == listed().end() || !hasOwnMemory(*own))
    return std::nullopt;
  const auto spec = parseDeviceSpec(shared_.options.devices).value_or(DeviceSpec{});
  std::uint64_t all = memoryToPool(*own, device);
  bool hasOthers = false;
  for (const ListedDevice& each : participantsOf(listed(), spec))
    if (each.id != device) {
      all += hasOwnMemory(each) ? memoryToPool(each, device) : 0;
      hasOthers = true;
    }
  return hasOthers ? std::optional(all) : std::nullopt;
}

// --- buffers

/// Whether the session's machine is one whose memories can be pooled for `home`.
bool Pool::isMachineOf(Lock& lock, cl_context context, cl_device_id home) {
  if (!preparer_.awaitMachine(lock, context, home) || shared_.steppingAside)
    return false;
  const Machine& machine = *shared_.machine;
  return machine.homeDevice().id.get() == home && machine.homeDevice().node != hostNode &&
         machine.nodes() > 1;
}

std::optional<Pool::Made> Pool::create(cl_context context, cl_mem_flags flags, std::size_t size,
                                       void* host, bool wasRefused) {
  const auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  const auto all = devices.size() == 1 ? memoryOf(devices[0]) : std::nullopt;
  if (!all || size == 0)
    return std::nullopt;
  PoolMemory memory;
  memory.home = property<cl_ulong>(cl_.clGetDeviceInfo, devices[0], CL_DEVICE_GLOBAL_MEM_SIZE);
  memory.homeLargest = wasRefused ? 0
                                  : property<cl_ulong>(cl_.clGetDeviceInfo, devices[0],
                                                       CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  memory.all = *all;
  Lock lock(shared_.mutex);
  if (!host_)
    host_ = std::min<std::uint64_t>(shared_.options.poolMemory, roomForBuffers(availableMemory()));
  memory.host = *host_;
  memory.pooled = *pooled_;
  memory.atHome = *atHome_;
  if (shared_.machine)
    memory.atHome +=
        std::max<std::uint64_t>(*shared_.machine->homeDevice().copied, promises_.most());
  switch (placeBuffer(size, !(flags & CL_MEM_USE_HOST_PTR), memory)) {
  case Placement::AtHome:
    return std::nullopt;
  case Placement::TooLarge:
    return Made{nullptr, CL_INVALID_BUFFER_SIZE};
  case Placement::NoRoom:
    log(LogLevel::Info, "the host has no memory for a buffer of ", size, " bytes");
    return Made{nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE};
  case Placement::Pooled:
    break;
  }
  if (const cl_int error = errorOf(flags, host))
    return Made{nullptr, error};
  return isMachineOf(lock, context, devices[0]) ? make(lock, context, flags, size, host)
                                                : std::nullopt;
}

/// A pooled one.
std::optional<Pool::Made> Pool::make(Lock& lock, cl_context context, cl_mem_flags flags,
                                     std::size_t size, void* host) {
  PooledMemory memory;
  if (flags & CL_MEM_USE_HOST_PTR) {
    memory.address = static_cast<std::byte*>(host);
  } else {
    memory.block = HostBlock::promised(size);
    if (!memory.block)
      return Made{nullptr, CL_MEM_OBJECT_ALLOCATION_FAILURE};
    memory.address = memory.block->address();
    memory.taken = {pooled_, size};
  }
  cl_int status = CL_SUCCESS;
  lock.unlock();
  if (flags & CL_MEM_COPY_HOST_PTR)
    std::memcpy(memory.address, host, size);
  cl_mem handle =
      cl_.clCreateBuffer(context, flags & ~hostMemoryFlags, standInSize, nullptr, &status);
  lock.lock();
  if (status != CL_SUCCESS)
    return Made{nullptr, status};
  auto object = std::make_shared<MemoryObject>();
  object->access = HostAccess::of(flags);
  object->size = size;
  object->flags = flags;
  object->buffer = std::make_shared<Buffer>(cl_, context, handle, size, object->access,
                                            std::move(memory), shared_.engagements);
  if (shared_.isQuiet())
    shared_.beginBook();
  tracked_.track(*object->buffer);
  memory_.pooledCreated(handle, object);
  isUsed_ = true;
  log(LogLevel::Info, "a buffer of ", size, " bytes is pooled");
  return Made{handle, CL_SUCCESS};
}

void Pool::createdAtHome(cl_mem object) {
  const Lock lock(shared_.mutex);
  if (const auto known = memory_.find(object); known && known->buffer)
    known->buffer->takes({atHome_, known->size});
}

std::optional<Pool::Made> Pool::createPart(cl_mem parent, cl_mem_flags flags,
                                           cl_buffer_create_type type, const void* info) {
  const std::shared_ptr<MemoryObject> whole = find(parent);
  if (!whole)
    return std::nullopt;
  const auto refused = [](cl_int status) { return Made{nullptr, status}; };
  if (whole->buffer->home() != parent)
    return refused(CL_INVALID_MEM_OBJECT); // a part itself
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !info || !mayNarrow(flags, whole->flags))
    return refused(CL_INVALID_VALUE);
  const auto region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0)
    return refused(CL_INVALID_BUFFER_SIZE);
  if (region.origin > whole->size || region.size > whole->size - region.origin)
    return refused(CL_INVALID_VALUE);
  const cl_context context = whole->buffer->context();
  const auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  const auto bits = property<cl_uint>(cl_.clGetDeviceInfo, devices.empty() ? nullptr : devices[0],
                                      CL_DEVICE_MEM_BASE_ADDR_ALIGN, 8);
  if (region.origin % std::max(1u, bits / 8) != 0)
    return refused(CL_MISALIGNED_SUB_BUFFER_OFFSET);
  auto part = std::make_shared<MemoryObject>();
  part->flags = flags | (flags & kernelAccess ? 0 : whole->flags & kernelAccess) |
                (flags & hostAccess ? 0 : whole->flags & hostAccess) |
                (whole->flags & hostMemoryFlags);
  cl_int status = CL_SUCCESS;
  cl_mem handle =
      cl_.clCreateBuffer(context, part->flags & ~hostMemoryFlags, standInSize, nullptr, &status);
  if (status != CL_SUCCESS)
    return refused(status);
  part->access = HostAccess::of(part->flags);
  part->buffer = whole->buffer;
  part->origin = region.origin;
  part->size = region.size;
  const Lock lock(shared_.mutex);
  memory_.pooledCreated(handle, part, parent);
  return Made{handle, CL_SUCCESS};
}

std::shared_ptr<MemoryObject> Pool::find(cl_mem object) const {
  if (!isUsed_)
    return nullptr;
  const Lock lock(shared_.mutex);
  return findLocked(object);
}

std::shared_ptr<MemoryObject> Pool::findLocked(cl_mem object) const {
  auto known = isUsed_ && object ? memory_.find(object) : nullptr;
  return known && known->buffer && known->buffer->pooled() ? known : nullptr;
}

std::uint64_t Pool::roomOn(std::size_t device) const {
  const std::uint64_t room = roomForBuffers(shared_.machine->devices()[device].memory);
  const std::uint64_t taken = device == shared_.machine->home() ? atHome_->load() : 0;
  return room - std::min(room, taken);
}

} // namespace libsplit::runtime
