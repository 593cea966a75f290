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

/// Whether drivers compile the same for both.
bool areAlike(const EnqueuedRange& a, const EnqueuedRange& b) {
  for (std::size_t d = 0; d < a.offset.size(); ++d)
    if ((a.offset[d] != 0) != (b.offset[d] != 0))
      return false;
  return a.global == b.global && a.local == b.local && a.localGiven == b.localGiven;
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

/// Who waits for the analysis has launches split at once.
bool AheadCompiler::isUsed() const {
  return !shared_.options.waitAnalysis && !splitrun_.empty() && !cancelled_;
}

/// Whether its driver compiles in this process for libsplit alone: the program's own device needs
/// nothing of the kind.
bool AheadCompiler::isGuest(const Device& device) const {
  return device.keepsCompiled && !shared_.machine->homeDevice().keepsCompiled;
}

/// Whether the device is one of those that launches are split over.
bool AheadCompiler::takesPart(std::size_t device, const LaunchHistory& history) const {
  const Policy& policy = shared_.options.policy;
  if (policy.kind == Policy::Kind::Static &&
      (device >= policy.shares.size() || policy.shares[device] <= 0))
    return false;
  return (policy.kind != Policy::Kind::Single || policy.device == device) &&
         history.controller->canUse(device) && !shared_.devices()[device].failed;
}

bool AheadCompiler::hasGuest(const LaunchHistory& history) const {
  return anyDevice(
      [&](std::size_t i) { return isGuest(shared_.devices()[i]) && takesPart(i, history); });
}

bool AheadCompiler::holdsBack(const Launch& launch, LaunchHistory& history) {
  if (!isUsed())
    return false;
  const bool isForAll = hasGuest(history);
  if (!isForAll && shared_.options.policy.kind != Policy::Kind::Auto)
    return false;
  LaunchHistory::Compiled& compiled = history.compiled;
  if (!compiled.done || (isForAll && !launch.localGiven && compiled.range != launch.range))
    compiled = {launch.range, begin(ordersFor(launch, history))};
  if (compiled.done->hasFailed())
    return true;
  if (!compiled.done->over())
    return isForAll || isShort(launch, history);
  // What is compiled for other launches takes a processor on which a part of this one would run,
  // and what its parts take would not be seen.
  const auto isProcessor = [&](std::size_t i) {
    return !shared_.devices()[i].isGpu && takesPart(i, history);
  };
  return history.splits == 0 && isAnyUnderWay() && anyDevice(isProcessor) &&
         isShort(launch, history);
}

bool AheadCompiler::mayJoin(std::size_t device, const Launch& launch, LaunchHistory& history) {
  return isCompiled(device, launch, history, 0, [&] {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < shared_.devices().size(); ++i)
      if (i == device || (shared_.devices()[i].participates && !shared_.devices()[i].failed))
        members.push_back(i);
    const auto at = std::ranges::find(members, device) - members.begin();
    return partsOf(launch, history, static_cast<std::size_t>(at), members.size(), true);
  });
}

bool AheadCompiler::mayRehearse(std::size_t device, const Launch& launch, LaunchHistory& history,
                                const GroupBox& box) {
  return isCompiled(device, launch, history, box.groups(),
                    [&] { return std::vector<Part>{{box, launch.plan->dimension}}; });
}

/// Whether what `partsOf()` takes on a device that has joined no launches yet is compiled. `groups`
/// tells parts of one NDRange apart.
template <class PartsOf>
bool AheadCompiler::isCompiled(std::size_t device, const Launch& launch, LaunchHistory& history,
                               std::uint64_t groups, const PartsOf& partsOf) {
  if (!isUsed() || !isGuest(shared_.devices()[device]))
    return true;
  history.joining.resize(shared_.devices().size());
  auto& [compiled, known] = history.joining[device];
  if (!compiled.done || known != groups || (!launch.localGiven && compiled.range != launch.range)) {
    const auto arguments = argumentsOf(launch);
    Work work = arguments ? workFor(device, launch, partsOf(), *arguments) : Work{{}, false};
    known = groups;
    compiled.range = launch.range;
    std::vector<Named> orders;
    if (work.order)
      orders.push_back(std::move(*work.order));
    compiled.done = work.isPossible ? begin(std::move(orders)) : ended(CL_INVALID_OPERATION);
  }
  return compiled.done->over() && !compiled.done->hasFailed();
}

bool AheadCompiler::isAnyUnderWay() const {
  return std::ranges::any_of(begun_, [](const auto& each) { return !each.second->over(); });
}

bool AheadCompiler::forbidsChunks(const Launch& launch, const LaunchHistory& history) const {
  return isUsed() && shared_.options.policy.kind == Policy::Kind::Auto &&
         anyDevice([&](std::size_t i) {
           const Device& device = shared_.devices()[i];
           return device.keepsCompiled && takesPart(i, history) &&
                  (isGuest(device) || isShort(launch, history));
         });
}

std::vector<double> AheadCompiler::aloneOnce(const Launch& launch) const {
  std::vector<double> seconds;
  bool isBehind = false; // another's part lies before its own
  for (const Device& device : shared_.devices()) {
    const bool isAhead = isUsed() && isGuest(device); // that form as well
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

/// Whether it takes less at home than compiling its kernel.
bool AheadCompiler::isShort(const Launch& launch, const LaunchHistory& history) const {
  const double known = history.controller->expectedHomeSeconds();
  const double home = known > 0 ? known : launch.code->times.secondsOf(itemsOf(launch.range));
  return home < compilingSeconds(launch);
}

CompletionPtr AheadCompiler::ended(cl_int status) const {
  auto done = std::make_shared<Completion>(shared_.cl);
  done->finish(status);
  return done;
}

CompletionPtr AheadCompiler::begin(std::vector<Named> orders) {
  if (orders.empty())
    return ended(CL_SUCCESS);
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
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < shared_.devices().size(); ++i)
    if (takesPart(i, history) && launch.code->kernels[i])
      members.push_back(i);
  const auto arguments = argumentsOf(launch);
  std::vector<Named> orders;
  if (members.size() < 2 || !arguments)
    return orders;
  for (std::size_t at = 0; at < members.size(); ++at) {
    const bool isAll = isGuest(shared_.devices()[members[at]]);
    Work work = workFor(members[at], launch, partsOf(launch, history, at, members.size(), isAll),
                        *arguments);
    if (work.order)
      orders.push_back(std::move(*work.order));
  }
  return orders;
}

/// Parts of all forms that the one at `at` of `count` devices may get, the most likely first. With
/// `isForAll` also those that it rarely gets.
std::vector<AheadCompiler::Part> AheadCompiler::partsOf(const Launch& launch,
                                                        const LaunchHistory& history,
                                                        std::size_t at, std::size_t count,
                                                        bool isForAll) {
  const unsigned last = launch.range.dimensions - 1; // contiguous slabs
  const std::optional<unsigned> usual = history.usualDimension(launch.range.dimensions);
  std::vector<unsigned> dimensions{usual.value_or(last)};
  for (unsigned d = 0; d < last; ++d)
    if (isForAll && !usual && !launch.localGiven) // else it is no other form
      dimensions.push_back(d);
  std::vector<Part> parts;
  for (const unsigned d : dimensions) {
    const std::uint64_t groups = launch.range.groups(d);
    if (groups < (isForAll ? 2 : count))
      continue;
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
      parts.push_back({slab(launch.range, d, begin, end), d});
    };
    const std::uint64_t part = std::max<std::uint64_t>(groups / count, 1);
    const std::uint64_t begin = std::min(at * part, groups - 1);
    add(begin, begin + part);
    if (launch.localGiven) // a part may come to be nearly all
      add(at == 0 ? 0 : 1, at == 0 ? groups - 1 : groups);
    if (isForAll) // … or all
      add(0, groups);
  }
  return parts;
}

/// What is left to compile for `parts` on a device.
AheadCompiler::Work
AheadCompiler::workFor(std::size_t index, const Launch& launch, const std::vector<Part>& parts,
                       const std::vector<CompileOrder::Argument>& arguments) const {
  const KernelCode& code = *launch.code;
  const Device& device = shared_.devices()[index];
  const LaneKernel& kernel = *code.kernels[index];
  Work work;
  CompileOrder order;
  if (!device.keepsCompiled || parts.empty())
    return work;
  if (!kernel.madeOf ||
      std::sscanf(device.label.c_str(), "%u.%u", &order.platform, &order.device) != 2)
    return {{}, false};
  order.text = kernel.madeOf->text;
  order.options = kernel.madeOf->options;
  order.kernel = code.name;
  order.arguments = arguments;
  order.dimensions = launch.range.dimensions;
  const KernelSummary& summary = *code.summaries[index];
  for (const auto& [box, dimension] : parts) {
    const PieceRange range =
        launch.localGiven ? PieceRange{enqueuedRange(launch.range, true, box), {}}
                          : pieceRange(launch.range, false, box, dimension,
                                       groupLimits(code, shared_.devices()), summary.idsFromGroups);
    // The driver would choose a local size for just this NDRange: who runs all of it, runs it.
    if (!range.body.localGiven && isGuest(device)) {
      work.isPossible = false;
      continue;
    }
    std::vector<EnqueuedRange> forms = leastLike(range.body, dimension);
    forms.insert(forms.end(), range.rests.begin(), range.rests.end());
    for (const EnqueuedRange& form : forms)
      if (std::ranges::none_of(order.launches, [&](const auto& o) { return areAlike(o, form); }))
        order.launches.push_back(form);
  }
  if (order.launches.empty())
    return work;
  if (summary.needsPartitionArgument) {
    const PartitionArgument partition = partitionOf(launch.range, parts.front().box);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&partition);
    order.arguments.push_back(
        {CompileOrder::Argument::Kind::Value, sizeof partition, {bytes, bytes + sizeof partition}});
  }
  std::string name = nameOf(order, device.driver);
  if (const double left = patienceLeft(cache_.read(name)); left > 0)
    work.order = Named{std::move(order), std::move(name), left};
  return work;
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
