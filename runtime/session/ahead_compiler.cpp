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
  return shared_.options.policy.kind == Policy::Kind::Auto && !shared_.options.waitAnalysis &&
         !splitrun_.empty();
}

bool AheadCompiler::holdsBack(const Launch& launch, LaunchHistory& history) {
  if (!history.compiled)
    history.compiled = begin(launch, history);
  if (history.compiled->hasFailed())
    return true;
  // What is compiled for other launches takes a processor on which a part of this one would run,
  // and what its parts take would not be seen.
  const bool isDisturbed = history.splits == 0 && isAnyUnderWay() && usesProcessors();
  return (!history.compiled->over() || isDisturbed) && isShort(launch, history);
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
  return isUsed() && isShort(launch, history) &&
         std::ranges::any_of(shared_.devices(), [](const Device& device) {
           return device.participates && device.keepsCompiled;
         });
}

std::vector<double> AheadCompiler::aloneOnce(const Launch& launch) const {
  std::vector<double> seconds;
  bool isBehind = false; // another's part lies before its own
  for (const Device& device : shared_.devices()) {
    const bool mustCompile = device.keepsCompiled && !device.isHome && isBehind;
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

/// Whether it takes less at home than that.
bool AheadCompiler::isShort(const Launch& launch, const LaunchHistory& history) const {
  const double known = history.controller->expectedHomeSeconds();
  const double home = known > 0 ? known : launch.code->times.secondsOf(itemsOf(launch.range));
  return home < compilingSeconds(launch);
}

CompletionPtr AheadCompiler::begin(const Launch& launch, const LaunchHistory& history) {
  if (!isUsed() || cancelled_)
    return nothingToDo(shared_.cl);
  std::vector<Named> orders = ordersFor(launch, history);
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
  const KernelCode& code = *launch.code;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].participates && !devices[i].failed && code.kernels[i] &&
        !isLatecomer(*shared_.machine, shared_.options.policy, i))
      members.push_back(i);
  const unsigned dimension = history.usualDimension(launch.range.dimensions)
                                 .value_or(launch.range.dimensions - 1); // contiguous slabs
  const std::uint64_t groups = launch.range.groups(dimension);
  const auto arguments = argumentsOf(launch);
  if (members.size() < 2 || groups < members.size() || !arguments)
    return {};
  std::vector<Named> orders;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Device& device = devices[members[m]];
    const LaneKernel& kernel = *code.kernels[members[m]];
    CompileOrder order;
    if (!device.keepsCompiled || !kernel.madeOf ||
        std::sscanf(device.label.c_str(), "%u.%u", &order.platform, &order.device) != 2)
      continue;
    order.text = kernel.madeOf->text;
    order.options = kernel.madeOf->options;
    order.kernel = code.name;
    order.arguments = *arguments;
    order.dimensions = launch.range.dimensions;
    const KernelSummary& summary = *code.summaries[members[m]];
    const std::uint64_t part = groups / members.size();
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
      const GroupBox box = slab(launch.range, dimension, begin, end);
      const PieceRange range = launch.localGiven
                                   ? PieceRange{enqueuedRange(launch.range, true, box), {}}
                                   : pieceRange(launch.range, false, box, dimension,
                                                groupLimits(code, devices), summary.idsFromGroups);
      std::vector<EnqueuedRange> forms = leastLike(range.body, dimension);
      forms.insert(forms.end(), range.rests.begin(), range.rests.end());
      std::ranges::copy_if(forms, std::back_inserter(order.launches), [&](const auto& form) {
        return std::ranges::find(order.launches, form) == order.launches.end();
      });
      return box;
    };
    const GroupBox box = add(m * part, (m + 1) * part);
    if (launch.localGiven) // a part may come to be nearly all
      add(m == 0 ? 0 : 1, m == 0 ? groups - 1 : groups);
    if (summary.needsPartitionArgument) {
      const PartitionArgument partition = partitionOf(launch.range, box);
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&partition);
      order.arguments.push_back({CompileOrder::Argument::Kind::Value,
                                 sizeof partition,
                                 {bytes, bytes + sizeof partition}});
    }
    std::string name = nameOf(order, device.driver);
    if (const double left = patienceLeft(cache_.read(name)); left > 0)
      orders.push_back({std::move(order), std::move(name), left});
  }
  return orders;
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
