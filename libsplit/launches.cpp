// Kernel launches, and the rare commands that the session lets pass once it has nothing pending.
#include "libsplit/door.h"

namespace libsplit {

namespace {

using runtime::BufferUse;
using runtime::Command;

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
  tracked([&] { session().settleKernel({queue, CL_COMMAND_TASK, count, list, event}, kernel); });
  return next().clEnqueueTask(queue, kernel, count, list, event);
}

cl_int CL_API_CALL enqueueNative(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                 void* arguments, size_t size, cl_uint objects,
                                 const cl_mem* memory, const void** places, cl_uint count,
                                 const cl_event* list, cl_event* event) {
  tracked([&] {
    std::vector<BufferUse> uses;
    for (cl_uint i = 0; i < objects && memory; ++i)
      uses.push_back({memory[i], true});
    session().settle({queue, CL_COMMAND_NATIVE_KERNEL, count, list, event}, uses);
  });
  return next().clEnqueueNativeKernel(queue, function, arguments, size, objects, memory, places,
                                      count, list, event);
}

// Commands on shared virtual memory touch no cl_mem: they only have to keep the queue's order.
void settleQueue(cl_command_queue queue, cl_command_type type, cl_uint count,
                 const cl_event* list) {
  tracked([&] { session().settle({queue, type, count, list}, {}); });
}

cl_int CL_API_CALL svmFree(cl_command_queue queue, cl_uint pointers, void** memory,
                           void(CL_CALLBACK* callback)(cl_command_queue, cl_uint, void**, void*),
                           void* data, cl_uint count, const cl_event* list, cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_FREE, count, list);
  return next().clEnqueueSVMFree(queue, pointers, memory, callback, data, count, list, event);
}

cl_int CL_API_CALL svmCopy(cl_command_queue queue, cl_bool blocking, void* target,
                           const void* source, size_t size, cl_uint count, const cl_event* list,
                           cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_MEMCPY, count, list);
  return next().clEnqueueSVMMemcpy(queue, blocking, target, source, size, count, list, event);
}

cl_int CL_API_CALL svmFill(cl_command_queue queue, void* memory, const void* pattern,
                           size_t patternSize, size_t size, cl_uint count, const cl_event* list,
                           cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_MEMFILL, count, list);
  return next().clEnqueueSVMMemFill(queue, memory, pattern, patternSize, size, count, list, event);
}

cl_int CL_API_CALL svmMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                          void* memory, size_t size, cl_uint count, const cl_event* list,
                          cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_MAP, count, list);
  return next().clEnqueueSVMMap(queue, blocking, flags, memory, size, count, list, event);
}

cl_int CL_API_CALL svmUnmap(cl_command_queue queue, void* memory, cl_uint count,
                            const cl_event* list, cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_UNMAP, count, list);
  return next().clEnqueueSVMUnmap(queue, memory, count, list, event);
}

cl_int CL_API_CALL svmMigrate(cl_command_queue queue, cl_uint pointers, const void** memory,
                              const size_t* sizes, cl_mem_migration_flags flags, cl_uint count,
                              const cl_event* list, cl_event* event) {
  settleQueue(queue, CL_COMMAND_SVM_MIGRATE_MEM, count, list);
  return next().clEnqueueSVMMigrateMem(queue, pointers, memory, sizes, flags, count, list, event);
}

} // namespace

void overrideLaunches(runtime::Dispatch& table) {
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
