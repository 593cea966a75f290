// The session's tables of programs, kernels and samplers.
#include "runtime/session/session.h"

#include "analysis-pass/summary/program_kind.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

void Session::programCreated(cl_program program, cl_context context,
                             std::optional<std::string> source, const std::string& opaque) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->source = std::move(source);
  tracked->opaque = opaque;
  Lock lock(mutex_);
  track(std::move(tracked));
}

/// In place of one with the same handle, which went without libsplit seeing it.
void Session::track(std::shared_ptr<Program> program) {
  std::shared_ptr<Program>& entry = programs_[program->handle];
  if (entry)
    entry->references = 0;
  entry = std::move(program);
}

std::vector<bool> Session::refused(const std::vector<BinaryUse>& binaries) const {
  std::vector<bool> refused(binaries.size(), false);
  if (options_.rebuild && active() && options_.policy.kind != Policy::Kind::Off)
    for (std::size_t i = 0; i < binaries.size(); ++i)
      refused[i] = kindOf(binaries[i].bytes) != ProgramKind::Bitcode &&
                   !binaryOrigins_.find(hashOf(binaries[i].bytes));
  return refused;
}

void Session::programCreatedFrom(cl_program program, cl_context context,
                                 const std::vector<BinaryUse>& binaries) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->opaque = "the program was made from a binary, and libsplit has not seen it being built";
  for (const BinaryUse& binary : binaries)
    if (auto origin = binaryOrigins_.find(hashOf(binary.bytes)))
      tracked->binaries[binary.device] = std::move(origin);
  // SPIR bitcode can be analysed as it is; what it is built with comes later.
  if (tracked->binaries.empty() && binaries.size() == 1 &&
      kindOf(binaries[0].bytes) == ProgramKind::Bitcode)
    tracked->source = std::string(binaries[0].bytes);
  // PoCL's hold their program as IR, for which home's options are all that counts.
  for (const BinaryUse& binary : binaries)
    if (const auto pocl = readPoclBinary(binary.bytes))
      tracked->binaries.try_emplace(binary.device,
                                    std::make_shared<const Origin>(
                                        Origin{std::string(binary.bytes),
                                               pocl->flushesDenormals ? "-cl-denorms-are-zero" : "",
                                               /*isFlat=*/true,
                                               {}}));
  tracked->isForeign = tracked->binaries.empty() && !tracked->source;
  Lock lock(mutex_);
  track(std::move(tracked));
}

void Session::programOpaque(cl_program program, const std::string& why) {
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  found->second->source.reset();
  found->second->binaries.clear();
  found->second->opaque = why;
}

void Session::binariesRead(cl_program program, std::span<const unsigned char* const> binaries) {
  std::shared_ptr<Build> build;
  {
    Lock lock(mutex_);
    auto found = programs_.find(program);
    if (found == programs_.end() || found->second->build->origins.empty())
      return;
    build = found->second->build;
  }
  auto devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  auto sizes = arrayProperty<std::size_t>(cl_.clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
  for (std::size_t i = 0; i < std::min({devices.size(), sizes.size(), binaries.size()}); ++i) {
    auto made = build->origins.find(devices[i]);
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    cl_.clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                              nullptr);
    if (made == build->origins.end() || type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || !binaries[i] ||
        sizes[i] == 0)
      continue;
    auto bytes = std::string_view(reinterpret_cast<const char*>(binaries[i]), sizes[i]);
    preparer_.keepOrigin(
        hashOf(bytes), build, made->second,
        {property<cl_context>(cl_.clGetProgramInfo, program, CL_PROGRAM_CONTEXT), devices[i]});
  }
}

/// What the driver's build that comes now can read beside the program's text; null: nothing.
std::shared_ptr<const HeaderSnapshot> Session::seenHeaders(cl_program program,
                                                           const char* options) {
  std::string text;
  {
    Lock lock(mutex_);
    auto found = programs_.find(program);
    if (found == programs_.end() || !found->second->source ||
        !isSource(kindOf(*found->second->source)))
      return nullptr;
    text = *found->second->source;
  }
  return headersOf({text}, options ? options : "");
}

std::shared_ptr<Build> Session::programBuilding(cl_program program,
                                                std::vector<cl_device_id> devices,
                                                const char* options) {
  if (devices.empty())
    devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  const auto headers = seenHeaders(program, options);
  std::map<std::string, std::shared_ptr<KernelCode>> outdated;
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return nullptr;
  Program& tracked = *found->second;
  if (std::any_of(kernels_.begin(), kernels_.end(),
                  [&](const auto& entry) { return entry.second->program == found->second; }))
    return nullptr; // the driver refuses
  preparer_.awaitPrepared(lock, tracked);
  auto isOurs = [&](const std::shared_ptr<Task>& task) { return task->program == &tracked; };
  auto hasTasks = [&](std::deque<std::shared_ptr<Task>> Stream::* tasks) {
    return std::any_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
      const auto& those = (*entry.second).*tasks;
      return std::any_of(those.begin(), those.end(), isOurs);
    });
  };
  progress_.wait(lock, [&] { return !hasTasks(&Stream::active); });
  if (hasTasks(&Stream::parked))
    return nullptr; // … for launches that wait still have its kernels
  outdated.swap(tracked.codes);
  auto build = std::make_shared<Build>();
  build->origins = tracked.build->origins;
  for (cl_device_id device : devices) {
    auto binary = tracked.binaries.find(device);
    if (tracked.source)
      build->origins[device] = std::make_shared<const Origin>(
          Origin{*tracked.source, options ? options : "", false, {}, headers});
    else if (binary != tracked.binaries.end())
      build->origins[device] = binary->second;
  }
  std::shared_ptr<Build> before = std::exchange(tracked.build, std::move(build));
  if (active() && options_.policy.kind != Policy::Kind::Off)
    preparer_.building(found->second);
  lock.unlock();
  for (auto& [name, code] : outdated)
    code->kernels.clear(); // a program with kernels can't be built again
  return before;
}

void Session::programBuilt(cl_program program, const std::shared_ptr<Build>& before, cl_int status,
                           double seconds) {
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  Program& tracked = *found->second;
  tracked.build->seconds = seconds;
  const bool isRefused = status != CL_SUCCESS && status != CL_BUILD_PROGRAM_FAILURE;
  if (before && isRefused)
    tracked.build = before;
  if (before || isRefused)
    return;
  for (auto& [name, code] : tracked.codes)
    code->neverSplit("the program was built again while it had kernels");
}

void Session::programRetained(cl_program program) {
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found != programs_.end())
    ++found->second->references;
}

void Session::programReleased(cl_program program) {
  std::shared_ptr<Program> last;
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found != programs_.end() && --found->second->references == 0) {
    last = std::move(found->second);
    programs_.erase(found);
  }
}

void Session::kernelCreated(cl_kernel handle, cl_program program) {
  auto name = stringProperty(cl_.clGetKernelInfo, handle, CL_KERNEL_FUNCTION_NAME);
  auto count = property<cl_uint>(cl_.clGetKernelInfo, handle, CL_KERNEL_NUM_ARGS);
  auto kernel = std::make_shared<Kernel>();
  kernel->handle = handle;
  kernel->arguments.resize(count);
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  kernel->program = found->second;
  std::shared_ptr<KernelCode>& code = kernel->program->codes[name];
  if (!code) {
    code = std::make_shared<KernelCode>();
    code->name = name;
    code->program = kernel->program;
    code->stats = std::make_shared<KernelStats>();
    code->stats->name = name;
    shared_.stats.kernels.push_back(code->stats);
  }
  if (code->kinds.size() < count)
    code->kinds.resize(count, ArgumentKind::Unknown);
  preparer_.created(kernel->program, code);
  kernel->code = code;
  kernels_[handle] = std::move(kernel);
}

void Session::kernelCloned(cl_kernel clone, cl_kernel original) {
  Lock lock(mutex_);
  auto found = kernels_.find(original);
  if (found == kernels_.end())
    return;
  auto copy = std::make_shared<Kernel>(*found->second);
  copy->handle = clone;
  copy->references = 1;
  copy->clone = nullptr;
  kernels_[clone] = std::move(copy);
}

void Session::kernelRetained(cl_kernel handle) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found != kernels_.end())
    ++found->second->references;
}

void Session::kernelReleased(cl_kernel handle) {
  std::shared_ptr<Kernel> last;
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found != kernels_.end() && --found->second->references == 0) {
    last = std::move(found->second);
    kernels_.erase(found);
  }
}

void Session::argumentSet(cl_kernel handle, cl_uint index, std::size_t size, const void* value) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found == kernels_.end() || index >= found->second->arguments.size())
    return;
  Argument& argument = found->second->arguments[index];
  argument.isSet = true;
  argument.size = size;
  argument.candidate.reset();
  auto bytes = static_cast<const std::byte*>(value);
  argument.value.assign(bytes, bytes ? bytes + size : bytes);
  if (value && size == sizeof(cl_mem)) {
    cl_mem object = nullptr;
    std::memcpy(&object, value, sizeof object);
    argument.candidate = findObject(object);
    if (!argument.candidate.expired())
      askForKinds(*found->second);
  }
}

/// What the driver says of the kernel's parameters. Where a program comes without their
/// descriptions, that is nothing.
void Session::askForKinds(const Kernel& kernel) const {
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

void Session::kernelOpaque(cl_kernel handle, const std::string& why) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found != kernels_.end())
    found->second->code->neverSplit(why);
}

void Session::argumentUnfollowed(cl_kernel handle, cl_uint index, const std::string& why) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found == kernels_.end() || index >= found->second->arguments.size())
    return;
  found->second->arguments[index] = {};
  found->second->code->neverSplit(why);
}

} // namespace libsplit::runtime
