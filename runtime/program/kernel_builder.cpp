#include "runtime/program/kernel_builder.h"

#include "analysis-pass/summary/linked_program.h"
#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/log.h"
#include "runtime/core/worker.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Below the program's own priority, where nobody waits for it. Not idly: a driver's lock may be
/// held that the program comes to wait for, and on a busy machine an idle thread would not give it
/// back.
void KernelBuilder::beside(const std::function<void()>& work) const {
  constexpr int steps = 5;
  if (yields_)
    runBelow(steps, work);
  else
    work();
}

/// Not yet built; null if the device does not take programs of this kind.
Ref<cl_program> KernelBuilder::create(cl_context context, cl_device_id device,
                                      const std::string& text) const {
  cl_int error = CL_SUCCESS;
  const char* begin = text.data();
  const std::size_t size = text.size();
  cl_program made = nullptr;
  switch (kindOf(text)) {
  case ProgramKind::OpenclC:
    made = cl_.clCreateProgramWithSource(context, 1, &begin, &size, &error);
    break;
  case ProgramKind::Bitcode: {
    const auto* bytes = reinterpret_cast<const unsigned char*>(begin);
    cl_int status = CL_SUCCESS;
    made = cl_.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error);
    break;
  }
  case ProgramKind::SpirV: {
    auto versions = stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_IL_VERSION);
    auto version = stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_VERSION);
    auto extensions = stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
    if (versions.find("SPIR-V") != std::string::npos && version >= "OpenCL 2.1")
      made = cl_.clCreateProgramWithIL(context, begin, size, &error);
    else if (extensions.find("cl_khr_il_program") != std::string::npos)
      if (auto create = createProgramWithIlKhr(cl_, device))
        made = create(context, begin, size, &error);
    break;
  }
  case ProgramKind::PoclBinary: // a device of its own takes it; others take the IR in it
  case ProgramKind::Linked:     // takes more than one call: createLinked
    break;
  }
  return Ref<cl_program>::adopt(cl_, error == CL_SUCCESS ? made : nullptr);
}

/// Compiled and linked; null if the device can't.
Ref<cl_program> KernelBuilder::createLinked(cl_context context, cl_device_id device,
                                            const std::string& text,
                                            const std::string& options) const {
  auto linked = parseLinkedProgram(text);
  if (!linked)
    return {};
  std::vector<Ref<cl_program>> units;
  std::vector<cl_program> handles;
  for (const SourceUnit& unit : linked->units) {
    auto compiled = create(context, device, unit.text);
    const std::string all = unit.options + options;
    if (!compiled || cl_.clCompileProgram(compiled.get(), 1, &device, all.c_str(), 0, nullptr,
                                          nullptr, nullptr, nullptr) != CL_SUCCESS)
      return {};
    handles.push_back(compiled.get());
    units.push_back(std::move(compiled));
  }
  cl_int error = CL_SUCCESS;
  cl_program made = cl_.clLinkProgram(context, 1, &device, linked->options.c_str(),
                                      static_cast<cl_uint>(handles.size()), handles.data(), nullptr,
                                      nullptr, &error);
  auto result = Ref<cl_program>::adopt(cl_, made);
  return error == CL_SUCCESS ? result : Ref<cl_program>();
}

/// Those that libsplit adds. The program's own build has told of the warnings already; some drivers
/// print them.
std::string KernelBuilder::optionsFor(std::size_t device) const {
  return " -w" + machine_->ownOptions(device);
}

/// Built from `source`, which is the program in that form.
Ref<cl_program> KernelBuilder::programIn(const Program& program, Build& build, const Origin& origin,
                                         std::size_t device, const std::string& source,
                                         ProgramForm form) {
  const Device& on = machine_->devices()[device];
  if (on.isHome && form == ProgramForm::AsMade)
    return Ref<cl_program>::retain(cl_, program.handle);
  auto [entry, isNew] = build.lanePrograms.try_emplace({device, form});
  if (!isNew)
    return entry->second;
  const cl_context context = machine_->contextOf(device, program.context);
  cl_device_id id = on.id.get();
  const std::string ours = optionsFor(device);
  const bool isLinked = kindOf(source) == ProgramKind::Linked;
  // A program that builds for such a device itself has tried that.
  const bool isTried = machine_->homeDevice().keepsCompiled;
  const bool isText = kindOf(source) == ProgramKind::OpenclC;
  if (((!isTried || !isText) && !trial_.allows(id)) ||
      (isText && !trial_.allows(id, source, origin.options + ours)))
    return {};
  Ref<cl_program> made;
  if (isLinked)
    beside([&] { made = createLinked(context, id, source, ours); });
  else
    made = create(context, id, source);
  cl_int error = made ? CL_SUCCESS : CL_INVALID_OPERATION;
  auto buildWith = [&](const std::string& options) {
    return cl_.clBuildProgram(made.get(), 1, &id, options.c_str(), nullptr, nullptr);
  };
  if (made && !isLinked)
    beside([&] { error = buildWith(origin.options + ours); });
  // Options for the preprocessor are refused by some for programs that need none.
  if (made && error != CL_SUCCESS && !isSource(kindOf(source)))
    error = buildWith(origin.options);
  if (error == CL_SUCCESS) {
    entry->second = made;
    return made;
  }
  log(LogLevel::Info, "device ", on.label, " can't build a program (error ", error, ")");
  if (made && logs(LogLevel::Debug)) {
    std::size_t size = 0;
    cl_.clGetProgramBuildInfo(made.get(), id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string buildLog(size, '\0');
    cl_.clGetProgramBuildInfo(made.get(), id, CL_PROGRAM_BUILD_LOG, size, buildLog.data(), nullptr);
    log(LogLevel::Debug, buildLog);
  }
  return {};
}

/// Other devices than home get one text for all kernels.
bool KernelBuilder::isRewritten(const Origin& origin, std::size_t device,
                                const ProgramSummary& summary, const KernelSummary& kernel) const {
  const bool servesAll = !machine_->devices()[device].isHome && isSource(kindOf(origin.text)) &&
                         !summary.partitionSource.empty();
  return kernel.needsPartitionArgument || servesAll;
}

namespace {

const std::string& textOf(const Origin& origin, const ProgramSummary& summary, bool rewritten) {
  return rewritten                    ? summary.partitionSource
         : summary.flatSource.empty() ? origin.text
                                      : summary.flatSource;
}

/// The program that the device's summary of the kernel is a part of.
const ProgramSummary& ownerOf(const KernelCode& code, std::size_t device) {
  const KernelSummary& summary = *code.summaries[device];
  return **std::ranges::find_if(code.owners, [&](const auto& each) {
    return !each->kernels.empty() && &summary >= each->kernels.data() &&
           &summary < each->kernels.data() + each->kernels.size();
  });
}

} // namespace

Ref<cl_program> KernelBuilder::programFor(const Program& program, Build& build,
                                          const Origin& origin, std::size_t device,
                                          const ProgramSummary& summary,
                                          const KernelSummary& kernel) {
  const bool rewritten = isRewritten(origin, device, summary, kernel);
  return programIn(program, build, origin, device, textOf(origin, summary, rewritten),
                   rewritten ? ProgramForm::PartitionReady : ProgramForm::AsMade);
}

std::shared_ptr<LaneKernel> KernelBuilder::kernelFor(const Program& program, Build& build,
                                                     const KernelCode& code, const Origin& origin,
                                                     std::size_t device) {
  const ProgramSummary& owner = ownerOf(code, device);
  const KernelSummary& summary = *code.summaries[device];
  auto made = kernelIn(programFor(program, build, origin, device, owner, summary), code, device);
  const bool rewritten = isRewritten(origin, device, owner, summary);
  const bool isPrograms = machine_->devices()[device].isHome && !rewritten;
  const std::string& text = isPrograms ? origin.text : textOf(origin, owner, rewritten);
  if (made && kindOf(text) == ProgramKind::OpenclC)
    made->madeOf = std::make_shared<const MadeOf>(
        MadeOf{text, isPrograms ? origin.options : origin.options + optionsFor(device)});
  return made;
}

std::shared_ptr<LaneKernel> KernelBuilder::windowedKernelFor(const Program& program, Build& build,
                                                             const KernelCode& code,
                                                             const Origin& origin,
                                                             std::size_t device,
                                                             const MakeWindowed& windowed) {
  const ProgramSummary& owner = ownerOf(code, device);
  const KernelSummary& summary = *code.summaries[device];
  const bool rewritten = isRewritten(origin, device, owner, summary);
  const std::string text = windowed(textOf(origin, owner, rewritten));
  auto made = text.empty()
                  ? nullptr
                  : kernelIn(programIn(program, build, origin, device, text, ProgramForm::Windowed),
                             code, device);
  // Of those that can't, the rewriter lets the arguments be what they were.
  const std::size_t plain = summary.parameters.size() + (summary.needsPartitionArgument ? 1 : 0);
  cl_uint arguments = 0;
  if (made)
    cl_.clGetKernelInfo(made->kernel.get(), CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments,
                        nullptr);
  return arguments == plain + 1 ? made : nullptr;
}

/// Null if there is no program, or no such kernel in it.
std::shared_ptr<LaneKernel> KernelBuilder::kernelIn(const Ref<cl_program>& built,
                                                    const KernelCode& code,
                                                    std::size_t device) const {
  if (!built)
    return nullptr;
  cl_int error = CL_SUCCESS;
  auto made = std::make_shared<LaneKernel>();
  made->kernel = Ref<cl_kernel>::adopt(
      cl_, cl_.clCreateKernel(built.get(), code.name.c_str(), &error), built.get());
  if (error != CL_SUCCESS)
    return nullptr;
  auto ask = [&](cl_kernel_work_group_info name, auto& answer) {
    cl_.clGetKernelWorkGroupInfo(made->kernel.get(), machine_->devices()[device].id.get(), name,
                                 sizeof answer, &answer, nullptr);
  };
  ask(CL_KERNEL_WORK_GROUP_SIZE, made->maxGroup);
  ask(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, made->width);
  ask(CL_KERNEL_LOCAL_MEM_SIZE, made->localMemory);
  return made;
}

} // namespace libsplit::runtime
