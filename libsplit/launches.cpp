// Kernel launches, native kernels, and commands on shared virtual memory.
#include "libsplit/enqueue.h"
#include "runtime/core/callback_scope.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;

/// What the queue's device says of itself; 0 where it does not say, or there is no such queue.
cl_bitfield capabilities(cl_command_queue queue, cl_device_info name) {
  const auto device = runtime::property<cl_device_id>(next().clGetCommandQueueInfo, queue,
                                                      CL_QUEUE_DEVICE, nullptr);
  return device ? runtime::property<cl_bitfield>(next().clGetDeviceInfo, device, name, 0) : 0;
}

bool runsNativeKernels(cl_command_queue queue) {
  return (capabilities(queue, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL) != 0;
}

bool sharesVirtualMemory(cl_command_queue queue) {
  return capabilities(queue, CL_DEVICE_SVM_CAPABILITIES) != 0;
}

cl_int CL_API_CALL enqueueKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    return session().launch({queue, CL_COMMAND_NDRANGE_KERNEL, count, list, event},
                            {kernel, dimensions, offset, global, local});
  });
}

cl_int CL_API_CALL enqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                               const cl_event* list, cl_event* event) {
  constexpr std::size_t one = 1;
  return guarded([&] {
    return session().launch({queue, CL_COMMAND_TASK, count, list, event},
                            {kernel, 1, nullptr, &one, &one});
  });
}

/// A native kernel and the block of arguments that it gets: the driver copies that, and puts the
/// addresses of memory objects in. A copy, for a command that is put off.
class NativeKernel {
public:
  using Function = void(CL_CALLBACK*)(void*);

  NativeKernel(Function function, const void* arguments, std::size_t size, cl_uint objects,
               const cl_mem* memory, const void** places)
      : block_(sizeof(Header) + size), memory_(memory, memory + objects) {
    const Header header{function, arguments != nullptr};
    std::memcpy(block_.data(), &header, sizeof header);
    if (arguments)
      std::memcpy(block_.data() + sizeof header, arguments, size);
    for (cl_uint i = 0; i < objects; ++i)
      offsets_.push_back(static_cast<const std::byte*>(places[i]) -
                         static_cast<const std::byte*>(arguments) +
                         static_cast<std::ptrdiff_t>(sizeof header));
  }

  cl_int enqueue(cl_command_queue queue, cl_uint count, const cl_event* list,
                 cl_event* event) const {
    std::vector<std::byte> block = block_;
    std::vector<const void*> places;
    for (const std::ptrdiff_t offset : offsets_)
      places.push_back(block.data() + offset);
    return next().clEnqueueNativeKernel(
        queue, run, block.data(), block.size(), static_cast<cl_uint>(memory_.size()),
        memory_.empty() ? nullptr : memory_.data(), places.empty() ? nullptr : places.data(), count,
        list, event);
  }

private:
  /// Before the program's arguments, which lie as they would alone.
  struct alignas(std::max_align_t) Header {
    Function function;
    bool hasArguments;
  };

  static void CL_CALLBACK run(void* block) {
    Header header{};
    std::memcpy(&header, block, sizeof header);
    const runtime::CallbackScope scope;
    header.function(header.hasArguments ? static_cast<std::byte*>(block) + sizeof header : nullptr);
  }

  std::vector<std::byte> block_;
  std::vector<cl_mem> memory_;
  std::vector<std::ptrdiff_t> offsets_;
};

cl_int CL_API_CALL enqueueNative(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                 void* arguments, size_t size, cl_uint objects,
                                 const cl_mem* memory, const void** places, cl_uint count,
                                 const cl_event* list, cl_event* event) {
  return guarded([&] {
    session().callbackGiven();
    const Command command{queue, CL_COMMAND_NATIVE_KERNEL, count, list, event};
    std::vector<BufferUse> uses;
    for (cl_uint i = 0; i < objects && memory; ++i)
      uses.push_back({memory[i], true});
    if (!function || !arguments != (size == 0) || !memory != (objects == 0) ||
        !places != (objects == 0) || (objects > 0 && !arguments) || !runsNativeKernels(queue))
      return toBeRefused(
          command, uses, [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
            return next().clEnqueueNativeKernel(queue, function, arguments, size, objects, memory,
                                                places, n, events, done);
          });
    return session().commands().enqueueOver(
        command, uses,
        [=, kernel = NativeKernel(function, arguments, size, objects, memory, places)](
            cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return kernel.enqueue(queue, n, events, done);
        });
  });
}

// Commands on shared virtual memory touch no cl_mem: they only have to keep the queue's order.

/// `isWrong`: the standard has drivers refuse it, as it has those whose devices share none.
template <class Call> cl_int enqueueShared(bool isWrong, const Command& command, const Call& call) {
  return enqueue(isWrong || !sharesVirtualMemory(command.queue), command, {}, call);
}

using FreeSvm = void(CL_CALLBACK*)(cl_command_queue, cl_uint, void**, void*);

/// The program's own way to free shared virtual memory.
struct FreeCallback {
  FreeSvm free;
  void* data;

  static void CL_CALLBACK call(cl_command_queue queue, cl_uint count, void** memory, void* self) {
    const std::unique_ptr<FreeCallback> callback(static_cast<FreeCallback*>(self));
    const runtime::CallbackScope scope;
    callback->free(queue, count, memory, callback->data);
  }
};

cl_int CL_API_CALL svmFree(cl_command_queue queue, cl_uint pointers, void** memory, FreeSvm free,
                           void* data, cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    if (free)
      session().callbackGiven();
    return enqueueShared(
        (pointers == 0) != (memory == nullptr), {queue, CL_COMMAND_SVM_FREE, count, list, event},
        [=, copied = Copied(memory, pointers)](cl_bool, cl_uint n, const cl_event* events,
                                               cl_event* done) {
          if (!free)
            return next().clEnqueueSVMFree(queue, pointers, copied.data(), free, data, n, events,
                                           done);
          auto callback = std::make_unique<FreeCallback>(free, data);
          const cl_int status = next().clEnqueueSVMFree(
              queue, pointers, copied.data(), FreeCallback::call, callback.get(), n, events, done);
          if (status == CL_SUCCESS)
            static_cast<void>(callback.release()); // it deletes itself
          return status;
        });
  });
}

cl_int CL_API_CALL svmCopy(cl_command_queue queue, cl_bool blocking, void* target,
                           const void* source, size_t size, cl_uint count, const cl_event* list,
                           cl_event* event) {
  return guarded([&] {
    const auto to = reinterpret_cast<std::uintptr_t>(target);
    const auto from = reinterpret_cast<std::uintptr_t>(source);
    const bool overlaps = std::max(to, from) - std::min(to, from) < size;
    return enqueueShared(!target || !source || size == 0 || overlaps,
                         {queue, CL_COMMAND_SVM_MEMCPY, count, list, event, blocking},
                         [=](cl_bool wait, cl_uint n, const cl_event* events, cl_event* done) {
                           return next().clEnqueueSVMMemcpy(queue, wait, target, source, size, n,
                                                            events, done);
                         });
  });
}

cl_int CL_API_CALL svmFill(cl_command_queue queue, void* memory, const void* pattern,
                           size_t patternSize, size_t size, cl_uint count, const cl_event* list,
                           cl_event* event) {
  return guarded([&] {
    const bool fits = memory && pattern && std::has_single_bit(patternSize) &&
                      patternSize <= sizeof(cl_double16) && size % patternSize == 0 &&
                      reinterpret_cast<std::uintptr_t>(memory) % patternSize == 0;
    const auto bytes = static_cast<const std::byte*>(pattern);
    return enqueueShared(!fits, {queue, CL_COMMAND_SVM_MEMFILL, count, list, event},
                         [=, copied = std::vector(bytes, fits ? bytes + patternSize : bytes)](
                             cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                           return next().clEnqueueSVMMemFill(queue, memory,
                                                             fits ? copied.data() : pattern,
                                                             patternSize, size, n, events, done);
                         });
  });
}

cl_int CL_API_CALL svmMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                          void* memory, size_t size, cl_uint count, const cl_event* list,
                          cl_event* event) {
  return guarded([&] {
    return enqueueShared(
        !memory || size == 0, {queue, CL_COMMAND_SVM_MAP, count, list, event, blocking},
        [=](cl_bool wait, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueSVMMap(queue, wait, flags, memory, size, n, events, done);
        });
  });
}

cl_int CL_API_CALL svmUnmap(cl_command_queue queue, void* memory, cl_uint count,
                            const cl_event* list, cl_event* event) {
  return guarded([&] {
    return enqueueShared(!memory, {queue, CL_COMMAND_SVM_UNMAP, count, list, event},
                         [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                           return next().clEnqueueSVMUnmap(queue, memory, n, events, done);
                         });
  });
}

cl_int CL_API_CALL svmMigrate(cl_command_queue queue, cl_uint pointers, const void** memory,
                              const size_t* sizes, cl_mem_migration_flags flags, cl_uint count,
                              const cl_event* list, cl_event* event) {
  return guarded([&] {
    return enqueueShared(pointers == 0 || !memory || !areMigrationFlags(flags),
                         {queue, CL_COMMAND_SVM_MIGRATE_MEM, count, list, event},
                         [=, of = Copied(memory, pointers), lengths = Copied(sizes, pointers)](
                             cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
                           return next().clEnqueueSVMMigrateMem(
                               queue, pointers, of.data(), lengths.data(), flags, n, events, done);
                         });
  });
}

} // namespace

void overrideLaunches(runtime::Functions& table) {
  table.clEnqueueNDRangeKernel = enqueueKernel;
  table.clEnqueueTask = enqueueTask;
  table.clEnqueueNativeKernel = enqueueNative;
  table.clEnqueueSVMFree = svmFree;
  table.clEnqueueSVMMemcpy = svmCopy;
  table.clEnqueueSVMMemFill = svmFill;
  table.clEnqueueSVMMap = svmMap;
  table.clEnqueueSVMUnmap = svmUnmap;
  table.clEnqueueSVMMigrateMem = svmMigrate;
}

} // namespace libsplit
