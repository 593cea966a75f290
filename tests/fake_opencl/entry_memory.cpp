// Buffers of the fake OpenCL. It has no images.
#include "tests/fake_opencl/driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace libsplit::fake {

namespace {

constexpr std::size_t alignment = 128;
constexpr std::size_t guardSize = 64;
constexpr std::byte guardByte{0xa5};

/// Bytes of a buffer that are not 0 in the beginning. More would take every page of large ones,
/// such as those that data pass through.
constexpr std::size_t mostFilled = std::size_t{1} << 20;

/// Room for `size` bytes that nobody has written yet, so they are anything, and a guard behind it.
std::byte* allocate(Room& room, std::size_t size) {
  const std::size_t all = size + alignment + guardSize;
  room.reset(static_cast<std::byte*>(std::calloc(all, 1)));
  if (!room)
    throw std::bad_alloc();
  for (std::size_t i = 0; i < std::min(all, mostFilled); ++i)
    room[i] = static_cast<std::byte>(i * 37 + 11);
  const auto address = reinterpret_cast<std::uintptr_t>(room.get());
  std::byte* begin = room.get() + (alignment - address % alignment) % alignment;
  std::fill_n(begin + size, guardSize, guardByte);
  return begin;
}

bool guardIsWhole(const std::byte* begin, std::size_t size) {
  return std::all_of(begin + size, begin + size + guardSize,
                     [](std::byte each) { return each == guardByte; });
}

bool isGpu(const _cl_context& context) {
  return context.devices.front()->configuration.isGpu;
}

cl_mem CL_API_CALL createBuffer(cl_context context, cl_mem_flags flags, std::size_t size,
                                void* host, cl_int* error) {
  Call call("clCreateBuffer", context);
  if (call.error)
    return refuse(error, call.error);
  const bool wantsHost = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (((flags & CL_MEM_USE_HOST_PTR) && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))) ||
      flags >> 11 != 0)
    return refuse(error, CL_INVALID_VALUE);
  if (wantsHost != (host != nullptr))
    return refuse(error, CL_INVALID_HOST_PTR);
  cl_device_id device = context->devices.front();
  if (size == 0 || size > device->configuration.taken())
    return refuse(error, CL_INVALID_BUFFER_SIZE);
  if (device->lost)
    return refuse(error, CL_OUT_OF_RESOURCES);
  if (device->memoryUsed + size > device->configuration.memory)
    return refuse(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  auto memory = std::make_unique<_cl_mem>();
  memory->context = Keep<cl_context>(context);
  memory->size = size;
  memory->flags = flags;
  if (flags & CL_MEM_USE_HOST_PTR)
    memory->hostPointer = host;
  if (memory->hostPointer && !isGpu(*context))
    memory->storage = static_cast<std::byte*>(host);
  else
    memory->storage = allocate(memory->ownStorage, size);
  if (host && memory->storage != host)
    std::memcpy(memory->storage, host, size);
  if (!isGpu(*context))
    memory->window = memory->storage;
  else if (memory->hostPointer)
    memory->window = static_cast<std::byte*>(host);
  device->memoryUsed += size;
  device->mostMemory = std::max(device->mostMemory, device->memoryUsed);
  return granted(error, driver().adopt(std::move(memory)));
}

cl_mem CL_API_CALL createBufferWithProperties(cl_context context,
                                              const cl_mem_properties* properties,
                                              cl_mem_flags flags, std::size_t size, void* host,
                                              cl_int* error) {
  if (properties && *properties)
    return refuse(error, CL_INVALID_PROPERTY);
  return createBuffer(context, flags, size, host, error);
}

cl_mem CL_API_CALL createSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                   const void* info, cl_int* error) {
  Call call("clCreateSubBuffer", parent);
  if (call.error)
    return refuse(error, call.error);
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !info)
    return refuse(error, CL_INVALID_VALUE);
  if (parent->parent)
    return refuse(error, CL_INVALID_MEM_OBJECT);
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0)
    return refuse(error, CL_INVALID_BUFFER_SIZE);
  if (region.origin > parent->size || region.size > parent->size - region.origin)
    return refuse(error, CL_INVALID_VALUE);
  if (region.origin % alignment != 0)
    return refuse(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
  auto memory = std::make_unique<_cl_mem>();
  memory->context = parent->context;
  memory->parent = Keep<cl_mem>(parent);
  memory->origin = region.origin;
  memory->size = region.size;
  constexpr cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
  constexpr cl_mem_flags fromHost =
      CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY;
  memory->flags =
      flags | (flags & access ? 0 : parent->flags & access) |
      (flags & fromHost ? 0 : parent->flags & fromHost) |
      (parent->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
  memory->storage = parent->storage + region.origin;
  if (parent->window)
    memory->window = parent->window + region.origin;
  if (parent->hostPointer)
    memory->hostPointer = static_cast<std::byte*>(parent->hostPointer) + region.origin;
  return granted(error, driver().adopt(std::move(memory)));
}

cl_int CL_API_CALL getMemoryInfo(cl_mem memory, cl_mem_info name, std::size_t size, void* value,
                                 std::size_t* sizeRet) {
  Call call("clGetMemObjectInfo", memory);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_MEM_TYPE:
    return answer.one<cl_mem_object_type>(CL_MEM_OBJECT_BUFFER);
  case CL_MEM_FLAGS:
    return answer.one(memory->flags);
  case CL_MEM_SIZE:
    return answer.one(memory->size);
  case CL_MEM_HOST_PTR:
    return answer.one(memory->hostPointer);
  case CL_MEM_MAP_COUNT:
    return answer.one(static_cast<cl_uint>(memory->maps.size()));
  case CL_MEM_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(memory->references));
  case CL_MEM_CONTEXT:
    return answer.one(memory->context.get());
  case CL_MEM_ASSOCIATED_MEMOBJECT:
    return answer.one(memory->parent.get());
  case CL_MEM_OFFSET:
    return answer.one(memory->origin);
  case CL_MEM_USES_SVM_POINTER:
    return answer.one<cl_bool>(CL_FALSE);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL setDestructorCallback(cl_mem memory, void(CL_CALLBACK* function)(cl_mem, void*),
                                         void* data) {
  Call call("clSetMemObjectDestructorCallback", memory);
  if (call.error)
    return call.error;
  if (!function)
    return CL_INVALID_VALUE;
  memory->atEnd.emplace_back(function, data);
  return CL_SUCCESS;
}

cl_int CL_API_CALL getSupportedImageFormats(cl_context context, cl_mem_flags, cl_mem_object_type,
                                            cl_uint, cl_image_format*, cl_uint* count) {
  Call call("clGetSupportedImageFormats", context);
  if (!call.error && count)
    *count = 0;
  return call.error;
}

} // namespace

void addMemory(cl_icd_dispatch& table) {
  table.clCreateBuffer = createBuffer;
  table.clCreateBufferWithProperties = createBufferWithProperties;
  table.clCreateSubBuffer = createSubBuffer;
  table.clRetainMemObject = retainHandle<cl_mem>;
  table.clReleaseMemObject = releaseHandle<cl_mem>;
  table.clGetMemObjectInfo = getMemoryInfo;
  table.clSetMemObjectDestructorCallback = setDestructorCallback;
  table.clGetSupportedImageFormats = getSupportedImageFormats;
}

} // namespace libsplit::fake

std::byte* _cl_mem::openWindow() {
  _cl_mem& root = parent ? *parent.get() : *this;
  if (!root.window)
    root.window = libsplit::fake::allocate(root.ownWindow, root.size);
  window = root.window + origin;
  return window;
}

_cl_mem::~_cl_mem() {
  using namespace libsplit::fake;
  if (!parent)
    context->devices.front()->memoryUsed -= size;
  if (ownStorage && !guardIsWhole(storage, size))
    driver().misuse("a kernel or a command wrote behind the end of a buffer");
  for (auto each = atEnd.rbegin(); each != atEnd.rend(); ++each)
    driver().callLater(
        [handle = this, function = each->first, data = each->second] { function(handle, data); });
}
