#include "runtime/session/executor.h"

#include "runtime/core/log.h"
#include "runtime/plan/piece_range.h"
#include "runtime/program/kernel_call.h"
#include "runtime/session/splittable.h"

#include "analysis-pass/summary/partition_argument.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// One with these bytes.
template <class T> ArgumentSetting settingOf(const T& value, bool isBuffer = false) {
  return ArgumentSetting(std::as_bytes(std::span(&value, 1)), isBuffer);
}

/// One that is the same on all devices.
ArgumentSetting settingOf(const Argument& argument, bool isBuffer = false) {
  return argument.isLocal() ? ArgumentSetting::local(argument.size)
                            : ArgumentSetting(argument.value.view(), isBuffer);
}

/// `whole`: see there.
LaunchInputs inputsOf(const Launch& launch, const LaunchPlan& whole, std::size_t home,
                      Timing timing = Timing::On) {
  return {&whole,
          launch.localGiven,
          launch.code->shapes.version(),
          timing,
          launch.code->summaries[home]->parameters,
          launch.buffers,
          launch.arguments};
}

/// A list that is empty again when this goes.
class Emptied {
public:
  explicit Emptied(std::vector<Instruction>& list) : list_(list) {}
  Emptied(const Emptied&) = delete;
  Emptied& operator=(const Emptied&) = delete;
  ~Emptied() { list_.clear(); }

private:
  std::vector<Instruction>& list_;
};

} // namespace

HomeCall Executor::homeCall(Task& task, const Launch& launch) const {
  KernelCall call;
  call.kernel = launch.clone;
  for (std::size_t i = 0; i < launch.arguments.size() && !launch.hasArguments; ++i) {
    const Argument& argument = launch.arguments[i];
    const std::shared_ptr<MemoryObject>& object = launch.objects[i];
    if (object && object->buffer && object->buffer->pooled())
      call.arguments.push_back(settingOf(
          object->buffer->argument(*machine_, machine_->home(), object->origin, object->size)
              .memory,
          true));
    else
      call.arguments.push_back(
          settingOf(argument, object && object->buffer && !object->buffer->isImage()));
  }
  call.dimensions = launch.range.dimensions;
  const EnqueuedRange asItCame =
      enqueuedRange(launch.range, launch.localGiven, wholeBox(launch.range));
  const auto chosen = shapes_.atHome(*launch.code, launch.range, launch.localGiven, *task.stream);
  call.range.body = chosen.value_or(asItCame);
  if (chosen)
    call.otherwise = asItCame;
  tracer_.launches(task, launch);
  const bool compiles = call.kernel->isNew(call.range);
  return {[this, call = std::move(call), queue = task.stream->queue](
              cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
            return call.enqueue(cl_, queue, count, list, event);
          },
          compiles};
}

/// Whether a device other than home has what a work-group of the launch needs. Home has it, or the
/// launch is not split (whyNotSplittable).
bool Executor::hasRoomForGroup(const Launch& launch, std::size_t device) const {
  const Device& on = machine_->devices()[device];
  const KernelSummary& summary = *launch.code->summaries[device];
  const std::uint64_t local =
      launch.code->kernels[device]->localMemory + localBytesOf(launch.arguments);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const ParameterKind kind = summary.parameters[i].kind;
    if (kind == ParameterKind::ConstantBuffer && launch.objects[i] &&
        launch.objects[i]->size > on.constants)
      return false;
  }
  return local <= on.localMemory && (!launch.localGiven || fits(launch.range.local, on.maxItems));
}

std::string Executor::prepareOn(Launch& launch, std::size_t device) {
  Device& on = machine_->devices()[device];
  auto lacks = [&](const char* what) {
    launch.lacksRoom = device;
    return "device " + on.label + what;
  };
  if (on.failed)
    return lacks(" failed");
  if (device != machine_->home() && !hasRoomForGroup(launch, device))
    return lacks(" has no room for its work-groups");
  if (!on.startLanes())
    return "device " + on.label + " gets no threads";
  const std::vector<Parameter>& parameters = launch.code->summaries[machine_->home()]->parameters;
  for (std::size_t i = 0; i < parameters.size() && device != machine_->home(); ++i)
    if (parameters[i].kind == ParameterKind::Sampler) {
      Ref<cl_sampler>& own = launch.samplers[{device, i}];
      if (!own)
        own = samplerIn(cl_, on.context.get(), launch.keepsSamplers.at(i).get());
      if (!own)
        return lacks(" has no such sampler");
    }
  return {};
}

std::string Executor::reserveOn(Task& task, Launch& launch, std::size_t device,
                                std::span<const PieceUse> uses, Provisions& pending) {
  if (std::string why = prepareOn(launch, device); !why.empty())
    return why;
  const Device& on = machine_->devices()[device];
  auto lacks = [&](const char* what) {
    launch.lacksRoom = device;
    return "device " + on.label + what;
  };
  // Home has its own; in the host's memory copies take no room.
  const bool mayHaveWindows = device != machine_->home() && on.node != hostNode;
  const std::size_t before = pending.size();
  if (mayHaveWindows)
    if (std::string why = copyRoom_.reserve(task, launch, device, uses, pending); !why.empty())
      return why;
  if (pending.size() > before)
    return {}; // then there is more to ask
  for (const BufferArgument& argument : launch.request.buffers) {
    const MemoryObject& given = *launch.objects[argument.parameter];
    Buffer& buffer = *launch.buffers[argument.buffer];
    if (!mayHaveWindows &&
        buffer.roomOn(*machine_, device, {0, buffer.size()}, pending) == Room::None)
      return lacks(" has no room for its buffers");
    if (!buffer.argument(*machine_, device, given.origin, given.size).memory)
      return "device " + on.label + " can't align its sub-buffers";
    if (machine_->nodes() > 1 && device != machine_->home() &&
        !(buffer.wayTo(*machine_, machine_->home(), Engine::CopyIn) &&
          buffer.wayTo(*machine_, machine_->home(), Engine::CopyOut)))
      return "there is no memory to copy through at home";
  }
  return reserveRing(launch, device, pending);
}

/// What leaves the device goes through host memory.
std::string Executor::reserveRing(const Launch& launch, std::size_t device,
                                  Provisions& pending) const {
  const NodeId node = machine_->devices()[device].node;
  if (machine_->nodes() > 1 && node != hostNode &&
      machine_->ringRoom(node, launch.program->context, pending) == Room::None)
    return "there is no host memory to copy through";
  return {};
}

std::string Executor::reserve(Task& task, Launch& launch, const LaunchPlan& plan) {
  Provisions pending;
  std::string why;
  const bool isPlaced = launch.code->compiled.findPlaced(inputsOf(launch, plan, machine_->home()));
  for (const Piece& piece : plan.pieces)
    if (why.empty())
      why = isPlaced && !machine_->devices()[piece.device].failed
                ? reserveRing(launch, piece.device, pending)
                : reserveOn(task, launch, piece.device, piece.uses, pending);
  if (why.empty())
    why = merger_.reserve(launch, plan, pending);
  if (!why.empty())
    return why;
  const std::vector<CompletionPtr> made = provider_.provide(pending);
  if (std::ranges::any_of(made, [](const CompletionPtr& each) { return each->hasFailed(); }))
    return "the memory that it takes is not to be had";
  task.awaited.insert(task.awaited.end(), made.begin(), made.end());
  return {};
}

KernelCommand Executor::commandOf(const Launch& launch, const Piece& piece, Timing timing) const {
  const NDRange& range = launch.range;
  KernelCall call;
  // Home runs what the program built itself where that is the same; not beside others that run a
  // part of the same groups.
  const bool isWhole = piece.box == wholeBox(range) && !piece.own;
  call.arguments.reserve(launch.arguments.size() + 2);
  const KernelSummary& summary = *launch.code->summaries[piece.device];
  WindowArgument windows;
  std::size_t pointers = 0;
  bool hasWindows = false;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const auto& object = launch.objects[i];
    const ArgumentMemory memory =
        object ? object->buffer->argument(*machine_, piece.device, object->origin, object->size)
               : ArgumentMemory();
    if (memory.behind != 0 && pointers < WindowArgument::most) {
      windows.behind[pointers] = memory.behind;
      hasWindows = true;
    }
    pointers += summary.parameters[i].kind == ParameterKind::GlobalBuffer;
    if (object)
      call.arguments.push_back(settingOf(memory.memory, !object->buffer->isImage()));
    else if (auto own = launch.samplers.find({piece.device, i}); own != launch.samplers.end())
      call.arguments.push_back(settingOf(own->second.get()));
    else {
      call.arguments.push_back(settingOf(argument));
      call.arguments.back().isOfLaunch = isOfLaunch(summary.parameters[i]);
    }
  }
  call.dimensions = range.dimensions;
  const Device& device = machine_->devices()[piece.device];
  const bool isHomes = device.isHome && isWhole && !hasWindows;
  const GroupShape shape = shapes_.of(launch, device, isWhole && device.isHome);
  // Drivers of CPUs make few work-items one work-group, which leaves all cores but one idle.
  if (!shape.isOpen()) {
    call.range = shapedRange(range, piece.box, shape);
    call.otherwise = enqueuedRange(range, false, piece.box);
  } else if (launch.localGiven || ((device.isHome || device.isGpu) && isWhole))
    call.range.body = enqueuedRange(range, launch.localGiven, piece.box);
  else
    call.range = pieceRange(range, launch.localGiven, piece.box, launch.plan->dimension,
                            groupLimits(*launch.code, machine_->devices()), summary.idsFromGroups);
  const bool isPrograms = isHomes && (call.range.rests.empty() || !summary.needsPartitionArgument);
  call.kernel = isPrograms ? launch.clone : launch.code->kernels[piece.device];
  if (summary.needsPartitionArgument && !isPrograms) {
    PartitionArgument partition = partitionOf(range, piece.box);
    if (summary.idsFromGroups && !call.range.rests.empty()) {
      partition.firstGroup = firstGroup(range, call.range.rests.front());
      call.ofRest = {call.arguments.size(), settingOf(partition)};
    }
    if (summary.idsFromGroups && call.range.body.localGiven)
      partition.firstGroup = firstGroup(range, call.range.body);
    call.arguments.push_back(settingOf(partition));
  }
  if (hasWindows) {
    call.kernel = launch.code->windowed.at(piece.device).kernel;
    call.arguments.push_back(settingOf(windows));
  }
  const cl_context context = launch.program->context;
  const Engine engine = piece.isBoundary ? Engine::Boundaries : Engine::Kernels;
  return {
      cl_,
      engine,
      Ref<cl_command_queue>::retain(cl_, machine_->queueOf(piece.device, context, engine, timing)),
      machine_->waitingContextOf(piece.device, context),
      device.returnsAtOnce,
      !device.isGpu,
      std::move(call)};
}

Instruction Executor::pieceInstruction(const Launch& launch, const Piece& piece) const {
  auto command = std::make_shared<const KernelCommand>(commandOf(launch, piece, Timing::On));
  const bool compiles = command->call.kernel->isNew(command->call.range);
  return instructionOf(std::move(command), compiles);
}

/// What the plan comes to with the bytes where they are.
std::shared_ptr<const InstructionGraph> Executor::graphOf(Launch& launch,
                                                          std::shared_ptr<const LaunchPlan> plan) {
  std::vector<Directory*>& directories = directories_;
  directories.clear();
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    directories.push_back(&buffer.directory());
    for (const Piece& piece : plan->pieces)
      mover_.requireSomewhere(buffer, piece.uses[b].needs);
    // Of the launch as a whole: what goes to one neighbour may be written by several parts.
    for (const Piece& piece : launch.plan->pieces) {
      const NodeId node = machine_->devices()[piece.device].node;
      buffer.forecast().wanted(node, piece.uses[b].needs, [&](const ByteSet& bytes) {
        return buffer.accesses().arrives(node, bytes);
      });
      buffer.readers().wanted(node, piece.uses[b].needs);
    }
  }
  GraphMemo& memo = launch.code->graphs;
  std::shared_ptr<const InstructionGraph> graph = memo.find(*plan, directories);
  if (!graph) {
    std::vector<NodeId> nodes;
    for (const Device& device : machine_->devices())
      nodes.push_back(device.node);
    graph = std::make_shared<const InstructionGraph>(lower(std::move(plan), nodes, directories));
    memo.keep(graph);
    log(LogLevel::Debug, "kernel ", launch.code->name, ":\n", [&] { return toString(*graph); });
  }
  return graph;
}

/// Issues the graph's copies. The directories say from now on that they are done.
std::vector<Moved> Executor::copy(Task& task, Launch& launch, const InstructionGraph& graph) {
  std::vector<BufferMove> moves;
  for (const InstructionGraph::Copy& copy : graph.copies)
    moves.push_back(
        {launch.buffers[copy.buffer].get(), copy.move, graph.states[copy.buffer].before});
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    launch.buffers[b]->directory().follow(graph.states[b].arrived, false);
  for (const InstructionGraph::Copy& copy : graph.copies)
    launch.buffers[copy.buffer]->forecast().moved(copy.move);
  std::vector<Moved> moved = mover_.transfer(task, moves);
  for (std::size_t c = 0; c < moved.size(); ++c) {
    launch.issued[graph.copies[c].piece].transfers.push_back(moved[c]);
    launch.bytesMoved += graph.copies[c].move.bytes.size();
  }
  return moved;
}

/// What its kernels are enqueued with: as before, where such a launch was compiled and kept.
Executor::Compiled Executor::compile(const Launch& launch,
                                     const std::shared_ptr<const InstructionGraph>& graph,
                                     Timing timing) const {
  const LaunchInputs inputs = inputsOf(launch, *launch.plan, machine_->home(), timing);
  CompiledGraphs& memo = launch.code->compiled;
  const bool isKept = !launch.shapeTrial && launch.samplers.empty();
  if (auto known = isKept ? memo.find(*graph, inputs) : nullptr)
    return {std::move(known), true};
  auto compiled = std::make_shared<CompiledGraph>(graph, launch.plan, inputs);
  for (const Piece& piece : graph->plan->pieces)
    compiled->kernels.push_back(commandOf(launch, piece, timing));
  const auto isPrograms = [&](const KernelCommand& each) {
    return each.call.kernel == launch.clone;
  };
  if (isKept && std::ranges::none_of(compiled->kernels, isPrograms))
    memo.keep(compiled);
  return {std::move(compiled), false};
}

/// Counts what its kernels do as done.
void Executor::book(const Launch& launch, const CompiledGraph& compiled,
                    const std::shared_ptr<const Journal::Ends>& ends) const {
  const InstructionGraph& graph = *compiled.graph;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    if (std::shared_ptr<const Journal::Changes> changes = compiled.changes[b]) {
      if (changes->before != buffer.directory().state()) // what is to be merged was filled
        changes = std::make_shared<const Journal::Changes>(
            Journal::Changes{buffer.directory().state(), changes->each});
      buffer.journal().note(std::move(changes), ends);
      buffer.directory().follow(graph.states[b].after, true);
    }
    Accesses& accesses = buffer.accesses();
    std::size_t earlier = accesses.count();
    for (std::size_t p = 0; p < graph.kernels.size(); ++p)
      accesses.addBehind({graph.kernels[p].node, graph.plan->pieces[p].uses[b].needs,
                          graph.kernels[p].stores[b], ends->kernels[p]},
                         earlier);
    for (const Piece& piece : launch.plan->pieces)
      if (const ByteSet& writes = piece.uses[b].writes; !writes.empty())
        buffer.forecast().wrote(machine_->devices()[piece.device].node, writes);
  }
}

void Executor::collectBefore(const Launch& launch, const Piece& piece,
                             std::vector<CompletionPtr>& after) const {
  const NodeId node = machine_->devices()[piece.device].node;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    launch.buffers[b]->accesses().collect(node, piece.uses[b].needs, piece.uses[b].stores(), after);
}

void Executor::book(const Launch& launch, const Piece& piece, const CompletionPtr& done) const {
  const NodeId node = machine_->devices()[piece.device].node;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const PieceUse& use = piece.uses[b];
    Buffer& buffer = *launch.buffers[b];
    Directory& directory = buffer.directory();
    if (!use.merged.empty()) {
      buffer.journal().note(directory.state(), Journal::Effect::Spoils, node, use.merged, {done});
      directory.spoiled(node, use.merged);
    }
    if (!use.writes.empty()) {
      buffer.journal().note(directory.state(), Journal::Effect::Writes, node, use.writes, {done});
      buffer.wrote(node, use.writes);
    }
    buffer.accesses().add({node, use.needs, use.stores(), done});
  }
}

void Executor::issue(Task& task, const std::shared_ptr<Launch>& launch,
                     std::shared_ptr<const LaunchPlan> plan) {
  tracer_.launches(task, *launch);
  const auto atHome = [&](const Piece& piece) { return piece.device == machine_->home(); };
  if (std::ranges::none_of(plan->pieces, atHome))
    issuer_.issueMarkers(task, true);
  merger_.prepare(task, *launch, *plan);
  launch->issued.reserve(plan->pieces.size());
  task.parts.reserve(task.parts.size() + plan->pieces.size());
  task.partDevices.reserve(task.parts.size() + plan->pieces.size());
  for (const Piece& piece : plan->pieces) {
    Launch::Issued& issued = launch->issued.emplace_back();
    issued.device = piece.device;
    issued.groupBegin = piece.ownBox().begin[plan->dimension];
    issued.groupEnd = piece.ownBox().end[plan->dimension];
    issued.piece = std::shared_ptr<const Piece>(plan, &piece);
  }
  const std::shared_ptr<const InstructionGraph> graph = graphOf(*launch, plan);
  const auto [compiled, isRepeated] = compile(*launch, graph, task.timing);
  launch->compiled = compiled;
  launch->shapesVersion = launch->code->shapes.version();
  std::vector<Instruction>& kernels = kernels_;
  const Emptied emptied(kernels);
  kernels.reserve(plan->pieces.size());
  launch->ends = ends_.take();
  launch->ends->kernels.reserve(plan->pieces.size());
  for (std::size_t p = 0; p < plan->pieces.size(); ++p) {
    const Piece& piece = plan->pieces[p];
    const InstructionGraph::Kernel& kernel = graph->kernels[p];
    const KernelCommand& command = compiled->kernels[p];
    const bool compiles = !isRepeated && command.call.kernel->isNew(command.call.range);
    Instruction& instruction = kernels.emplace_back(
        instructionOf(command, launch->arguments, launch, completions_.take(cl_), compiles));
    instruction.traced = tracer_.piece(*launch, piece, plan->dimension);
    // With others before it in the queue, who issues it has more to do than to wait.
    instruction.isPlaced = machine_->devices()[piece.device].isPlaced && plan->isCut() &&
                           task.stream->active.size() == 1;
    for (std::size_t b = 0; b < launch->buffers.size(); ++b)
      launch->buffers[b]->accesses().collect(kernel.node, piece.uses[b].needs, kernel.stores[b],
                                             instruction.after);
    launch->ends->kernels.push_back(instruction.done);
  }
  const std::vector<Moved> moved = copy(task, *launch, *graph);
  const std::vector<Merger::Kept> kept = merger_.snapshot(task, *launch);
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const InstructionGraph::Kernel& kernel = graph->kernels[p];
    std::vector<CompletionPtr>& after = kernels[p].after;
    for (const std::size_t c : kernel.arrivals)
      after.push_back(moved[c].arrived);
    for (const std::size_t c : kernel.departures)
      after.push_back(moved[c].left);
    for (const auto& [node, done] : kept)
      if (node == kernel.node)
        after.push_back(done);
  }
  book(*launch, *compiled, launch->ends);
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    launch->issued[p].kernel = kernels[p].done;
    if (atHome(plan->pieces[p]) && (p == 0 || !atHome(plan->pieces[p - 1])))
      task.begin = kernels[p].done;
  }
  task.issued = std::chrono::steady_clock::now();
  const auto issueThose = [&](bool returningAtOnce) {
    for (const std::size_t p : graph->order) {
      const std::size_t device = plan->pieces[p].device;
      const Device& on = machine_->devices()[device];
      if (on.returnsAtOnce == returningAtOnce)
        issuer_.issue(task, device, on.lane(compiled->kernels[p].engine), std::move(kernels[p]));
    }
  };
  issueThose(true);
  issueThose(false); // these may take this thread's processor, so the others come first
  for (const std::shared_ptr<Buffer>& buffer : launch->buffers)
    buffer->accesses().forgetDone(); // which takes the driver a while
  merger_.issue(task, *launch);
  issuer_.issueMarkers(task, false);
  tracer_.planned(task, *launch);
  mover_.sendAhead(task, launch->buffers);
}

} // namespace libsplit::runtime
