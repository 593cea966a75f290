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
  const bool bodyIsNew = forms_.insert(formOf(range.body)).second;
  return (range.rest && forms_.insert(formOf(*range.rest)).second) || bodyIsNew;
}

cl_int KernelCall::enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                           const cl_event* waitList, cl_event* event, Completion* done,
                           const std::vector<Argument>* given) const {
  cl_int status = CL_SUCCESS;
  for (std::size_t i = 0; i < arguments.size() && status == CL_SUCCESS; ++i)
    status =
        given && arguments[i].isOfLaunch ? set(cl, i, (*given)[i].value) : set(cl, i, arguments[i]);
  auto launch = [&](const EnqueuedRange& each, cl_event* last) {
    return cl.clEnqueueNDRangeKernel(
        queue, kernel->kernel.get(), dimensions, each.offset.data(), each.global.data(),
        each.localGiven ? each.local.data() : nullptr, waitCount, waitList, last);
  };
  cl_event first = nullptr;
  if (status == CL_SUCCESS && range.rest) {
    if (ofRest)
      status = set(cl, ofRest->first, ofRest->second);
    if (status == CL_SUCCESS)
      status = launch(*range.rest, done ? &first : nullptr);
    if (ofRest && status == CL_SUCCESS)
      status = set(cl, ofRest->first, arguments[ofRest->first]);
  }
  if (first)
    done->precede(Ref<cl_event>::adopt(cl, first));
  if (status == CL_SUCCESS)
    status = launch(range.body, event);
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
