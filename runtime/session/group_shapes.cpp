#include "runtime/session/group_shapes.h"

#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/session/splittable.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Split launches before which the solver is left alone with what it learns.
constexpr std::uint64_t splitsBefore = 8;

/// The kernel as the program made it runs the whole NDRange in that many launches, of which the
/// last one's event stands for all.
bool mayBeInParts(const KernelSummary& summary, const Stream& stream, bool tellsTimes) {
  return !summary.needsPartitionArgument && !summary.idsFromGroups && stream.inOrder && !tellsTimes;
}

/// Work-items and seconds of what the first device of a kind did of the launch; no items: nothing,
/// or nobody knows.
struct Done {
  double items = 0, seconds = 0;
};

Done doneBy(const Launch& launch, std::span<const Device> devices, unsigned kind) {
  Done done;
  std::optional<std::size_t> first;
  for (const LaunchIssued& issued : launch.issued) {
    if (devices[issued.device].kind != kind || issued.device != first.value_or(issued.device))
      continue;
    first = issued.device;
    const auto seconds = issued.kernel->secondsAtWork();
    if (!seconds || issued.isRedone)
      return {};
    done.seconds += *seconds;
    done.items += static_cast<double>(issued.groupEnd - issued.groupBegin) /
                  static_cast<double>(launch.range.groups(launch.plan->dimension)) *
                  static_cast<double>(itemsOf(launch.range));
  }
  return done;
}

} // namespace

GroupLimits groupLimits(const KernelCode& code, std::span<const Device> devices) {
  GroupLimits limits{~std::uint64_t{0}, {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto& kernel = code.kernels[i];
    const std::vector<std::size_t>& most = devices[i].maxItems;
    if (!kernel)
      continue;
    limits.items = std::min<std::uint64_t>(limits.items, kernel->maxGroup);
    if (const auto windowed = code.windowed.find(i);
        windowed != code.windowed.end() && windowed->second.kernel)
      limits.items = std::min<std::uint64_t>(limits.items, windowed->second.kernel->maxGroup);
    for (std::size_t d = 0; d < 3 && d < most.size(); ++d)
      limits.byDimension[d] = std::min<std::uint64_t>(limits.byDimension[d], most[d]);
  }
  return limits;
}

ShapeSearch::Limits GroupShapes::limitsOf(const KernelCode& code, const NDRange& range,
                                          std::size_t device) const {
  const Device& on = machine_->devices()[device];
  ShapeSearch::Limits limits;
  limits.dimensions = range.dimensions;
  limits.global = range.global;
  limits.most = groupLimits(code, machine_->devices());
  if (code.ownMostItems > 0)
    limits.most.items = std::min<std::uint64_t>(limits.most.items, code.ownMostItems);
  if (const auto& kernel = code.kernels[device]; kernel && kernel->width > 0)
    limits.width = kernel->width;
  limits.driverMustDivide = !on.nonUniformGroups || !asksForUneven(*code.origin);
  return limits;
}

ShapeSearches::Key GroupShapes::keyOf(KernelCode& code, const NDRange& range,
                                      const std::string& name, std::size_t device) const {
  return {name, code.shapes.isTiny(limitsOf(code, range, device)),
          machine_->devices()[device].kind};
}

/// And has its kernels still.
bool GroupShapes::isReady(const KernelCode& code) const {
  return machine_ && code.state == KernelCode::State::Ready &&
         code.kernels.size() == machine_->devices().size();
}

bool GroupShapes::isOpen(const Launch& launch) const {
  return !launch.localGiven && options_.localSize == LocalSize::Auto && launch.reason.empty() &&
         isReady(*launch.code) && !launch.code->summaries[machine_->home()]->idsFromGroups;
}

template <class Visit> void GroupShapes::ofEachKind(const KernelCode& code, Visit visit) const {
  const std::vector<Device>& devices = machine_->devices();
  std::vector<unsigned> seen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].isGpu || !code.kernels[i] || std::ranges::count(seen, devices[i].kind) > 0)
      continue;
    seen.push_back(devices[i].kind);
    if (visit(i))
      return;
  }
}

ShapeSearch GroupShapes::searchFor(const Stream& stream, const Launch& launch,
                                   const ShapeSearches::Key& key, std::size_t device) const {
  const KernelCode& code = *launch.code;
  ShapeSearch::Limits limits = limitsOf(code, launch.range, device);
  // Where launches go to the driver one by one, it is in one part.
  limits.mustDivide =
      !key.isTiny && !mayBeInParts(*code.summaries[machine_->home()], stream, stream.profiled);
  ShapeSearch::Known known;
  if (const auto& record = launch.code->histories.at(launch.key).record)
    if (const auto found = record->shapes.find({key.kind, key.isTiny});
        found != record->shapes.end())
      known = found->second;
  return {limits, known};
}

/// Whether a launch that stays at home must not go to the driver as it came: that would make tiny
/// groups, and in parts the program's own kernel can't be launched.
bool GroupShapes::needsTask(const Stream& stream, const Launch& launch,
                            const ShapeSearches::Key& key, const ShapeSearch& search) const {
  return key.isTiny && !search.shape().isOpen() &&
         !mayBeInParts(*launch.code->summaries[machine_->home()], stream, stream.profiled) &&
         !shapedRange(launch.range, wholeBox(launch.range), search.shape()).rests.empty();
}

/// The first device of that kind that takes part in the launch, which is split, has so much of it.
double GroupShapes::partOf(const Launch& launch, unsigned kind) const {
  const std::vector<Device>& devices = machine_->devices();
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].kind == kind && launch.shares[i] > 0)
      return launch.shares[i];
  return 0;
}

bool GroupShapes::holdsUp(const Launch& launch) const {
  const LaunchHistory& history = launch.code->histories.at(launch.key);
  const double home = history.controller ? history.controller->expectedHomeSeconds() : 0;
  // While it is at work, the host makes two tasks or more of what comes behind it.
  return home < 2 * shared_.splitCost.shortestBehind();
}

void GroupShapes::decide(const Stream& stream, Launch& launch, bool mayHoldUp) const {
  using Action = ShareController::Action;
  if (!isOpen(launch))
    return;
  KernelCode& code = *launch.code;
  const LaunchHistory& history = code.histories.at(launch.key);
  const bool isSplit = launch.action == Action::Split;
  // What a solver or a controller asked for is theirs.
  const bool mayTry = options_.policy.kind == Policy::Kind::Auto && !options_.verify &&
                      history.controller && launch.range.groups() > 1 &&
                      (isSplit ? history.splits >= splitsBefore
                               : launch.action == Action::Native && !launch.isHeldBack &&
                                     (mayHoldUp || !holdsUp(launch)));
  ofEachKind(code, [&](std::size_t device) {
    const Device& on = machine_->devices()[device];
    const auto key = keyOf(code, launch.range, launch.key.range, device);
    ShapeSearch& search = code.shapes.at(key, [&] {
      const ShapeSearch made = searchFor(stream, launch, key, device);
      note(launch, on, made);
      return made;
    });
    const double part = isSplit ? partOf(launch, key.kind) : on.isHome ? 1 : 0;
    if (part <= 0)
      return false;
    auto shape =
        mayTry ? search.next(part * static_cast<double>(itemsOf(launch.range))) : std::nullopt;
    if (!shape && launch.action == Action::Native && needsTask(stream, launch, key, search))
      shape = search.shape();
    if (shape)
      launch.shapeTrial = {key.kind, key.isTiny, *shape};
    return shape.has_value();
  });
  if (!launch.shapeTrial)
    return;
  log(LogLevel::Debug, "kernel ", code.name, " tries work-groups of ",
      [&] { return toString(launch.shapeTrial->shape, launch.range.dimensions); });
  launch.ticket = {}; // what it takes says nothing of its cycle
  if (!isSplit)
    launch.action = Action::Measure;
}

GroupShape GroupShapes::of(const Launch& launch, const Device& device) const {
  if (!isOpen(launch) || !device.isGpu)
    return {};
  if (launch.shapeTrial && launch.shapeTrial->kind == device.kind)
    return launch.shapeTrial->shape;
  const auto index = static_cast<std::size_t>(&device - machine_->devices().data());
  const ShapeSearch* search =
      launch.code->shapes.find(keyOf(*launch.code, launch.range, launch.key.range, index));
  return search ? search->shape() : GroupShape{};
}

std::optional<PieceRange> GroupShapes::atHome(KernelCode& code, const NDRange& range,
                                              bool localGiven, const Stream& stream,
                                              bool tellsTimes) const {
  if (localGiven || options_.localSize != LocalSize::Auto || code.shapes.isEmpty() ||
      !isReady(code) || stream.device != shared_.home || !machine_->homeDevice().isGpu)
    return {};
  const std::size_t home = machine_->home();
  const KernelSummary* summary = code.summaries[home];
  if (!summary || summary->dependsOnGroups || summary->requiredLocal[0] != 0)
    return {};
  for (unsigned d = 0; d < range.dimensions; ++d)
    if (range.global[d] == 0 || range.offset[d] + range.global[d] < range.offset[d])
      return {}; // the driver is to say so
  const ShapeSearch* search =
      code.shapes.find(keyOf(code, range, code.histories.nameOf(range, false), home));
  if (!search || search->shape().isOpen())
    return {};
  PieceRange made = shapedRange(range, wholeBox(range), search->shape());
  if (!made.rests.empty() && !mayBeInParts(*summary, stream, tellsTimes))
    return {};
  return made;
}

std::optional<PieceRange> GroupShapes::atHome(const Kernel& kernel,
                                              const LaunchArguments& arguments,
                                              const Stream& stream, bool tellsTimes) const {
  if (arguments.local || !isRange(arguments))
    return {};
  return atHome(*kernel.code, rangeOf(arguments), false, stream, tellsTimes);
}

void GroupShapes::pass(const Launch& launch) const {
  if (launch.shapeTrial)
    launch.code->shapes.observe(
        {launch.key.range, launch.shapeTrial->isTiny, launch.shapeTrial->kind},
        launch.shapeTrial->shape, ShapeSearch::Form::Whole, 0, 0);
}

void GroupShapes::observe(const Launch& launch) const {
  if (!isOpen(launch) || !launch.plan || launch.isChunked)
    return;
  KernelCode& code = *launch.code;
  ofEachKind(code, [&](std::size_t device) {
    const Device& on = machine_->devices()[device];
    const auto key = keyOf(code, launch.range, launch.key.range, device);
    const ShapeSearch* search = code.shapes.find(key);
    const bool isTrial = launch.shapeTrial && launch.shapeTrial->kind == on.kind;
    // Else it is not known which it had.
    if (!search || search->isOver() || (!isTrial && launch.shapesVersion != code.shapes.version()))
      return false;
    const GroupShape before = search->shape();
    const Done done = doneBy(launch, machine_->devices(), on.kind);
    const GroupShape& shape = isTrial ? launch.shapeTrial->shape : before;
    log(
        LogLevel::Debug, "kernel ", code.name, ": work-groups of ",
        [&] { return toString(shape, launch.range.dimensions); }, ": ", done.items,
        " work-items in ", done.seconds, " s");
    const auto form = launch.wasSplit ? ShapeSearch::Form::Pieces : ShapeSearch::Form::Whole;
    const double gain = code.shapes.observe(key, shape, form, done.items, done.seconds);
    if (gain != 1)
      adopt(launch, on, before, *search, gain);
    if (LaunchHistory& history = code.histories.at(launch.key); history.record) {
      history.record->shapes[{key.kind, key.isTiny}] = search->known();
      shared_.knownSpeeds->touch(*history.record);
    }
    return false;
  });
}

/// In the statistics.
void GroupShapes::note(const Launch& launch, const Device& device,
                       const ShapeSearch& search) const {
  if (device.kind == machine_->homeDevice().kind)
    launch.code->stats->ranges[launch.key.range].groupShape =
        search.shape().isOpen() ? "" : toString(search.shape(), launch.range.dimensions);
}

/// Launches of that NDRange have groups of another size from now on.
void GroupShapes::adopt(const Launch& launch, const Device& device, const GroupShape& before,
                        const ShapeSearch& search, double gain) const {
  KernelCode& code = *launch.code;
  const unsigned dimensions = launch.range.dimensions;
  log(LogLevel::Info, "kernel ", code.name, " over ", launch.key.range, ", device ", device.label,
      ": work-groups of ", toString(search.shape(), dimensions), " take ", 1 / gain,
      " of the time of ", toString(before, dimensions));
  note(launch, device, search);
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i)
    if (machine_->devices()[i].kind == device.kind)
      alike.push_back(i);
  code.histories.ofRange(launch.key.range, [&](LaunchHistory& history) {
    if (history.controller)
      history.controller->change(alike, 1 / gain);
    if (history.record)
      history.record->change(alike, machine_->home(), 1 / gain);
  });
}

} // namespace libsplit::runtime
