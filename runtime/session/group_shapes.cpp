#include "runtime/session/group_shapes.h"

#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/session/splittable.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Split launches before which the solver is left alone with what it learns.
constexpr std::uint64_t splitsBefore = 8;

/// Work-items and seconds of what the first device of a kind did of the launch; no items: nothing,
/// or nobody knows.
struct Done {
  double items = 0, seconds = 0;
};

Done doneBy(const Launch& launch, std::span<const Device> devices, unsigned kind) {
  Done done;
  std::optional<std::size_t> first;
  std::optional<DeviceInterval> span; // several may be at work at once
  for (const LaunchIssued& issued : launch.issued) {
    if (devices[issued.device].kind != kind || issued.device != first.value_or(issued.device))
      continue;
    first = issued.device;
    const auto seconds = issued.kernel->secondsAtWork();
    const auto interval = issued.kernel->interval();
    if (!seconds || !interval || issued.isRedone)
      return {};
    span = DeviceInterval::around(span, *interval);
    done.seconds += *seconds;
    done.items += static_cast<double>(issued.groupEnd - issued.groupBegin) /
                  static_cast<double>(launch.range.groups(launch.plan->dimension)) *
                  static_cast<double>(itemsOf(launch.range));
  }
  if (span)
    done.seconds = std::min(done.seconds, span->seconds());
  return done;
}

PieceRange wholeRange(const NDRange& range, const GroupShape& shape) {
  return shapedRange(range, wholeBox(range), shape);
}

/// Whether all of it, in groups of that size, is more than one launch of the driver's.
bool needsSeveral(const NDRange& range, const GroupShape& shape) {
  return !shape.isOpen() && !wholeRange(range, shape).rests.empty();
}

} // namespace

GroupLimits groupLimits(const KernelCode& code, std::span<const Device> devices) {
  GroupLimits limits{~std::uint64_t{0}, {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto& kernel = code.kernels[i];
    const std::vector<std::size_t>& most = devices[i].maxItems;
    if (!kernel)
      continue;
    const auto limit = [&limits](std::size_t items) { // 0: the driver does not say
      limits.items = items > 0 ? std::min<std::uint64_t>(limits.items, items) : limits.items;
    };
    limit(kernel->maxGroup);
    if (const auto windowed = code.windowed.find(i);
        windowed != code.windowed.end() && windowed->second.kernel)
      limit(windowed->second.kernel->maxGroup);
    for (std::size_t d = 0; d < 3 && d < most.size(); ++d)
      limits.byDimension[d] = most[d] > 0 ? std::min<std::uint64_t>(limits.byDimension[d], most[d])
                                          : limits.byDimension[d];
  }
  return limits;
}

ShapeSearch::Limits GroupShapes::limitsOf(const KernelCode& code, const NDRange& range,
                                          std::size_t device) const {
  constexpr std::uint64_t usual = 256; // that any GPU takes
  const Device& on = machine_->devices()[device];
  ShapeSearch::Limits limits;
  limits.dimensions = range.dimensions;
  limits.global = range.global;
  limits.most = groupLimits(code, machine_->devices());
  if (code.ownMostItems > 0)
    limits.most.items = std::min<std::uint64_t>(limits.most.items, code.ownMostItems);
  if (limits.most.items == ~std::uint64_t{0})
    limits.most.items = usual;
  if (const auto& kernel = code.kernels[device]; kernel && kernel->width > 0)
    limits.width = kernel->width;
  limits.atOnce = groupsAtOnce(on);
  limits.driverMustDivide = !on.nonUniformGroups || !asksForUneven(*code.origin);
  return limits;
}

ShapeSearches::Key GroupShapes::keyOf(KernelCode& code, const NDRange& range,
                                      const std::string& name, std::size_t device,
                                      bool isWhole) const {
  const unsigned kind = machine_->devices()[device].kind;
  const bool isTiny =
      code.shapes.isTiny(range.global, kind, [&] { return limitsOf(code, range, device); });
  return {name, isTiny, isWhole, kind};
}

/// And has its kernels still.
bool GroupShapes::isReady(const KernelCode& code) const {
  return machine_ && code.state == KernelCode::State::Ready &&
         code.kernels.size() == machine_->devices().size();
}

bool GroupShapes::isOpen(const Launch& launch) const {
  return !launch.localGiven && options_.localSize == LocalSize::Auto && launch.reason.empty() &&
         isReady(*launch.code) && !launch.code->summaries[machine_->home()]->idsFromGroups &&
         !launch.code->summaries[machine_->home()]->dependsOnGroupsIfShared;
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

ShapeSearch& GroupShapes::searchOf(const Launch& launch, const ShapeSearches::Key& key,
                                   std::size_t device) const {
  KernelCode& code = *launch.code;
  return code.shapes.at(key, [&] {
    ShapeSearch::Limits limits = limitsOf(code, launch.range, device);
    // Where launches go to the driver one by one, it is in one part.
    limits.mustDivide = key.isWhole && !key.isTiny;
    ShapeSearch::Known known;
    ShapeSearches::Key kept = key;
    kept.range.clear();
    if (const auto& record = code.histories.at(launch.key).record)
      if (const auto found = record->shapes.find(kept); found != record->shapes.end())
        known = found->second;
    const ShapeSearch made(limits, known);
    note(launch, key, made);
    return made;
  });
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

void GroupShapes::decide(Launch& launch, bool mayHoldUp) const {
  using Action = ShareController::Action;
  if (!isOpen(launch))
    return;
  KernelCode& code = *launch.code;
  const LaunchHistory& history = code.histories.at(launch.key);
  const bool isSplit = launch.action == Action::Split;
  const bool isNative = launch.action == Action::Native;
  // What a solver or a controller asked for is theirs.
  const bool mayTry = options_.policy.kind == Policy::Kind::Auto && !options_.verify &&
                      history.controller && launch.range.groups() > 1 &&
                      (isSplit ? history.splits >= splitsBefore : isNative && !launch.isHeldBack);
  const bool costsOthers = !isSplit && !mayHoldUp && holdsUp(launch);
  ofEachKind(code, [&](std::size_t device) {
    const Device& on = machine_->devices()[device];
    const bool isHomes = on.kind == machine_->homeDevice().kind;
    const auto key = keyOf(code, launch.range, launch.key.range, device, !isSplit);
    auto other = key;
    other.isWhole = isSplit;
    searchOf(launch, other, device);
    ShapeSearch& search = searchOf(launch, key, device);
    const double part = isSplit ? partOf(launch, on.kind) : isHomes ? 1 : 0;
    if (part <= 0)
      return false;
    const bool isInParts = isNative && key.isTiny && needsSeveral(launch.range, search.shape());
    if (mayTry && (isInParts || !costsOthers)) // a task it is then in any case
      if (const auto shape = search.next(part * static_cast<double>(itemsOf(launch.range))))
        launch.shapeTrial = std::make_unique<const Launch::ShapeTrial>(key, *shape);
    launch.needsParts = isInParts && !launch.shapeTrial;
    return launch.shapeTrial != nullptr;
  });
  if (launch.shapeTrial)
    log(LogLevel::Debug, "kernel ", code.name, " tries work-groups of ",
        [&] { return toString(launch.shapeTrial->shape, launch.range.dimensions); });
  if (!launch.shapeTrial && !launch.needsParts)
    return;
  launch.ticket = {}; // what it takes says nothing of its cycle
  if (!isSplit)
    launch.action = Action::Measure;
}

GroupShape GroupShapes::of(const Launch& launch, const Device& device, bool isWhole) const {
  if (!isOpen(launch) || !device.isGpu)
    return {};
  const auto index = static_cast<std::size_t>(&device - machine_->devices().data());
  const auto key = keyOf(*launch.code, launch.range, launch.key.range, index, isWhole);
  if (launch.shapeTrial && launch.shapeTrial->key == key)
    return launch.shapeTrial->shape;
  const ShapeSearch* search = std::as_const(launch.code->shapes).find(key);
  return search ? search->shape() : GroupShape{};
}

/// For a launch that leaves its local size open; nothing: none is chosen.
std::optional<PieceRange> GroupShapes::chosenAtHome(KernelCode& code, const NDRange& range) const {
  if (options_.localSize != LocalSize::Auto || code.shapes.isEmpty() || !isReady(code) ||
      !machine_->homeDevice().isGpu)
    return {};
  const std::size_t home = machine_->home();
  const KernelSummary* summary = code.summaries[home];
  if (!summary || summary->dependsOnGroups || summary->dependsOnGroupsIfShared ||
      summary->requiredLocal[0] != 0)
    return {};
  for (unsigned d = 0; d < range.dimensions; ++d)
    if (range.global[d] == 0 || range.offset[d] + range.global[d] < range.offset[d])
      return {}; // the driver is to say so
  const auto key = keyOf(code, range, code.histories.nameOf(range, false), home, true);
  const ShapeSearch* search = std::as_const(code.shapes).find(key);
  if (!search || search->shape().isOpen())
    return {};
  PieceRange chosen = wholeRange(range, search->shape());
  // Another NDRange of the class may not be divided by what is best for the first.
  return key.isTiny || chosen.rests.empty() ? std::optional(std::move(chosen)) : std::nullopt;
}

std::optional<EnqueuedRange> GroupShapes::atHome(KernelCode& code, const NDRange& range,
                                                 bool localGiven, const Stream& stream) const {
  if (localGiven || stream.device != shared_.home)
    return {};
  const std::optional<PieceRange> chosen = chosenAtHome(code, range);
  return chosen && chosen->rests.empty() ? std::optional(chosen->body) : std::nullopt;
}

std::optional<EnqueuedRange> GroupShapes::atHome(const Kernel& kernel,
                                                 const LaunchArguments& arguments,
                                                 const Stream& stream) const {
  if (arguments.local || !isRange(arguments))
    return {};
  return atHome(*kernel.code, rangeOf(arguments), false, stream);
}

bool GroupShapes::needsParts(KernelCode& code, const NDRange& range, bool localGiven) const {
  if (localGiven)
    return false;
  const std::optional<PieceRange> chosen = chosenAtHome(code, range);
  return chosen && !chosen->rests.empty();
}

void GroupShapes::pass(const Launch& launch) const {
  if (launch.shapeTrial)
    launch.code->shapes.observe(launch.shapeTrial->key, launch.shapeTrial->shape, 0, 0);
}

void GroupShapes::observe(const Launch& launch) const {
  if (!isOpen(launch) || !launch.plan || launch.isChunked)
    return;
  KernelCode& code = *launch.code;
  ofEachKind(code, [&](std::size_t device) {
    const Device& on = machine_->devices()[device];
    const auto key = keyOf(code, launch.range, launch.key.range, device, !launch.wasSplit);
    const ShapeSearch* search = std::as_const(code.shapes).find(key);
    const bool isTrial = launch.shapeTrial && launch.shapeTrial->key == key;
    // Else it is not known which it had.
    if (!search || search->isOver() || (!isTrial && launch.shapesVersion != code.shapes.version()))
      return false;
    const GroupShape before = search->shape();
    const GroupShape shape = isTrial ? launch.shapeTrial->shape : before;
    Done done = doneBy(launch, machine_->devices(), on.kind);
    // The driver gets a launch of such a size part by part, and others as they come.
    if (done.seconds > 0 && key.isWhole && needsSeveral(launch.range, shape))
      done.seconds += shared_.splitCost.shortestBehind();
    log(
        LogLevel::Debug, "kernel ", code.name, ": work-groups of ",
        [&] { return toString(shape, launch.range.dimensions); }, ": ", done.items,
        " work-items in ", done.seconds, " s");
    const double gain = code.shapes.observe(key, shape, done.items, done.seconds);
    if (search->shape() != before)
      adopt(launch, key, before, *search, gain);
    if (const LaunchHistory& history = code.histories.at(launch.key); history.record) {
      ShapeSearches::Key kept = key;
      kept.range.clear();
      history.record->shapes[kept] = search->known();
      shared_.knownSpeeds->touch(*history.record);
    }
    return false;
  });
}

/// In the statistics.
void GroupShapes::note(const Launch& launch, const ShapeSearches::Key& key,
                       const ShapeSearch& search) const {
  if (key.kind != machine_->homeDevice().kind)
    return;
  KernelStats::PerRange& range = launch.code->stats->ranges[launch.key.range];
  (key.isWhole ? range.wholeShape : range.pieceShape) =
      search.shape().isOpen() ? "" : toString(search.shape(), launch.range.dimensions);
}

/// Launches of that NDRange have groups of another size from now on.
void GroupShapes::adopt(const Launch& launch, const ShapeSearches::Key& key,
                        const GroupShape& before, const ShapeSearch& search, double gain) const {
  KernelCode& code = *launch.code;
  const unsigned dimensions = launch.range.dimensions;
  const GroupShape shape = search.shape();
  log(LogLevel::Info, "kernel ", code.name, " over ", launch.key.range,
      key.isWhole ? ", whole" : ", in parts", ": work-groups of ", toString(shape, dimensions),
      " take ", 1 / gain, " of the time of ", toString(before, dimensions));
  note(launch, key, search);
  ShapeSearches::Key other = key;
  other.isWhole = !key.isWhole;
  const bool isAssumed = !shape.isOpen() && code.shapes.assume(other, shape);
  const bool isOfHome = key.kind == machine_->homeDevice().kind && (key.isWhole || isAssumed);
  const bool isOfPieces = !key.isWhole || isAssumed;
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i)
    if (machine_->devices()[i].kind == key.kind)
      alike.push_back(i);
  code.histories.ofRange(launch.key.range, [&](LaunchHistory& history) {
    if (history.controller && isOfHome)
      history.controller->changeHome(1 / gain);
    if (history.controller && isOfPieces)
      history.controller->changePieces(alike, 1 / gain);
    if (history.record && isOfHome)
      history.record->homeSeconds /= gain;
    if (history.record && isOfPieces)
      history.record->changePieces(alike, 1 / gain);
  });
}

} // namespace libsplit::runtime
