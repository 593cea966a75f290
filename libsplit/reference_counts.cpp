// Reference counts, as the program asks for them: without what libsplit holds.
#include "libsplit/door.h"

#include <cstring>

namespace libsplit {

namespace {

/// The table as it is without these overrides.
runtime::Functions& others() {
  static runtime::Functions table;
  return table;
}

/// A query of which the driver's answer is right but for the count.
template <cl_uint referenceCount, class Handle, class Query>
cl_int ask(Query query, Handle handle, cl_uint name, std::size_t size, void* value,
           std::size_t* sizeRet) {
  const cl_int status = query(handle, name, size, value, sizeRet);
  if (status != CL_SUCCESS || name != referenceCount || !value)
    return status;
  return guarded([&] {
    const cl_uint count = session().referenceCounts().of(handle);
    std::memcpy(value, &count, sizeof count);
    return status;
  });
}

cl_int CL_API_CALL contextInfo(cl_context context, cl_context_info name, size_t size, void* value,
                               size_t* sizeRet) {
  return ask<CL_CONTEXT_REFERENCE_COUNT>(others().clGetContextInfo, context, name, size, value,
                                         sizeRet);
}

cl_int CL_API_CALL queueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size,
                             void* value, size_t* sizeRet) {
  return ask<CL_QUEUE_REFERENCE_COUNT>(others().clGetCommandQueueInfo, queue, name, size, value,
                                       sizeRet);
}

cl_int CL_API_CALL memoryInfo(cl_mem memory, cl_mem_info name, size_t size, void* value,
                              size_t* sizeRet) {
  return ask<CL_MEM_REFERENCE_COUNT>(others().clGetMemObjectInfo, memory, name, size, value,
                                     sizeRet);
}

cl_int CL_API_CALL samplerInfo(cl_sampler sampler, cl_sampler_info name, size_t size, void* value,
                               size_t* sizeRet) {
  return ask<CL_SAMPLER_REFERENCE_COUNT>(others().clGetSamplerInfo, sampler, name, size, value,
                                         sizeRet);
}

cl_int CL_API_CALL programInfo(cl_program program, cl_program_info name, size_t size, void* value,
                               size_t* sizeRet) {
  return ask<CL_PROGRAM_REFERENCE_COUNT>(others().clGetProgramInfo, program, name, size, value,
                                         sizeRet);
}

cl_int CL_API_CALL kernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void* value,
                              size_t* sizeRet) {
  return ask<CL_KERNEL_REFERENCE_COUNT>(others().clGetKernelInfo, kernel, name, size, value,
                                        sizeRet);
}

cl_int CL_API_CALL eventInfo(cl_event event, cl_event_info name, size_t size, void* value,
                             size_t* sizeRet) {
  return ask<CL_EVENT_REFERENCE_COUNT>(others().clGetEventInfo, event, name, size, value, sizeRet);
}

} // namespace

void overrideReferenceCounts(runtime::Functions& table) {
  others() = table;
  table.clGetContextInfo = contextInfo;
  table.clGetCommandQueueInfo = queueInfo;
  table.clGetMemObjectInfo = memoryInfo;
  table.clGetSamplerInfo = samplerInfo;
  table.clGetProgramInfo = programInfo;
  table.clGetKernelInfo = kernelInfo;
  table.clGetEventInfo = eventInfo;
}

} // namespace libsplit
