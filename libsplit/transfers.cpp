// Commands that read, write, copy and fill buffers and images. Each says which bytes it uses and
// how the driver is called; the session decides when.
#include "libsplit/door.h"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;
using Triple = std::array<std::size_t, 3>;

Triple triple(const size_t* values) {
  return values ? Triple{values[0], values[1], values[2]} : Triple{};
}

/// The use of a rectangle: from its first byte to its last. What lies between rows is kept.
BufferUse rectangle(cl_mem object, bool writes, const Triple& origin, const Triple& region,
                    std::size_t rowPitch, std::size_t slicePitch) {
  std::size_t row = rowPitch ? rowPitch : region[0];
  std::size_t slice = slicePitch ? slicePitch : region[1] * row;
  std::size_t begin = origin[2] * slice + origin[1] * row + origin[0];
  std::size_t end = begin;
  if (region[0] && region[1] && region[2])
    end = begin + (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
  return {object, writes, begin, end};
}

BufferUse overwritten(cl_mem object, std::size_t offset, std::size_t size) {
  return {object, true, offset, offset + size, false};
}

cl_int CL_API_CALL readBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                              size_t offset, size_t size, void* host, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    return session().read({queue, CL_COMMAND_READ_BUFFER, count, list, event, blocking != CL_FALSE},
                          buffer, offset, size, host);
  });
}

cl_int CL_API_CALL writeBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               size_t offset, size_t size, const void* host, cl_uint count,
                               const cl_event* list, cl_event* event) {
  return guarded([&] {
    return session().command(
        {queue, CL_COMMAND_WRITE_BUFFER, count, list, event, blocking != CL_FALSE},
        {overwritten(buffer, offset, size)},
        [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueWriteBuffer(queue, buffer, block, offset, size, host, n, events,
                                             done);
        });
  });
}

cl_int CL_API_CALL readRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            const size_t* bufferOrigin, const size_t* hostOrigin,
                            const size_t* region, size_t bufferRow, size_t bufferSlice,
                            size_t hostRow, size_t hostSlice, void* host, cl_uint count,
                            const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple from = triple(bufferOrigin), to = triple(hostOrigin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_READ_BUFFER_RECT, count, list, event, blocking != CL_FALSE},
        {rectangle(buffer, false, from, extent, bufferRow, bufferSlice)},
        [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueReadBufferRect(queue, buffer, block, from.data(), to.data(),
                                                extent.data(), bufferRow, bufferSlice, hostRow,
                                                hostSlice, host, n, events, done);
        });
  });
}

cl_int CL_API_CALL writeRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                             const size_t* bufferOrigin, const size_t* hostOrigin,
                             const size_t* region, size_t bufferRow, size_t bufferSlice,
                             size_t hostRow, size_t hostSlice, const void* host, cl_uint count,
                             const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple to = triple(bufferOrigin), from = triple(hostOrigin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_WRITE_BUFFER_RECT, count, list, event, blocking != CL_FALSE},
        {rectangle(buffer, true, to, extent, bufferRow, bufferSlice)},
        [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueWriteBufferRect(queue, buffer, block, to.data(), from.data(),
                                                 extent.data(), bufferRow, bufferSlice, hostRow,
                                                 hostSlice, host, n, events, done);
        });
  });
}

/// For a command that drivers refuse, if they look: when it is put off, its error would come too
/// late for the application. So everything before it is finished, and the driver is asked at once.
/// All old bytes are brought home, since a refused command changes none.
cl_int atOnce(const Command& command, std::vector<BufferUse> uses,
              const runtime::NativeCall& call) {
  for (BufferUse& use : uses)
    use.reads = true;
  session().settle(command, uses);
  return call(command.blocking, command.waitCount, command.waitList, command.event);
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
    const bool overlaps =
        source == target && from.begin < to.end && to.begin < from.end && source != nullptr;
    return overlaps ? atOnce(command, {from, to}, call)
                    : session().command(command, {from, to}, call);
  });
}

cl_int CL_API_CALL copyRect(cl_command_queue queue, cl_mem source, cl_mem target,
                            const size_t* sourceOrigin, const size_t* targetOrigin,
                            const size_t* region, size_t sourceRow, size_t sourceSlice,
                            size_t targetRow, size_t targetSlice, cl_uint count,
                            const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple from = triple(sourceOrigin), to = triple(targetOrigin), extent = triple(region);
    return session().command({queue, CL_COMMAND_COPY_BUFFER_RECT, count, list, event},
                             {rectangle(source, false, from, extent, sourceRow, sourceSlice),
                              rectangle(target, true, to, extent, targetRow, targetSlice)},
                             [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                               return next().clEnqueueCopyBufferRect(
                                   queue, source, target, from.data(), to.data(), extent.data(),
                                   sourceRow, sourceSlice, targetRow, targetSlice, n, events, done);
                             });
  });
}

cl_int CL_API_CALL fillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                              size_t patternSize, size_t offset, size_t size, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    auto first = static_cast<const std::byte*>(pattern);
    std::vector<std::byte> copy(first, first ? first + patternSize : first);
    const Command command{queue, CL_COMMAND_FILL_BUFFER, count, list, event};
    const BufferUse use = overwritten(buffer, offset, size);
    auto call = [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
      return next().clEnqueueFillBuffer(queue, buffer, pattern ? copy.data() : nullptr, patternSize,
                                        offset, size, n, events, done);
    };
    const bool fits = std::has_single_bit(patternSize) && patternSize <= sizeof(cl_double16) &&
                      offset % patternSize == 0 && size % patternSize == 0;
    return pattern && fits ? session().command(command, {use}, call) : atOnce(command, {use}, call);
  });
}

cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                           cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                           cl_event* event) {
  return guarded([&] {
    std::vector<cl_mem> copy(memory, memory ? memory + objects : memory);
    std::vector<BufferUse> uses;
    for (cl_mem object : copy)
      uses.push_back({object});
    return session().commandOver({queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, list, event}, uses,
                                 [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                                   return next().clEnqueueMigrateMemObjects(
                                       queue, objects, copy.data(), flags, n, events, done);
                                 });
  });
}

cl_int CL_API_CALL copyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                     size_t offset, const size_t* origin, const size_t* region,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple to = triple(origin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, count, list, event}, {{buffer}, {image, true}},
        [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueCopyBufferToImage(queue, buffer, image, offset, to.data(),
                                                   extent.data(), n, events, done);
        });
  });
}

cl_int CL_API_CALL copyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                     const size_t* origin, const size_t* region, size_t offset,
                                     cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple from = triple(origin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, count, list, event}, {{image}, {buffer, true}},
        [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueCopyImageToBuffer(queue, image, buffer, from.data(), extent.data(),
                                                   offset, n, events, done);
        });
  });
}

cl_int CL_API_CALL readImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                             const size_t* origin, const size_t* region, size_t row, size_t slice,
                             void* host, cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple from = triple(origin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_READ_IMAGE, count, list, event, blocking != CL_FALSE}, {{image}},
        [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueReadImage(queue, image, block, from.data(), extent.data(), row,
                                           slice, host, n, events, done);
        });
  });
}

cl_int CL_API_CALL writeImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                              const size_t* origin, const size_t* region, size_t row, size_t slice,
                              const void* host, cl_uint count, const cl_event* list,
                              cl_event* event) {
  return guarded([&] {
    Triple to = triple(origin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_WRITE_IMAGE, count, list, event, blocking != CL_FALSE}, {{image, true}},
        [=](cl_bool block, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueWriteImage(queue, image, block, to.data(), extent.data(), row,
                                            slice, host, n, events, done);
        });
  });
}

cl_int CL_API_CALL copyImage(cl_command_queue queue, cl_mem source, cl_mem target,
                             const size_t* sourceOrigin, const size_t* targetOrigin,
                             const size_t* region, cl_uint count, const cl_event* list,
                             cl_event* event) {
  return guarded([&] {
    Triple from = triple(sourceOrigin), to = triple(targetOrigin), extent = triple(region);
    return session().command(
        {queue, CL_COMMAND_COPY_IMAGE, count, list, event}, {{source}, {target, true}},
        [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueCopyImage(queue, source, target, from.data(), to.data(),
                                           extent.data(), n, events, done);
        });
  });
}

cl_int CL_API_CALL fillImage(cl_command_queue queue, cl_mem image, const void* color,
                             const size_t* origin, const size_t* region, cl_uint count,
                             const cl_event* list, cl_event* event) {
  return guarded([&] {
    Triple to = triple(origin), extent = triple(region);
    std::array<std::byte, 16> copy{}; // four components of 32 bits, whatever the format
    if (color)
      std::memcpy(copy.data(), color, copy.size());
    return session().command({queue, CL_COMMAND_FILL_IMAGE, count, list, event}, {{image, true}},
                             [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                               return next().clEnqueueFillImage(
                                   queue, image, color ? copy.data() : nullptr, to.data(),
                                   extent.data(), n, events, done);
                             });
  });
}

} // namespace

void overrideTransfers(runtime::Dispatch& table) {
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
