// Commands that read, write, copy and fill buffers and images. Each says which bytes it uses and
// how the driver is called; the session decides when.
#include "libsplit/enqueue.h"
#include "libsplit/images.h"
#include "libsplit/rects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;
using runtime::Refusal;

bool overlap(const Triple& a, const Triple& b, const Triple& region) {
  for (std::size_t d = 0; d < 3; ++d)
    if (std::max(a[d], b[d]) - std::min(a[d], b[d]) >= region[d])
      return false;
  return true;
}

cl_int CL_API_CALL readBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                              size_t offset, size_t size, void* host, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    return session().commands().read({queue, CL_COMMAND_READ_BUFFER, count, list, event, blocking},
                                     buffer, offset, size, host);
  });
}

cl_int CL_API_CALL writeBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               size_t offset, size_t size, const void* host, cl_uint count,
                               const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Command command{queue,    CL_COMMAND_WRITE_BUFFER,          count, list, event,
                          blocking, host ? Refusal::No : Refusal::All};
    if (!host || blocking > CL_TRUE)
      return atOnce(command, {overwritten(buffer, offset, size)},
                    [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
                      return next().clEnqueueWriteBuffer(queue, buffer, block, offset, size, host,
                                                         n, events, done);
                    });
    return session().commands().write(command, buffer, offset, size, host);
  });
}

cl_int CL_API_CALL readRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            const size_t* bufferOrigin, const size_t* hostOrigin,
                            const size_t* region, size_t bufferRow, size_t bufferSlice,
                            size_t hostRow, size_t hostSlice, void* host, cl_uint count,
                            const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple from(bufferOrigin), to(hostOrigin), extent(region);
    const Rows source(from, extent, bufferRow, bufferSlice), target(to, extent, hostRow, hostSlice);
    return enqueue(!host || !source.areSound || !target.areSound,
                   {queue, CL_COMMAND_READ_BUFFER_RECT, count, list, event, blocking},
                   {source.use(buffer, false)},
                   [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueReadBufferRect(
                         queue, buffer, block, from.data(), to.data(), extent.data(), bufferRow,
                         bufferSlice, hostRow, hostSlice, host, n, events, done);
                   });
  });
}

cl_int CL_API_CALL writeRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                             const size_t* bufferOrigin, const size_t* hostOrigin,
                             const size_t* region, size_t bufferRow, size_t bufferSlice,
                             size_t hostRow, size_t hostSlice, const void* host, cl_uint count,
                             const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple to(bufferOrigin), from(hostOrigin), extent(region);
    const Rows target(to, extent, bufferRow, bufferSlice), source(from, extent, hostRow, hostSlice);
    return enqueue(!host || !source.areSound || !target.areSound,
                   {queue, CL_COMMAND_WRITE_BUFFER_RECT, count, list, event, blocking},
                   {target.use(buffer, true)},
                   [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueWriteBufferRect(
                         queue, buffer, block, to.data(), from.data(), extent.data(), bufferRow,
                         bufferSlice, hostRow, hostSlice, host, n, events, done);
                   });
  });
}

cl_int CL_API_CALL copyBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
                              size_t sourceOffset, size_t targetOffset, size_t size, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Command command{queue, CL_COMMAND_COPY_BUFFER, count, list, event};
    const BufferUse from{source, false, sourceOffset, sourceOffset + size};
    const BufferUse to = overwritten(target, targetOffset, size);
    auto call = [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
      return next().clEnqueueCopyBuffer(queue, source, target, sourceOffset, targetOffset, size, n,
                                        events, done);
    };
    const bool overlaps = session().memory().overlap(from, to);
    const Refusal refusal = overlaps && source == target ? Refusal::All
                            : overlaps || size == 0      ? Refusal::Some
                                                         : Refusal::No;
    return enqueue(refusal, command, {from, to}, call);
  });
}

cl_int CL_API_CALL copyRect(cl_command_queue queue, cl_mem source, cl_mem target,
                            const size_t* sourceOrigin, const size_t* targetOrigin,
                            const size_t* region, size_t sourceRow, size_t sourceSlice,
                            size_t targetRow, size_t targetSlice, cl_uint count,
                            const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple from(sourceOrigin), to(targetOrigin), extent(region);
    const Rows read(from, extent, sourceRow, sourceSlice);
    const Rows written(to, extent, targetRow, targetSlice);
    const BufferUse reads = read.use(source, false), writes = written.use(target, true);
    return enqueue(errorOfCopy(read, written, reads, writes) ? Refusal::Some : Refusal::No,
                   {queue, CL_COMMAND_COPY_BUFFER_RECT, count, list, event}, {reads, writes},
                   [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueCopyBufferRect(
                         queue, source, target, from.data(), to.data(), extent.data(), sourceRow,
                         sourceSlice, targetRow, targetSlice, n, events, done);
                   });
  });
}

cl_int CL_API_CALL fillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                              size_t patternSize, size_t offset, size_t size, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    const bool fits = pattern && fillsWhole(patternSize, offset, size);
    auto first = static_cast<const std::byte*>(pattern);
    std::vector<std::byte> copy(first, fits ? first + patternSize : first);
    const Command command{queue, CL_COMMAND_FILL_BUFFER, count, list, event};
    const BufferUse use = overwritten(buffer, offset, size);
    auto call = [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
      return next().clEnqueueFillBuffer(queue, buffer, fits ? copy.data() : pattern, patternSize,
                                        offset, size, n, events, done);
    };
    return enqueue(!fits, command, {use}, call);
  });
}

cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                           cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                           cl_event* event) {
  return guarded([&] {
    const Copied copy(memory, objects);
    std::vector<BufferUse> uses;
    for (cl_mem object : copy)
      uses.push_back({object});
    const Command command{queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, list, event};
    auto call = [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
      return next().clEnqueueMigrateMemObjects(queue, objects, copy.data(), flags, n, events, done);
    };
    return copy.empty() || !areMigrationFlags(flags)
               ? toBeRefused(command, uses, call)
               : session().commands().enqueueOver(command, uses, call);
  });
}

cl_int CL_API_CALL copyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                     size_t offset, const size_t* origin, const size_t* region,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple to(origin), extent(region);
    const NamedImage target(image);
    return enqueue(target.lacks(to, extent),
                   {queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, count, list, event},
                   {target.packed(buffer, false, offset, extent), {image, true}},
                   [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueCopyBufferToImage(
                         queue, buffer, image, offset, to.data(), extent.data(), n, events, done);
                   });
  });
}

cl_int CL_API_CALL copyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                     const size_t* origin, const size_t* region, size_t offset,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple from(origin), extent(region);
    const NamedImage source(image);
    return enqueue(source.lacks(from, extent),
                   {queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, count, list, event},
                   {{image}, source.packed(buffer, true, offset, extent)},
                   [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueCopyImageToBuffer(
                         queue, image, buffer, from.data(), extent.data(), offset, n, events, done);
                   });
  });
}

cl_int CL_API_CALL readImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                             const size_t* origin, const size_t* region, size_t row, size_t slice,
                             void* host, cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple from(origin), extent(region);
    const NamedImage named(image);
    return enqueue(!host || named.lacks(from, extent) || named.refusesPitches(extent, row, slice),
                   {queue, CL_COMMAND_READ_IMAGE, count, list, event, blocking}, {{image}},
                   [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueReadImage(queue, image, block, from.data(),
                                                      extent.data(), row, slice, host, n, events,
                                                      done);
                   });
  });
}

cl_int CL_API_CALL writeImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                              const size_t* origin, const size_t* region, size_t row, size_t slice,
                              const void* host, cl_uint count, const cl_event* list,
                              cl_event* event) {
  return guarded([&] {
    const Triple to(origin), extent(region);
    const NamedImage named(image);
    return enqueue(!host || named.lacks(to, extent) || named.refusesPitches(extent, row, slice),
                   {queue, CL_COMMAND_WRITE_IMAGE, count, list, event, blocking}, {{image, true}},
                   [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueWriteImage(queue, image, block, to.data(),
                                                       extent.data(), row, slice, host, n, events,
                                                       done);
                   });
  });
}

cl_int CL_API_CALL copyImage(cl_command_queue queue, cl_mem source, cl_mem target,
                             const size_t* sourceOrigin, const size_t* targetOrigin,
                             const size_t* region, cl_uint count, const cl_event* list,
                             cl_event* event) {
  return guarded([&] {
    const Triple from(sourceOrigin), to(targetOrigin), extent(region);
    const NamedImage read(source), written(target);
    return enqueue(read.lacks(from, extent) || written.lacks(to, extent) ||
                       read.isOfOtherFormat(written) ||
                       (source == target && overlap(from, to, extent)),
                   {queue, CL_COMMAND_COPY_IMAGE, count, list, event}, {{source}, {target, true}},
                   [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueCopyImage(queue, source, target, from.data(), to.data(),
                                                      extent.data(), n, events, done);
                   });
  });
}

/// Four components of 32 bits, whatever the format, but for depths.
std::size_t sizeOfColor(cl_mem image) {
  cl_image_format format{};
  const bool isKnown =
      next().clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, nullptr) == CL_SUCCESS;
  const bool isDepth = isKnown && (format.image_channel_order == CL_DEPTH ||
                                   format.image_channel_order == CL_DEPTH_STENCIL);
  return isDepth ? sizeof(cl_float) : sizeof(cl_float4);
}

cl_int CL_API_CALL fillImage(cl_command_queue queue, cl_mem image, const void* color,
                             const size_t* origin, const size_t* region, cl_uint count,
                             const cl_event* list, cl_event* event) {
  return guarded([&] {
    const Triple to(origin), extent(region);
    std::array<std::byte, 16> copy{};
    if (color)
      std::memcpy(copy.data(), color, sizeOfColor(image));
    return enqueue(!color || NamedImage(image).lacks(to, extent),
                   {queue, CL_COMMAND_FILL_IMAGE, count, list, event}, {{image, true}},
                   [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                     return next().clEnqueueFillImage(queue, image, color ? copy.data() : nullptr,
                                                      to.data(), extent.data(), n, events, done);
                   });
  });
}

} // namespace

void overrideTransfers(runtime::Functions& table) {
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
  table.clEnqueueReadImage = readImage;
  table.clEnqueueWriteImage = writeImage;
  table.clEnqueueCopyImage = copyImage;
  table.clEnqueueFillImage = fillImage;
}

} // namespace libsplit
