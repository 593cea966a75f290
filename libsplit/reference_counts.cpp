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

/// A query of which the driver's answer is right but for the count. Where libsplit has no memory
/// to find it out, it is the driver's.
template <auto query, cl_uint referenceCount, class Handle>
cl_int CL_API_CALL ask(Handle handle, cl_uint name, size_t size, void* value, size_t* sizeRet) {
  const cl_int status = (others().*query)(handle, name, size, value, sizeRet);
  if (status != CL_SUCCESS || name != referenceCount || !value)
    return status;
  static_cast<void>(guarded([&] {
    const cl_uint count = session().referenceCounts().of(handle);
    std::memcpy(value, &count, sizeof count);
    return status;
  }));
  return status;
}

} // namespace

void overrideReferenceCounts(runtime::Functions& table) {
  others() = table;
  using F = runtime::Functions;
  table.clGetContextInfo = ask<&F::clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT>;
  table.clGetCommandQueueInfo = ask<&F::clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT>;
  table.clGetMemObjectInfo = ask<&F::clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT>;
  table.clGetSamplerInfo = ask<&F::clGetSamplerInfo, CL_SAMPLER_REFERENCE_COUNT>;
  table.clGetProgramInfo = ask<&F::clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT>;
  table.clGetKernelInfo = ask<&F::clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT>;
  table.clGetEventInfo = ask<&F::clGetEventInfo, CL_EVENT_REFERENCE_COUNT>;
}

} // namespace libsplit
