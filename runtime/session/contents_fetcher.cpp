#include "runtime/session/contents_fetcher.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {

namespace {

/// A launch whose questions lead to ever more questions goes without.
constexpr unsigned maxRounds = 8;
/// Smaller buffers come to the host, larger ones are looked through where they lie.
constexpr std::uint64_t leastOnDevice = 1 << 20;
/// What is built may be of no use, and the program needs its processors.
constexpr int stepsBelow = 5;

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

  /// With the lock, if `run` failed: maybe there was no room for a table of claims. Then nothing is
  /// known of these. False if there were none.
  bool forgoClaims(KernelCode& code) {
    bool wereAny = false;
    for (Inspected& each : inspected)
      if (each.pass->claimBytes > 0 && code.inspections) {
        const Interval unknown[] = {everything};
        code.inspections->keep(std::move(each.pass->key),
                               std::make_shared<TouchedCells>(CellGrid{}, unknown));
        wereAny = true;
      }
    return wereAny;
  }

  /// With the lock, if `run` succeeded.
  void keep(Inspections* inspections) {
    for (Inspected& each : inspected)
      if (inspections)
        inspections->keep(std::move(each.pass->key), std::move(each.cells));
    for (const Wanted& each : wanted) {
      if (!each.buffer->engaged() || each.buffer->directory().version() != each.version)
        continue;
      KnownContents& known = each.buffer->contents();
      known.onHost.uniteWith(each.onHost);
      for (const Wanted::Table& table : each.tables)
        known.tables[table.layout] = table.made;
    }
  }
};

} // namespace

/// The device that holds all of a buffer which is better looked through there than on the host.
std::optional<std::size_t> ContentsFetcher::deviceToLookThrough(const Buffer& buffer,
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

/// The kernel that looks through such elements; being built in the background at first. Null if
/// there is no thread for that.
std::shared_ptr<ExtremesKernel> ContentsFetcher::extremesKernel(std::size_t device,
                                                                cl_context context,
                                                                const ElementLayout& layout) {
  std::shared_ptr<ExtremesKernel>& known =
      extremesKernels_[{device, context, layout.width, layout.isSigned}];
  if (known)
    return known;
  auto kernel = std::make_shared<ExtremesKernel>(cl_);
  auto build = [this, weak = std::weak_ptr(kernel), built = kernel->built, layout,
                id = machine_->devices()[device].id,
                in = Ref<cl_context>::retain(cl_, machine_->contextOf(device, context))] {
    Ref<cl_kernel> made;
    try {
      if (!weak.expired()) // else the program gave the context up
        runBelow(stepsBelow, [&] { made = buildExtremesKernel(cl_, in.get(), id.get(), layout); });
    } catch (const std::exception& error) { // whoever waits for it must not wait for ever
      log(LogLevel::Info, "a kernel that looks through buffers can't be built: ", error.what());
    }
    {
      const Lock lock(mutex_);
      if (const auto kernel = weak.lock())
        kernel->kernel = std::exchange(made, {});
    }
    built->finish(CL_SUCCESS);
  };
  if (builder_.post(std::move(build)))
    known = std::move(kernel);
  return known;
}

void ContentsFetcher::expect(const Launch& launch) {
  if (machine_->homeDevice().node == hostNode)
    return;
  for (const LoadedElements& each : launch.code->elements)
    for (const BufferArgument& argument : launch.request.buffers)
      if (const Buffer& buffer = *launch.buffers[argument.buffer];
          argument.parameter == each.parameter && buffer.size() >= leastOnDevice)
        extremesKernel(machine_->home(), buffer.context(),
                       {each.width, each.isSigned, each.width / 8, 0});
}

bool ContentsFetcher::fetch(Task& task, const std::shared_ptr<Launch>& launch) {
  LaunchHistory& history = launch->code->histories.at(launch->key);
  const double homeSeconds = launch->code->stats->ranges[launch->key.range].homeSeconds;
  if (launch->contentsRounds == maxRounds ||
      (launch->contentsRounds == 0 && !launch->demands.empty() &&
       !history.budget.pays(homeSeconds)))
    return false;
  ++launch->contentsRounds;
  const auto hold = worker_.hold();
  if (!hold)
    return false;
  auto fetch = std::make_shared<ContentsFetch>(cl_);
  fetch->after = task.after;
  const auto work = std::make_shared<Task>(); // what it takes belongs to no task of a queue
  work->after = task.after;
  // What has been issued by then goes on, and writes where it was told to, by way of rings.
  auto giveUp = [&] {
    fetch->read->finish(CL_SUCCESS);
    mover_.note(work);
    static_cast<void>(worker_.post([fetch, parts = work->parts] {
      for (const CompletionPtr& part : parts)
        part->wait();
    }));
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
          pass->data = buffer->on(*machine_, *device).memory; // all is valid there: it is whole
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
          instruction.run = [this, pass](WaitList, Completion&, cl_event* last) {
            return pass->enqueue(cl_, last);
          };
          instruction.done = std::make_shared<Completion>(cl_);
          buffer->accesses().add({node, all, {}, instruction.done});
          Instruction reading;
          reading.queue = pass->queue;
          reading.after = {instruction.done};
          reading.run = [this, pass](WaitList, Completion&, cl_event* last) {
            return pass->readBack(cl_, last);
          };
          wanted.tables.push_back({layout, std::move(pass), nullptr});
          issuer_.issue(*work, *device, std::move(instruction));
          issuer_.issue(*work, *device, std::move(reading));
          ++stats_.contentsOnDevice;
        } else {
          wanted.onHost = ByteSet(0, size);
          wanted.tables.push_back({layout, nullptr, nullptr});
        }
      }
      mover_.bring(*work, *buffer, hostNode, wanted.onHost);
      buffer->accesses().collect(hostNode, wanted.onHost, {}, fetch->after);
      buffer->accesses().add({hostNode, wanted.onHost, {}, fetch->read, false});
    }
    fetch->work = work->parts;
    for (const InspectionKey& key : launch->inspections)
      fetch->inspected.push_back({issueInspection(*work, *launch, key), nullptr});
    fetch->inspecting.assign(work->parts.begin() + static_cast<std::ptrdiff_t>(fetch->work.size()),
                             work->parts.end());
    task.traced.insert(task.traced.end(), work->traced.begin(), work->traced.end());
    fetch->after.insert(fetch->after.end(), work->parts.begin(), work->parts.end());
  } catch (const std::exception& error) {
    log(LogLevel::Debug, "contents can't be read: ", error.what());
    return giveUp();
  }
  ++stats_.contentsFetched;
  auto find = [this, fetch, launch = launch,
               weak = std::weak_ptr<Task>(task.shared_from_this())]() mutable {
    bool found = false;
    try {
      found = fetch->run();
    } catch (const std::exception& error) {
      log(LogLevel::Info, "contents can't be looked through: ", error.what());
    }
    const Lock lock(mutex_);
    try {
      if (found)
        fetch->keep(launch->code->inspections.get());
    } catch (const std::bad_alloc&) {
      found = false;
    }
    launch->withoutContents = launch->withoutContents || !found;
    if (!found && !fetch->inspected.empty() && !fetch->forgoClaims(*launch->code))
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
    found_();
  };
  task.waitsForContents = worker_.post(std::move(find));
  return task.waitsForContents || giveUp(); // it was stopped
}

/// Sets out to run the inspector on the program's own device, where what it loads is brought.
/// Throws if there is no memory for that.
std::shared_ptr<InspectionPass> ContentsFetcher::issueInspection(Task& work, const Launch& launch,
                                                                 const InspectionKey& key) {
  const std::size_t home = machine_->home();
  const Inspections& inspections = *launch.code->inspections;
  auto pass = std::make_shared<InspectionPass>();
  pass->key = key;
  const InspectorSource& source = inspections.source(key.inspector);
  pass->grid = source.grid(launch.range);
  pass->claimBytes = source.claimBytes(launch.request.arguments);
  // Work-items that work side by side are worth their barriers on GPUs alone.
  if (machine_->homeDevice().isGpu)
    pass->lanes = source.lanes(launch.range, pass->grid);
  pass->kernel = inspections.kernel(key.inspector);
  pass->context = machine_->contextOf(home, launch.program->context);
  pass->queue = machine_->queueOf(home, launch.program->context);

  Instruction instruction;
  instruction.queue = pass->queue;
  instruction.done = std::make_shared<Completion>(cl_);
  const NodeId node = machine_->homeDevice().node;
  for (const unsigned parameter : source.buffers()) {
    const MemoryObject& object = *launch.objects[parameter];
    const ByteSet bytes(object.origin, object.origin + object.size);
    mover_.bring(work, *object.buffer, node, bytes);
    object.buffer->accesses().collect(node, bytes, {}, instruction.after);
    object.buffer->accesses().add({node, bytes, {}, instruction.done});
    pass->buffers.push_back(object.buffer);
    pass->data.push_back(
        object.buffer->argument(*machine_, home, object.origin, object.size).memory);
    if (!pass->data.back())
      throw std::runtime_error("no memory for a buffer's copy");
  }
  instruction.compiles = true;
  instruction.run = [this, pass](WaitList, Completion& done, cl_event* last) {
    return pass->enqueue(cl_, done, last);
  };
  instruction.traced = tracer_.step("inspect addresses");
  Instruction reading;
  reading.queue = pass->queue;
  reading.after = {instruction.done};
  reading.run = [this, pass](WaitList, Completion&, cl_event* last) {
    return pass->readBack(cl_, last);
  };
  issuer_.issue(work, home, std::move(instruction));
  issuer_.issue(work, home, std::move(reading));
  ++stats_.inspections;
  return pass;
}

bool ContentsFetcher::inspectionsPay(Launch& launch) {
  if (std::exchange(launch.askedForInspections, true))
    return true;
  const KernelStats::PerRange& range = launch.code->stats->ranges[launch.key.range];
  double gain = range.homeSeconds; // negative: not known
  if (gain >= 0 && range.wallSeconds >= 0)
    gain = std::max(gain - range.wallSeconds, 1e-9);
  return launch.code->histories.at(launch.key).inspectionBudget.pays(gain);
}

std::shared_ptr<const void> ContentsFetcher::forget(cl_context context) {
  auto dropped = std::make_shared<std::vector<std::shared_ptr<ExtremesKernel>>>();
  std::erase_if(extremesKernels_, [&](auto& entry) {
    if (std::get<1>(entry.first) != context)
      return false;
    dropped->push_back(std::move(entry.second));
    return true;
  });
  return dropped;
}

} // namespace libsplit::runtime
