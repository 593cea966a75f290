#include "runtime/session/ahead_compiler.h"

#include "analysis-pass/summary/partition_argument.h"
#include "runtime/core/child_process.h"
#include "runtime/core/log.h"
#include "runtime/plan/piece_range.h"
#include "runtime/program/driver_trial.h"
#include "runtime/session/executor.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <new>
#include <utility>

namespace libsplit::runtime {

namespace {

CompletionPtr nothingToDo(const Dispatch& cl) {
  auto done = std::make_shared<Completion>(cl);
  done->finish(CL_SUCCESS);
  return done;
}

/// Under which it is noted that it was carried out: what a driver may compile for.
std::string nameOf(const CompileOrder& order, const std::string& driver) {
  std::vector<std::string> parts{order.text, order.options, order.kernel, driver};
  for (const EnqueuedRange& each : order.launches) {
    std::string form = each.localGiven ? "given" : "open";
    for (std::size_t d = 0; d < 3; ++d)
      form += ' ' + std::to_string(each.offset[d] != 0) + ' ' + std::to_string(each.global[d]) +
              ' ' + std::to_string(each.local[d]);
    parts.push_back(std::move(form));
  }
  return hashOf(parts) + ".compiled";
}

} // namespace

AheadCompiler::AheadCompiler(Shared& shared, const DiskCache& cache)
    : shared_(shared), cache_(cache), splitrun_(splitrunOf(shared.options)) {}

/// Who asks for launches to be split at once has his way.
bool AheadCompiler::isUsed() const {
  return (shared_.options.policy.kind == Policy::Kind::Auto || isForeignToProgram()) &&
         !shared_.options.waitAnalysis && !splitrun_.empty();
}

/// Whether the program would have none of these drivers compile anything.
bool AheadCompiler::isForeignToProgram() const {
  bool isForeign = false;
  for (const Device& device : shared_.devices()) {
    if (device.isHome && device.keepsCompiled)
      return false;
    isForeign = isForeign || (device.participates && !device.failed && device.keepsCompiled);
  }
  return isForeign;
}

bool AheadCompiler::holdsBack(const Launch& launch, LaunchHistory& history) {
  if (!history.compiled)
    history.compiled = begin(launch, history);
  if (history.compiled->hasFailed())
    return true;
  // What is compiled for other launches takes a processor on which a part of this one would run,
  // and what its parts take would not be seen.
  const bool isDisturbed = history.splits == 0 && isAnyUnderWay() && usesProcessors();
  return (!history.compiled->over() || isDisturbed) && mustWait(launch, history);
}

bool AheadCompiler::mayJoin(std::size_t device, const Launch& launch, LaunchHistory& history,
                            const GroupBox* rehearsed) {
  if (!isUsed() || !isForeignToProgram() || !shared_.devices()[device].keepsCompiled)
    return true;
  history.joining.resize(shared_.devices().size());
  auto& [groups, compiled] = history.joining[device];
  const std::uint64_t wanted = rehearsed ? rehearsed->groups() : 0;
  if (!compiled || groups != wanted) {
    Parts parts = partsOf(launch, history);
    std::size_t at = 0;
    for (std::size_t i = 0; i < shared_.devices().size(); ++i) {
      at = i == device ? parts.devices.size() : at;
      if (i == device || (shared_.devices()[i].participates && !shared_.devices()[i].failed))
        parts.devices.push_back(i);
    }
    const auto arguments = argumentsOf(launch);
    if (!arguments || cancelled_)
      return false;
    std::vector<Named> orders;
    if (auto order = orderFor(launch, parts, at, *arguments, rehearsed))
      orders.push_back(std::move(*order));
    groups = wanted;
    compiled = begin(std::move(orders));
  }
  return compiled->over() && !compiled->hasFailed();
}

bool AheadCompiler::isAnyUnderWay() const {
  return std::ranges::any_of(begun_, [](const auto& each) { return !each.second->over(); });
}

/// Whether launches may be split over the processors that compile.
bool AheadCompiler::usesProcessors() const {
  return std::ranges::any_of(shared_.devices(), [](const Device& device) {
    return device.participates && !device.failed && !device.isGpu;
  });
}

bool AheadCompiler::forbidsChunks(const Launch& launch, const LaunchHistory& history) const {
  return isUsed() && shared_.options.policy.kind == Policy::Kind::Auto &&
         mustWait(launch, history) &&
         std::ranges::any_of(shared_.devices(), [](const Device& device) {
           return device.participates && device.keepsCompiled;
         });
}

std::vector<double> AheadCompiler::aloneOnce(const Launch& launch) const {
  std::vector<double> seconds;
  bool isBehind = false; // another's part lies before its own
  const bool isAhead = isUsed() && isForeignToProgram();
  for (const Device& device : shared_.devices()) {
    const bool mustCompile = device.keepsCompiled && !device.isHome && isBehind && !isAhead;
    seconds.push_back(mustCompile ? compilingSeconds(launch) : 0);
    isBehind = isBehind || (device.participates && !device.failed);
  }
  return seconds;
}

/// What compiling its kernel for a device takes, as far as one knows.
double AheadCompiler::compilingSeconds(const Launch& launch) {
  const Build& build = *launch.program->build;
  return std::max({build.compiling, build.earlierCompiling, guessedPreparation});
}

/// Whether it takes less at home than that, or what compiles may end the program.
bool AheadCompiler::mustWait(const Launch& launch, const LaunchHistory& history) const {
  if (isForeignToProgram())
    return true;
  const double known = history.controller->expectedHomeSeconds();
  const double home = known > 0 ? known : launch.code->times.secondsOf(itemsOf(launch.range));
  return home < compilingSeconds(launch);
}

CompletionPtr AheadCompiler::begin(const Launch& launch, const LaunchHistory& history) {
  if (!isUsed() || cancelled_)
    return nothingToDo(shared_.cl);
  return begin(ordersFor(launch, history));
}

CompletionPtr AheadCompiler::begin(std::vector<Named> orders) {
  if (orders.empty())
    return nothingToDo(shared_.cl);
  std::vector<std::string> names;
  for (const Named& each : orders)
    names.push_back(each.name);
  auto done = std::make_shared<Completion>(shared_.cl);
  const auto [begun, isNew] = begun_.try_emplace(std::move(names), done);
  if (!isNew) // launches of another size may take the same
    return begun->second;
  auto job = [this, done, orders = std::move(orders)]() mutable {
    cl_int status = CL_SUCCESS;
    try {
      status = carryOut(std::move(orders));
    } catch (const std::exception& error) {
      log(LogLevel::Info, "nothing is compiled ahead: ", error.what());
    }
    done->finish(status);
  };
  bool isTaken = false;
  try {
    isTaken = worker_.post(std::move(job));
  } catch (const std::bad_alloc&) {
  }
  if (!isTaken) // nobody waits for what nobody does
    done->finish(CL_SUCCESS);
  return done;
}

/// The program's arguments; nothing if some are not of kinds that another process can have.
std::optional<std::vector<CompileOrder::Argument>>
AheadCompiler::argumentsOf(const Launch& launch) {
  using Argument = CompileOrder::Argument;
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const MemoryObject* object = launch.objects[i].get();
    const runtime::Argument& given = launch.arguments[i];
    if ((object && object->buffer->isImage()) || launch.keepsSamplers.contains(i))
      return std::nullopt;
    Argument& made = arguments.emplace_back();
    if (object || launch.code->kinds[i] == ArgumentKind::Memory) {
      made = {Argument::Kind::Buffer, object ? object->size : 0};
    } else if (given.isLocal()) {
      made = {Argument::Kind::Local, given.size};
    } else {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(given.value.view().data());
      made = {Argument::Kind::Value, given.size, {bytes, bytes + given.value.view().size()}};
    }
  }
  return arguments;
}

/// For each device whose driver keeps what it compiles: its part of the launch, were all alike.
std::vector<AheadCompiler::Named> AheadCompiler::ordersFor(const Launch& launch,
                                                           const LaunchHistory& history) const {
  const std::vector<Device>& devices = shared_.machine->devices();
  Parts parts = partsOf(launch, history);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].participates && !devices[i].failed && launch.code->kernels[i] &&
        !isLatecomer(*shared_.machine, shared_.options.policy, i))
      parts.devices.push_back(i);
  const auto arguments = argumentsOf(launch);
  std::vector<Named> orders;
  if (parts.devices.size() < 2 || parts.groups < parts.devices.size() || !arguments)
    return orders;
  for (std::size_t at = 0; at < parts.devices.size(); ++at)
    if (auto order = orderFor(launch, parts, at, *arguments, nullptr))
      orders.push_back(std::move(*order));
  return orders;
}

AheadCompiler::Parts AheadCompiler::partsOf(const Launch& launch, const LaunchHistory& history) {
  const unsigned dimension = history.usualDimension(launch.range.dimensions)
                                 .value_or(launch.range.dimensions - 1); // contiguous slabs
  return {dimension, launch.range.groups(dimension), {}};
}

/// What is left to compile of the part of the device at `at`, and of `box`, if that is one.
std::optional<AheadCompiler::Named>
AheadCompiler::orderFor(const Launch& launch, const Parts& parts, std::size_t at,
                        const std::vector<CompileOrder::Argument>& arguments,
                        const GroupBox* box) const {
  const std::vector<Device>& devices = shared_.machine->devices();
  const KernelCode& code = *launch.code;
  const std::size_t index = parts.devices[at];
  const Device& device = devices[index];
  const LaneKernel& kernel = *code.kernels[index];
  CompileOrder order;
  if (!device.keepsCompiled || !kernel.madeOf ||
      std::sscanf(device.label.c_str(), "%u.%u", &order.platform, &order.device) != 2)
    return std::nullopt;
  order.text = kernel.madeOf->text;
  order.options = kernel.madeOf->options;
  order.kernel = code.name;
  order.arguments = arguments;
  order.dimensions = launch.range.dimensions;
  const KernelSummary& summary = *code.summaries[index];
  const auto add = [&](const GroupBox& piece) {
    const PieceRange range = launch.localGiven
                                 ? PieceRange{enqueuedRange(launch.range, true, piece), {}}
                                 : pieceRange(launch.range, false, piece, parts.dimension,
                                              groupLimits(code, devices), summary.idsFromGroups);
    std::vector<EnqueuedRange> forms = leastLike(range.body, parts.dimension);
    forms.insert(forms.end(), range.rests.begin(), range.rests.end());
    std::ranges::copy_if(forms, std::back_inserter(order.launches), [&](const auto& form) {
      return std::ranges::find(order.launches, form) == order.launches.end();
    });
  };
  const auto addSlab = [&](std::uint64_t begin, std::uint64_t end) {
    add(slab(launch.range, parts.dimension, begin, end));
  };
  const std::uint64_t part = std::max<std::uint64_t>(parts.groups / parts.devices.size(), 1);
  const std::uint64_t begin = std::min(at * part, parts.groups - 1);
  addSlab(begin, begin + part);
  if (launch.localGiven && parts.groups > 1) // a part may come to be nearly all
    addSlab(at == 0 ? 0 : 1, at == 0 ? parts.groups - 1 : parts.groups);
  if (isForeignToProgram()) // … or all
    addSlab(0, parts.groups);
  if (box)
    add(*box);
  if (summary.needsPartitionArgument) {
    const PartitionArgument partition =
        partitionOf(launch.range, slab(launch.range, parts.dimension, begin, begin + part));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&partition);
    order.arguments.push_back(
        {CompileOrder::Argument::Kind::Value, sizeof partition, {bytes, bytes + sizeof partition}});
  }
  std::string name = nameOf(order, device.driver);
  const double left = patienceLeft(cache_.read(name));
  if (!(left > 0))
    return std::nullopt;
  return Named{std::move(order), std::move(name), left};
}

/// On the worker's thread. An error if the driver would end the process that has it compile; else,
/// whatever came of it, it can do so in the launch.
cl_int AheadCompiler::carryOut(std::vector<Named> orders) const {
  std::vector<CompileOrder> all;
  double patience = patienceWithCompiling;
  for (Named& each : orders) {
    all.push_back(std::move(each.order));
    patience = std::min(patience, each.left);
  }
  const ChildResult child = runChild({splitrun_, "--compile-ahead"}, serialize(all), patience,
                                     &cancelled_, {}, Parent::Nobody);
  const bool isDone = child.output == allCompiled;
  if (cancelled_ && !isDone) {
    for (const Named& each : orders)
      cache_.write(each.name, brokenOffAfter(patienceWithCompiling - each.left + child.spent));
    return CL_SUCCESS;
  }
  if (child.output == driverGaveUp) { // here and now: nothing is noted for other processes
    log(LogLevel::Info, "kernel ", all.front().kernel,
        " stays at home: the driver can't compile it");
    return CL_COMPILER_NOT_AVAILABLE;
  }
  if (isDone)
    log(LogLevel::Info, "kernel ", all.front().kernel, " is compiled for launches that are split");
  else // of which another try would make no more
    log(LogLevel::Info, "kernel ", all.front().kernel, ": what compiles it ahead ",
        child.succeeded ? "failed" : child.failure);
  for (const Named& each : orders)
    cache_.write(each.name, isDone ? wasCompiled : wasTried);
  return CL_SUCCESS;
}

void AheadCompiler::stop() {
  cancelled_ = true;
  worker_.stop(2);
}

} // namespace libsplit::runtime
