// Mapped memory. A map returns an address at once, so it can't be deferred like other commands: the
// session enqueues it in a way of its own, or the queue becomes native first. While a buffer is
// mapped the application may write to it at any time, so no launch on it is split.
#include "libsplit/door.h"

#include <algorithm>
#include <vector>

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;

/// `isWrong`: the standard has drivers refuse it. `size`: of what is mapped, in bytes; 0: the
/// driver's business.
template <class Call>
void* map(Command command, bool isWrong, cl_bool blocking, const BufferUse& use, std::size_t size,
          const Call& call, cl_int* error) {
  const runtime::BlockingCall waits = session().waits(blocking != CL_FALSE);
  if (isWrong)
    command.refusal = runtime::Refusal::All;
  void* address = nullptr;
  bool isBehind = false;
  const cl_int status = guarded([&] {
    auto enqueuing = session().commands().enqueuing(command.queue);
    const std::vector<BufferUse> uses =
        use.end ? session().commands().usesOfMap(use) : std::vector{use};
    cl_int answer = CL_SUCCESS;
    if (!blocking && command.refusal == runtime::Refusal::No)
      address = session().commands().mapBehind(enqueuing, command, uses, call, answer);
    isBehind = address != nullptr;
    if (isBehind || answer != CL_SUCCESS)
      return answer;
    answer = session().commands().settle(enqueuing, command, uses);
    if (answer == CL_SUCCESS && blocking)
      answer = session().commands().tell(command.queue);
    if (answer == CL_SUCCESS)
      address = call(command.queue, blocking, command.waitCount, command.waitList, command.event,
                     &answer);
    return answer;
  });
  report(error, status);
  if (address)
    tracked([&] {
      if (!isBehind)
        session().memory().mapped(use.object, address, use.writes);
      if (size > 0)
        session().driverMemory(address, size);
    });
  return address;
}

bool mayWrite(cl_map_flags flags) {
  return flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
}

void* CL_API_CALL mapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                            cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                            const cl_event* list, cl_event* event, cl_int* error) {
  BufferUse use{buffer, mayWrite(flags), offset, offset + size};
  use.reads = flags != CL_MAP_WRITE_INVALIDATE_REGION; // with others it is not valid
  return map(
      {queue, CL_COMMAND_MAP_BUFFER, count, list, event}, size == 0, blocking, use, size,
      [=](cl_command_queue in, cl_bool waits, cl_uint n, const cl_event* events, cl_event* done,
          cl_int* status) {
        return next().clEnqueueMapBuffer(in, buffer, waits, flags, offset, size, n, events, done,
                                         status);
      },
      error);
}

void* CL_API_CALL mapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                           cl_map_flags flags, const size_t* origin, const size_t* region,
                           size_t* row, size_t* slice, cl_uint count, const cl_event* list,
                           cl_event* event, cl_int* error) {
  const bool isWrong = !origin || !region || !row || std::count(region, region + 3, 0u) > 0;
  return map(
      {queue, CL_COMMAND_MAP_IMAGE, count, list, event}, isWrong, blocking,
      {image, mayWrite(flags)}, 0,
      [=](cl_command_queue in, cl_bool waits, cl_uint n, const cl_event* events, cl_event* done,
          cl_int* status) {
        return next().clEnqueueMapImage(in, image, waits, flags, origin, region, row, slice, n,
                                        events, done, status);
      },
      error);
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

void overrideMaps(runtime::Functions& table) {
  table.clEnqueueMapBuffer = mapBuffer;
  table.clEnqueueMapImage = mapImage;
  table.clEnqueueUnmapMemObject = unmap;
}

} // namespace libsplit
