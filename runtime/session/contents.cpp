#include "runtime/session/contents.h"

#include "runtime/core/log.h"
#include "runtime/session/launch.h"
#include "runtime/session/stream.h"

#include <algorithm>
#include <iterator>

namespace libsplit::runtime {

namespace {

/// Slices of up to so many elements are looked through at each planning.
constexpr std::uint64_t maxScanned = 4096;
/// What is read is read in pieces of this, so that the next question finds its answer there.
constexpr std::uint64_t page = 65536;
/// Of a table of claims, on the program's device while an inspector runs.
constexpr std::uint64_t maxClaimBytes = 256 << 20;

} // namespace

std::set<LoadedElements> contentElements(const KernelSummary& summary) {
  std::set<LoadedElements> elements;
  for (const Access& access : summary.accesses)
    if (access.effect != Effect::Update) // these are evaluated without
      eachLoad(access, [&](const Expr& load) {
        if (load.index() < summary.parameters.size())
          elements.insert({load.index(), load.width(), load.isSigned()});
      });
  return elements;
}

// --- what is known

LaunchContents::LaunchContents(Machine& machine, const Task& task, const Launch& launch)
    : machine_(machine), request_(launch.request),
      known_(launch.withoutInspections ? nullptr : launch.code->inspections.get()),
      buffers_(launch.buffers), writes_(launch.code->writes),
      settled_(std::all_of(task.after.begin(), task.after.end(),
                           [](const CompletionPtr& work) { return work->over(); })) {}

/// By the launch itself: through another parameter that has bytes in common with this one.
bool LaunchContents::mayBeWritten(const BufferArgument& argument) const {
  const std::uint64_t end = argument.origin + request_.arguments[argument.parameter].bufferSize;
  return std::any_of(
      request_.buffers.begin(), request_.buffers.end(), [&](const BufferArgument& other) {
        return other.buffer == argument.buffer && writes_[other.parameter] && other.origin < end &&
               argument.origin < other.origin + request_.arguments[other.parameter].bufferSize;
      });
}

bool LaunchContents::isReadable(Buffer& buffer, ByteRange bytes) const {
  KnownContents& known = buffer.contents();
  if (known.onHost.contains(bytes))
    return true;
  if (!settled_ || !buffer.directory().isValid(hostNode, bytes) ||
      !buffer.accesses().isIdle(hostNode, bytes, false) || !buffer.hostMemory(machine_))
    return false;
  known.onHost.add(bytes);
  return true;
}

ContentsDemand& LaunchContents::demand(std::size_t buffer) {
  for (ContentsDemand& each : demands_)
    if (each.buffer == buffer)
      return each;
  demands_.push_back({buffer, {}, {}});
  return demands_.back();
}

std::optional<Interval> LaunchContents::values(const ElementSlice& slice) {
  const BufferArgument* argument = argumentOf(slice.parameter);
  if (!argument || mayBeWritten(*argument))
    return std::nullopt;
  Buffer& buffer = *buffers_[argument->buffer];
  const std::uint64_t first = argument->origin + slice.first;
  const ElementLayout layout{slice.width, slice.isSigned, slice.step, first % slice.step};
  const std::uint64_t begin = first / slice.step; // elements of the layout
  const std::uint64_t last = begin + slice.count() - 1;

  auto read = [&](std::uint64_t from, std::uint64_t to) -> std::optional<Interval> {
    const std::uint64_t at = layout.phase + from * layout.step;
    const ByteRange bytes{at, layout.phase + to * layout.step + layout.width / 8};
    if (isReadable(buffer, bytes))
      return scanElements({buffer.hostMemory(machine_), buffer.size()}, layout, from, to);
    const std::uint64_t end =
        std::min<std::uint64_t>((bytes.end + page - 1) / page * page, buffer.size());
    ContentsDemand& wanted = demand(argument->buffer);
    wanted.bytes.uniteWith(ByteSet(bytes.begin / page * page, end));
    return std::nullopt;
  };
  if (slice.count() <= maxScanned)
    return read(begin, last);

  KnownContents& known = buffer.contents();
  const auto table = known.tables.find(layout);
  if (table == known.tables.end()) {
    ContentsDemand& wanted = demand(argument->buffer);
    if (std::find(wanted.tables.begin(), wanted.tables.end(), layout) == wanted.tables.end())
      wanted.tables.push_back(layout);
    return std::nullopt;
  }
  return table->second->between(begin, last, read);
}

const BufferArgument* LaunchContents::argumentOf(unsigned parameter) const {
  for (const BufferArgument& each : request_.buffers)
    if (each.parameter == parameter)
      return &each;
  return nullptr;
}

LaunchContents::Inspected LaunchContents::look(std::size_t inspector) {
  const InspectorSource& source = known_->source(inspector);
  auto numbers = source.numbers(request_.range, source.grid(request_.range), request_.arguments);
  if (!numbers || source.claimBytes(request_.arguments) > maxClaimBytes)
    return {};
  InspectionKey key{inspector, std::move(*numbers), {}};
  for (const unsigned parameter : source.buffers()) {
    const BufferArgument* argument = argumentOf(parameter);
    if (!argument || mayBeWritten(*argument))
      return {};
    key.sources.push_back({buffers_[argument->buffer]->directory().version(), argument->origin});
  }
  if (auto cells = known_->find(key))
    return {Inspected::State::Known, std::move(cells)};
  inspections_.push_back(std::move(key));
  return {Inspected::State::Demanded, nullptr};
}

const LaunchContents::Inspected& LaunchContents::answerOf(std::size_t inspector) {
  const auto [entry, isNew] = inspected_.try_emplace(inspector);
  if (isNew)
    entry->second = look(inspector);
  return entry->second;
}

std::optional<Interval> LaunchContents::touched(const KernelSummary& summary, std::size_t access,
                                                const GroupBox& box) {
  const auto inspector = known_ ? known_->inspectorOf(summary, access) : std::nullopt;
  if (!inspector)
    return std::nullopt;
  const Inspected& answer = answerOf(*inspector);
  switch (answer.state) {
  case Inspected::State::Known: {
    const Interval bytes = answer.cells->within(box);
    return bytes.empty() || (!isInfinite(bytes.low) && !isInfinite(bytes.high))
               ? std::optional(bytes)
               : std::nullopt;
  }
  case Inspected::State::Demanded:
    return everything; // it is planned again
  case Inspected::State::Refused:
    break;
  }
  return std::nullopt;
}

std::vector<InspectionKey> LaunchContents::inspections(bool ofClaims) const {
  std::vector<InspectionKey> wanted;
  std::ranges::copy_if(inspections_, std::back_inserter(wanted), [&](const InspectionKey& key) {
    return ofClaims || !known_->source(key.inspector).makesClaims();
  });
  return wanted;
}

bool LaunchContents::areDistinct(std::span<const KernelSummary* const> summaries,
                                 unsigned parameter) {
  std::optional<std::size_t> inspector;
  for (const KernelSummary* summary : summaries) {
    const auto of = known_ ? known_->claimsOf(*summary, parameter) : std::nullopt;
    if (!of || (inspector && *inspector != *of))
      return false; // what one device's code changes, another's may as well
    inspector = of;
  }
  if (!inspector)
    return false;
  const Inspected& answer = answerOf(*inspector);
  return answer.state == Inspected::State::Demanded || // it is planned again
         (answer.state == Inspected::State::Known && answer.cells->isAllKnown());
}

} // namespace libsplit::runtime
