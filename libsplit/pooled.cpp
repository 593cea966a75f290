// With LIBSPLIT_POOL_MEMORY: what devices say of their memories, buffers that no device holds, and
// commands on these, of which each says how the host does it. What has nothing to do with such a
// buffer goes on to the other overrides. Without the variable none of this is in the table.
#include "libsplit/enqueue.h"
#include "libsplit/rects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace libsplit {

namespace {

using runtime::answer;
using runtime::BufferUse;
using runtime::Command;
using runtime::Pool;

/// The table as it is without these overrides.
runtime::Functions& others() {
  static runtime::Functions table;
  return table;
}

bool isPooled(cl_mem object) {
  return session().pool().find(object) != nullptr;
}

// --- what there is

cl_int CL_API_CALL deviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value,
                              size_t* sizeRet) {
  std::optional<std::uint64_t> memory;
  if (name == CL_DEVICE_GLOBAL_MEM_SIZE || name == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
    tracked([&] { memory = session().pool().memoryOf(device); });
  return memory ? answer<cl_ulong>(*memory, size, value, sizeRet)
                : others().clGetDeviceInfo(device, name, size, value, sizeRet);
}

cl_int CL_API_CALL memoryInfo(cl_mem object, cl_mem_info name, size_t size, void* value,
                              size_t* sizeRet) {
  const auto known = session().pool().find(object);
  if (!known)
    return others().clGetMemObjectInfo(object, name, size, value, sizeRet);
  const cl_mem whole = known->buffer->home();
  const bool usesHostMemory = (known->flags & CL_MEM_USE_HOST_PTR) != 0;
  std::byte* host = usesHostMemory ? known->buffer->pooled()->address + known->origin : nullptr;
  switch (name) {
  case CL_MEM_SIZE:
    return answer(known->size, size, value, sizeRet);
  case CL_MEM_FLAGS:
    return answer(known->flags, size, value, sizeRet);
  case CL_MEM_HOST_PTR:
    return answer<void*>(host, size, value, sizeRet);
  case CL_MEM_OFFSET:
    return answer(known->origin, size, value, sizeRet);
  case CL_MEM_ASSOCIATED_MEMOBJECT:
    return answer<cl_mem>(whole == object ? nullptr : whole, size, value, sizeRet);
  case CL_MEM_MAP_COUNT:
    return answer(session().pooledCommands().maps(object), size, value, sizeRet);
  default:
    return others().clGetMemObjectInfo(object, name, size, value, sizeRet);
  }
}

/// One that the pool makes where it is to, else the driver, by `call`, and the pool where that has
/// no room.
template <class Call>
cl_mem create(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error,
              const Call& call) {
  std::optional<Pool::Made> made;
  tracked([&] { made = session().pool().create(context, flags, size, host, false); });
  if (!made) {
    made.emplace();
    made->handle = call(&made->status);
    if (made->handle)
      tracked([&] { session().pool().createdAtHome(made->handle); });
    else if (lacksMemory(made->status))
      tracked([&] {
        if (auto pooled = session().pool().create(context, flags, size, host, true))
          made = pooled;
      });
  }
  report(error, made->status);
  return made->handle;
}

cl_mem CL_API_CALL createBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                cl_int* error) {
  return create(context, flags, size, host, error, [&](cl_int* status) {
    return others().clCreateBuffer(context, flags, size, host, status);
  });
}

cl_mem CL_API_CALL createBufferWithProperties(cl_context context,
                                              const cl_mem_properties* properties,
                                              cl_mem_flags flags, size_t size, void* host,
                                              cl_int* error) {
  if (properties && properties[0] != 0)
    return others().clCreateBufferWithProperties(context, properties, flags, size, host, error);
  return create(context, flags, size, host, error, [&](cl_int* status) {
    return others().clCreateBufferWithProperties(context, properties, flags, size, host, status);
  });
}

cl_mem CL_API_CALL createSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                   const void* info, cl_int* error) {
  std::optional<Pool::Made> made;
  tracked([&] { made = session().pool().createPart(parent, flags, type, info); });
  if (!made)
    return others().clCreateSubBuffer(parent, flags, type, info, error);
  report(error, made->status);
  return made->handle;
}

/// Images over pooled buffers there are none; of others the pool takes note.
template <class Call>
cl_mem createImageBy(const cl_image_desc* description, cl_int* error, const Call& call) {
  if (description && isPooled(description->mem_object)) {
    report(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    return nullptr;
  }
  cl_mem image = call();
  if (image)
    tracked([&] { session().pool().createdAtHome(image); });
  return image;
}

cl_mem CL_API_CALL createImage(cl_context context, cl_mem_flags flags,
                               const cl_image_format* format, const cl_image_desc* description,
                               void* host, cl_int* error) {
  return createImageBy(description, error, [&] {
    return others().clCreateImage(context, flags, format, description, host, error);
  });
}

cl_mem CL_API_CALL createImageWithProperties(cl_context context,
                                             const cl_mem_properties* properties,
                                             cl_mem_flags flags, const cl_image_format* format,
                                             const cl_image_desc* description, void* host,
                                             cl_int* error) {
  return createImageBy(description, error, [&] {
    return others().clCreateImageWithProperties(context, properties, flags, format, description,
                                                host, error);
  });
}

// --- commands

/// In the host's memory, if one of the objects is pooled; else by `call`.
template <class Work, class Call>
cl_int enqueueIn(const Command& command, std::initializer_list<BufferUse> uses, cl_int wrong,
                 const Work& work, const Call& call) {
  if (std::ranges::none_of(uses, [](const BufferUse& use) { return isPooled(use.object); }))
    return call();
  if (wrong != CL_SUCCESS)
    return wrong;
  return guarded([&] {
    return session().pooledCommands().enqueue(command, std::vector<BufferUse>(uses), work);
  });
}

/// Copies rows of the same number and length.
void copyRows(const Rows& source, const std::byte* from, const Rows& target, std::byte* to,
              const Triple& region) {
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y)
      std::memmove(to + target.begin + z * target.slice + y * target.pitch,
                   from + source.begin + z * source.slice + y * source.pitch, region[0]);
}

cl_int CL_API_CALL readBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                              size_t offset, size_t size, void* host, cl_uint count,
                              const cl_event* list, cl_event* event) {
  if (!isPooled(buffer))
    return others().clEnqueueReadBuffer(queue, buffer, blocking, offset, size, host, count, list,
                                        event);
  if (!host)
    return CL_INVALID_VALUE;
  return guarded([&] {
    return session().pooledCommands().read(
        {queue, CL_COMMAND_READ_BUFFER, count, list, event, blocking},
        {buffer, false, offset, offset + size}, host);
  });
}

cl_int CL_API_CALL writeBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               size_t offset, size_t size, const void* host, cl_uint count,
                               const cl_event* list, cl_event* event) {
  return enqueueIn(
      {queue, CL_COMMAND_WRITE_BUFFER, count, list, event, blocking},
      {overwritten(buffer, offset, size)}, host ? CL_SUCCESS : CL_INVALID_VALUE,
      [=](std::span<std::byte* const> at) { std::memcpy(at[0] + offset, host, size); },
      [&] {
        return others().clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, host, count,
                                             list, event);
      });
}

cl_int CL_API_CALL readRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            const size_t* bufferOrigin, const size_t* hostOrigin,
                            const size_t* region, size_t bufferRow, size_t bufferSlice,
                            size_t hostRow, size_t hostSlice, void* host, cl_uint count,
                            const cl_event* list, cl_event* event) {
  const Triple from(bufferOrigin), to(hostOrigin), extent(region);
  const Rows source(from, extent, bufferRow, bufferSlice), target(to, extent, hostRow, hostSlice);
  const bool isRight = host && source.areSound && target.areSound;
  return enqueueIn(
      {queue, CL_COMMAND_READ_BUFFER_RECT, count, list, event, blocking},
      {source.use(buffer, false)}, isRight ? CL_SUCCESS : CL_INVALID_VALUE,
      [=](std::span<std::byte* const> at) {
        copyRows(source, at[0], target, static_cast<std::byte*>(host), extent);
      },
      [&] {
        return others().clEnqueueReadBufferRect(queue, buffer, blocking, bufferOrigin, hostOrigin,
                                                region, bufferRow, bufferSlice, hostRow, hostSlice,
                                                host, count, list, event);
      });
}

cl_int CL_API_CALL writeRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                             const size_t* bufferOrigin, const size_t* hostOrigin,
                             const size_t* region, size_t bufferRow, size_t bufferSlice,
                             size_t hostRow, size_t hostSlice, const void* host, cl_uint count,
                             const cl_event* list, cl_event* event) {
  const Triple to(bufferOrigin), from(hostOrigin), extent(region);
  const Rows target(to, extent, bufferRow, bufferSlice), source(from, extent, hostRow, hostSlice);
  const bool isRight = host && source.areSound && target.areSound;
  return enqueueIn(
      {queue, CL_COMMAND_WRITE_BUFFER_RECT, count, list, event, blocking},
      {target.use(buffer, true)}, isRight ? CL_SUCCESS : CL_INVALID_VALUE,
      [=](std::span<std::byte* const> at) {
        copyRows(source, static_cast<const std::byte*>(host), target, at[0], extent);
      },
      [&] {
        return others().clEnqueueWriteBufferRect(queue, buffer, blocking, bufferOrigin, hostOrigin,
                                                 region, bufferRow, bufferSlice, hostRow, hostSlice,
                                                 host, count, list, event);
      });
}

cl_int CL_API_CALL copyBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
                              size_t sourceOffset, size_t targetOffset, size_t size, cl_uint count,
                              const cl_event* list, cl_event* event) {
  const BufferUse from{source, false, sourceOffset, sourceOffset + size};
  const BufferUse to = overwritten(target, targetOffset, size);
  return enqueueIn(
      {queue, CL_COMMAND_COPY_BUFFER, count, list, event}, {from, to},
      size == 0                              ? CL_INVALID_VALUE
      : session().memory().overlap(from, to) ? CL_MEM_COPY_OVERLAP
                                             : CL_SUCCESS,
      [=](std::span<std::byte* const> at) {
        std::memcpy(at[1] + targetOffset, at[0] + sourceOffset, size);
      },
      [&] {
        return others().clEnqueueCopyBuffer(queue, source, target, sourceOffset, targetOffset, size,
                                            count, list, event);
      });
}

cl_int CL_API_CALL copyRect(cl_command_queue queue, cl_mem source, cl_mem target,
                            const size_t* sourceOrigin, const size_t* targetOrigin,
                            const size_t* region, size_t sourceRow, size_t sourceSlice,
                            size_t targetRow, size_t targetSlice, cl_uint count,
                            const cl_event* list, cl_event* event) {
  const Triple from(sourceOrigin), to(targetOrigin), extent(region);
  const Rows read(from, extent, sourceRow, sourceSlice);
  const Rows written(to, extent, targetRow, targetSlice);
  const BufferUse reads = read.use(source, false), writes = written.use(target, true);
  return enqueueIn(
      {queue, CL_COMMAND_COPY_BUFFER_RECT, count, list, event}, {reads, writes},
      errorOfCopy(read, written, reads, writes),
      [=](std::span<std::byte* const> at) { copyRows(read, at[0], written, at[1], extent); },
      [&] {
        return others().clEnqueueCopyBufferRect(queue, source, target, sourceOrigin, targetOrigin,
                                                region, sourceRow, sourceSlice, targetRow,
                                                targetSlice, count, list, event);
      });
}

cl_int CL_API_CALL fillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                              size_t patternSize, size_t offset, size_t size, cl_uint count,
                              const cl_event* list, cl_event* event) {
  const bool fits = pattern && fillsWhole(patternSize, offset, size);
  std::array<std::byte, sizeof(cl_double16)> copy{};
  if (fits)
    std::memcpy(copy.data(), pattern, patternSize);
  return enqueueIn(
      {queue, CL_COMMAND_FILL_BUFFER, count, list, event}, {overwritten(buffer, offset, size)},
      fits ? CL_SUCCESS : CL_INVALID_VALUE,
      [=](std::span<std::byte* const> at) {
        for (std::size_t done = 0; done < size; done += patternSize)
          std::memcpy(at[0] + offset + done, copy.data(), patternSize);
      },
      [&] {
        return others().clEnqueueFillBuffer(queue, buffer, pattern, patternSize, offset, size,
                                            count, list, event);
      });
}

/// Where the bytes of pooled buffers lie is libsplit's business: the others' wish, if any, waits
/// for another time, and the command only keeps its turn.
cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                           cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                           cl_event* event) {
  if (!memory || std::none_of(memory, memory + objects, isPooled))
    return others().clEnqueueMigrateMemObjects(queue, objects, memory, flags, count, list, event);
  if (!areMigrationFlags(flags))
    return CL_INVALID_VALUE;
  return guarded([&] {
    std::vector<BufferUse> uses;
    for (cl_uint i = 0; i < objects; ++i)
      uses.push_back({memory[i]});
    return session().pooledCommands().enqueue(
        {queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, list, event}, uses,
        [](std::span<std::byte* const>) {});
  });
}

// A driver that has no room for a buffer's bytes can neither give them to an image nor to a native
// kernel.

cl_int CL_API_CALL copyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                     size_t offset, const size_t* origin, const size_t* region,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return isPooled(buffer) ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                          : others().clEnqueueCopyBufferToImage(queue, buffer, image, offset,
                                                                origin, region, count, list, event);
}

cl_int CL_API_CALL copyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                     const size_t* origin, const size_t* region, size_t offset,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return isPooled(buffer) ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                          : others().clEnqueueCopyImageToBuffer(queue, image, buffer, origin,
                                                                region, offset, count, list, event);
}

cl_int CL_API_CALL enqueueNative(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                 void* arguments, size_t size, cl_uint objects,
                                 const cl_mem* memory, const void** places, cl_uint count,
                                 const cl_event* list, cl_event* event) {
  const bool isAnyPooled = memory && std::any_of(memory, memory + objects, isPooled);
  return isAnyPooled ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                     : others().clEnqueueNativeKernel(queue, function, arguments, size, objects,
                                                      memory, places, count, list, event);
}

void* CL_API_CALL mapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                            const cl_event* list, cl_event* event, cl_int* error) {
  const auto known = session().pool().find(buffer);
  if (!known)
    return others().clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, count, list,
                                       event, error);
  constexpr cl_map_flags writing = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
  const bool isRight = size > 0 && (flags & ~(writing | CL_MAP_READ)) == 0;
  BufferUse use{buffer, (flags & writing) != 0, offset, offset + size};
  use.reads = flags != CL_MAP_WRITE_INVALIDATE_REGION; // with others it is not valid
  void* address = nullptr;
  report(error, guarded([&] {
           cl_int status = CL_INVALID_VALUE;
           if (isRight && (flags & CL_MAP_READ) && !known->access.reads)
             status = CL_INVALID_OPERATION; // also where it is to be written
           else if (isRight)
             address = session().pooledCommands().map(
                 {queue, CL_COMMAND_MAP_BUFFER, count, list, event, blocking}, use, status);
           return status;
         }));
  return address;
}

cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem object, void* address, cl_uint count,
                         const cl_event* list, cl_event* event) {
  if (!isPooled(object))
    return others().clEnqueueUnmapMemObject(queue, object, address, count, list, event);
  return guarded([&] {
    return session().pooledCommands().unmap(
        {queue, CL_COMMAND_UNMAP_MEM_OBJECT, count, list, event}, object, address);
  });
}

/// Who launches has to know where pooled buffers are among the arguments.
cl_int CL_API_CALL setKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  const cl_int status = others().clSetKernelArg(kernel, index, size, value);
  cl_mem object = nullptr;
  if (status != CL_SUCCESS || !value || size != sizeof object)
    return status;
  std::memcpy(&object, value, sizeof object);
  return isPooled(object) && !session().kernels().hasParameter(kernel, index) ? CL_OUT_OF_RESOURCES
                                                                              : CL_SUCCESS;
}

/// As the pool has it; by `call` where no argument is pooled.
template <class Call>
cl_int launchIn(const Command& command, const runtime::LaunchArguments& arguments,
                const Call& call) {
  if (!session().pool().isUsed())
    return call();
  std::optional<cl_int> status;
  const cl_int failed = guarded([&] {
    status = session().launchPooled(command, arguments);
    return CL_SUCCESS;
  });
  if (failed != CL_SUCCESS)
    return failed;
  return status ? *status : call();
}

cl_int CL_API_CALL enqueueKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint count, const cl_event* list, cl_event* event) {
  return launchIn({queue, CL_COMMAND_NDRANGE_KERNEL, count, list, event},
                  {kernel, dimensions, offset, global, local}, [&] {
                    return others().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset,
                                                           global, local, count, list, event);
                  });
}

cl_int CL_API_CALL enqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                               const cl_event* list, cl_event* event) {
  constexpr std::size_t one = 1;
  return launchIn({queue, CL_COMMAND_TASK, count, list, event}, {kernel, 1, nullptr, &one, &one},
                  [&] { return others().clEnqueueTask(queue, kernel, count, list, event); });
}

} // namespace

void overridePooled(runtime::Functions& table) {
  others() = table;
  table.clGetDeviceInfo = deviceInfo;
  table.clGetMemObjectInfo = memoryInfo;
  table.clCreateBuffer = createBuffer;
  table.clCreateBufferWithProperties = createBufferWithProperties;
  table.clCreateSubBuffer = createSubBuffer;
  table.clCreateImage = createImage;
  table.clCreateImageWithProperties = createImageWithProperties;
  table.clEnqueueReadBuffer = readBuffer;
  table.clEnqueueWriteBuffer = writeBuffer;
  table.clEnqueueReadBufferRect = readRect;
  table.clEnqueueWriteBufferRect = writeRect;
  table.clEnqueueCopyBuffer = copyBuffer;
  table.clEnqueueCopyBufferRect = copyRect;
  table.clEnqueueFillBuffer = fillBuffer;
  table.clEnqueueMigrateMemObjects = migrate;
  table.clEnqueueCopyBufferToImage = copyBufferToImage;
  table.clEnqueueCopyImageToBuffer = copyImageToBuffer;
  table.clEnqueueNativeKernel = enqueueNative;
  table.clEnqueueMapBuffer = mapBuffer;
  table.clEnqueueUnmapMemObject = unmap;
  table.clSetKernelArg = setKernelArg;
  table.clEnqueueNDRangeKernel = enqueueKernel;
  table.clEnqueueTask = enqueueTask;
}

} // namespace libsplit
