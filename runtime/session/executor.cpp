#include "runtime/session/executor.h"

#include "runtime/plan/piece_range.h"

#include "analysis-pass/summary/partition_argument.h"

#include <algorithm>
#include <bit>

namespace libsplit::runtime {

namespace {

/// A value for clSetKernelArg, or the size of local memory.
struct ArgumentSetting {
  std::vector<std::byte> value;
  std::size_t localSize = 0;
  bool isBuffer = false;
};

/// One kernel launch, ready to be enqueued.
struct KernelCall {
  std::shared_ptr<LaneKernel> kernel;
  std::vector<ArgumentSetting> arguments;
  unsigned dimensions = 1;
  PieceRange range;
  /// The last argument of the piece's rest, where it is another.
  std::optional<ArgumentSetting> lastOfRest;

  /// `event` gets the last command's event, and `done` the first one's if there are two.
  cl_int enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                 const cl_event* waitList, cl_event* event, Completion* done = nullptr) const;

private:
  cl_int set(const Dispatch& cl, std::size_t index, const ArgumentSetting& argument) const;
};

cl_int KernelCall::enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                           const cl_event* waitList, cl_event* event, Completion* done) const {
  cl_int status = CL_SUCCESS;
  for (std::size_t i = 0; i < arguments.size() && status == CL_SUCCESS; ++i)
    status = set(cl, i, arguments[i]);
  auto launch = [&](const EnqueuedRange& each, cl_event* last) {
    return cl.clEnqueueNDRangeKernel(
        queue, kernel->kernel.get(), dimensions, each.offset.data(), each.global.data(),
        each.localGiven ? each.local.data() : nullptr, waitCount, waitList, last);
  };
  cl_event first = nullptr;
  if (status == CL_SUCCESS && range.rest) {
    const std::size_t last = arguments.size() - 1;
    if (lastOfRest)
      status = set(cl, last, *lastOfRest);
    if (status == CL_SUCCESS)
      status = launch(*range.rest, done ? &first : nullptr);
    if (lastOfRest && status == CL_SUCCESS)
      status = set(cl, last, arguments[last]);
  }
  if (first)
    done->precede(Ref<cl_event>::adopt(cl, first));
  if (status == CL_SUCCESS)
    status = launch(range.body, event);
  // A kernel may keep alive what its arguments name, also after the application has let go of it.
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const cl_mem nothing = nullptr; arguments[i].isBuffer)
      cl.clSetKernelArg(kernel->kernel.get(), static_cast<cl_uint>(i), sizeof nothing, &nothing);
  return status;
}

cl_int KernelCall::set(const Dispatch& cl, std::size_t index,
                       const ArgumentSetting& argument) const {
  auto number = static_cast<cl_uint>(index);
  if (argument.localSize > 0)
    return cl.clSetKernelArg(kernel->kernel.get(), number, argument.localSize, nullptr);
  if (argument.isBuffer)
    return cl.clSetKernelArg(kernel->kernel.get(), number, argument.value.size(),
                             argument.value.data());
  // What did not change since the kernel's last launch need not be set again, unless it may be a
  // handle: an object that is gone may have left its address to another.
  kernel->last.resize(arguments.size());
  std::vector<std::byte>& last = kernel->last[index];
  const bool mayBeHandle = argument.value.size() == sizeof(cl_mem);
  if (!mayBeHandle && !argument.value.empty() && last == argument.value)
    return CL_SUCCESS;
  cl_int status =
      cl.clSetKernelArg(kernel->kernel.get(), number, argument.value.size(), argument.value.data());
  if (status == CL_SUCCESS)
    last = argument.value;
  return status;
}

/// What a driver may compile a kernel for.
std::vector<std::size_t> formOf(const EnqueuedRange& range) {
  std::vector<std::size_t> form;
  for (std::size_t d = 0; d < 3; ++d)
    form.insert(form.end(), {range.localGiven ? range.local[d] : 0, range.offset[d] != 0,
                             range.localGiven ? std::bit_width(range.global[d]) : range.global[d]});
  return form;
}

template <class T> std::vector<std::byte> bytesOf(const T& value) {
  auto first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

} // namespace

bool LaneKernel::isNew(const PieceRange& range) {
  if (forms_.size() >= mostForms)
    forms_.clear();
  const bool bodyIsNew = forms_.insert(formOf(range.body)).second;
  return (range.rest && forms_.insert(formOf(*range.rest)).second) || bodyIsNew;
}

HomeCall Executor::homeCall(Task& task, const Launch& launch) const {
  KernelCall call;
  call.kernel = launch.clone;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const std::shared_ptr<MemoryObject>& object = launch.objects[i];
    call.arguments.push_back({argument.value, argument.isLocal() ? argument.size : 0,
                              object && object->buffer && !object->buffer->isImage()});
  }
  call.dimensions = launch.range.dimensions;
  call.range.body = enqueuedRange(launch.range, launch.localGiven, wholeBox(launch.range));
  tracer_.launches(task, launch);
  const bool compiles = call.kernel->isNew(call.range);
  return {[this, call = std::move(call), queue = task.stream->queue](
              cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
            return call.enqueue(cl_, queue, count, list, event);
          },
          compiles};
}

/// Whether a device other than home has what a work-group of the launch needs. Home's driver says
/// so itself.
bool Executor::hasRoomForGroup(const Launch& launch, std::size_t device) const {
  const Device& on = machine_->devices()[device];
  const KernelSummary& summary = *launch.code->summaries[device];
  std::uint64_t local = launch.code->kernels[device]->localMemory;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const ParameterKind kind = summary.parameters[i].kind;
    if (kind == ParameterKind::LocalBuffer)
      local += launch.arguments[i].size;
    if (kind == ParameterKind::ConstantBuffer && launch.objects[i] &&
        launch.objects[i]->size > on.constants)
      return false;
  }
  return local <= on.localMemory && (!launch.localGiven || fits(launch.range.local, on.maxItems));
}

std::string Executor::reserveOn(Launch& launch, std::size_t device, Provisions& pending) {
  const Device& on = machine_->devices()[device];
  auto lacks = [&](const char* what) {
    launch.lacksRoom = device;
    return "device " + on.label + what;
  };
  if (on.failed)
    return lacks(" failed");
  if (device != machine_->home() && !hasRoomForGroup(launch, device))
    return lacks(" has no room for its work-groups");
  const std::vector<Parameter>& parameters = launch.code->summaries[machine_->home()]->parameters;
  for (std::size_t i = 0; i < parameters.size() && device != machine_->home(); ++i)
    if (parameters[i].kind == ParameterKind::Sampler) {
      Ref<cl_sampler>& own = launch.samplers[{device, i}];
      if (!own)
        own = samplerIn(cl_, on.context.get(), launch.keepsSamplers.at(i).get());
      if (!own)
        return lacks(" has no such sampler");
    }
  for (const BufferArgument& argument : launch.request.buffers) {
    const MemoryObject& given = *launch.objects[argument.parameter];
    Buffer& buffer = *launch.buffers[argument.buffer];
    if (buffer.roomOn(*machine_, device, pending) == Room::None)
      return lacks(" has no room for its buffers");
    if (!buffer.on(*machine_, device, given.origin, given.size))
      return "device " + on.label + " can't align its sub-buffers";
    if (machine_->nodes() > 1 && device != machine_->home() &&
        !(buffer.wayTo(*machine_, machine_->home(), Engine::CopyIn) &&
          buffer.wayTo(*machine_, machine_->home(), Engine::CopyOut)))
      return "there is no memory to copy through at home";
  }
  if (machine_->nodes() > 1 && on.node != hostNode &&
      machine_->ringRoom(on.node, launch.program->context, pending) == Room::None)
    return "there is no host memory to copy through";
  return {};
}

std::string Executor::reserve(Task& task, Launch& launch, const LaunchPlan& plan) {
  Provisions pending;
  std::string why;
  for (const Piece& piece : plan.pieces)
    if (why.empty())
      why = reserveOn(launch, piece.device, pending);
  if (why.empty())
    why = merger_.reserve(launch, plan, pending);
  if (why.empty())
    for (const CompletionPtr& made : provider_.provide(pending))
      task.awaited.push_back(made);
  return why;
}

/// What the work-groups of the launch's pieces may have on all devices.
GroupLimits Executor::groupLimits(const Launch& launch) const {
  GroupLimits limits{~std::uint64_t{0}, {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}};
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    const auto& kernel = launch.code->kernels[i];
    const std::vector<std::size_t>& most = machine_->devices()[i].maxItems;
    if (!kernel)
      continue;
    limits.items = std::min<std::uint64_t>(limits.items, kernel->maxGroup);
    for (std::size_t d = 0; d < 3 && d < most.size(); ++d)
      limits.byDimension[d] = std::min<std::uint64_t>(limits.byDimension[d], most[d]);
  }
  return limits;
}

Instruction Executor::pieceInstruction(const Launch& launch, const Piece& piece,
                                       cl_context context) {
  const NDRange& range = launch.range;
  KernelCall call;
  // Home runs what the program built itself where that is the same.
  const bool isWholeAtHome =
      machine_->devices()[piece.device].isHome && piece.box == wholeBox(range);
  call.kernel = isWholeAtHome ? launch.clone : launch.code->kernels[piece.device];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    if (const auto& object = launch.objects[i])
      call.arguments.push_back(
          {bytesOf(object->buffer->on(*machine_, piece.device, object->origin, object->size)), 0,
           !object->buffer->isImage()});
    else if (auto own = launch.samplers.find({piece.device, i}); own != launch.samplers.end())
      call.arguments.push_back({bytesOf(own->second.get()), 0, false});
    else
      call.arguments.push_back({argument.value, argument.isLocal() ? argument.size : 0, false});
  }
  const KernelSummary& summary = *launch.code->summaries[piece.device];
  call.dimensions = range.dimensions;
  // Drivers of CPUs make few work-items one work-group, which leaves all cores but one idle.
  const Device& device = machine_->devices()[piece.device];
  if ((device.isHome || device.isGpu) && piece.box == wholeBox(range))
    call.range.body = enqueuedRange(range, launch.localGiven, piece.box);
  else
    call.range = pieceRange(range, launch.localGiven, piece.box, launch.plan->dimension,
                            groupLimits(launch), summary.idsFromGroups);
  if (summary.needsPartitionArgument && !isWholeAtHome) {
    PartitionArgument partition;
    for (unsigned d = 0; d < 3; ++d) {
      partition.firstGroup[d] = piece.box.begin[d];
      partition.numGroups[d] = range.groups(d);
      partition.globalSize[d] = range.global[d];
      partition.globalOffset[d] = range.offset[d];
    }
    if (summary.idsFromGroups && call.range.rest) {
      partition.firstGroup = firstGroup(range, *call.range.rest);
      call.lastOfRest = ArgumentSetting{bytesOf(partition), 0, false};
    }
    if (summary.idsFromGroups && call.range.body.localGiven)
      partition.firstGroup = firstGroup(range, call.range.body);
    call.arguments.push_back({bytesOf(partition), 0, false});
  }
  Instruction instruction;
  instruction.queue = machine_->queueOf(piece.device, context);
  instruction.done = std::make_shared<Completion>(cl_);
  instruction.immediate = device.isGpu;
  instruction.context = machine_->waitingContextOf(piece.device, context);
  instruction.compiles = call.kernel->isNew(call.range);
  instruction.run = [this, call = std::move(call), queue = instruction.queue,
                     done = instruction.done](WaitList waits, cl_event* last) {
    return call.enqueue(cl_, queue, waits.count(), waits.data(), last, done.get());
  };
  return instruction;
}

/// Brings every piece what it needs, all at once.
void Executor::bringAll(Task& task, Launch& launch, const LaunchPlan& plan) {
  std::vector<BufferMove> moves;
  std::vector<std::size_t> pieces; ///< by move
  std::vector<Directory::Need> needs(plan.pieces.size());
  // Filling gaps must neither overwrite bytes that a merge put together nor carry them on.
  const bool exactly = !plan.merges.empty();
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    for (std::size_t p = 0; p < plan.pieces.size(); ++p) {
      needs[p] = {machine_->devices()[plan.pieces[p].device].node, &plan.pieces[p].uses[b].needs};
      mover_.requireSomewhere(buffer, *needs[p].bytes);
    }
    const Directory::State before = buffer.directory().state();
    for (Directory::NeededMove& each : buffer.bringAll(needs, exactly)) {
      moves.push_back({&buffer, std::move(each.move), before});
      pieces.push_back(each.need);
    }
  }
  const std::vector<CompletionPtr> arrivals = mover_.transfer(task, moves);
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    launch.issued[pieces[i]].transfers.push_back(arrivals[i]);
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
  for (const Piece& piece : plan->pieces) {
    Launch::Issued& issued = launch->issued.emplace_back();
    issued.device = piece.device;
    issued.groupBegin = piece.box.begin[plan->dimension];
    issued.groupEnd = piece.box.end[plan->dimension];
    issued.piece = std::shared_ptr<const Piece>(plan, &piece);
  }
  // All transfers come before any piece: a piece may overwrite what another has to read first.
  bringAll(task, *launch, *plan);
  merger_.snapshot(task, *launch);
  std::vector<Instruction> instructions;
  for (const Piece& piece : plan->pieces) {
    Instruction instruction = pieceInstruction(*launch, piece, launch->program->context);
    collectBefore(*launch, piece, instruction.after);
    instruction.traced = tracer_.piece(*launch, piece, plan->dimension);
    instructions.push_back(std::move(instruction));
  }
  for (std::size_t p = 0; p < instructions.size(); ++p)
    book(*launch, plan->pieces[p], instructions[p].done);
  for (std::size_t p = 0; p < instructions.size(); ++p) {
    launch->issued[p].kernel = instructions[p].done;
    if (atHome(plan->pieces[p]) && (p == 0 || !atHome(plan->pieces[p - 1])))
      task.begin = instructions[p].done;
    issuer_.issue(task, plan->pieces[p].device, std::move(instructions[p]));
  }
  merger_.issue(task, *launch);
  issuer_.issueMarkers(task, false);
  tracer_.planned(task, *launch);
  mover_.sendAhead(task, launch->buffers);
}

} // namespace libsplit::runtime
