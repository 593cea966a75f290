#include "runtime/session/programs.h"

#include "analysis-pass/summary/build_options.h"
#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/callback_scope.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

/// What a binary of PoCL's came from, as this build compiles it: whether denormals are flushed is
/// in the code that is made now, whatever the options were from which the binary was made.
std::shared_ptr<const Origin> compiledWith(const std::shared_ptr<const Origin>& origin,
                                           const std::string& options) {
  const std::string flag = "-cl-denorms-are-zero";
  Origin compiled = *origin;
  for (std::size_t at = 0; (at = compiled.options.find(flag)) != std::string::npos;)
    compiled.options.erase(at, flag.size());
  if (std::ranges::count(splitOptions(options), flag) > 0)
    compiled.options += ' ' + flag;
  return std::make_shared<const Origin>(std::move(compiled));
}

} // namespace

void Programs::created(cl_program program, cl_context context, std::optional<std::string> source,
                       const std::string& opaque) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->source = std::move(source);
  tracked->opaque = opaque;
  const Lock lock(shared_.mutex);
  add(std::move(tracked));
}

/// In place of one with the same handle, which went without libsplit seeing it.
void Programs::add(std::shared_ptr<Program> program) {
  std::shared_ptr<Program>& entry = programs_[program->handle];
  if (entry)
    entry->references = 0;
  entry = std::move(program);
}

std::shared_ptr<Program> Programs::find(cl_program program) const {
  auto found = programs_.find(program);
  return found == programs_.end() ? nullptr : found->second;
}

std::vector<bool> Programs::refused(const std::vector<BinaryUse>& binaries) const {
  std::vector<bool> refused(binaries.size(), false);
  if (options_.rebuild && shared_.isActive() && options_.policy.kind != Policy::Kind::Off)
    for (std::size_t i = 0; i < binaries.size(); ++i)
      refused[i] = kindOf(binaries[i].bytes) != ProgramKind::Bitcode &&
                   !binaries_.find(hashOf(binaries[i].bytes));
  return refused;
}

void Programs::createdFrom(cl_program program, cl_context context,
                           const std::vector<BinaryUse>& binaries) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->opaque = "the program was made from a binary, and libsplit has not seen it being built";
  for (const BinaryUse& binary : binaries)
    if (auto origin = binaries_.find(hashOf(binary.bytes)))
      tracked->binaries[binary.device] = std::move(origin);
  // SPIR bitcode can be analysed as it is; what it is built with comes later.
  if (tracked->binaries.empty() && binaries.size() == 1 &&
      kindOf(binaries[0].bytes) == ProgramKind::Bitcode)
    tracked->source = std::string(binaries[0].bytes);
  // PoCL's hold their program as IR.
  for (const BinaryUse& binary : binaries)
    if (readPoclBinary(binary.bytes)) {
      tracked->binaries.try_emplace(
          binary.device, std::make_shared<const Origin>(
                             Origin{std::string(binary.bytes), "", /*isFlat=*/true, {}}));
      tracked->poclBinaries.insert(binary.device);
    }
  tracked->isForeign = tracked->binaries.empty() && !tracked->source;
  const Lock lock(shared_.mutex);
  add(std::move(tracked));
}

void Programs::becameOpaque(cl_program program, const std::string& why) {
  const Lock lock(shared_.mutex);
  const auto found = find(program);
  if (!found)
    return;
  found->source.reset();
  found->binaries.clear();
  found->opaque = why;
  found->buildsAnew = true;
}

void Programs::binariesRead(cl_program program, std::span<const unsigned char* const> binaries) {
  std::shared_ptr<Build> build;
  {
    const Lock lock(shared_.mutex);
    const auto found = find(program);
    if (!found || found->build->origins.empty())
      return;
    build = found->build;
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
std::shared_ptr<const HeaderSnapshot> Programs::seenHeaders(cl_program program,
                                                            const char* options) const {
  std::string text;
  {
    const Lock lock(shared_.mutex);
    const auto found = find(program);
    if (!found || !found->source || !isSource(kindOf(*found->source)))
      return nullptr;
    text = *found->source;
  }
  return headersOf({text}, options ? options : "");
}

/// Whether a launch of its kernels is there, parked or planned.
bool Programs::isLaunched(const Program& program,
                          std::deque<std::shared_ptr<Task>> Stream::* as) const {
  auto isOurs = [&](const std::shared_ptr<Task>& task) { return task->program == &program; };
  return std::ranges::any_of(scheduler_.streams(), [&](const auto& entry) {
    return std::ranges::any_of((*entry.second).*as, isOurs);
  });
}

bool Programs::givesUpKernels(cl_program program) {
  std::map<std::string, std::shared_ptr<KernelCode>> outdated; // not to go under the lock
  std::vector<std::shared_ptr<const void>> dropped;            // nor these
  Lock lock(shared_.mutex);
  const std::shared_ptr<Program> found = find(program);
  if (!found || found->kernelObjects > 0)
    return false;
  const bool mayWait = !CallbackScope::active();
  if (mayWait) {
    preparer_.awaitPrepared(lock, *found);
    const auto isOver = [&] { return !isLaunched(*found, &Stream::active); };
    // A callback of the program's may wait for what this thread holds, and they for it.
    constexpr std::chrono::seconds patience(1);
    if (shared_.callbacks)
      shared_.progress.wait_for(lock, patience, isOver);
    else
      shared_.progress.wait(lock, isOver);
  }
  // Meanwhile another thread may have made a kernel, or the process end.
  if (found->kernelObjects > 0 || found->isBeingPrepared() || isLaunched(*found, &Stream::active) ||
      isLaunched(*found, &Stream::parked))
    return false;
  outdated.swap(found->codes);
  for (auto& [name, code] : outdated)
    dropped.push_back(code->dropKernels());
  const auto now = std::chrono::steady_clock::now();
  if (!outdated.empty())
    found->kernelsGivenUp = now;
  const auto& givenUp = found->kernelsGivenUp;
  return mayWait && givenUp && now - *givenUp < longestHeld;
}

void Programs::refusedForGood(cl_program program) {
  const Lock lock(shared_.mutex);
  if (const auto found = find(program))
    found->kernelsGivenUp.reset();
}

std::shared_ptr<Build> Programs::building(cl_program program, std::vector<cl_device_id> devices,
                                          const char* options) {
  if (devices.empty())
    devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  const auto headers = seenHeaders(program, options);
  const Lock lock(shared_.mutex);
  const std::shared_ptr<Program> found = find(program);
  if (!found || found->kernelObjects > 0 || isLaunched(*found, &Stream::parked))
    return nullptr; // the driver refuses
  Program& tracked = *found;
  auto build = std::make_shared<Build>();
  if (!tracked.buildsAnew)
    build->origins = tracked.build->origins;
  for (cl_device_id device : devices) {
    auto binary = tracked.binaries.find(device);
    if (tracked.source)
      build->origins[device] = std::make_shared<const Origin>(
          Origin{*tracked.source, options ? options : "", false, {}, headers});
    else if (binary != tracked.binaries.end())
      build->origins[device] = tracked.poclBinaries.contains(device)
                                   ? compiledWith(binary->second, options ? options : "")
                                   : binary->second;
  }
  if (tracked.beingBuilt++ > 0) // nor is it known what the driver does last
    build->doubt = "several threads built its program at once";
  std::shared_ptr<Build> before = std::exchange(tracked.build, std::move(build));
  if (shared_.isActive() && options_.policy.kind != Policy::Kind::Off)
    preparer_.building(found);
  return before;
}

void Programs::built(cl_program program, const std::shared_ptr<Build>& before, cl_int status,
                     double seconds) {
  std::shared_ptr<Build> outdated; // not to go under the lock
  const Lock lock(shared_.mutex);
  const std::shared_ptr<Program> found = find(program);
  if (!found)
    return;
  Program& tracked = *found;
  tracked.build->seconds = seconds;
  if (before)
    --tracked.beingBuilt;
  const bool isRefused = status != CL_SUCCESS && status != CL_BUILD_PROGRAM_FAILURE;
  std::string why = tracked.build->doubt;
  if (why.empty()) {
    if (before && isRefused)
      outdated = std::exchange(tracked.build, before);
    if ((before == nullptr) == isRefused)
      return; // a build of a program without kernels, or none
    if (isRefused) {
      why = "it was made while its program was to be built again";
    } else {
      why = "the program was built again while it had kernels";
      outdated = std::exchange(tracked.build, std::make_shared<Build>());
      tracked.build->doubt = why;
    }
  }
  for (auto& [name, code] : tracked.codes)
    code->neverSplit(why);
}

void Programs::readingBinaries(cl_program program) {
  Lock lock(shared_.mutex);
  if (const auto found = find(program); found && !CallbackScope::active())
    preparer_.awaitPrepared(lock, *found);
}

void Programs::retained(cl_program program) {
  const Lock lock(shared_.mutex);
  if (const auto found = find(program))
    ++found->references;
}

void Programs::released(cl_program program) {
  std::shared_ptr<Program> last;
  const Lock lock(shared_.mutex);
  auto found = programs_.find(program);
  // The driver keeps it for as long as it has kernels, from which the application may get it again.
  if (found != programs_.end() && --found->second->references == 0 &&
      found->second->kernelObjects == 0) {
    last = std::move(found->second);
    programs_.erase(found);
    preparer_.letGo(last->build);
  }
}

void Programs::lostKernel(const std::shared_ptr<Program>& program) {
  --program->kernelObjects;
  const auto found = programs_.find(program->handle);
  if (program->isGone() && program->kernelObjects == 0 && found != programs_.end() &&
      found->second == program) {
    programs_.erase(found);
    preparer_.letGo(program->build);
  }
}

} // namespace libsplit::runtime
