// Mapped memory. A map returns an address at once, so it can't be deferred like other commands: the
// session enqueues it in a way of its own, or the queue becomes native first. While a buffer is
// mapped the application may write to it at any time, so no launch on it is split.
#include "libsplit/door.h"

#include <vector>

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;

void* CL_API_CALL mapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                            const cl_event* list, cl_event* event, cl_int* error) {
  const bool writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
  auto enqueuing = session().commands().enqueuing(queue);
  void* address = nullptr;
  cl_int status = CL_SUCCESS;
  tracked([&] {
    BufferUse use{buffer, writes, offset, offset + size};
    use.reads = flags != CL_MAP_WRITE_INVALIDATE_REGION; // with others it is not valid
    const Command command{queue, CL_COMMAND_MAP_BUFFER, count, list, event};
    const std::vector<BufferUse> uses = session().commands().usesOfMap(use);
    if (!blocking)
      address = session().commands().mapBehind(enqueuing, command, uses, flags);
    if (!address)
      status = session().commands().settle(enqueuing, command, uses);
  });
  if (address || status != CL_SUCCESS) {
    report(error, status);
    if (address)
      tracked([&] { session().driverMemory(address, size); });
    return address;
  }
  address = next().clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, count, list,
                                      event, &status);
  report(error, status);
  if (address)
    tracked([&] {
      session().memory().mapped(buffer, address, writes);
      session().driverMemory(address, size);
    });
  return address;
}

void* CL_API_CALL mapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                           cl_map_flags flags, const size_t* origin, const size_t* region,
                           size_t* row, size_t* slice, cl_uint count, const cl_event* list,
                           cl_event* event, cl_int* error) {
  const bool writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
  auto enqueuing = session().commands().enqueuing(queue);
  cl_int status = CL_SUCCESS;
  tracked([&] {
    status = session().commands().settle(
        enqueuing, {queue, CL_COMMAND_MAP_IMAGE, count, list, event}, {{image, writes}});
  });
  if (status != CL_SUCCESS) {
    report(error, status);
    return nullptr;
  }
  void* address = next().clEnqueueMapImage(queue, image, blocking, flags, origin, region, row,
                                           slice, count, list, event, &status);
  report(error, status);
  if (address)
    tracked([&] { session().memory().mapped(image, address, writes); });
  return address;
}

cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem object, void* address, cl_uint count,
                         const cl_event* list, cl_event* event) {
  return guarded([&] {
    auto enqueuing = session().commands().enqueuing(queue);
    // The bytes at home are the truth from the map on; `settle` saw to it if the map could write.
    // But drivers may write what was mapped only now.
    Command command{queue, CL_COMMAND_UNMAP_MEM_OBJECT, count, list, event};
    const BufferUse use{object, session().memory().isMappedForWriting(object)};
    auto call = [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
      return next().clEnqueueUnmapMemObject(queue, object, address, n, events, done);
    };
    // To be refused, and now: put off, the error would come too late for the application.
    const bool doubtful = !session().memory().mayBeMapped(object, address);
    if (doubtful) {
      command.refusal = runtime::Refusal::All;
      static_cast<void>(session().commands().settle(enqueuing, command, {use}));
    }
    const cl_int status = doubtful ? call(CL_FALSE, count, list, event)
                                   : session().commands().enqueue(command, {use}, call);
    if (status == CL_SUCCESS)
      tracked([&] { session().memory().unmapped(object, address); });
    return status;
  });
}

} // namespace

void overrideMaps(runtime::Dispatch& table) {
  table.clEnqueueMapBuffer = mapBuffer;
  table.clEnqueueMapImage = mapImage;
  table.clEnqueueUnmapMemObject = unmap;
}

} // namespace libsplit
