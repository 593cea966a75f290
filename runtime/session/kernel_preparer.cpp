#include "runtime/session/kernel_preparer.h"

#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/log.h"
#include "runtime/program/earlier_runs.h"
#include "runtime/session/contents.h"
#include "runtime/session/launch.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

std::string toString(const Reason& reason) {
  if (reason.where.line == 0)
    return reason.text;
  std::string file = reason.where.file.empty() ? "" : reason.where.file + " ";
  return reason.text + " (" + file + "line " + std::to_string(reason.where.line) + ")";
}

std::string KernelPreparer::ensureMachine(cl_context context, cl_device_id home) {
  if (!machine_) {
    auto spec = parseDeviceSpec(options_.devices);
    auto machine = std::make_unique<Machine>(
        cl_,
        Machine::Setup{spec.value_or(DeviceSpec{}), options_.separateNodes, options_.stagingBytes,
                       options_.deviceMemory},
        context, home);
    auto speeds = loadSpeeds(*machine);
    MovingRate moving = speeds->moving();
    if (!moving.isKnown())
      if (const auto times = machine->measureMoves(context))
        moving.begin(times->perByte, times->perMove);
    const Lock lock(shared_.mutex);
    shared_.machine = std::move(machine);
    shared_.moving = moving;
    shared_.knownSpeeds = std::move(speeds);
  }
  std::size_t others = 0;
  for (const Device& device : machine_->devices())
    others += device.participates && !device.isHome;
  if (others == 0) {
    writeLogOnce(LogLevel::Warn,
                 "there is no second device to share the work with; programs run unsplit");
    return noSecondDevice;
  }
  const Policy& policy = options_.policy;
  const std::size_t all = machine_->participants();
  if (policy.kind == Policy::Kind::Static && policy.shares.size() != all)
    writeLogOnce(LogLevel::Warn, "LIBSPLIT_POLICY=static gives " +
                                     std::to_string(policy.shares.size()) + " shares for " +
                                     std::to_string(all) + " devices");
  if (policy.kind == Policy::Kind::Single && policy.device >= all)
    writeLogOnce(LogLevel::Warn, "LIBSPLIT_POLICY names device " + std::to_string(policy.device) +
                                     " of " + std::to_string(all) + ", counted from 0");
  return {};
}

std::unique_ptr<KnownSpeeds> KernelPreparer::loadSpeeds(const Machine& machine) const {
  std::string identity;
  for (const Device& device : machine.devices())
    identity += device.label + '\n' + device.name + '\n' +
                stringProperty(cl_.clGetDeviceInfo, device.id.get(), CL_DRIVER_VERSION) + '\n' +
                std::to_string(device.computeUnits) + ' ' + std::to_string(device.node) + '\n';
  identity += std::to_string(machine.home());
  auto speeds =
      std::make_unique<KnownSpeeds>(hashOf(identity), machine.devices().size(), machine.home());
  if (options_.persist && !options_.cacheDir.empty())
    readSpeeds(options_.cacheDir, *speeds);
  return speeds;
}

void saveSpeeds(Shared& shared) {
  const Options& options = shared.options;
  if (!options.persist || options.cacheDir.empty())
    return;
  const Lock lock(shared.mutex);
  const std::unique_ptr<KnownSpeeds>& speeds = shared.knownSpeeds;
  if (speeds && speeds->changed() && !writeSpeeds(options.cacheDir, *speeds))
    log(LogLevel::Info, "can't keep the speeds in ", options.cacheDir);
}

namespace {

void orInto(std::vector<bool>& all, const std::vector<bool>& more) {
  for (std::size_t i = 0; i < more.size(); ++i)
    all[i] = all[i] || more[i];
}

const Access* floatSum(const KernelSummary& summary) {
  for (const Access& access : summary.accesses)
    if (access.effect == Effect::Update &&
        access.update.operation == UpdateKind::Operation::FloatAdd)
      return &access;
  return nullptr;
}

/// Whether devices may come to write the same bytes: a guess, and no harm if it is wrong.
bool mayBeMerged(const KernelSummary& summary) {
  return std::any_of(summary.accesses.begin(), summary.accesses.end(), [](const Access& access) {
    return access.effect == Effect::Write && !access.certain;
  });
}

/// What the driver did not tell.
void noteKinds(const KernelSummary& summary, std::vector<ArgumentKind>& kinds) {
  if (summary.parameters.size() != kinds.size())
    return;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] == ArgumentKind::Unknown)
      switch (summary.parameters[i].kind) {
      case ParameterKind::GlobalBuffer:
      case ParameterKind::ConstantBuffer:
      case ParameterKind::Image:
        kinds[i] = ArgumentKind::Memory;
        break;
      case ParameterKind::LocalBuffer:
        kinds[i] = ArgumentKind::Local;
        break;
      case ParameterKind::Scalar:
      case ParameterKind::Sampler:
        kinds[i] = ArgumentKind::Value;
        break;
      case ParameterKind::Other:
        break;
      }
}

std::vector<bool> writtenParameters(const KernelSummary& summary) {
  std::vector<bool> writes(summary.parameters.size(), false);
  for (const Access& access : summary.accesses)
    if (access.effect != Effect::Read)
      writes[access.parameter] = true;
  return writes;
}

cl_platform_id platformOf(const Dispatch& cl, cl_device_id device) {
  return property<cl_platform_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
}

bool isPoclBinary(const Origin& origin) {
  return kindOf(origin.text) == ProgramKind::PoclBinary;
}

} // namespace

std::string KernelPreparer::analyse(const Program& program, Build& build, KernelCode& code,
                                    cl_device_id home, const std::string& opaque,
                                    Analysed& analysed) {
  auto madeOf = build.origins.find(home);
  if (madeOf == build.origins.end())
    return opaque.empty() ? "the program was not built for this device" : opaque;
  const std::shared_ptr<const Origin> origin = madeOf->second;
  const DeviceMacros macros = deviceMacros(cl_, home);
  if (origin->madeFor && *origin->madeFor != macros)
    return "the program was made from a binary for another device";
  std::shared_ptr<const ProgramSummary> homeProgram =
      analyses_.of(build, origin, macros, {program.context, home});
  if (!homeProgram->failure.empty()) {
    if (isPoclBinary(*origin))
      writeLogOnce(LogLevel::Warn, foreignBinary);
    return homeProgram->failure;
  }
  const KernelSummary* homeSummary = homeProgram->find(code.name);
  if (!homeSummary)
    return "the analysis did not find the kernel";
  {
    const Lock lock(shared_.mutex);
    noteKinds(*homeSummary, code.kinds);
    code.followsPointers = std::ranges::any_of(homeSummary->obstacles, [](const Obstacle& each) {
      return each.kind == Obstacle::Kind::UnknownPointer;
    });
  }
  if (!homeSummary->obstacles.empty())
    return toString(homeSummary->obstacles.front().reason);
  if (const Access* sum = options_.relaxedFloat ? nullptr : floatSum(*homeSummary))
    return toString(Reason{"floating-point sum by atomics in `" +
                               homeSummary->parameters[sum->parameter].name +
                               "`, whose rounding depends on the order; LIBSPLIT_RELAXED_FP=1 "
                               "splits it",
                           sum->where});
  analysed = {origin, std::move(homeProgram), homeSummary};
  return ensureMachine(program.context, home);
}

std::string KernelPreparer::build(const Program& program, Build& build, KernelCode& code,
                                  const Analysed& analysed) {
  const auto& [origin, homeProgram, homeSummary] = analysed;
  noteSummaries(program, build, code, origin, *homeSummary);
  if (std::string why = buildForAll(program, build, code, *origin); !why.empty())
    return why;
  const auto& devices = machine_->devices();
  code.comparers.assign(devices.size(), nullptr);
  if (mayBeMerged(*homeSummary))
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (code.summaries[i] && devices[i].node != hostNode &&
          (code.kernels[i] || trial_.allows(devices[i].id.get())))
        code.comparers[i] = merger_.makeComparer(i, program.context);
  code.origin = origin;
  std::vector<bool> writes(homeSummary->parameters.size());
  code.loaded.assign(homeSummary->parameters.size(), false);
  code.decidingScalars = code.loaded;
  for (const KernelSummary* summary : code.summaries)
    if (summary) {
      orInto(writes, writtenParameters(*summary));
      code.elements.merge(contentElements(*summary));
      orInto(code.decidingScalars, decidingScalars(*summary));
    }
  for (const LoadedElements& each : code.elements)
    code.loaded.at(each.parameter) = true;
  noteInspections(program, code);
  code.identity = identityOf(*origin, code.name);
  // Launches that go home meanwhile look at these.
  const Lock lock(shared_.mutex);
  code.writes = std::move(writes);
  code.workScalars = workScalars(*homeSummary);
  return {};
}

/// By device, if it can run the kernel. `home`: the kernel on the program's own device.
void KernelPreparer::noteSummaries(const Program& program, Build& build, KernelCode& code,
                                   const std::shared_ptr<const Origin>& origin,
                                   const KernelSummary& home) const {
  const auto& devices = machine_->devices();
  code.summaries.assign(devices.size(), nullptr);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (isPoclBinary(*origin) &&
        platformOf(cl_, devices[i].id.get()) != platformOf(cl_, machine_->homeDevice().id.get()))
      continue; // the IR in it is for PoCL's own processor
    std::shared_ptr<const ProgramSummary> owner =
        analyses_.of(build, origin, devices[i].macros,
                     {machine_->contextOf(i, program.context), devices[i].id.get()});
    const KernelSummary* summary = owner->find(code.name);
    if (!owner->failure.empty() || !summary || !summary->obstacles.empty())
      continue;
    if (summary->codeHash != home.codeHash ||
        summary->parameters.size() != home.parameters.size()) {
      log(LogLevel::Info, "kernel ", code.name, " is other code for ", devices[i].name,
          ", whose compiler defines other macros: it takes no part");
      continue;
    }
    code.owners.push_back(owner);
    code.summaries[i] = summary;
  }
}

/// Why there is nobody to share the kernel's work with, if so.
std::string KernelPreparer::buildForAll(const Program& program, Build& build, KernelCode& code,
                                        const Origin& origin) {
  const auto& devices = machine_->devices();
  code.kernels.assign(devices.size(), nullptr);
  // Who joins late anyway holds up nobody, unless there is nobody else.
  std::size_t helpers = 0;
  for (const bool late : {false, true}) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!code.summaries[i] || isLatecomer(*machine_, options_.policy, i) != late)
        continue;
      if (shared_.ending)
        return "the program ended";
      code.kernels[i] = builder_.kernelFor(program, build, code, origin, i);
      helpers += code.kernels[i] && devices[i].participates && !devices[i].isHome;
    }
    if (!code.kernels[machine_->home()])
      return "its partition-ready form does not build on the program's own device";
    code.isBuiltForLatecomers = late;
    if (helpers > 0 && onlyWhatPays_)
      break;
  }
  if (helpers > 0)
    return {};
  if (!isPoclBinary(origin))
    return "it does not build on any other device";
  writeLogOnce(LogLevel::Warn, foreignBinary);
  return "the program was made from a binary of PoCL, which only PoCL's devices can take";
}

/// Kernels that run ahead of its launches, if it needs them.
void KernelPreparer::noteInspections(const Program& program, KernelCode& code) const {
  if (!options_.inspect || machine_->nodes() < 2)
    return;
  auto inspections = std::make_unique<Inspections>(code.summaries);
  const std::size_t on = machine_->home();
  if (!inspections->empty() && inspections->build(cl_, machine_->contextOf(on, program.context),
                                                  machine_->devices()[on].id.get()))
    code.inspections = std::move(inspections);
}

void KernelPreparer::buildAhead(const Program& program, Build& build, const Origin& origin,
                                const Place& place, const std::map<std::string, double>& kernels) {
  for (std::size_t i = 0; i < machine_->devices().size() && !kernels.empty() && !shared_.ending;
       ++i) {
    const Device& device = machine_->devices()[i];
    if (isLatecomer(*machine_, options_.policy, i))
      continue;
    auto owner =
        analyses_.of(build, build.origins.at(place.device), device.macros,
                     {machine_->contextOf(i, place.context), device.id.get()}, /*recallOnly=*/true);
    for (const KernelSummary& kernel : owner ? owner->kernels : std::vector<KernelSummary>{})
      if (kernels.contains(kernel.name) && kernel.obstacles.empty() &&
          !(device.isHome && !kernel.needsPartitionArgument))
        builder_.programFor(program, build, origin, i, *owner, kernel);
  }
}

std::shared_ptr<LaneKernel> KernelPreparer::buildWindowed(const Program& program, Build& build,
                                                          const KernelCode& code,
                                                          std::size_t device) {
  const Place place{machine_->contextOf(device, program.context),
                    machine_->devices()[device].id.get()};
  return builder_.windowedKernelFor(
      program, build, code, *code.origin, device,
      [&](const std::string& text) { return analyses_.windowed(*code.origin, place, text); });
}

void KernelPreparer::buildLate(const Program& program, Build& build, KernelCode& code) {
  for (std::size_t i = 0; i < machine_->devices().size() && !shared_.ending; ++i) {
    if (!isLatecomer(*machine_, options_.policy, i) || !code.summaries[i])
      continue;
    auto made = builder_.kernelFor(program, build, code, *code.origin, i);
    const Lock lock(shared_.mutex);
    if (i < code.kernels.size()) // else they were dropped meanwhile
      code.kernels[i] = std::move(made);
  }
}

} // namespace libsplit::runtime
