#include "runtime/session/samplers.h"

#include <cstring>

namespace libsplit::runtime {

void Samplers::created(cl_sampler sampler) {
  std::lock_guard lock(mutex_);
  references_[sampler] = 1;
}

void Samplers::retained(cl_sampler sampler) {
  std::lock_guard lock(mutex_);
  if (auto found = references_.find(sampler); found != references_.end())
    ++found->second;
}

void Samplers::released(cl_sampler sampler) {
  std::lock_guard lock(mutex_);
  if (auto found = references_.find(sampler); found != references_.end() && --found->second == 0)
    references_.erase(found);
}

cl_sampler Samplers::of(const Argument& argument) const {
  cl_sampler handle = nullptr;
  if (argument.value.size() != sizeof handle)
    return nullptr;
  std::memcpy(&handle, argument.value.data(), sizeof handle);
  std::lock_guard lock(mutex_);
  return references_.contains(handle) ? handle : nullptr;
}

Ref<cl_sampler> samplerIn(const Dispatch& cl, cl_context context, cl_sampler sampler) {
  cl_int error = CL_SUCCESS;
  auto made = Ref<cl_sampler>::adopt(
      cl,
      cl.clCreateSampler(
          context, property<cl_bool>(cl.clGetSamplerInfo, sampler, CL_SAMPLER_NORMALIZED_COORDS),
          property<cl_addressing_mode>(cl.clGetSamplerInfo, sampler, CL_SAMPLER_ADDRESSING_MODE),
          property<cl_filter_mode>(cl.clGetSamplerInfo, sampler, CL_SAMPLER_FILTER_MODE), &error));
  return error == CL_SUCCESS ? made : Ref<cl_sampler>();
}

} // namespace libsplit::runtime
