#include "runtime/session/preparer.h"

#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/cost/preparation.h"
#include "runtime/session/launch.h"
#include "runtime/session/splittable.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

namespace libsplit::runtime {

namespace {

bool preparesOnlyWhatPays(const Options& options) {
  return options.policy.kind == Policy::Kind::Auto && !options.waitAnalysis;
}

} // namespace

Preparer::Preparer(Shared& shared, const DiskCache& cache, BinaryOrigins& binaries,
                   const Contexts& contexts, Merger& merger)
    : shared_(shared), cl_(shared.cl), options_(shared.options), cache_(cache), binaries_(binaries),
      contexts_(contexts), onlyWhatPays_(preparesOnlyWhatPays(options_)), earlierRuns_(cache),
      trial_(cl_, options_, cache, shared.ending),
      analyses_(cl_, options_, cache, trial_, onlyWhatPays_,
                [&contexts](cl_context context) { return contexts.retainIfAlive(context); }),
      kernels_(shared, analyses_, trial_, merger, onlyWhatPays_) {}

// --- what the program does

void Preparer::building(const std::shared_ptr<Program>& program) {
  auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, program->context, CL_CONTEXT_DEVICES);
  const cl_device_id home = shared_.home;
  cl_device_id device = home ? home : devices.empty() ? nullptr : devices[0];
  auto origin = program->build->origins.find(device);
  if (origin == program->build->origins.end())
    return;
  const bool isHomeKnown = home || (devices.size() == 1 && contexts_.count() < 2);
  // Neither program nor context are retained: the program may count their references.
  auto ahead = [this, device, isHomeKnown, program, build = program->build,
                origin = origin->second] {
    const Place place{program->context, device};
    const bool goesOn = onlyWhatPays_ && recallLaunches(build, *origin);
    auto summary = analyses_.of(*build, origin, deviceMacros(cl_, device), place,
                                /*recallOnly=*/onlyWhatPays_ && !goesOn);
    {
      const Lock lock(shared_.mutex);
      build->isAnalysed = summary != nullptr;
      if (summary)
        std::erase_if(build->begunEarlier, [&](const std::string& name) {
          const KernelSummary* kernel = summary->failure.empty() ? summary->find(name) : nullptr;
          return !kernel || !kernel->obstacles.empty();
        });
    }
    if (!onlyWhatPays_)
      return;
    lookForOthers();
    if (summary && isHomeKnown)
      prepareAhead(program, build, *origin, summary, place);
  };
  // Where no thread is to be had, it comes when a kernel is launched.
  if (worker_.post(ahead) && !cacheTrimmed_)
    cacheTrimmed_ = worker_.post([this] { cache_.trim({}); });
}

/// What earlier runs left of the program's launches. Whether some of its kernels had paid for being
/// prepared when the last one ended, and this one seems to last for long enough.
bool Preparer::recallLaunches(const std::shared_ptr<Build>& build, const Origin& origin) {
  EarlierLaunches earlier = earlierRuns_.launchesOf(origin);
  const std::optional<double> preparation = earlierRuns_.preparation();
  const std::optional<double> splitting = earlierRuns_.splitting(options_.devices);
  const double idle = idleLately();
  const Lock lock(shared_.mutex);
  if (splitting)
    shared_.splitCost.begin(*splitting);
  if (preparation && !std::exchange(hasPrepared_, true))
    preparationSeconds_ = *preparation;
  if (!idleBefore_)
    idleBefore_ = idle;
  build->earlierSeconds = earlier.seconds;
  build->earlierCompiling = earlier.compiling;
  build->earlierBuilding = earlier.building;
  build->earlierLife = earlier.life;
  build->heldUp = earlier.heldUp;
  build->earlierKernels = std::move(earlier.kernels);
  // Also what is launched so rarely that it could never be prepared in time.
  const double cost = preparingAll(*build);
  for (const auto& [name, kernel] : build->earlierKernels)
    if (runtime::isWorthPreparing(kernel.seconds, 0, build->earlierSeconds, cost,
                                  preparationPart(idle)))
      earlier.begun.insert(name);
  build->begun.insert(earlier.begun.begin(), earlier.begun.end());
  if (const double delay = holdUp(*build, cost); affords(*build, delay) && !earlier.begun.empty()) {
    build->heldUp += delay;
    build->begunEarlier = std::move(earlier.begun);
  }
  constexpr std::size_t mostBuilds = 256;
  if (unprepared_.size() < mostBuilds)
    unprepared_.push_back(build);
  return !build->begunEarlier.empty();
}

/// Kernels that gained in an earlier run, or had paid for being prepared when it ended, are made
/// ready before they are launched. Runs on the worker, while the driver still builds the program.
void Preparer::prepareAhead(const std::shared_ptr<Program>& program,
                            const std::shared_ptr<Build>& build, const Origin& origin,
                            const std::shared_ptr<const ProgramSummary>& summary,
                            const Place& place) {
  if (!shared_.machine && build->begunEarlier.empty()) {
    // Drivers of other devices are not started for what nothing is known of.
    const auto speeds = options_.persist ? readFile(options_.cacheDir + "/speeds") : std::nullopt;
    if (!speeds || std::ranges::none_of(summary->kernels, [&](const KernelSummary& kernel) {
          return speeds->find(identityOf(origin, kernel.name)) != std::string::npos;
        }))
      return;
  }
  const Ref<cl_context> keep = contexts_.retainIfAlive(place.context);
  if (!keep || !kernels_.ensureMachine(place.context, place.device).empty())
    return;
  std::map<std::string, double> gains;
  {
    const Lock lock(shared_.mutex);
    const KnownSpeeds& speeds = *shared_.knownSpeeds;
    for (const KernelSummary& kernel : summary->kernels) {
      const std::string identity = identityOf(origin, kernel.name);
      if (const double gain = speeds.gain(identity); gain > 0)
        gains[kernel.name] = gain;
      else if (speeds.isOpen(identity, shared_.shortestLaunch()) ||
               (build->begunEarlier.contains(kernel.name) && !speeds.knows(identity)))
        gains[kernel.name] = guessedGainOf(*build, kernel.name);
      else if (speeds.knows(identity))
        build->begun.erase(kernel.name);
    }
    // What one kernel leaves on several devices others should find there.
    if (std::ranges::any_of(gains, [](const auto& each) { return each.second > 0; }))
      for (const KernelSummary& kernel : summary->kernels)
        if (speeds.knows(identityOf(origin, kernel.name)))
          gains.try_emplace(kernel.name, 0);
  }
  kernels_.buildAhead(*program, *build, origin, place, gains);
  const Lock lock(shared_.mutex);
  build->gains = std::move(gains);
  if (program->build != build || program->isGone())
    return;
  for (const auto& [name, code] : program->codes)
    if (auto gain = build->gains.find(name);
        gain != build->gains.end() && code->state == KernelCode::State::New) {
      code->expectedGain = gain->second;
      static_cast<void>(begin(program, code, place.device));
    }
}

/// What a launch of the kernel may wait for, of which nobody knows whether it gains: nothing,
/// unless it is likely to be ready by then.
double Preparer::guessedGainOf(const Build& build, const std::string& kernel) const {
  const auto before = build.earlierKernels.find(kernel);
  if (before == build.earlierKernels.end() || before->second.launches == 0)
    return 0;
  const double each = before->second.seconds / static_cast<double>(before->second.launches);
  const double gain = guessedGain(each, promiseOfOthers());
  return gain > preparing(build) && affords(build, build.heldUp) ? gain : 0;
}

void Preparer::created(const std::shared_ptr<Program>& program,
                       const std::shared_ptr<KernelCode>& code) {
  const auto& gains = program->build->gains;
  const auto gain = gains.find(code->name);
  if (gain == gains.end() || code->state != KernelCode::State::New || !shared_.home)
    return;
  code->expectedGain = gain->second;
  static_cast<void>(begin(program, code, shared_.home));
}

bool Preparer::launches(const Kernel& kernel, const LaunchArguments& arguments) {
  if (!launchUse_) {
    launchUse_.emplace();
    homeIsGpu_ = (property<cl_device_type>(cl_.clGetDeviceInfo, shared_.home, CL_DEVICE_TYPE) &
                  CL_DEVICE_TYPE_GPU) != 0;
    homeAtOnce_ = groupsAtOnce(
        property<cl_uint>(cl_.clGetDeviceInfo, shared_.home, CL_DEVICE_MAX_COMPUTE_UNITS),
        homeIsGpu_);
  }
  LaunchTimes& times = kernel.code->times;
  const double before = times.seconds();
  const bool isWanted = times.launched(itemsOf(arguments));
  kernel.code->makesTinyGroups =
      kernel.code->makesTinyGroups || (isWanted && makesTinyGroups(arguments));
  Build& build = *kernel.program->build;
  build.launchSeconds += times.seconds() - before;
  build.kernelSeconds[kernel.code->name] = times.seconds();
  return isWanted;
}

/// By the driver's choice of a local size, as far as one knows before the kernel is ready.
bool Preparer::makesTinyGroups(const LaunchArguments& arguments) const {
  if (arguments.local || !homeIsGpu_ || options_.localSize != LocalSize::Auto ||
      options_.policy.kind != Policy::Kind::Auto)
    return false;
  const NDRange range = rangeOf(arguments);
  ShapeSearch::Limits limits;
  limits.dimensions = range.dimensions;
  limits.global = range.global;
  constexpr std::uint64_t usual = 1024;
  limits.most = {usual, {usual, usual, usual}};
  limits.atOnce = homeAtOnce_;
  return ShapeSearch::isDriversTiny(limits);
}

void Preparer::launchTook(KernelCode& code, Build& build, std::uint64_t items,
                          double seconds) const {
  const double before = code.times.seconds();
  const double compiling = code.times.compiling();
  code.times.took(items, seconds, shared_.shortestLaunch(), !homeIsGpu_);
  build.launchSeconds += code.times.seconds() - before;
  build.kernelSeconds[code.name] = code.times.seconds();
  build.compiling += code.times.compiling() - compiling;
}

void Preparer::keepOrigin(const std::string& binary, const std::shared_ptr<Build>& build,
                          const std::shared_ptr<const Origin>& made, const Place& place) {
  if (kindOf(made->text) == ProgramKind::PoclBinary)
    return; // as much is known of the next
  auto origin = std::make_shared<Origin>(*made);
  if (!origin->madeFor)
    origin->madeFor = deviceMacros(cl_, place.device);
  binaries_.note(binary, origin);
  if (!mayReadFiles(*origin)) {
    binaries_.keep(binary, *origin);
    return;
  }
  {
    const Lock lock(shared_.mutex);
    ++unkeptOrigins_;
  }
  auto pending = std::shared_ptr<void>(nullptr, [this](void*) {
    const Lock lock(shared_.mutex);
    --unkeptOrigins_;
    shared_.progress.notify_all();
  });
  auto flatten = [this, binary, build, made, origin, place, pending = std::move(pending)] {
    auto summary = analyses_.of(*build, made, *origin->madeFor, place);
    if (!summary->failure.empty())
      return;
    Origin flat = *origin;
    flat.isFlat = true;
    flat.headers = nullptr;
    if (!summary->flatSource.empty())
      flat.text = summary->flatSource;
    binaries_.keep(binary, flat);
  };
  if (!worker_.post(std::move(flatten)))
    log(LogLevel::Info, "where a binary came from is forgotten: there is no thread to be had");
}

// --- what is prepared

/// What it seems to take until the program is analysed and built for another device.
double Preparer::preparing(const Build& build) const {
  const double building = std::max(build.seconds, build.earlierBuilding);
  if (build.isAnalysed && (shared_.machine || build.analysing == 0))
    return building;
  return std::max(building, preparationSeconds_ - build.analysing); // the machine is to be met, too
}

namespace {

/// Since the driver has built it; what compiling its kernels took is not counted.
double lifeOf(const Build& build) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - build.begin;
  return std::max(0.0, passed.count() - build.seconds - build.compiling);
}

} // namespace

/// Seconds by which the program may be held up at its end by what takes `cost`.
double Preparer::holdUp(const Build& build, double cost) const {
  return runtime::holdUp(lifeOf(build), build.earlierLife,
                         cost / preparationPart(idleBefore_.value_or(0)));
}

bool Preparer::affords(const Build& build, double holdUp) {
  return holdUp == 0 ||
         build.heldUp + holdUp <= heldUpPart * (build.launchSeconds + build.earlierSeconds);
}

/// What it takes to prepare the first kernel of a build, its others following.
double Preparer::preparingAll(const Build& build) const {
  return preparing(build) + std::max(build.compiling, build.earlierCompiling);
}

bool Preparer::isWorthPreparing(const KernelCode& code, const Build& build) {
  const double cost = build.isPrepared ? 0 : preparingAll(build);
  const double launches = build.launchSeconds + build.earlierSeconds;
  const auto before = build.earlierKernels.find(code.name);
  const double kernel =
      code.times.seconds() +
      (before == build.earlierKernels.end() ? 0 : std::max(0.0, before->second.seconds));
  const double promised = promise(code);
  KernelStats* stats = code.stats.get();
  auto isWorth = [&](double part) {
    part *= promised;
    if (stats) {
      stats->tookUnprepared = launches;
      stats->enoughToPrepare = part > 0 ? cost / part : -1;
    }
    return runtime::isWorthPreparing(kernel, code.times.compiling(), launches, cost, part) ||
           (build.isPrepared && isWorthPreparingToo(code.times, launches, build.compiled, part));
  };
  // It takes a system call to know.
  return isWorth(idlePart) && launchUse_ && isWorth(preparationPart(launchUse_->idle()));
}

/// Of the machine's other devices; all, until it is met. Groups that are not tiny promise as much
/// on any machine.
double Preparer::promise(const KernelCode& code) const {
  return code.makesTinyGroups ? 1 : promiseOfOthers();
}

double Preparer::promiseOfOthers() const {
  const auto& machine = shared_.machine;
  return machine ? promiseOf(guessedPartOf(machine->devices(),
                                           [&](std::size_t i) { return i != machine->home(); }))
                 : 1;
}

bool Preparer::latecomersPay(double seconds) const {
  const Machine& machine = *shared_.machine;
  const double part = guessedPartOf(
      machine.devices(), [&](std::size_t i) { return isLatecomer(machine, options_.policy, i); });
  return preparationSeconds_ <= busyPart * promiseOf(part) * seconds;
}

/// What devices there are. Those of drivers that the program may not have begun to use are looked
/// at only if somebody wants to be told of it. Runs on the worker.
void Preparer::lookForOthers() {
  {
    const Lock lock(shared_.mutex);
    if (listed_)
      return;
  }
  cl_uint platforms = 0;
  cl_.clGetPlatformIDs(0, nullptr, &platforms);
  if (platforms != 1 && !options_.wantsStats())
    return;
  auto listed = listDevices(cl_);
  const Lock lock(shared_.mutex);
  listed_ = std::move(listed);
}

bool Preparer::isAlone(cl_device_id device) {
  if (listed_ && (!alone_ || alone_->first != device))
    alone_ = {device, !hasOthers(*listed_, parseDeviceSpec(options_.devices).value_or(DeviceSpec{}),
                                 device)};
  return alone_ && alone_->second;
}

/// Why the kernel is not even prepared for `device` now, if so.
const char* Preparer::whyUnprepared(const Kernel& kernel, cl_device_id device) {
  KernelCode& code = *kernel.code;
  if (code.state != KernelCode::State::New || !onlyWhatPays_ || kernel.program->isForeign)
    return nullptr;
  Build& build = *kernel.program->build;
  if (build.begunEarlier.contains(code.name)) { // and was about to be begun
    code.expectedGain = guessedGainOf(build, code.name);
    return nullptr;
  }
  const bool isWorth = isWorthPreparing(code, build);
  const double delay =
      isWorth ? holdUp(build, build.isPrepared ? code.times.compiling() : preparingAll(build)) : 0;
  const bool endsTooSoon = !affords(build, delay);
  if (endsTooSoon)
    build.begun.insert(code.name); // by the next run
  if (isWorth && !endsTooSoon) {
    build.heldUp += delay;
    return nullptr;
  }
  if (isAlone(device))
    return noSecondDevice;
  const bool areTooShort = code.times.areTooShort();
  if (!areTooShort)
    analyseAhead(kernel, device);
  if (endsTooSoon)
    return endsBefore;
  if (areTooShort)
    return tooShortToSplit;
  return code.times.knowsCompiling() ? notWorthPreparing : notTimedYet;
}

/// Has the program analysed, if its launches took a part of what would pay for all of preparing,
/// and nobody needs the processor: the program's launches go on, and it is broken off when the
/// program ends. What else is to be prepared comes behind it.
void Preparer::analyseAhead(const Kernel& kernel, cl_device_id device) {
  const std::shared_ptr<Build>& build = kernel.program->build;
  if (build->isAnalysed || build->isAnalysedAhead || !launchUse_ || unkeptOrigins_ > 0 ||
      !isWorthAnalysing(build->launchSeconds + build->earlierSeconds, preparing(*build)) ||
      launchUse_->idle() < 1)
    return;
  const auto origin = build->origins.find(device);
  if (origin == build->origins.end())
    return;
  // As when it is built, neither program nor context are retained.
  build->isAnalysedAhead = worker_.post(
      [this, build, origin = origin->second, place = Place{kernel.program->context, device}] {
        const auto began = std::chrono::steady_clock::now();
        static_cast<void>(analyses_.of(*build, origin, deviceMacros(cl_, place.device), place));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        const Lock lock(shared_.mutex);
        build->isAnalysed = true;
        build->analysing = took.count();
      });
}

std::string Preparer::whyNotReady(Lock& lock, const Kernel& kernel, cl_device_id device) {
  using State = KernelCode::State;
  const std::shared_ptr<KernelCode>& code = kernel.code;
  const std::shared_ptr<Program>& program = kernel.program;
  if (code->state == State::New && program->isForeign) {
    writeLogOnce(LogLevel::Warn, foreignBinary);
    code->neverSplit(program->opaque);
  }
  if (const char* why = whyUnprepared(kernel, device))
    return why;
  if (code->state == State::New && !begin(program, code, device))
    return noThread;
  if (code->state == State::Preparing)
    await(lock, *code);
  if (code->state == State::Preparing)
    return program->build->isAnalysed ? notBuiltYet : notAnalysedYet;
  if (code->state == State::New)
    return notWorthPreparing; // by what was found out of the machine meanwhile
  return code->state == State::Unsplittable ? code->reason : std::string();
}

std::string Preparer::whyNeverReady(Lock& lock, const Kernel& kernel, cl_device_id device) {
  using State = KernelCode::State;
  const std::shared_ptr<KernelCode>& code = kernel.code;
  if (code->state == State::New && kernel.program->isForeign)
    code->neverSplit(kernel.program->opaque);
  const bool isOpen = code->state == State::New || code->state == State::Preparing;
  if (isOpen && CallbackScope::active())
    return notBuiltYet; // it takes what the driver may only do once the callback is over
  if (code->state == State::New && !begin(kernel.program, code, device))
    return noThread;
  shared_.progress.wait(lock, [&] { return shared_.ending || code->state != State::Preparing; });
  if (code->state == State::Ready)
    return {};
  return code->state == State::Unsplittable ? code->reason : notBuiltYet;
}

bool Preparer::awaitMachine(Lock& lock, cl_context context, cl_device_id home) {
  if (shared_.machine)
    return true;
  if (CallbackScope::active())
    return false;
  auto over = std::make_shared<bool>(false);
  // Also if it throws, or is never run.
  auto atEnd = std::shared_ptr<void>(nullptr, [this, over](void*) {
    const Lock done(shared_.mutex);
    *over = true;
    shared_.progress.notify_all();
  });
  lock.unlock();
  const bool isPosted = worker_.post([this, context, home, atEnd = std::move(atEnd)] {
    static_cast<void>(kernels_.ensureMachine(context, home));
  });
  lock.lock();
  shared_.progress.wait(lock, [&] { return !isPosted || *over || shared_.ending; });
  return shared_.machine != nullptr;
}

void Preparer::await(Lock& lock, KernelCode& code) {
  if (CallbackScope::active())
    return; // it takes what the driver may only do once the callback is over
  auto isOver = [&] { return shared_.ending || code.state != KernelCode::State::Preparing; };
  if (options_.waitAnalysis)
    shared_.progress.wait(lock, isOver);
  else if (const double gain = std::exchange(code.expectedGain, 0); gain > 0)
    // What is kept of an earlier run is nearly there. To wait for it costs no more than it gains.
    if (!shared_.progress.wait_for(lock, std::chrono::duration<double>(gain), isOver))
      if (const auto program = code.program.lock())
        program->build->heldUp += gain;
}

/// False: there is no thread to be had.
bool Preparer::begin(const std::shared_ptr<Program>& program,
                     const std::shared_ptr<KernelCode>& code, cl_device_id device) {
  code->state = KernelCode::State::Preparing;
  code->isBeingPrepared = true;
  const double compiling = code->times.compiling();
  program->build->begun.insert(code->name);
  program->build->compiled += compiling;
  const bool isCertain =
      !onlyWhatPays_ || shared_.machine || program->build->begunEarlier.contains(code->name);
  auto prepare = [this, program, build = program->build, code, device, compiling, isCertain,
                  keep = Ref<cl_program>::retain(cl_, program->handle)] {
    std::string reason;
    bool isFirst = false;
    const auto began = std::chrono::steady_clock::now();
    try {
      reason = prepareNow(*program, *code, device, isCertain, isFirst);
    } catch (const std::exception& error) {
      reason = std::string("preparing it failed: ") + error.what();
    }
    const Lock lock(shared_.mutex);
    code->isBeingPrepared = false;
    if (isFirst && reason.empty())
      notePreparation(std::chrono::steady_clock::now() - began +
                      std::chrono::duration<double>(build->analysing));
    if (!shared_.ending)
      build->begun.erase(code->name);
    if (reason == notWorthPreparing)
      build->compiled -= compiling;
    if (code->state != KernelCode::State::Preparing) {
      // It became known meanwhile that it is never to be split.
    } else if (reason == notWorthPreparing) {
      code->state = KernelCode::State::New;
    } else {
      if (reason.empty())
        code->state = KernelCode::State::Ready;
      else
        code->neverSplit(reason);
      build->prepared[code->name] = reason.empty();
      log(LogLevel::Info, "kernel ", code->name, ": ",
          reason.empty() ? "can be split" : "not split: " + reason);
    }
    shared_.progress.notify_all();
  };
  if (worker_.post(std::move(prepare)))
    return true;
  code->state = KernelCode::State::New; // another time
  code->isBeingPrepared = false;
  program->build->compiled -= compiling;
  return false;
}

/// `isCertain`: it pays. Else the machine was not met yet when that was judged, and its devices may
/// promise less. `isFirst` gets whether it is the first of its build.
std::string Preparer::prepareNow(const Program& program, KernelCode& code, cl_device_id device,
                                 bool isCertain, bool& isFirst) {
  std::shared_ptr<Build> build;
  std::string opaque;
  {
    const Lock lock(shared_.mutex);
    build = program.build;
    opaque = program.opaque;
    if (!build->doubt.empty())
      return build->doubt;
  }
  KernelPreparer::Analysed analysed;
  if (std::string why = kernels_.analyse(program, *build, code, device, opaque, analysed);
      !why.empty())
    return why;
  {
    const Lock lock(shared_.mutex);
    if (!isCertain && !isWorthPreparing(code, *build))
      return notWorthPreparing;
    isFirst = !std::exchange(build->isPrepared, true);
  }
  return kernels_.build(program, *build, code, analysed);
}

/// What making a program's first kernel ready took, for what may be prepared in this run and later.
void Preparer::notePreparation(std::chrono::duration<double> took) {
  preparationSeconds_ = hasPrepared_ ? (preparationSeconds_ + took.count()) / 2 : took.count();
  hasPrepared_ = true;
}

void Preparer::buildForLatecomers(const std::shared_ptr<Program>& program,
                                  const std::shared_ptr<KernelCode>& code) {
  if (code->isBuiltForLatecomers || shared_.ending)
    return;
  code->isBuiltForLatecomers = worker_.post([this, program, code, build = program->build,
                                             keep = Ref<cl_program>::retain(cl_, program->handle)] {
    kernels_.buildLate(*program, *build, *code);
  });
}

CompletionPtr Preparer::buildWindowed(const std::shared_ptr<Program>& program,
                                      const std::shared_ptr<KernelCode>& code, std::size_t device) {
  CompletionPtr& built = code->windowed[device].built;
  if (built || shared_.ending)
    return built;
  auto over = std::make_shared<Completion>(cl_);
  // Also if it throws, or is never run.
  auto atEnd = std::shared_ptr<void>(nullptr, [over](void*) { over->finish(CL_SUCCESS); });
  if (worker_.post([this, program, code, device, atEnd = std::move(atEnd), build = program->build,
                    keep = Ref<cl_program>::retain(cl_, program->handle)] {
        auto made = kernels_.buildWindowed(*program, *build, *code, device);
        const Lock lock(shared_.mutex);
        if (const auto asked = code->windowed.find(device); asked != code->windowed.end())
          asked->second.kernel = std::move(made); // else they were dropped meanwhile
      }))
    built = over;
  return built;
}

void Preparer::letGo(const std::shared_ptr<Build>& build) {
  if (shared_.machine && !shared_.ending) // else there is nothing, or it goes with the process
    static_cast<void>(worker_.post([build] { build->lanePrograms.clear(); }));
}

void Preparer::awaitPrepared(Lock& lock, const Program& program) const {
  shared_.progress.wait(lock, [&] { return shared_.ending || !program.isBeingPrepared(); });
}

void Preparer::explain(Lock& lock, const Program& program,
                       const std::shared_ptr<const Origin>& origin, cl_device_id device,
                       const std::vector<std::string>& words) {
  auto over = std::make_shared<std::atomic<bool>>(false);
  // Also if it throws, or is never run.
  auto atEnd = std::shared_ptr<void>(nullptr, [over](void*) { *over = true; });
  static_cast<void>(worker_.post([this, atEnd = std::move(atEnd), words, origin,
                                  place = Place{program.context, device},
                                  keep = Ref<cl_program>::retain(cl_, program.handle)] {
    writeReport(analyses_.explain(*origin, place, words));
  }));
  constexpr auto often = std::chrono::milliseconds(20);
  while (!*over && !shared_.ending)
    shared_.progress.wait_for(lock, often);
}

// --- the end

void Preparer::stop(Lock& lock) {
  // Forgetting where a binary came from would cost every later run its splits.
  shared_.progress.wait_for(lock, std::chrono::seconds(5), [&] { return unkeptOrigins_ == 0; });
  analyses_.cancel();
  lock.unlock();
  worker_.stop(30);
  lock.lock();
}

namespace {

/// What the kernel's launches took, if they were timed as long as it was not prepared; else as many
/// as it had of those of the run before.
double secondsToKeep(const Build& build, const std::string& kernel, std::uint64_t launches) {
  constexpr double never = -1;
  const auto before = build.earlierKernels.find(kernel);
  const bool hasBefore = before != build.earlierKernels.end() && before->second.launches > 0;
  const auto prepared = build.prepared.find(kernel);
  if (prepared == build.prepared.end() ? hasBefore && before->second.seconds < 0
                                       : !prepared->second)
    return never;
  const auto now = build.kernelSeconds.find(kernel);
  if (now != build.kernelSeconds.end() && now->second > 0)
    return now->second;
  return hasBefore ? std::max(0.0, before->second.seconds) * static_cast<double>(launches) /
                         static_cast<double>(before->second.launches)
                   : 0;
}

/// Kernels that were begun, and of which this run does not say whether they gain: they were not
/// ready at its end, or too late for a launch to be split.
std::set<std::string> begunWithoutVerdict(const Build& build, const Origin& origin,
                                          const KnownSpeeds* speeds) {
  std::set<std::string> names = build.begun;
  for (const auto& [name, canBeSplit] : build.prepared)
    if (canBeSplit && !(speeds && speeds->knows(identityOf(origin, name))))
      names.insert(name);
  return names;
}

} // namespace

void Preparer::save() {
  saveSpeeds(shared_);
  // By program: what is known of the last build counts.
  std::map<std::string, std::pair<std::shared_ptr<const Origin>, EarlierLaunches>> entries;
  std::optional<double> preparation, splitting;
  {
    const Lock lock(shared_.mutex);
    for (const auto& build : unprepared_) {
      if (build->launchSeconds == 0 && build->begun == build->begunEarlier)
        continue;
      std::map<std::string, EarlierLaunches::Kernel> kernels;
      for (const auto& [name, stats] : build->kernels)
        kernels[name] = {stats->launches, secondsToKeep(*build, name, stats->launches)};
      for (const auto& [device, origin] : build->origins)
        entries[identityOf(*origin, "")] = {
            origin,
            {build->earlierSeconds + build->launchSeconds,
             std::max(build->compiling, build->earlierCompiling),
             buildingSeconds(build->seconds, build->earlierBuilding), lifeOf(*build), build->heldUp,
             begunWithoutVerdict(*build, *origin, shared_.knownSpeeds.get()), kernels}};
    }
    if (hasPrepared_)
      preparation = preparationSeconds_;
    splitting = shared_.splitCost.toKeep();
  }
  for (const auto& [identity, entry] : entries)
    earlierRuns_.keep(*entry.first, entry.second);
  if (preparation)
    earlierRuns_.keepPreparation(*preparation);
  if (splitting)
    earlierRuns_.keepSplitting(options_.devices, *splitting);
}

} // namespace libsplit::runtime
