// Commands of the fake OpenCL: what each does with the bytes, and what it takes.
#include "tests/fake_opencl/driver.h"
#include "tests/fake_opencl/program.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace libsplit::fake {

namespace {

using Origin = std::array<std::size_t, 3>;

/// Keeps objects until a command is over.
std::function<void()> keeping(std::vector<Keep<cl_mem>> objects) {
  auto kept = std::make_shared<std::vector<Keep<cl_mem>>>(std::move(objects));
  return [kept] { kept->clear(); };
}

bool misses(const _cl_mem& memory, std::size_t offset, std::size_t size) {
  return size == 0 || offset > memory.size || size > memory.size - offset;
}

double transferTime(cl_command_queue queue, std::size_t bytes) {
  const DeviceConfiguration& device = queue->device->configuration;
  return device.transferSeconds + static_cast<double>(bytes) / device.bytesPerSecond;
}

/// What is wrong with using `memory` in a command of `queue`.
cl_int complaint(cl_command_queue queue, cl_mem memory) {
  if (!driver().isAlive(memory))
    return CL_INVALID_MEM_OBJECT;
  if (memory->context.get() != queue->context.get())
    return CL_INVALID_CONTEXT;
  return queue->device->lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int enqueue(Call& call, const Enqueue& how, Resource resource, double seconds, Work work,
               std::vector<Keep<cl_mem>> objects) {
  if (how.queue->properties & CL_QUEUE_PROFILING_ENABLE) {
    ++how.queue->device->timed;
    const std::chrono::duration<double> longer(how.queue->device->configuration.timingSeconds);
    const auto until = std::chrono::steady_clock::now() + longer;
    while (std::chrono::steady_clock::now() < until)
      ;
  }
  return driver().engine.enqueue(call.lock, how, resource, seconds, std::move(work),
                                 keeping(std::move(objects)));
}

cl_int CL_API_CALL readBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                              std::size_t offset, std::size_t size, void* host, cl_uint waitCount,
                              const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueReadBuffer", queue);
  if (!call.error)
    call.error = complaint(queue, memory);
  if (call.error)
    return call.error;
  if (!host || misses(*memory, offset, size) || blocking > CL_TRUE)
    return CL_INVALID_VALUE;
  if (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))
    return CL_INVALID_OPERATION;
  auto work = [from = memory->storage + offset, size, host](bool half) {
    std::memcpy(host, from, half ? size / 2 : size);
    return CL_SUCCESS;
  };
  return enqueue(call,
                 {queue, CL_COMMAND_READ_BUFFER, waitCount, waitList, event, blocking != CL_FALSE},
                 Resource::CopiesOut, transferTime(queue, size), work, {Keep<cl_mem>(memory)});
}

cl_int CL_API_CALL writeBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                               std::size_t offset, std::size_t size, const void* host,
                               cl_uint waitCount, const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueWriteBuffer", queue);
  if (!call.error)
    call.error = complaint(queue, memory);
  if (call.error)
    return call.error;
  if (!host || misses(*memory, offset, size) || blocking > CL_TRUE)
    return CL_INVALID_VALUE;
  if (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))
    return CL_INVALID_OPERATION;
  auto work = [to = memory->storage + offset, size, host](bool half) {
    std::memcpy(to, host, half ? size / 2 : size);
    return CL_SUCCESS;
  };
  return enqueue(call,
                 {queue, CL_COMMAND_WRITE_BUFFER, waitCount, waitList, event, blocking != CL_FALSE},
                 Resource::CopiesIn, transferTime(queue, size), work, {Keep<cl_mem>(memory)});
}

/// One side of a copy of rectangles.
struct Rectangle {
  Origin origin;
  std::size_t rowPitch = 0, slicePitch = 0;

  std::size_t at(std::size_t y, std::size_t z) const {
    return origin[0] + (origin[1] + y) * rowPitch + (origin[2] + z) * slicePitch;
  }
};

/// Fills in pitches that are left open. False if they don't fit.
bool complete(Rectangle& side, const Origin& region) {
  if (side.rowPitch == 0)
    side.rowPitch = region[0];
  if (side.slicePitch == 0)
    side.slicePitch = region[1] * side.rowPitch;
  return side.rowPitch >= region[0] && side.slicePitch >= region[1] * side.rowPitch &&
         side.slicePitch % side.rowPitch == 0;
}

std::size_t endOf(const Rectangle& side, const Origin& region) {
  return side.at(region[1] - 1, region[2] - 1) + region[0];
}

Work rectangleWork(const std::byte* from, Rectangle source, std::byte* to, Rectangle target,
                   Origin region) {
  return [=](bool half) {
    const std::size_t rows = half ? region[1] / 2 : region[1];
    for (std::size_t z = 0; z < region[2]; ++z)
      for (std::size_t y = 0; y < rows; ++y)
        std::memmove(to + target.at(y, z), from + source.at(y, z), region[0]);
    return CL_SUCCESS;
  };
}

Origin origin(const std::size_t* values) {
  return {values[0], values[1], values[2]};
}

bool isEmpty(const Origin& region) {
  return region[0] == 0 || region[1] == 0 || region[2] == 0;
}

template <bool toHost, class Host>
cl_int rectangle(const char* name, const Enqueue& how, cl_mem memory, const std::size_t* inBuffer,
                 const std::size_t* inHost, const std::size_t* size, std::size_t bufferRow,
                 std::size_t bufferSlice, std::size_t hostRow, std::size_t hostSlice, Host* host) {
  Call call(name, how.queue);
  if (!call.error)
    call.error = complaint(how.queue, memory);
  if (call.error)
    return call.error;
  if (!host || !inBuffer || !inHost || !size || isEmpty(origin(size)))
    return CL_INVALID_VALUE;
  const Origin region = origin(size);
  Rectangle buffer{origin(inBuffer), bufferRow, bufferSlice};
  Rectangle outside{origin(inHost), hostRow, hostSlice};
  if (!complete(buffer, region) || !complete(outside, region) ||
      endOf(buffer, region) > memory->size)
    return CL_INVALID_VALUE;
  if (memory->flags &
      (CL_MEM_HOST_NO_ACCESS | (toHost ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY)))
    return CL_INVALID_OPERATION;
  const std::size_t begin = outside.at(0, 0);
  outside.origin = {};
  if (how.queue->device->configuration.denseRects) {
    outside.rowPitch = region[0];
    outside.slicePitch = region[0] * region[1];
  }
  const std::size_t bytes = region[0] * region[1] * region[2];
  Work work;
  if constexpr (toHost)
    work = rectangleWork(memory->storage, buffer, static_cast<std::byte*>(host) + begin, outside,
                         region);
  else
    work = rectangleWork(static_cast<const std::byte*>(host) + begin, outside, memory->storage,
                         buffer, region);
  return enqueue(call, how, toHost ? Resource::CopiesOut : Resource::CopiesIn,
                 transferTime(how.queue, bytes), std::move(work), {Keep<cl_mem>(memory)});
}

cl_int CL_API_CALL readRectangle(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                 const std::size_t* inBuffer, const std::size_t* inHost,
                                 const std::size_t* region, std::size_t bufferRow,
                                 std::size_t bufferSlice, std::size_t hostRow,
                                 std::size_t hostSlice, void* host, cl_uint waitCount,
                                 const cl_event* waitList, cl_event* event) {
  return rectangle<true>(
      "clEnqueueReadBufferRect",
      {queue, CL_COMMAND_READ_BUFFER_RECT, waitCount, waitList, event, blocking != CL_FALSE},
      memory, inBuffer, inHost, region, bufferRow, bufferSlice, hostRow, hostSlice, host);
}

cl_int CL_API_CALL writeRectangle(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                  const std::size_t* inBuffer, const std::size_t* inHost,
                                  const std::size_t* region, std::size_t bufferRow,
                                  std::size_t bufferSlice, std::size_t hostRow,
                                  std::size_t hostSlice, const void* host, cl_uint waitCount,
                                  const cl_event* waitList, cl_event* event) {
  return rectangle<false>(
      "clEnqueueWriteBufferRect",
      {queue, CL_COMMAND_WRITE_BUFFER_RECT, waitCount, waitList, event, blocking != CL_FALSE},
      memory, inBuffer, inHost, region, bufferRow, bufferSlice, hostRow, hostSlice, host);
}

/// Both sides' bytes may be the same memory object's.
cl_int bothComplaint(cl_command_queue queue, cl_mem from, cl_mem to) {
  const cl_int error = complaint(queue, from);
  return error ? error : complaint(queue, to);
}

cl_int CL_API_CALL copyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t fromAt,
                              std::size_t toAt, std::size_t size, cl_uint waitCount,
                              const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueCopyBuffer", queue);
  if (!call.error)
    call.error = bothComplaint(queue, from, to);
  if (call.error)
    return call.error;
  if (misses(*from, fromAt, size) || misses(*to, toAt, size))
    return CL_INVALID_VALUE;
  const std::byte* source = from->storage + fromAt;
  std::byte* target = to->storage + toAt;
  if (source < target + size && target < source + size)
    return CL_MEM_COPY_OVERLAP;
  auto work = [=](bool half) {
    std::memcpy(target, source, half ? size / 2 : size);
    return CL_SUCCESS;
  };
  return enqueue(call, {queue, CL_COMMAND_COPY_BUFFER, waitCount, waitList, event, false},
                 Resource::Kernels, transferTime(queue, size) / 10, work,
                 {Keep<cl_mem>(from), Keep<cl_mem>(to)});
}

cl_int CL_API_CALL copyRectangle(cl_command_queue queue, cl_mem from, cl_mem to,
                                 const std::size_t* fromOrigin, const std::size_t* toOrigin,
                                 const std::size_t* size, std::size_t fromRow,
                                 std::size_t fromSlice, std::size_t toRow, std::size_t toSlice,
                                 cl_uint waitCount, const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueCopyBufferRect", queue);
  if (!call.error)
    call.error = bothComplaint(queue, from, to);
  if (call.error)
    return call.error;
  if (!fromOrigin || !toOrigin || !size || isEmpty(origin(size)))
    return CL_INVALID_VALUE;
  const Origin region = origin(size);
  Rectangle source{origin(fromOrigin), fromRow, fromSlice};
  Rectangle target{origin(toOrigin), toRow, toSlice};
  if (!complete(source, region) || !complete(target, region) ||
      endOf(source, region) > from->size || endOf(target, region) > to->size)
    return CL_INVALID_VALUE;
  if (from == to) {
    // Rows of the one side against rows of the other.
    for (std::size_t z = 0; z < region[2]; ++z)
      for (std::size_t y = 0; y < region[1]; ++y)
        for (std::size_t w = 0; w < region[2]; ++w)
          for (std::size_t x = 0; x < region[1]; ++x) {
            const std::size_t a = source.at(y, z), b = target.at(x, w);
            if (a < b + region[0] && b < a + region[0])
              return CL_MEM_COPY_OVERLAP;
          }
  }
  return enqueue(call, {queue, CL_COMMAND_COPY_BUFFER_RECT, waitCount, waitList, event, false},
                 Resource::Kernels, transferTime(queue, region[0] * region[1] * region[2]) / 10,
                 rectangleWork(from->storage, source, to->storage, target, region),
                 {Keep<cl_mem>(from), Keep<cl_mem>(to)});
}

cl_int CL_API_CALL fillBuffer(cl_command_queue queue, cl_mem memory, const void* pattern,
                              std::size_t patternSize, std::size_t offset, std::size_t size,
                              cl_uint waitCount, const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueFillBuffer", queue);
  if (!call.error)
    call.error = complaint(queue, memory);
  if (call.error)
    return call.error;
  if (!pattern || patternSize == 0 || patternSize > 128 || (patternSize & (patternSize - 1)) != 0 ||
      offset % patternSize != 0 || size % patternSize != 0 || misses(*memory, offset, size))
    return CL_INVALID_VALUE;
  const auto* first = static_cast<const std::byte*>(pattern);
  auto work = [to = memory->storage + offset, size,
               bytes = std::vector<std::byte>(first, first + patternSize)](bool half) {
    for (std::size_t i = 0; i < (half ? size / 2 : size); ++i)
      to[i] = bytes[i % bytes.size()];
    return CL_SUCCESS;
  };
  return enqueue(call, {queue, CL_COMMAND_FILL_BUFFER, waitCount, waitList, event, false},
                 Resource::Kernels, transferTime(queue, size) / 10, work, {Keep<cl_mem>(memory)});
}

void* CL_API_CALL mapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                            cl_map_flags flags, std::size_t offset, std::size_t size,
                            cl_uint waitCount, const cl_event* waitList, cl_event* event,
                            cl_int* error) {
  Call call("clEnqueueMapBuffer", queue);
  if (!call.error)
    call.error = complaint(queue, memory);
  if (call.error)
    return refuse(error, call.error);
  const bool reads = (flags & CL_MAP_READ) != 0;
  const bool invalidates = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;
  const bool writes = (flags & CL_MAP_WRITE) != 0 || invalidates;
  if (misses(*memory, offset, size) || flags == 0 ||
      (invalidates && flags != CL_MAP_WRITE_INVALIDATE_REGION))
    return refuse(error, CL_INVALID_VALUE);
  if ((reads && (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))) ||
      (writes && (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))))
    return refuse(error, CL_INVALID_OPERATION);
  std::byte* window = memory->openWindow() + offset;
  auto work = [from = memory->storage + offset, window, size, invalidates](bool half) {
    if (!invalidates && from != window)
      std::memcpy(window, from, half ? size / 2 : size);
    return CL_SUCCESS;
  };
  const auto map = memory->maps.emplace(window, _cl_mem::Map{offset, size, writes});
  const Keep<cl_mem> keep(memory);
  const cl_int status = enqueue(
      call, {queue, CL_COMMAND_MAP_BUFFER, waitCount, waitList, event, blocking != CL_FALSE},
      Resource::CopiesOut, transferTime(queue, size), work, {keep});
  if (status != CL_SUCCESS) {
    memory->maps.erase(map);
    return refuse(error, status);
  }
  return granted(error, static_cast<void*>(window));
}

cl_int CL_API_CALL unmapMemory(cl_command_queue queue, cl_mem memory, void* address,
                               cl_uint waitCount, const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueUnmapMemObject", queue);
  if (!call.error)
    call.error = complaint(queue, memory);
  if (call.error)
    return call.error;
  auto found = memory->maps.find(address);
  if (found == memory->maps.end())
    return CL_INVALID_VALUE;
  const _cl_mem::Map map = found->second;
  memory->maps.erase(found);
  auto work = [to = memory->storage + map.offset, address, map](bool half) {
    if (map.writes && to != address)
      std::memcpy(to, address, half ? map.size / 2 : map.size);
    return CL_SUCCESS;
  };
  return enqueue(call, {queue, CL_COMMAND_UNMAP_MEM_OBJECT, waitCount, waitList, event, false},
                 Resource::CopiesIn, transferTime(queue, map.writes ? map.size : 0), work,
                 {Keep<cl_mem>(memory)});
}

cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem* objects,
                           cl_mem_migration_flags flags, cl_uint waitCount,
                           const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueMigrateMemObjects", queue);
  if (call.error)
    return call.error;
  if (count == 0 || !objects || flags >> 2 != 0)
    return CL_INVALID_VALUE;
  std::vector<Keep<cl_mem>> kept;
  for (cl_uint i = 0; i < count; ++i) {
    if (const cl_int error = complaint(queue, objects[i]))
      return error;
    kept.emplace_back(objects[i]);
  }
  return enqueue(call, {queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, waitCount, waitList, event, false},
                 Resource::CopiesIn, transferTime(queue, 0), nullptr, std::move(kept));
}

/// The launch's NDRange, with the local size that the driver chose if it was free to.
cl_int rangeOf(const _cl_kernel& kernel, const DeviceConfiguration& device, cl_uint dimensions,
               const std::size_t* offset, const std::size_t* global, const std::size_t* local,
               Range& range) {
  if (dimensions < 1 || dimensions > 3)
    return CL_INVALID_WORK_DIMENSION;
  if (!global)
    return CL_INVALID_GLOBAL_WORK_SIZE;
  range.dimensions = dimensions;
  std::size_t items = 1;
  for (unsigned d = 0; d < dimensions; ++d) {
    range.global[d] = global[d];
    range.offset[d] = offset ? offset[d] : 0;
    if (global[d] == 0)
      return CL_INVALID_GLOBAL_WORK_SIZE;
    if (range.offset[d] + global[d] < global[d])
      return CL_INVALID_GLOBAL_OFFSET;
    if (local)
      range.local[d] = local[d];
    else if (kernel.info->required[0] > 0)
      return CL_INVALID_WORK_GROUP_SIZE;
    else
      for (range.local[d] = d == 0 ? 16 : 2; global[d] % range.local[d] != 0;)
        --range.local[d];
    if (range.local[d] == 0 || (global[d] % range.local[d] != 0 && !kernel.info->mayBeUneven) ||
        (kernel.info->required[0] > 0 && range.local[d] != kernel.info->required[d]))
      return CL_INVALID_WORK_GROUP_SIZE;
    if (range.local[d] > device.maxGroup)
      return CL_INVALID_WORK_ITEM_SIZE;
    items *= range.local[d];
  }
  for (unsigned d = dimensions; d < 3; ++d)
    if (kernel.info->required[0] > 0 && kernel.info->required[d] != 1)
      return CL_INVALID_WORK_GROUP_SIZE;
  return items > device.maxGroup ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

std::string nameOf(const Range& range) {
  return std::to_string(range.local[0]) + 'x' + std::to_string(range.local[1]) + 'x' +
         std::to_string(range.local[2]);
}

/// How many times as long its work-items take as they usually do.
double slowness(const DeviceConfiguration& device, const std::string& localSize) {
  auto found = device.localSizes.find(localSize);
  if (found == device.localSizes.end())
    found = device.localSizes.find("*");
  return found == device.localSizes.end() ? 1 : found->second;
}

cl_int launch(const char* name, const Enqueue& how, cl_kernel kernel, cl_uint dimensions,
              const std::size_t* offset, const std::size_t* global, const std::size_t* local) {
  Call call(name, how.queue);
  if (call.error)
    return call.error;
  if (!driver().isAlive(kernel))
    return CL_INVALID_KERNEL;
  if (kernel->program->context.get() != how.queue->context.get())
    return CL_INVALID_CONTEXT;
  const DeviceConfiguration& device = how.queue->device->configuration;
  if (how.queue->device->lost)
    return CL_OUT_OF_RESOURCES;
  std::vector<BoundArgument> arguments;
  std::vector<Keep<cl_mem>> kept;
  std::uint64_t localBytes = kernel->info->localMemory;
  for (const ArgumentValue& argument : kernel->arguments) {
    if (!argument.isSet)
      return CL_INVALID_KERNEL_ARGS;
    BoundArgument bound{argument.bytes, nullptr, argument.localSize};
    localBytes += argument.localSize;
    if (argument.memory) {
      if (const cl_int error = complaint(how.queue, argument.memory))
        return error;
      bound.address = argument.memory->storage;
      kept.emplace_back(argument.memory);
    }
    arguments.push_back(std::move(bound));
  }
  if (localBytes > device.localMemory)
    return CL_OUT_OF_RESOURCES;
  Range range;
  if (const cl_int error = rangeOf(*kernel, device, dimensions, offset, global, local, range))
    return error;
  const double items = static_cast<double>(range.global[0]) * static_cast<double>(range.global[1]) *
                       static_cast<double>(range.global[2]);
  const std::string localSize = local ? nameOf(range) : "driver's";
  ++how.queue->device->localSizes[localSize];
  auto work = [code = kernel->code, info = kernel->info, range,
               bound = std::move(arguments)](bool half) {
    run(*info, range, bound, half);
    return CL_SUCCESS;
  };
  // The kernel object lives until its launches are over.
  kernel->launched = true;
  auto keptKernel = std::make_shared<Keep<cl_kernel>>(kernel);
  auto keptMemory = keeping(std::move(kept));
  return driver().engine.enqueue(call.lock, how, Resource::Kernels,
                                 device.launchSeconds +
                                     items * device.itemSeconds * slowness(device, localSize),
                                 std::move(work), [keptKernel, keptMemory] {
                                   keptMemory();
                                   *keptKernel = {};
                                 });
}

cl_int CL_API_CALL enqueueKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const std::size_t* offset, const std::size_t* global,
                                 const std::size_t* local, cl_uint waitCount,
                                 const cl_event* waitList, cl_event* event) {
  return launch("clEnqueueNDRangeKernel",
                {queue, CL_COMMAND_NDRANGE_KERNEL, waitCount, waitList, event, false}, kernel,
                dimensions, offset, global, local);
}

cl_int CL_API_CALL enqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint waitCount,
                               const cl_event* waitList, cl_event* event) {
  const std::size_t one = 1;
  return launch("clEnqueueTask", {queue, CL_COMMAND_TASK, waitCount, waitList, event, false},
                kernel, 1, nullptr, &one, &one);
}

/// A function of the caller's, on the thread that runs commands.
cl_int CL_API_CALL nativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                void* arguments, std::size_t size, cl_uint count,
                                const cl_mem* memories, const void** places, cl_uint waitCount,
                                const cl_event* waitList, cl_event* event) {
  Call call("clEnqueueNativeKernel", queue);
  if (call.error)
    return call.error;
  if (!queue->device->configuration.runsNativeKernels())
    return CL_INVALID_OPERATION;
  if (!function || (arguments == nullptr) != (size == 0) || (count > 0 && size == 0) ||
      (memories == nullptr) != (count == 0) || (places == nullptr) != (count == 0))
    return CL_INVALID_VALUE;
  const auto* first = static_cast<const std::byte*>(arguments);
  std::vector<std::byte> block(first, first + size);
  std::vector<Keep<cl_mem>> kept;
  for (cl_uint i = 0; i < count; ++i) {
    if (const cl_int error = complaint(queue, memories[i]))
      return error;
    const std::byte* address = memories[i]->storage;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(places[i]) - first);
    if (offset > size || size - offset < sizeof address)
      return CL_INVALID_VALUE;
    std::memcpy(block.data() + offset, &address, sizeof address);
    kept.emplace_back(memories[i]);
  }
  auto work = [function, bytes = std::move(block)](bool) mutable {
    function(bytes.data());
    return CL_SUCCESS;
  };
  return enqueue(call, {queue, CL_COMMAND_NATIVE_KERNEL, waitCount, waitList, event, false},
                 Resource::Kernels, 0, std::move(work), std::move(kept));
}

cl_int order(const char* name, const Enqueue& how) {
  Call call(name, how.queue);
  if (call.error)
    return call.error;
  return enqueue(call, how, Resource::None, 0, nullptr, {});
}

cl_int CL_API_CALL markerWithWaitList(cl_command_queue queue, cl_uint waitCount,
                                      const cl_event* waitList, cl_event* event) {
  return order("clEnqueueMarkerWithWaitList",
               {queue, CL_COMMAND_MARKER, waitCount, waitList, event, false});
}
cl_int CL_API_CALL barrierWithWaitList(cl_command_queue queue, cl_uint waitCount,
                                       const cl_event* waitList, cl_event* event) {
  return order("clEnqueueBarrierWithWaitList",
               {queue, CL_COMMAND_BARRIER, waitCount, waitList, event, false});
}
cl_int CL_API_CALL marker(cl_command_queue queue, cl_event* event) {
  return event ? order("clEnqueueMarker", {queue, CL_COMMAND_MARKER, 0, nullptr, event, false})
               : CL_INVALID_VALUE;
}
cl_int CL_API_CALL barrier(cl_command_queue queue) {
  return order("clEnqueueBarrier", {queue, CL_COMMAND_BARRIER, 0, nullptr, nullptr, false});
}
cl_int CL_API_CALL enqueueWait(cl_command_queue queue, cl_uint count, const cl_event* events) {
  return order("clEnqueueWaitForEvents",
               {queue, CL_COMMAND_BARRIER, count, events, nullptr, false});
}

} // namespace

void addCommands(cl_icd_dispatch& table) {
  table.clEnqueueReadBuffer = readBuffer;
  table.clEnqueueWriteBuffer = writeBuffer;
  table.clEnqueueReadBufferRect = readRectangle;
  table.clEnqueueWriteBufferRect = writeRectangle;
  table.clEnqueueCopyBuffer = copyBuffer;
  table.clEnqueueCopyBufferRect = copyRectangle;
  table.clEnqueueFillBuffer = fillBuffer;
  table.clEnqueueMapBuffer = mapBuffer;
  table.clEnqueueUnmapMemObject = unmapMemory;
  table.clEnqueueMigrateMemObjects = migrate;
  table.clEnqueueNDRangeKernel = enqueueKernel;
  table.clEnqueueTask = enqueueTask;
  table.clEnqueueNativeKernel = nativeKernel;
  table.clEnqueueMarkerWithWaitList = markerWithWaitList;
  table.clEnqueueBarrierWithWaitList = barrierWithWaitList;
  table.clEnqueueMarker = marker;
  table.clEnqueueBarrier = barrier;
  table.clEnqueueWaitForEvents = enqueueWait;
}

} // namespace libsplit::fake
