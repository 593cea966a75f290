#include "runtime/program/kernel_call.h"

#include "runtime/program/program.h"

#include <bit>

namespace libsplit::runtime {

/// What a driver may compile a kernel for.
LaneKernel::Form LaneKernel::formOf(const EnqueuedRange& range) {
  Form form{};
  for (std::size_t d = 0; d < 3; ++d) {
    form[3 * d] = range.localGiven ? range.local[d] : 0;
    form[3 * d + 1] = range.offset[d] != 0;
    form[3 * d + 2] = range.localGiven ? std::bit_width(range.global[d]) : range.global[d];
  }
  return form;
}

bool LaneKernel::isNew(const PieceRange& range) {
  if (forms_.size() >= mostForms)
    forms_.clear();
  bool isNew = forms_.insert(formOf(range.body)).second;
  for (const EnqueuedRange& rest : range.rests)
    isNew = forms_.insert(formOf(rest)).second || isNew;
  return isNew;
}

cl_int enqueueParts(const Dispatch& cl, cl_command_queue queue, cl_kernel kernel,
                    unsigned dimensions, const PieceRange& range, const EnqueuedRange* otherwise,
                    cl_uint waitCount, const cl_event* waitList, cl_event* event,
                    Completion* done) {
  const auto enqueue = [&](const EnqueuedRange& part, bool isOpen, cl_event* told) {
    return cl.clEnqueueNDRangeKernel(
        queue, kernel, dimensions, part.offset.data(), part.global.data(),
        part.localGiven && !isOpen ? part.local.data() : nullptr, waitCount, waitList, told);
  };
  for (std::size_t i = 0; i <= range.rests.size(); ++i) {
    const bool isLast = i == range.rests.size();
    const EnqueuedRange& part = i == 0 ? range.body : range.rests[i - 1];
    cl_event before = nullptr;
    cl_event* const told = isLast ? event : done ? &before : nullptr;
    cl_int status = enqueue(part, false, told);
    const bool isOfSize = status == CL_INVALID_WORK_GROUP_SIZE ||
                          status == CL_INVALID_WORK_ITEM_SIZE || status == CL_OUT_OF_RESOURCES;
    if (i == 0 && isOfSize && otherwise)
      return enqueue(*otherwise, false, event);
    if (isOfSize && otherwise)
      status = enqueue(part, true, told);
    if (status != CL_SUCCESS)
      return status;
    if (before)
      done->precede(Ref<cl_event>::adopt(cl, before));
  }
  return CL_SUCCESS;
}

cl_int KernelCall::enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                           const cl_event* waitList, cl_event* event, Completion* done,
                           const std::vector<Argument>* given) const {
  const std::lock_guard lock(kernel->mutex);
  cl_int status = CL_SUCCESS;
  for (std::size_t i = 0; i < arguments.size() && status == CL_SUCCESS; ++i)
    status =
        given && arguments[i].isOfLaunch ? set(cl, i, (*given)[i].value) : set(cl, i, arguments[i]);
  const auto launch = [&](const PieceRange& parts) {
    return enqueueParts(cl, queue, kernel->kernel.get(), dimensions, parts,
                        otherwise ? &*otherwise : nullptr, waitCount, waitList, event, done);
  };
  if (status == CL_SUCCESS && ofRest && !range.rests.empty()) {
    status = set(cl, ofRest->first, ofRest->second);
    cl_event rest = nullptr;
    if (status == CL_SUCCESS)
      status = enqueueParts(cl, queue, kernel->kernel.get(), dimensions, {range.rests.front(), {}},
                            nullptr, waitCount, waitList, done ? &rest : nullptr, nullptr);
    if (rest)
      done->precede(Ref<cl_event>::adopt(cl, rest));
    if (status == CL_SUCCESS)
      status = set(cl, ofRest->first, arguments[ofRest->first]);
    if (status == CL_SUCCESS)
      status = launch({range.body, {}});
  } else if (status == CL_SUCCESS) {
    status = launch(range);
  }
  // A kernel may keep alive what its arguments name, also after the application has let go of it.
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const cl_mem nothing = nullptr; arguments[i].isBuffer)
      cl.clSetKernelArg(kernel->kernel.get(), static_cast<cl_uint>(i), sizeof nothing, &nothing);
  return status;
}

cl_int KernelCall::set(const Dispatch& cl, std::size_t index,
                       const ArgumentSetting& argument) const {
  auto number = static_cast<cl_uint>(index);
  if (argument.localSize > 0)
    return cl.clSetKernelArg(kernel->kernel.get(), number, argument.localSize, nullptr);
  if (argument.isBuffer)
    return cl.clSetKernelArg(kernel->kernel.get(), number, argument.value.size(),
                             argument.value.data());
  return set(cl, index, argument.value);
}

cl_int KernelCall::set(const Dispatch& cl, std::size_t index, const SmallBytes& value) const {
  // What did not change since the kernel's last launch need not be set again, unless it may be a
  // handle: an object that is gone may have left its address to another.
  kernel->last.resize(arguments.size());
  SmallBytes& last = kernel->last[index];
  const bool mayBeHandle = value.size() == sizeof(cl_mem);
  if (!mayBeHandle && !value.empty() && last == value)
    return CL_SUCCESS;
  const cl_int status = cl.clSetKernelArg(kernel->kernel.get(), static_cast<cl_uint>(index),
                                          value.size(), value.empty() ? nullptr : value.data());
  if (status == CL_SUCCESS)
    last = value;
  return status;
}

} // namespace libsplit::runtime
