#include "runtime/session/kernels.h"

#include <cstring>
#include <utility>

namespace libsplit::runtime {

std::shared_ptr<Kernel> Kernels::find(cl_kernel kernel) const {
  auto found = kernels_.find(kernel);
  return found == kernels_.end() ? nullptr : found->second;
}

/// In place of one with the same handle, which went without libsplit seeing it.
void Kernels::add(std::shared_ptr<Kernel> kernel) {
  ++kernel->program->kernelObjects;
  std::shared_ptr<Kernel>& entry = kernels_[kernel->handle];
  if (entry)
    programs_.lostKernel(entry->program);
  entry = std::move(kernel);
}

void Kernels::created(cl_kernel handle, cl_program program) {
  auto name = stringProperty(cl_.clGetKernelInfo, handle, CL_KERNEL_FUNCTION_NAME);
  auto count = property<cl_uint>(cl_.clGetKernelInfo, handle, CL_KERNEL_NUM_ARGS);
  auto kernel = std::make_shared<Kernel>();
  kernel->handle = handle;
  kernel->arguments.resize(count);
  const Lock lock(shared_.mutex);
  kernel->program = programs_.find(program);
  if (!kernel->program)
    return;
  std::shared_ptr<KernelCode>& code = kernel->program->codes[name];
  if (!code) {
    code = std::make_shared<KernelCode>();
    code->name = name;
    code->program = kernel->program;
    code->stats = std::make_shared<KernelStats>();
    code->stats->name = name;
    shared_.stats.kernels.push_back(code->stats);
    kernel->program->build->kernels[name] = code->stats;
  }
  if (code->kinds.size() < count)
    code->kinds.resize(count, ArgumentKind::Unknown);
  preparer_.created(kernel->program, code);
  kernel->code = code;
  add(std::move(kernel));
}

void Kernels::cloned(cl_kernel clone, cl_kernel original) {
  const Lock lock(shared_.mutex);
  const auto found = find(original);
  if (!found)
    return;
  auto copy = std::make_shared<Kernel>(*found);
  copy->handle = clone;
  copy->references = 1;
  copy->clone = nullptr;
  add(std::move(copy));
}

void Kernels::retained(cl_kernel handle) {
  const Lock lock(shared_.mutex);
  if (const auto found = find(handle))
    ++found->references;
}

void Kernels::released(cl_kernel handle) {
  std::shared_ptr<Kernel> last;
  const Lock lock(shared_.mutex);
  auto found = kernels_.find(handle);
  if (found != kernels_.end() && --found->second->references == 0) {
    last = std::move(found->second);
    kernels_.erase(found);
    programs_.lostKernel(last->program);
  }
}

bool Kernels::hasParameter(cl_kernel handle, cl_uint index) const {
  const Lock lock(shared_.mutex);
  const auto found = find(handle);
  return found && index < found->arguments.size();
}

void Kernels::argumentSet(cl_kernel handle, cl_uint index, std::size_t size, const void* value) {
  const Lock lock(shared_.mutex);
  const auto found = find(handle);
  if (!found || index >= found->arguments.size())
    return;
  Argument& argument = found->arguments[index];
  argument.isSet = true;
  argument.size = size;
  argument.candidate.reset();
  argument.value.assign({static_cast<const std::byte*>(value), value ? size : 0});
  if (value && size == sizeof(cl_mem)) {
    cl_mem object = nullptr;
    std::memcpy(&object, value, sizeof object);
    argument.candidate = memory_.find(object);
    if (!argument.candidate.expired())
      askForKinds(*found);
  }
}

/// What the driver says of the kernel's parameters. Where a program comes without their
/// descriptions, that is nothing.
void Kernels::askForKinds(const Kernel& kernel) const {
  KernelCode& code = *kernel.code;
  if (std::exchange(code.askedForKinds, true))
    return;
  // Drivers from before OpenCL 1.2 lack the question, and loaders may not notice.
  const auto devices = arrayProperty<cl_device_id>(cl_.clGetContextInfo, kernel.program->context,
                                                   CL_CONTEXT_DEVICES);
  for (cl_device_id device : devices)
    if (const auto version = stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_VERSION);
        version < "OpenCL 1.2")
      return;
  auto ask = [&](std::size_t index, cl_kernel_arg_info name, auto& answer) {
    return cl_.clGetKernelArgInfo(kernel.handle, static_cast<cl_uint>(index), name, sizeof answer,
                                  &answer, nullptr) == CL_SUCCESS;
  };
  for (std::size_t i = 0; i < code.kinds.size(); ++i) {
    cl_kernel_arg_address_qualifier space = 0;
    // Images and pipes are in the global address space, or else told by how they are accessed.
    cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
    if (code.kinds[i] != ArgumentKind::Unknown || !ask(i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, space) ||
        !ask(i, CL_KERNEL_ARG_ACCESS_QUALIFIER, access))
      continue;
    if (space == CL_KERNEL_ARG_ADDRESS_LOCAL)
      code.kinds[i] = ArgumentKind::Local;
    else if (space == CL_KERNEL_ARG_ADDRESS_PRIVATE && access == CL_KERNEL_ARG_ACCESS_NONE)
      code.kinds[i] = ArgumentKind::Value;
    else if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
             space == CL_KERNEL_ARG_ADDRESS_PRIVATE)
      code.kinds[i] = ArgumentKind::Memory;
  }
}

void Kernels::becameOpaque(cl_kernel handle, const std::string& why) {
  const Lock lock(shared_.mutex);
  if (const auto found = find(handle)) {
    found->isOpaque = true;
    found->code->neverSplit(why);
  }
}

void Kernels::argumentUnfollowed(cl_kernel handle, cl_uint index, const std::string& why) {
  const Lock lock(shared_.mutex);
  const auto found = find(handle);
  if (!found || index >= found->arguments.size())
    return;
  found->arguments[index] = {};
  found->arguments[index].isSet = true;
  found->isOpaque = true;
  found->code->neverSplit(why);
}

} // namespace libsplit::runtime
