#include "runtime/session/contents.h"

#include "runtime/core/log.h"
#include "runtime/session/launch.h"
#include "runtime/session/session.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Slices of up to so many elements are looked through at each planning.
constexpr std::uint64_t maxScanned = 4096;
/// What is read is read in pieces of this, so that the next question finds its answer there.
constexpr std::uint64_t page = 65536;
/// A launch whose questions lead to ever more questions goes without.
constexpr unsigned maxRounds = 8;
/// Smaller buffers come to the host, larger ones are looked through where they lie.
constexpr std::uint64_t leastOnDevice = 1 << 20;

} // namespace

std::vector<bool> contentParameters(const KernelSummary& summary) {
  std::vector<bool> loaded(summary.parameters.size(), false);
  for (const Access& access : summary.accesses)
    if (access.effect != Effect::Update) // these are evaluated without
      noteLoads(access, loaded);
  return loaded;
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
    wanted.bytes = unite(wanted.bytes, ByteSet(bytes.begin / page * page, end));
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
  auto numbers = source.numbers(request_.range, gridOf(request_.range), request_.arguments);
  if (!numbers)
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

std::optional<Interval> LaunchContents::touched(const KernelSummary& summary, std::size_t access,
                                                const GroupBox& box) {
  const auto inspector = known_ ? known_->inspectorOf(summary, access) : std::nullopt;
  if (!inspector)
    return std::nullopt;
  const auto [entry, isNew] = inspected_.try_emplace(*inspector);
  if (isNew)
    entry->second = look(*inspector);
  switch (entry->second.state) {
  case Inspected::State::Known: {
    const Interval bytes = entry->second.cells->within(box);
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

// --- whether to find out

// --- finding out

namespace {

/// One launch's demands on their way. Whatever happens to it, those that wait for `read` go on.
struct ContentsFetch {
  explicit ContentsFetch(const Dispatch& cl) : read(std::make_shared<Completion>(cl)) {}
  ~ContentsFetch() {
    if (!read->over())
      read->finish(CL_SUCCESS);
  }

  struct Wanted {
    std::shared_ptr<Buffer> buffer;
    std::uint64_t version = 0;
    ByteSet onHost;
    std::span<const std::byte> memory; ///< of the host, where `onHost` holds
    struct Table {
      ElementLayout layout;
      std::shared_ptr<ExtremesPass> pass; ///< null: made from `memory`
      std::shared_ptr<const Extremes> made;
    };
    std::vector<Table> tables;
  };

  std::vector<CompletionPtr> after; ///< writers, and all that follows
  std::vector<CompletionPtr> work;  ///< transfers, and passes on devices
  std::vector<Wanted> wanted;
  struct Inspected {
    std::shared_ptr<InspectionPass> pass;
    std::shared_ptr<const TouchedCells> cells;
  };
  std::vector<Inspected> inspected;
  std::vector<CompletionPtr> inspecting; ///< that part of `work`
  CompletionPtr read;                    ///< the background thread has read what it wants
  double seconds = 0;                    ///< what it took, waiting for writers aside
  double inspectionSeconds = 0;          ///< not among these

  /// False if what it waits for failed. In the background, without the lock.
  bool run() {
    cl_int status = CL_SUCCESS;
    for (const CompletionPtr& before : after)
      status = std::min(status, before->wait());
    const auto begin = std::chrono::steady_clock::now();
    for (Wanted& each : wanted)
      for (Wanted::Table& table : each.tables)
        if (status >= 0)
          table.made =
              table.pass ? std::make_shared<Extremes>(blocksFrom(table.pass->written, table.layout))
                         : std::make_shared<Extremes>(each.memory, table.layout);
    for (Inspected& each : inspected)
      if (status >= 0)
        each.cells = std::make_shared<TouchedCells>(each.pass->grid, cellsFrom(each.pass->written));
    read->finish(status);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    auto add = [](double& to, const std::vector<CompletionPtr>& all) {
      for (const CompletionPtr& done : all)
        if (auto interval = done->interval())
          to += interval->seconds();
    };
    add(seconds, work);
    add(inspectionSeconds, inspecting);
    return status >= 0;
  }

  /// With the lock, if `run` succeeded.
  void keep(Inspections* inspections) {
    for (Inspected& each : inspected)
      if (inspections)
        inspections->keep(std::move(each.pass->key), std::move(each.cells));
    for (const Wanted& each : wanted) {
      if (each.buffer->directory().version() != each.version)
        continue;
      KnownContents& known = each.buffer->contents();
      known.onHost = unite(known.onHost, each.onHost);
      for (const Wanted::Table& table : each.tables)
        known.tables[table.layout] = table.made;
    }
  }
};

} // namespace

/// The device that holds all of a buffer which is better looked through there than on the host.
std::optional<std::size_t> Session::deviceToLookThrough(const Buffer& buffer,
                                                        const ElementLayout& layout) const {
  const ByteSet all(0, buffer.size());
  const Directory& directory = buffer.directory();
  if (buffer.size() < leastOnDevice || !isAligned(layout) || directory.isValid(hostNode, all))
    return std::nullopt;
  for (NodeId node = 0; node < machine_->nodes(); ++node)
    if (node != hostNode && directory.isValid(node, all))
      return node == machine_->homeDevice().node ? machine_->home() : machine_->deviceOfNode(node);
  return std::nullopt;
}

/// The kernel that looks through such elements; being built in the background at first.
std::shared_ptr<ExtremesKernel> Session::extremesKernel(std::size_t device, cl_context context,
                                                        const ElementLayout& layout) {
  std::shared_ptr<ExtremesKernel>& kernel =
      extremesKernels_[{device, context, layout.width, layout.isSigned}];
  if (!kernel) {
    kernel = std::make_shared<ExtremesKernel>(cl_);
    inspector_.post([this, kernel, layout, id = machine_->devices()[device].id,
                     in = Ref<cl_context>::retain(cl_, machine_->contextOf(device, context))] {
      Ref<cl_kernel> built = buildExtremesKernel(cl_, in.get(), id.get(), layout);
      Lock lock(mutex_);
      kernel->kernel = std::move(built);
      kernel->built->finish(CL_SUCCESS);
    });
  }
  return kernel;
}

/// Sets out to get what the launch's last planning lacked; it is planned again then. False if that
/// can't be, or does not pay.
bool Session::fetchContents(Task& task, const std::shared_ptr<Launch>& launch) {
  LaunchHistory& history = launch->code->histories.at(launch->key);
  const double homeSeconds = launch->code->stats->ranges[launch->key.range].homeSeconds;
  if (launch->contentsRounds == maxRounds ||
      (launch->contentsRounds == 0 && !launch->demands.empty() &&
       !history.budget.pays(homeSeconds)))
    return false;
  ++launch->contentsRounds;
  auto fetch = std::make_shared<ContentsFetch>(cl_);
  fetch->after = task.after;
  Task work; // what it takes belongs to no task of a queue
  work.after = task.after;
  // What has been issued by then goes on, and writes where it was told to.
  auto giveUp = [&] {
    fetch->read->finish(CL_SUCCESS);
    inspector_.post([fetch, parts = work.parts] {
      for (const CompletionPtr& part : parts)
        part->wait();
    });
    return false;
  };
  try {
    for (const ContentsDemand& demand : launch->demands) {
      const std::shared_ptr<Buffer>& buffer = launch->buffers[demand.buffer];
      const std::uint64_t size = buffer->size();
      ContentsFetch::Wanted& wanted =
          fetch->wanted.emplace_back(ContentsFetch::Wanted{buffer,
                                                           buffer->directory().version(),
                                                           demand.bytes,
                                                           {buffer->hostMemory(*machine_), size},
                                                           {}});
      if (!wanted.memory.data())
        return giveUp();
      for (const ElementLayout& layout : demand.tables) {
        const auto device = deviceToLookThrough(*buffer, layout);
        const auto kernel = device ? extremesKernel(*device, buffer->context(), layout) : nullptr;
        if (kernel && !kernel->built->over()) {
          fetch->after.push_back(kernel->built); // planned again, the launch will ask again
        } else if (kernel && kernel->kernel) {
          auto pass = std::make_shared<ExtremesPass>();
          pass->kernel = kernel->kernel;
          pass->data = buffer->on(*machine_, *device);
          pass->context = machine_->contextOf(*device, buffer->context());
          pass->queue = machine_->queueOf(*device, buffer->context());
          pass->layout = layout;
          pass->count = layout.count(size);
          const NodeId node = machine_->devices()[*device].node;
          const ByteSet all(0, size);
          Instruction instruction;
          instruction.queue = pass->queue;
          buffer->accesses().collect(node, all, {}, instruction.after);
          instruction.compiles = true;
          instruction.run = [this, pass](WaitList, cl_event* last) {
            return pass->enqueue(cl_, last);
          };
          instruction.done = std::make_shared<Completion>(cl_);
          buffer->accesses().add({node, all, {}, instruction.done});
          Instruction reading;
          reading.queue = pass->queue;
          reading.after = {instruction.done};
          reading.run = [this, pass](WaitList, cl_event* last) {
            return pass->readBack(cl_, last);
          };
          wanted.tables.push_back({layout, std::move(pass), nullptr});
          issue(work, *device, std::move(instruction));
          issue(work, *device, std::move(reading));
          ++stats_.contentsOnDevice;
        } else {
          wanted.onHost = ByteSet(0, size);
          wanted.tables.push_back({layout, nullptr, nullptr});
        }
      }
      bring(work, *buffer, hostNode, wanted.onHost);
      buffer->accesses().collect(hostNode, wanted.onHost, {}, fetch->after);
      buffer->accesses().add({hostNode, wanted.onHost, {}, fetch->read, false});
    }
    fetch->work = work.parts;
    for (const InspectionKey& key : launch->inspections)
      fetch->inspected.push_back({issueInspection(work, *launch, key), nullptr});
    fetch->inspecting.assign(work.parts.begin() + static_cast<std::ptrdiff_t>(fetch->work.size()),
                             work.parts.end());
    task.traced.insert(task.traced.end(), work.traced.begin(), work.traced.end());
    fetch->after.insert(fetch->after.end(), work.parts.begin(), work.parts.end());
  } catch (const std::exception& error) {
    log(LogLevel::Debug, "contents can't be read: ", error.what());
    return giveUp();
  }
  ++stats_.contentsFetched;
  task.waitsForContents = true;
  inspector_.post([this, fetch, launch = launch,
                   weak = std::weak_ptr<Task>(task.shared_from_this())]() mutable {
    const bool found = fetch->run();
    Lock lock(mutex_);
    if (found)
      fetch->keep(launch->code->inspections.get());
    launch->withoutContents = launch->withoutContents || !found;
    if (!found && !fetch->inspected.empty())
      launch->code->inspections = nullptr; // not again
    LaunchHistory& spender = launch->code->histories.at(launch->key);
    spender.budget.spent(fetch->seconds);
    spender.inspectionBudget.spent(fetch->inspectionSeconds);
    std::shared_ptr<Task> waiting = weak.lock();
    if (!waiting)
      return;
    // Nothing is held here any more once the task can end.
    launch = nullptr;
    fetch = nullptr;
    waiting->waitsForContents = false;
    waiting = nullptr;
    pumpAll();
    progress_.notify_all();
  });
  return true;
}

} // namespace libsplit::runtime
