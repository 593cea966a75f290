// Programs and kernels of the fake OpenCL. A binary is the source with its options.
#include "tests/fake_opencl/driver.h"
#include "tests/fake_opencl/program.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace libsplit::fake {

namespace {

constexpr std::string_view binaryMark = "fake OpenCL binary\n";

cl_program CL_API_CALL createWithSource(cl_context context, cl_uint count, const char** strings,
                                        const std::size_t* lengths, cl_int* error) {
  Call call("clCreateProgramWithSource", context);
  if (call.error)
    return refuse(error, call.error);
  if (count == 0 || !strings)
    return refuse(error, CL_INVALID_VALUE);
  auto program = std::make_unique<_cl_program>();
  program->context = Keep<cl_context>(context);
  program->devices = context->devices;
  for (cl_uint i = 0; i < count; ++i) {
    if (!strings[i])
      return refuse(error, CL_INVALID_VALUE);
    program->source += lengths && lengths[i] > 0 ? std::string(strings[i], lengths[i]) : strings[i];
  }
  return granted(error, driver().adopt(std::move(program)));
}

cl_program CL_API_CALL createWithBinary(cl_context context, cl_uint count,
                                        const cl_device_id* devices, const std::size_t* lengths,
                                        const unsigned char** binaries, cl_int* status,
                                        cl_int* error) {
  Call call("clCreateProgramWithBinary", context);
  if (call.error)
    return refuse(error, call.error);
  if (count == 0 || !devices || !lengths || !binaries)
    return refuse(error, CL_INVALID_VALUE);
  auto program = std::make_unique<_cl_program>();
  program->context = Keep<cl_context>(context);
  program->fromBinary = true;
  for (cl_uint i = 0; i < count; ++i) {
    const std::string_view text(reinterpret_cast<const char*>(binaries[i]), lengths[i]);
    const bool valid = text.starts_with(binaryMark);
    if (status)
      status[i] = valid ? CL_SUCCESS : CL_INVALID_BINARY;
    if (!valid)
      return refuse(error, CL_INVALID_BINARY);
    const std::string_view rest = text.substr(binaryMark.size());
    const std::size_t end = rest.find('\n');
    program->devices.push_back(devices[i]);
    program->builds[devices[i]].options = rest.substr(0, end);
    program->source = rest.substr(end + 1);
  }
  return granted(error, driver().adopt(std::move(program)));
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                         void* data) {
  Call call("clBuildProgram", program);
  if (call.error)
    return call.error;
  if ((count == 0) != (devices == nullptr) || (!notify && data))
    return CL_INVALID_VALUE;
  if (program->kernels > 0 || std::chrono::steady_clock::now() < program->heldUntil) {
    call.lock.unlock();
    if (notify) // as PoCL does
      notify(program, data);
    call.lock.lock();
    return CL_INVALID_OPERATION;
  }
  std::vector<cl_device_id> wanted = program->devices;
  if (devices)
    wanted.assign(devices, devices + count);
  for (cl_device_id device : wanted)
    if (std::ranges::find(program->devices, device) == program->devices.end())
      return CL_INVALID_DEVICE;
  const Keep<cl_program> keep(program);
  const std::string source = program->source;
  std::string given = options ? options : "";
  if (program->fromBinary)
    given = program->builds[wanted.front()].options;
  call.lock.unlock();
  bool isBuilt = true;
  for (cl_device_id device : wanted) {
    std::string log;
    auto code = LoadedProgram::build(source, given + device->configuration.options, log);
    isBuilt = isBuilt && code;
    call.lock.lock();
    program->builds[device] = {code ? CL_BUILD_SUCCESS : CL_BUILD_ERROR, given, log, code};
    call.lock.unlock();
  }
  if (notify)
    notify(program, data);
  call.lock.lock();
  return isBuilt || notify ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

std::string binaryOf(const _cl_program& program, cl_device_id device) {
  auto found = program.builds.find(device);
  if (found == program.builds.end() || !found->second.code)
    return {};
  return std::string(binaryMark) + found->second.options + "\n" + program.source;
}

const LoadedProgram* codeOf(const _cl_program& program) {
  for (const auto& [device, result] : program.builds)
    if (result.code)
      return result.code.get();
  return nullptr;
}

cl_int CL_API_CALL getProgramInfo(cl_program program, cl_program_info name, std::size_t size,
                                  void* value, std::size_t* sizeRet) {
  Call call("clGetProgramInfo", program);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  const LoadedProgram* code = codeOf(*program);
  switch (name) {
  case CL_PROGRAM_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(program->references));
  case CL_PROGRAM_CONTEXT:
    return answer.one(program->context.get());
  case CL_PROGRAM_NUM_DEVICES:
    return answer.one(static_cast<cl_uint>(program->devices.size()));
  case CL_PROGRAM_DEVICES:
    return answer.all(program->devices);
  case CL_PROGRAM_SOURCE:
    return answer.text(program->fromBinary ? "" : program->source);
  case CL_PROGRAM_BINARY_SIZES: {
    std::vector<std::size_t> sizes;
    for (cl_device_id device : program->devices)
      sizes.push_back(binaryOf(*program, device).size());
    return answer.all(sizes);
  }
  case CL_PROGRAM_BINARIES: {
    if (sizeRet)
      *sizeRet = program->devices.size() * sizeof(unsigned char*);
    if (!value)
      return CL_SUCCESS;
    if (size < program->devices.size() * sizeof(unsigned char*))
      return CL_INVALID_VALUE;
    auto** targets = static_cast<unsigned char**>(value);
    for (std::size_t i = 0; i < program->devices.size(); ++i) {
      const std::string binary = binaryOf(*program, program->devices[i]);
      if (targets[i])
        std::memcpy(targets[i], binary.data(), binary.size());
    }
    return CL_SUCCESS;
  }
  case CL_PROGRAM_NUM_KERNELS:
    return code ? answer.one(code->kernels().size()) : CL_INVALID_PROGRAM_EXECUTABLE;
  case CL_PROGRAM_KERNEL_NAMES: {
    if (!code)
      return CL_INVALID_PROGRAM_EXECUTABLE;
    std::string names;
    for (const KernelInfo& kernel : code->kernels())
      names += (names.empty() ? "" : ";") + kernel.name;
    return answer.text(names);
  }
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL getBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                                std::size_t size, void* value, std::size_t* sizeRet) {
  Call call("clGetProgramBuildInfo", program);
  if (call.error)
    return call.error;
  if (std::ranges::find(program->devices, device) == program->devices.end())
    return CL_INVALID_DEVICE;
  const Answer answer{size, value, sizeRet};
  const BuildResult& result = program->builds[device];
  switch (name) {
  case CL_PROGRAM_BUILD_STATUS:
    return answer.one(result.status);
  case CL_PROGRAM_BUILD_OPTIONS:
    return answer.text(result.options);
  case CL_PROGRAM_BUILD_LOG:
    return answer.text(result.log);
  case CL_PROGRAM_BINARY_TYPE:
    return answer.one<cl_program_binary_type>(result.code ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                                                          : CL_PROGRAM_BINARY_TYPE_NONE);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_kernel newKernel(cl_program program, std::shared_ptr<const LoadedProgram> code,
                    const KernelInfo& info) {
  auto kernel = std::make_unique<_cl_kernel>();
  kernel->program = Keep<cl_program>(program);
  kernel->code = std::move(code);
  kernel->info = &info;
  kernel->arguments.resize(info.arguments.size());
  ++program->kernels;
  return driver().adopt(std::move(kernel));
}

std::shared_ptr<const LoadedProgram> anyCode(cl_program program) {
  for (const auto& [device, result] : program->builds)
    if (result.code)
      return result.code;
  return nullptr;
}

cl_kernel CL_API_CALL createKernel(cl_program program, const char* name, cl_int* error) {
  Call call("clCreateKernel", program);
  if (call.error)
    return refuse(error, call.error);
  auto code = anyCode(program);
  if (!code)
    return refuse(error, CL_INVALID_PROGRAM_EXECUTABLE);
  const KernelInfo* info = name ? code->find(name) : nullptr;
  if (!info)
    return refuse(error, name ? CL_INVALID_KERNEL_NAME : CL_INVALID_VALUE);
  return granted(error, newKernel(program, std::move(code), *info));
}

cl_int CL_API_CALL createKernels(cl_program program, cl_uint entries, cl_kernel* kernels,
                                 cl_uint* count) {
  Call call("clCreateKernelsInProgram", program);
  if (call.error)
    return call.error;
  auto code = anyCode(program);
  if (!code)
    return CL_INVALID_PROGRAM_EXECUTABLE;
  if (kernels && entries < code->kernels().size())
    return CL_INVALID_VALUE;
  if (count)
    *count = static_cast<cl_uint>(code->kernels().size());
  for (std::size_t i = 0; kernels && i < code->kernels().size(); ++i)
    kernels[i] = newKernel(program, code, code->kernels()[i]);
  return CL_SUCCESS;
}

cl_int CL_API_CALL setArgument(cl_kernel kernel, cl_uint index, std::size_t size,
                               const void* value) {
  Call call("clSetKernelArg", kernel);
  if (call.error)
    return call.error;
  if (index >= kernel->arguments.size())
    return CL_INVALID_ARG_INDEX;
  const KernelArgumentInfo& info = kernel->info->arguments[index];
  ArgumentValue argument;
  argument.isSet = true;
  switch (info.space) {
  case KernelArgumentInfo::Space::Local:
    if (value)
      return CL_INVALID_ARG_VALUE;
    if (size == 0)
      return CL_INVALID_ARG_SIZE;
    argument.localSize = size;
    break;
  case KernelArgumentInfo::Space::Private:
    if (!value)
      return CL_INVALID_ARG_VALUE;
    if (size != info.size)
      return CL_INVALID_ARG_SIZE;
    argument.bytes.assign(static_cast<const std::byte*>(value),
                          static_cast<const std::byte*>(value) + size);
    break;
  default:
    if (size != sizeof(cl_mem))
      return CL_INVALID_ARG_SIZE;
    if (value)
      std::memcpy(&argument.memory, value, sizeof argument.memory);
    if (argument.memory && !driver().isAlive(argument.memory))
      return CL_INVALID_MEM_OBJECT;
  }
  kernel->arguments[index] = std::move(argument);
  return CL_SUCCESS;
}

cl_int CL_API_CALL getKernelInfo(cl_kernel kernel, cl_kernel_info name, std::size_t size,
                                 void* value, std::size_t* sizeRet) {
  Call call("clGetKernelInfo", kernel);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_KERNEL_FUNCTION_NAME:
    return answer.text(kernel->info->name);
  case CL_KERNEL_NUM_ARGS:
    return answer.one(static_cast<cl_uint>(kernel->arguments.size()));
  case CL_KERNEL_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(kernel->references));
  case CL_KERNEL_CONTEXT:
    return answer.one(kernel->program->context.get());
  case CL_KERNEL_PROGRAM:
    return answer.one(kernel->program.get());
  case CL_KERNEL_ATTRIBUTES:
    return answer.text("");
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL getArgumentInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name,
                                   std::size_t size, void* value, std::size_t* sizeRet) {
  Call call("clGetKernelArgInfo", kernel);
  if (call.error)
    return call.error;
  if (index >= kernel->arguments.size())
    return CL_INVALID_ARG_INDEX;
  if (kernel->program->fromBinary)
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  const Answer answer{size, value, sizeRet};
  const KernelArgumentInfo& info = kernel->info->arguments[index];
  using Space = KernelArgumentInfo::Space;
  switch (name) {
  case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
    return answer.one<cl_kernel_arg_address_qualifier>(
        info.space == Space::Global     ? CL_KERNEL_ARG_ADDRESS_GLOBAL
        : info.space == Space::Constant ? CL_KERNEL_ARG_ADDRESS_CONSTANT
        : info.space == Space::Local    ? CL_KERNEL_ARG_ADDRESS_LOCAL
                                        : CL_KERNEL_ARG_ADDRESS_PRIVATE);
  case CL_KERNEL_ARG_ACCESS_QUALIFIER:
    return answer.one<cl_kernel_arg_access_qualifier>(CL_KERNEL_ARG_ACCESS_NONE);
  case CL_KERNEL_ARG_TYPE_NAME:
    return answer.text(info.type);
  case CL_KERNEL_ARG_TYPE_QUALIFIER:
    return answer.one<cl_kernel_arg_type_qualifier>(info.isConst ? CL_KERNEL_ARG_TYPE_CONST
                                                                 : CL_KERNEL_ARG_TYPE_NONE);
  case CL_KERNEL_ARG_NAME:
    return answer.text(info.name);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL getWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                    cl_kernel_work_group_info name, std::size_t size, void* value,
                                    std::size_t* sizeRet) {
  Call call("clGetKernelWorkGroupInfo", kernel);
  if (call.error)
    return call.error;
  if (!device)
    device = deviceOf(kernel);
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_KERNEL_WORK_GROUP_SIZE:
    return answer.one(device->configuration.maxGroup);
  case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
    return answer.bytes(kernel->info->required, sizeof kernel->info->required);
  case CL_KERNEL_LOCAL_MEM_SIZE: {
    cl_ulong bytes = kernel->info->localMemory;
    for (const ArgumentValue& argument : kernel->arguments)
      bytes += argument.localSize;
    return answer.one(bytes);
  }
  case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    return answer.one(std::size_t{8});
  case CL_KERNEL_PRIVATE_MEM_SIZE:
    return answer.one(cl_ulong{0});
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL unloadCompiler(cl_platform_id) {
  return CL_SUCCESS;
}

} // namespace

void addPrograms(cl_icd_dispatch& table) {
  table.clCreateProgramWithSource = createWithSource;
  table.clCreateProgramWithBinary = createWithBinary;
  table.clBuildProgram = build;
  table.clGetProgramInfo = getProgramInfo;
  table.clGetProgramBuildInfo = getBuildInfo;
  table.clRetainProgram = retainHandle<cl_program>;
  table.clReleaseProgram = releaseHandle<cl_program>;
  table.clUnloadPlatformCompiler = unloadCompiler;
  table.clCreateKernel = createKernel;
  table.clCreateKernelsInProgram = createKernels;
  table.clRetainKernel = retainHandle<cl_kernel>;
  table.clReleaseKernel = releaseHandle<cl_kernel>;
  table.clSetKernelArg = setArgument;
  table.clGetKernelInfo = getKernelInfo;
  table.clGetKernelArgInfo = getArgumentInfo;
  table.clGetKernelWorkGroupInfo = getWorkGroupInfo;
}

} // namespace libsplit::fake

_cl_kernel::~_cl_kernel() {
  --program->kernels;
  const std::chrono::duration<double> held(libsplit::fake::driver().configuration.kernelSeconds);
  if (launched)
    program->heldUntil = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(held);
}
