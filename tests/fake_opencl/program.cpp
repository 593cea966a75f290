#include "tests/fake_opencl/program.h"

#include "analysis-pass/tests/oracle/fibers.h"
#include "analysis-pass/tests/oracle/group_functions.h"
#include "tests/fake_opencl/driver.h"
#include "tests/fake_opencl/host_functions.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

namespace libsplit::fake {

namespace {

namespace fs = std::filesystem;

/// The launch under way in this thread.
struct Running {
  Range range;
  std::size_t group[3] = {0, 0, 0};
  std::size_t localSize[3] = {1, 1, 1};
  std::size_t local[3] = {0, 0, 0}; ///< id of the work-item, where there are no fibers
  oracle::Fibers* fibers = nullptr;

  std::size_t localId(unsigned d) const {
    if (!fibers)
      return local[d];
    const std::size_t item = fibers->current();
    return d == 0   ? item % localSize[0]
           : d == 1 ? item / localSize[0] % localSize[1]
                    : item / localSize[0] / localSize[1];
  }
};
thread_local Running* running = nullptr;

std::uint64_t localId(std::uint32_t d) {
  return d > 2 ? 0 : running->localId(d);
}
std::uint64_t globalId(std::uint32_t d) {
  return d > 2 ? 0
               : running->range.offset[d] + running->group[d] * running->range.local[d] +
                     running->localId(d);
}
std::uint64_t groupId(std::uint32_t d) {
  return d > 2 ? 0 : running->group[d];
}
std::uint64_t globalSize(std::uint32_t d) {
  return d > 2 ? 1 : running->range.global[d];
}
std::uint64_t localSize(std::uint32_t d) {
  return d > 2 ? 1 : running->localSize[d];
}
std::uint64_t enqueuedLocalSize(std::uint32_t d) {
  return d > 2 ? 1 : running->range.local[d];
}
std::uint64_t numGroups(std::uint32_t d) {
  return d > 2 ? 1 : running->range.groups(d);
}
std::uint64_t globalOffset(std::uint32_t d) {
  return d > 2 ? 0 : running->range.offset[d];
}
std::uint32_t workDim() {
  return running->range.dimensions;
}
std::uint64_t globalLinearId() {
  auto at = [](unsigned d) { return globalId(d) - running->range.offset[d]; };
  return (at(2) * globalSize(1) + at(1)) * globalSize(0) + at(0);
}
std::uint64_t localLinearId() {
  return (localId(2) * localSize(1) + localId(1)) * localSize(0) + localId(0);
}
void barrier() {
  running->fibers->yield();
}
void nothing() {}

oracle::SubGroup subGroup() {
  const std::size_t* size = running->localSize;
  return {(running->localId(2) * size[1] + running->localId(1)) * size[0] + running->localId(0),
          size[0] * size[1] * size[2]};
}
std::uint32_t subGroupSize() {
  return subGroup().size();
}
std::uint32_t maxSubGroupSize() {
  return oracle::subGroupSize;
}
std::uint32_t subGroups() {
  return subGroup().count();
}
std::uint32_t subGroupId() {
  return subGroup().id();
}
std::uint32_t subGroupLocalId() {
  return subGroup().localId();
}

template <class Function> void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}

/// In the order of workItemFunctionNames.
const std::array<void*, workItemFunctionNames.size()> workItemFunctions = {
    pointer(globalId),       pointer(localId),       pointer(groupId),
    pointer(globalSize),     pointer(localSize),     pointer(enqueuedLocalSize),
    pointer(numGroups),      pointer(globalOffset),  pointer(workDim),
    pointer(globalLinearId), pointer(localLinearId), pointer(barrier),
    pointer(barrier),        pointer(barrier),       pointer(barrier),
    pointer(barrier),        pointer(nothing),       pointer(nothing),
    pointer(nothing),        pointer(subGroupSize),  pointer(maxSubGroupSize),
    pointer(subGroups),      pointer(subGroups),     pointer(subGroupId),
    pointer(subGroupLocalId)};

/// In the order of hostFunctionNames.
std::array<void*, hostFunctionNames.size()> hostFunctions() {
  std::array<void*, hostFunctionNames.size()> all{};
  const auto behind = std::copy(workItemFunctions.begin(), workItemFunctions.end(), all.begin());
  std::copy(oracle::groupFunctions.begin(), oracle::groupFunctions.end(), behind);
  return all;
}

/// fake_cc lies in ../bin of the driver's folder, or beside the test that links the driver.
std::string compilerPath() {
  if (const char* given = std::getenv("FAKE_OPENCL_CC"))
    return given;
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&compilerPath), &info);
  const fs::path folder = fs::canonical(info.dli_fname).parent_path();
  for (const char* relative : {"../bin/fake_cc", "fake_cc"})
    if (fs::exists(folder / relative))
      return (folder / relative).string();
  return "fake_cc";
}

/// Runs the compiler without what may be preloaded into this process. False, with its message.
bool compile(const std::string& source, const std::string& options, const std::string& output,
             std::string& log) {
  const std::string input = output + ".cl", messages = output + ".log";
  std::ofstream(input) << source;
  std::string compiler = compilerPath();
  std::vector<char*> arguments = {compiler.data(), const_cast<char*>(output.c_str()),
                                  const_cast<char*>(options.c_str()), nullptr};
  std::vector<char*> environment;
  for (char** each = environ; *each; ++each)
    if (std::strncmp(*each, "LD_PRELOAD=", 11) != 0)
      environment.push_back(*each);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  int status =
      posix_spawn(&child, compiler.c_str(), &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (status == 0)
    ::waitpid(child, &status, 0);
  std::ostringstream text;
  text << std::ifstream(messages).rdbuf();
  log = text.str();
  fs::remove(input);
  fs::remove(messages);
  return status == 0;
}

std::string cacheFolder() {
  std::string folder = driver().configuration.cache;
  if (folder.empty())
    folder = (fs::temp_directory_path() / ("fake-opencl-" + std::to_string(::getuid()))).string();
  fs::create_directories(folder);
  return folder;
}

std::vector<KernelInfo> parseKernels(void* library) {
  std::vector<KernelInfo> kernels;
  std::istringstream lines(static_cast<const char*>(::dlsym(library, kernelsSymbol)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "kernel") {
      KernelInfo& kernel = kernels.emplace_back();
      words >> kernel.name;
      for (std::size_t& size : kernel.required)
        words >> size;
      words >> kernel.localMemory >> kernel.barriers >> kernel.mayBeUneven;
      kernel.entry =
          reinterpret_cast<void (*)(void**)>(::dlsym(library, (entryPrefix + kernel.name).c_str()));
    } else if (word == "arg") {
      KernelArgumentInfo& argument = kernels.back().arguments.emplace_back();
      words >> word >> argument.isConst >> argument.size >> argument.name;
      using Space = KernelArgumentInfo::Space;
      argument.space = word == "global"     ? Space::Global
                       : word == "constant" ? Space::Constant
                       : word == "local"    ? Space::Local
                                            : Space::Private;
      std::getline(words >> std::ws, argument.type);
    }
  }
  return kernels;
}

void runGroup(const KernelInfo& kernel, Running& state, std::vector<void*>& slots) {
  if (kernel.barriers) {
    thread_local oracle::Fibers fibers;
    state.fibers = &fibers;
    oracle::groupUnderWay.fibers = &fibers;
    std::copy(std::begin(state.localSize), std::end(state.localSize),
              oracle::groupUnderWay.size.begin());
    fibers.run(
        state.localSize[0] * state.localSize[1] * state.localSize[2],
        [&] { kernel.entry(slots.data()); }, [] {});
    return;
  }
  for (state.local[2] = 0; state.local[2] < state.localSize[2]; ++state.local[2])
    for (state.local[1] = 0; state.local[1] < state.localSize[1]; ++state.local[1])
      for (state.local[0] = 0; state.local[0] < state.localSize[0]; ++state.local[0])
        kernel.entry(slots.data());
}

} // namespace

std::shared_ptr<const LoadedProgram>
LoadedProgram::build(const std::string& source, const std::string& options, std::string& log) {
  const std::string text = options + '\0' + source;
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.so",
                static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
  const fs::path path = fs::path(cacheFolder()) / name;
  if (!fs::exists(path)) {
    const std::string fresh = path.string() + "." + std::to_string(::getpid()) + "." +
                              std::to_string(reinterpret_cast<std::uintptr_t>(&log));
    const bool compiled = compile(source, options, fresh, log);
    if (compiled)
      fs::rename(fresh, path);
    if (!compiled)
      return nullptr;
  }
  std::shared_ptr<LoadedProgram> program(new LoadedProgram);
  program->library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!program->library_) {
    log = ::dlerror();
    return nullptr;
  }
  const auto functions = hostFunctions();
  std::memcpy(::dlsym(program->library_, tableSymbol), functions.data(), sizeof functions);
  program->kernels_ = parseKernels(program->library_);
  return program;
}

LoadedProgram::~LoadedProgram() {
  if (library_)
    ::dlclose(library_);
}

const KernelInfo* LoadedProgram::find(const std::string& name) const {
  for (const KernelInfo& kernel : kernels_)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

void run(const KernelInfo& kernel, const Range& range, const std::vector<BoundArgument>& arguments,
         bool half) {
  // Kernels keep their local variables in one place: one work-group at a time.
  static std::mutex localVariables;
  std::unique_lock<std::mutex> alone;
  if (kernel.localMemory > 0)
    alone = std::unique_lock(localVariables);
  std::vector<std::vector<std::byte>> local;
  std::vector<void*> slots;
  for (const BoundArgument& argument : arguments) {
    if (argument.localSize > 0) {
      auto& room = local.emplace_back(argument.localSize + 128);
      const auto address = reinterpret_cast<std::uintptr_t>(room.data());
      slots.push_back(room.data() + (128 - address % 128));
    } else if (!argument.bytes.empty()) {
      slots.push_back(const_cast<std::byte*>(argument.bytes.data()));
    } else {
      slots.push_back(argument.address);
    }
  }
  Running state;
  state.range = range;
  running = &state;
  const std::size_t all = range.groups(0) * range.groups(1) * range.groups(2);
  std::size_t left = half ? all / 2 : all;
  auto& group = state.group;
  for (group[2] = 0; group[2] < range.groups(2); ++group[2])
    for (group[1] = 0; group[1] < range.groups(1); ++group[1])
      for (group[0] = 0; group[0] < range.groups(0) && left > 0; ++group[0], --left) {
        for (unsigned d = 0; d < 3; ++d)
          state.localSize[d] =
              std::min(range.local[d], range.global[d] - group[d] * range.local[d]);
        runGroup(kernel, state, slots);
      }
  running = nullptr;
}

} // namespace libsplit::fake
