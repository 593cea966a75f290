// What a kernel needs before its launches can be split: its analysis, the machine, and kernels for
// the other devices. All of it is slow, so it happens on a thread of its own while launches run
// unsplit.
#include "runtime/session/contents.h"
#include "runtime/session/session.h"

#include "analysis-pass/summary/build_options.h"
#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/callback_scope.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace libsplit::runtime {

std::string toString(const Reason& reason) {
  if (reason.where.line == 0)
    return reason.text;
  std::string file = reason.where.file.empty() ? "" : reason.where.file + " ";
  return reason.text + " (" + file + "line " + std::to_string(reason.where.line) + ")";
}

/// Under `auto` nothing is prepared that does not seem to pay, and nobody waits for it.
bool Session::preparesOnlyWhatPays() const {
  return options_.policy.kind == Policy::Kind::Auto && !options_.waitAnalysis;
}

bool Session::isWorthPreparing(const Kernel& kernel) const {
  const Build& build = *kernel.program->build;
  const double program =
      build.isAnalysed ? build.seconds : std::max(build.seconds, preparationSeconds_);
  const double cost =
      build.isPrepared ? 0 : program + std::max(build.compiling, build.earlierCompiling);
  const double launches = build.launchSeconds + build.earlierSeconds;
  auto isWorth = [&](double part) {
    return runtime::isWorthPreparing(kernel.code->times, launches, cost, part) ||
           (build.isPrepared &&
            isWorthPreparingToo(kernel.code->times, launches, build.compiled, part));
  };
  // It takes a system call to know.
  return isWorth(idlePart) && launchUse_ && isWorth(preparationPart(launchUse_->idle()));
}

namespace {

std::string identityOf(const Origin& origin, const std::string& kernel) {
  return hashOf(std::vector{origin.text, origin.options, kernel});
}

/// Where it is kept what preparing a program takes on this machine.
constexpr const char* preparationEntry = "preparation.seconds";

/// Where it is kept what the launches of a program took.
std::string secondsEntry(const Origin& origin) {
  return identityOf(origin, "") + ".seconds";
}

} // namespace

void Session::startAnalysis(const std::shared_ptr<Program>& program) {
  auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, program->context, CL_CONTEXT_DEVICES);
  cl_device_id device = home_ ? home_ : devices.empty() ? nullptr : devices[0];
  auto origin = program->build->origins.find(device);
  if (origin == program->build->origins.end())
    return;
  const bool isHomeKnown = home_ || (devices.size() == 1 && contexts_.size() < 2);
  // Neither program nor context are retained: the application may count their references.
  preparer_.post(
      [this, device, isHomeKnown, program, build = program->build, origin = origin->second] {
        const Place place{program->context, device};
        const bool onlyWhatPays = preparesOnlyWhatPays();
        double seconds = 0, compiling = 0;
        std::set<std::string> begun;
        if (onlyWhatPays) {
          std::istringstream earlier(cache_.read(secondsEntry(*origin)).value_or(""));
          earlier >> seconds >> compiling;
          begun.insert(std::istream_iterator<std::string>(earlier), {});
          recallPreparation();
        }
        auto summary = analysisOf(*build, origin, deviceMacros(cl_, device), place,
                                  /*recallOnly=*/onlyWhatPays && begun.empty());
        if (!onlyWhatPays)
          return;
        {
          Lock lock(mutex_);
          build->isAnalysed = summary != nullptr;
          build->earlierSeconds = seconds;
          build->earlierCompiling = compiling;
          build->begun.insert(begun.begin(), begun.end());
          build->begunEarlier = std::move(begun);
          constexpr std::size_t mostBuilds = 256;
          if (unprepared_.size() < mostBuilds)
            unprepared_.push_back(build);
        }
        if (summary && isHomeKnown)
          prepareAhead(program, build, *origin, summary, place);
      });
  if (!std::exchange(cacheTrimmed_, true))
    preparer_.post([this] { cache_.trim({}); });
}

void Session::recallPreparation() {
  double seconds = 0;
  std::istringstream earlier(cache_.read(preparationEntry).value_or(""));
  constexpr double most = 60; // whatever a file may say
  if (earlier >> seconds; !(seconds > 0 && seconds < most))
    return;
  Lock lock(mutex_);
  if (!std::exchange(hasPrepared_, true))
    preparationSeconds_ = seconds;
}

/// Kernels that gained in an earlier run, or had paid for being prepared when it ended, are made
/// ready before they are launched. Runs on the preparing thread, while the driver still builds the
/// program.
void Session::prepareAhead(const std::shared_ptr<Program>& program,
                           const std::shared_ptr<Build>& build, const Origin& origin,
                           const std::shared_ptr<const ProgramSummary>& summary,
                           const Place& place) {
  if (!machine_ && build->begunEarlier.empty()) {
    // Drivers of other devices are not started for what nothing is known of.
    const auto speeds = options_.persist ? readFile(options_.cacheDir + "/speeds") : std::nullopt;
    if (!speeds || std::ranges::none_of(summary->kernels, [&](const KernelSummary& kernel) {
          return speeds->find(identityOf(origin, kernel.name)) != std::string::npos;
        }))
      return;
  }
  const Ref<cl_context> keep = retainIfAlive(place.context);
  if (!keep || !ensureMachine(place.context, place.device).empty())
    return;
  std::map<std::string, double> gains;
  {
    Lock lock(mutex_);
    for (const KernelSummary& kernel : summary->kernels)
      if (const double gain = knownSpeeds_->gain(identityOf(origin, kernel.name)); gain > 0)
        gains[kernel.name] = gain;
      else if (knownSpeeds_->knows(identityOf(origin, kernel.name)))
        build->begun.erase(kernel.name);
      else if (build->begunEarlier.contains(kernel.name))
        gains[kernel.name] = 0; // nobody knows, and nobody waits for it
    // What one kernel leaves on several devices others should find there.
    if (std::ranges::any_of(gains, [](const auto& each) { return each.second > 0; }))
      for (const KernelSummary& kernel : summary->kernels)
        if (knownSpeeds_->knows(identityOf(origin, kernel.name)))
          gains.try_emplace(kernel.name, 0);
  }
  for (std::size_t i = 0; i < machine_->devices().size() && !gains.empty() && !ending_; ++i) {
    const Device& device = machine_->devices()[i];
    if (isLatecomer(i))
      continue;
    auto owner =
        analysisOf(*build, build->origins.at(place.device), device.macros,
                   {machine_->contextOf(i, place.context), device.id.get()}, /*recallOnly=*/true);
    for (const KernelSummary& kernel : owner ? owner->kernels : std::vector<KernelSummary>{})
      if (gains.contains(kernel.name) && kernel.obstacles.empty() &&
          !(device.isHome && !kernel.needsPartitionArgument))
        programFor(*program, *build, origin, i, *owner, kernel);
  }
  Lock lock(mutex_);
  build->gains = std::move(gains);
  auto tracked = programs_.find(program->handle);
  if (program->build != build || tracked == programs_.end() || tracked->second != program)
    return;
  for (const auto& [name, code] : program->codes)
    if (auto gain = build->gains.find(name);
        gain != build->gains.end() && code->state == KernelCode::State::New) {
      code->expectedGain = gain->second;
      postPreparation(program, code, place.device);
    }
}

/// Adds what launches took in this run, and what was not ready by its end, to what is kept of
/// earlier ones.
void Session::keepLaunchSeconds() {
  std::map<std::string, std::string> entries;
  {
    Lock lock(mutex_);
    for (const auto& build : unprepared_)
      if (build->launchSeconds > 0 || build->begun != build->begunEarlier)
        for (const auto& [device, origin] : build->origins) {
          std::string& text = entries[secondsEntry(*origin)];
          text = std::to_string(build->earlierSeconds + build->launchSeconds) + ' ' +
                 std::to_string(std::max(build->compiling, build->earlierCompiling));
          for (const std::string& kernel : build->begun)
            text += ' ' + kernel;
        }
  }
  for (const auto& [entry, text] : entries)
    cache_.write(entry, text);
  if (hasPrepared_)
    cache_.write(preparationEntry, std::to_string(preparationSeconds_));
}

/// Null if it is a context of the application's that is gone.
Ref<cl_context> Session::retainIfAlive(cl_context context) {
  Lock lock(mutex_);
  const bool isOwn =
      machine_ && std::ranges::any_of(machine_->devices(), [&](const Device& device) {
        return device.context.get() == context;
      });
  return isOwn || contexts_.contains(context) ? Ref<cl_context>::retain(cl_, context)
                                              : Ref<cl_context>();
}

/// With what only the device's compiler knows, which is added to `macros`. Runs on the preparing
/// thread.
std::shared_ptr<const ProgramSummary> Session::analyze(const Origin& origin, DeviceMacros& macros,
                                                       const Place& place, bool recallOnly) {
  // What a macro selects may ask for others.
  constexpr int mostRounds = 8;
  for (int round = 0;; ++round) {
    auto summary = analyzer_.recall(origin.text, origin.options, macros, origin.headers.get());
    if (!summary && recallOnly)
      return nullptr;
    if (!summary && options_.progress && reportsToTerminal())
      writeLogOnce(LogLevel::Warn,
                   "analyses the program's kernels, once; later runs find the result");
    if (!summary)
      beside(Beside::Child, [&] {
        summary = analyzer_.analyze(origin.text, origin.options, macros, origin.headers.get());
      });
    if (summary->unknownMacros.empty() || round == mostRounds)
      return summary;
    const Ref<cl_context> keep = retainIfAlive(place.context);
    if (!keep || !macroProbe_.ask(place.context, place.device, origin.options,
                                  summary->unknownMacros, macros))
      return summary;
  }
}

/// Runs on the preparing thread.
std::shared_ptr<const ProgramSummary>
Session::analysisOf(Build& build, const std::shared_ptr<const Origin>& origin,
                    const DeviceMacros& macros, const Place& place, bool recallOnly) {
  auto known = std::find_if(build.analyses.begin(), build.analyses.end(), [&](const auto& entry) {
    return entry.origin == origin && entry.macros == macros;
  });
  if (known != build.analyses.end())
    return known->summary;
  auto failed = [](const std::string& why) {
    auto summary = std::make_shared<ProgramSummary>();
    summary->failure = why;
    return summary;
  };
  // IL is the same for every device.
  const bool isC = isSource(kindOf(origin->text));
  std::shared_ptr<const ProgramSummary> summary;
  DeviceMacros asked = isC ? macros : DeviceMacros{};
  if (isC && !options_.hiddenBuildOptions.empty())
    summary = failed(options_.hiddenBuildOptions + " gives the driver other build options");
  else
    summary = analyze(*origin, asked, place, recallOnly);
  if (!summary)
    return nullptr;
  if (origin->isFlat && !summary->includes.empty())
    summary = failed("the program was made from a binary, and includes other files on this device");
  for (const std::string& option :
       parseBuildOptions(splitOptions(isC ? origin->options : "")).skipped)
    writeLogOnce(LogLevel::Info, "the analysis takes no notice of the build option " + option);
  build.analyses.push_back({origin, macros, summary});
  return summary;
}

/// Runs `work` below the program's own priority, where nobody waits for it. Not idly: it may hold a
/// driver's lock that the program comes to wait for, and on a busy machine an idle thread would not
/// give it back. (A child process holds none.)
void Session::beside(Beside what, const std::function<void()>& work) const {
  constexpr int stepsOfChild = 10, stepsOfBuild = 5;
  if (preparesOnlyWhatPays())
    runBelow(what == Beside::Child ? stepsOfChild : stepsOfBuild, work);
  else
    work();
}

void Session::postPreparation(const std::shared_ptr<Program>& program,
                              const std::shared_ptr<KernelCode>& code, cl_device_id home) {
  code->state = KernelCode::State::Preparing;
  const bool isFirst = !std::exchange(program->build->isPrepared, true);
  program->build->begun.insert(code->name);
  program->build->compiled += code->times.compiling();
  preparer_.post([this, program, build = program->build, code, home, isFirst,
                  keep = Ref<cl_program>::retain(cl_, program->handle)] {
    std::string reason;
    const auto began = std::chrono::steady_clock::now();
    try {
      reason = prepareCode(program, code, home);
    } catch (const std::exception& error) {
      reason = std::string("preparing it failed: ") + error.what();
    }
    Lock done(mutex_);
    if (isFirst && reason.empty())
      notePreparation(std::chrono::steady_clock::now() - began);
    if (!ending_)
      build->begun.erase(code->name);
    if (code->state == KernelCode::State::Preparing) {
      if (reason.empty())
        code->state = KernelCode::State::Ready;
      else
        code->neverSplit(reason);
      log(LogLevel::Info, "kernel ", code->name, ": ",
          reason.empty() ? "can be split" : "not split: " + reason);
    }
    progress_.notify_all();
  });
}

/// What making a program's first kernel ready took, for what may be prepared in this run and later.
void Session::notePreparation(std::chrono::duration<double> took) {
  preparationSeconds_ = hasPrepared_ ? (preparationSeconds_ + took.count()) / 2 : took.count();
  hasPrepared_ = true;
}

void Session::prepare(Lock& lock, const std::shared_ptr<Stream>& stream,
                      const std::shared_ptr<Kernel>& kernel) {
  const std::shared_ptr<KernelCode>& code = kernel->code;
  if (code->state == KernelCode::State::New)
    postPreparation(kernel->program, code, stream->device);
  if (CallbackScope::active())
    return; // it takes what the driver may only do once the callback is over
  auto isOver = [&] { return ending_ || code->state != KernelCode::State::Preparing; };
  if (options_.waitAnalysis)
    progress_.wait(lock, isOver);
  else if (const double gain = std::exchange(code->expectedGain, 0); gain > 0)
    // What is kept of an earlier run is nearly there. To wait for it costs no more than it gains.
    progress_.wait_for(lock, std::chrono::duration<double>(gain), isOver);
}

std::string Session::ensureMachine(cl_context context, cl_device_id home) {
  if (!machine_) {
    auto spec = parseDeviceSpec(options_.devices);
    auto machine = std::make_unique<Machine>(
        cl_,
        Machine::Setup{spec.value_or(DeviceSpec{}), options_.separateNodes, options_.stagingBytes},
        context, home);
    auto speeds = loadSpeeds(*machine);
    Lock lock(mutex_);
    machine_ = std::move(machine);
    knownSpeeds_ = std::move(speeds);
  }
  std::size_t others = 0;
  for (const Device& device : machine_->devices())
    others += device.participates && !device.isHome;
  if (others == 0) {
    writeLogOnce(LogLevel::Warn,
                 "there is no second device to share the work with; programs run unsplit");
    return "there is no second device";
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

/// Not yet built; null if the device does not take programs of this kind.
Ref<cl_program> Session::makeProgram(cl_context context, cl_device_id device,
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
  case ProgramKind::Linked:     // takes more than one call: makeLinked
    break;
  }
  return Ref<cl_program>::adopt(cl_, error == CL_SUCCESS ? made : nullptr);
}

std::unique_ptr<KnownSpeeds> Session::loadSpeeds(const Machine& machine) const {
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

void Session::saveSpeeds() {
  if (!options_.persist || options_.cacheDir.empty())
    return;
  Lock lock(mutex_);
  if (knownSpeeds_ && knownSpeeds_->changed() && !writeSpeeds(options_.cacheDir, *knownSpeeds_))
    log(LogLevel::Info, "can't keep the speeds in ", options_.cacheDir);
}

Ref<cl_program> Session::laneProgram(const Program& program, Build& build, const Origin& origin,
                                     std::size_t device, const ProgramSummary& summary,
                                     bool rewritten) {
  const Device& on = machine_->devices()[device];
  if (on.isHome && !rewritten)
    return Ref<cl_program>::retain(cl_, program.handle);
  auto [entry, isNew] = build.lanePrograms.try_emplace({device, rewritten});
  if (!isNew)
    return entry->second;
  const std::string& source = rewritten                    ? summary.partitionSource
                              : summary.flatSource.empty() ? origin.text
                                                           : summary.flatSource;
  const cl_context context = machine_->contextOf(device, program.context);
  cl_device_id id = on.id.get();
  // The program's own build has told of the warnings already; some drivers print them. The macro is
  // for PoCL, which keeps built kernels by program and options, and gets it wrong when two devices
  // run the same one.
  const std::string ours = " -w -DLIBSPLIT_LANE=" + std::to_string(device);
  const bool isLinked = kindOf(source) == ProgramKind::Linked;
  Ref<cl_program> made;
  if (isLinked)
    beside(Beside::Build, [&] { made = makeLinked(context, id, source, ours); });
  else
    made = makeProgram(context, id, source);
  cl_int error = made ? CL_SUCCESS : CL_INVALID_OPERATION;
  auto buildWith = [&](const std::string& options) {
    return cl_.clBuildProgram(made.get(), 1, &id, options.c_str(), nullptr, nullptr);
  };
  if (made && !isLinked)
    beside(Beside::Build, [&] { error = buildWith(origin.options + ours); });
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

/// The program that has `kernel` for a device. Other devices than home get one text for all
/// kernels.
Ref<cl_program> Session::programFor(const Program& program, Build& build, const Origin& origin,
                                    std::size_t device, const ProgramSummary& summary,
                                    const KernelSummary& kernel) {
  const bool servesAll = !machine_->devices()[device].isHome && isSource(kindOf(origin.text)) &&
                         !summary.partitionSource.empty();
  return laneProgram(program, build, origin, device, summary,
                     kernel.needsPartitionArgument || servesAll);
}

namespace {

const KernelSummary* find(const ProgramSummary& program, const std::string& kernel) {
  for (const KernelSummary& summary : program.kernels)
    if (summary.name == kernel)
      return &summary;
  return nullptr;
}

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

} // namespace

/// The kernel as a device runs it; null if it can't be built there.
std::shared_ptr<LaneKernel> Session::laneKernel(const Program& program, Build& build,
                                                const KernelCode& code, const Origin& origin,
                                                std::size_t device) {
  const KernelSummary& summary = *code.summaries[device];
  const auto owner = std::ranges::find_if(code.owners, [&](const auto& each) {
    return !each->kernels.empty() && &summary >= each->kernels.data() &&
           &summary < each->kernels.data() + each->kernels.size();
  });
  const Ref<cl_program> built = programFor(program, build, origin, device, **owner, summary);
  if (!built)
    return nullptr;
  cl_int error = CL_SUCCESS;
  auto made = std::make_shared<LaneKernel>();
  made->kernel =
      Ref<cl_kernel>::adopt(cl_, cl_.clCreateKernel(built.get(), code.name.c_str(), &error));
  if (error != CL_SUCCESS)
    return nullptr;
  auto ask = [&](cl_kernel_work_group_info name, auto& answer) {
    cl_.clGetKernelWorkGroupInfo(made->kernel.get(), machine_->devices()[device].id.get(), name,
                                 sizeof answer, &answer, nullptr);
  };
  ask(CL_KERNEL_WORK_GROUP_SIZE, made->maxGroup);
  ask(CL_KERNEL_LOCAL_MEM_SIZE, made->localMemory);
  return made;
}

/// In the background, once. Session's lock held.
void Session::buildForLatecomers(const std::shared_ptr<Program>& program,
                                 const std::shared_ptr<KernelCode>& code) {
  if (std::exchange(code->isBuiltForLatecomers, true) || ending_)
    return;
  preparer_.post([this, program, code, build = program->build,
                  keep = Ref<cl_program>::retain(cl_, program->handle)] {
    for (std::size_t i = 0; i < machine_->devices().size() && !ending_; ++i) {
      if (!isLatecomer(i) || !code->summaries[i])
        continue;
      auto made = laneKernel(*program, *build, *code, *code->origin, i);
      Lock lock(mutex_);
      code->kernels[i] = std::move(made);
    }
  });
}

/// Fills in `code`; on failure, why the kernel can't be split. Runs without the lock: nobody else
/// reads what it writes until the state says Ready, but for what it writes last.
std::string Session::prepareCode(const std::shared_ptr<Program>& program,
                                 const std::shared_ptr<KernelCode>& code, cl_device_id home) {
  std::shared_ptr<Build> build;
  std::string opaque;
  {
    Lock lock(mutex_);
    build = program->build;
    opaque = program->opaque;
  }
  auto madeOf = build->origins.find(home);
  if (madeOf == build->origins.end())
    return opaque.empty() ? "the program was not built for this device" : opaque;
  const std::shared_ptr<const Origin> origin = madeOf->second;
  const DeviceMacros macros = deviceMacros(cl_, home);
  if (origin->madeFor && *origin->madeFor != macros)
    return "the program was made from a binary for another device";
  std::shared_ptr<const ProgramSummary> homeProgram =
      analysisOf(*build, origin, macros, {program->context, home});
  const bool isPoclBinary = kindOf(origin->text) == ProgramKind::PoclBinary;
  if (!homeProgram->failure.empty()) {
    if (isPoclBinary)
      writeLogOnce(LogLevel::Warn, foreignBinary);
    return homeProgram->failure;
  }
  const KernelSummary* homeSummary = find(*homeProgram, code->name);
  if (!homeSummary)
    return "the analysis did not find the kernel";
  {
    Lock lock(mutex_);
    noteKinds(*homeSummary, code->kinds);
  }
  if (!homeSummary->obstacles.empty())
    return toString(homeSummary->obstacles.front().reason);
  if (const Access* sum = options_.relaxedFloat ? nullptr : floatSum(*homeSummary))
    return toString(Reason{"floating-point sum by atomics in `" +
                               homeSummary->parameters[sum->parameter].name +
                               "`, whose rounding depends on the order; LIBSPLIT_RELAXED_FP=1 "
                               "splits it",
                           sum->where});
  if (std::string why = ensureMachine(program->context, home); !why.empty())
    return why;

  const auto& devices = machine_->devices();
  auto platformOf = [this](cl_device_id device) {
    return property<cl_platform_id>(cl_.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  };
  code->summaries.assign(devices.size(), nullptr);
  code->kernels.assign(devices.size(), nullptr);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (isPoclBinary && platformOf(devices[i].id.get()) != platformOf(home))
      continue; // the IR in it is for PoCL's own processor
    std::shared_ptr<const ProgramSummary> owner =
        analysisOf(*build, origin, devices[i].macros,
                   {machine_->contextOf(i, program->context), devices[i].id.get()});
    const KernelSummary* summary = find(*owner, code->name);
    if (!owner->failure.empty() || !summary || !summary->obstacles.empty() ||
        summary->parameters.size() != homeSummary->parameters.size())
      continue;
    code->owners.push_back(owner);
    code->summaries[i] = summary;
  }
  // Who joins late anyway holds up nobody, unless there is nobody else.
  std::size_t helpers = 0;
  for (const bool late : {false, true}) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!code->summaries[i] || isLatecomer(i) != late)
        continue;
      if (ending_)
        return "the program ended";
      code->kernels[i] = laneKernel(*program, *build, *code, *origin, i);
      helpers += code->kernels[i] && devices[i].participates && !devices[i].isHome;
    }
    if (!code->kernels[machine_->home()])
      return "its partition-ready form does not build on the program's own device";
    code->isBuiltForLatecomers = late;
    if (helpers > 0 && preparesOnlyWhatPays())
      break;
  }
  if (helpers == 0 && isPoclBinary)
    writeLogOnce(LogLevel::Warn, foreignBinary);
  if (helpers == 0)
    return isPoclBinary
               ? "the program was made from a binary of PoCL, which only PoCL's devices can take"
               : "it does not build on any other device";
  code->comparers.assign(devices.size(), nullptr);
  if (mayBeMerged(*homeSummary))
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (code->summaries[i] && devices[i].node != hostNode)
        code->comparers[i] = merger_.makeComparer(i, program->context);
  code->origin = origin;
  std::vector<bool> writes(homeSummary->parameters.size());
  code->loaded.assign(homeSummary->parameters.size(), false);
  code->decidingScalars = code->loaded;
  for (const KernelSummary* summary : code->summaries)
    if (summary) {
      orInto(writes, writtenParameters(*summary));
      orInto(code->loaded, contentParameters(*summary));
      orInto(code->decidingScalars, decidingScalars(*summary));
    }
  if (options_.inspect && machine_->nodes() > 1) {
    auto inspections = std::make_unique<Inspections>(code->summaries);
    const std::size_t on = machine_->home();
    if (!inspections->empty() &&
        inspections->build(cl_, machine_->contextOf(on, program->context), devices[on].id.get()))
      code->inspections = std::move(inspections);
  }
  code->identity = identityOf(*origin, code->name);
  // Launches that go home meanwhile look at these.
  Lock lock(mutex_);
  code->writes = std::move(writes);
  code->workScalars = workScalars(*homeSummary);
  return {};
}

} // namespace libsplit::runtime
