// Makes plans happen: a launch's pieces, or the whole of it at home, become transfers and
// instructions of the devices' lanes.
//
// All transfers of a launch come before any of its pieces, since a piece may overwrite what another
// has to read first. Each piece waits for earlier work on the same bytes' node and nothing else.
#include "runtime/launch.h"
#include "runtime/session.h"

#include "analysis-pass/summary/partition_argument.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Sets what differs from the kernel's last launch on its lane.
cl_int setArguments(const Dispatch& cl, LaneKernel& kernel,
                    const std::vector<std::vector<std::byte>>& values,
                    const std::vector<std::size_t>& localSizes) {
  kernel.last.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool isLocal = localSizes[i] > 0;
    // What may be a handle is always set: an object that is gone may have left its address to
    // another.
    const bool mayBeHandle = values[i].size() == sizeof(cl_mem);
    if (!isLocal && !mayBeHandle && !values[i].empty() && kernel.last[i] == values[i])
      continue;
    cl_int status = cl.clSetKernelArg(kernel.kernel.get(), static_cast<cl_uint>(i),
                                      isLocal ? localSizes[i] : values[i].size(),
                                      isLocal ? nullptr : values[i].data());
    if (status != CL_SUCCESS)
      return status;
    kernel.last[i] = values[i];
  }
  return CL_SUCCESS;
}

template <class T> std::vector<std::byte> bytesOf(const T& value) {
  auto first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof value};
}

} // namespace

void Session::planUnsplit(Task& task, const std::shared_ptr<Launch>& launch) {
  std::vector<HeldUse> uses;
  std::vector<std::vector<std::byte>> values;
  std::vector<std::size_t> localSizes;
  const std::vector<bool>& writes = launch->code->writes;
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const Argument& argument = launch->arguments[i];
    values.push_back(argument.value);
    localSizes.push_back(argument.isLocal() ? argument.size : 0);
    if (launch->objects[i])
      uses.push_back({{nullptr, i >= writes.size() || writes[i]}, launch->objects[i], {}});
  }
  cl_command_queue queue = task.stream->queue;
  planHomeCall(task, uses,
               [this, launch, queue, values, localSizes](cl_bool, cl_uint count,
                                                         const cl_event* list, cl_event* event) {
                 cl_int status = setArguments(cl_, *launch->clone, values, localSizes);
                 if (status != CL_SUCCESS)
                   return status;
                 const NDRange& range = launch->range;
                 std::size_t offset[3], global[3], local[3];
                 for (unsigned d = 0; d < 3; ++d) {
                   offset[d] = range.offset[d];
                   global[d] = range.global[d];
                   local[d] = range.local[d];
                 }
                 return cl_.clEnqueueNDRangeKernel(
                     queue, launch->clone->kernel.get(), range.dimensions, offset, global,
                     launch->localGiven ? local : nullptr, count, list, event);
               });
}

/// Makes sure that everything a plan needs can be had, before anything happens. Why not, if not.
std::string Session::reserve(Launch& launch, const LaunchPlan& plan) {
  for (const Piece& piece : plan.pieces)
    for (const BufferArgument& argument : launch.request.buffers) {
      const MemoryObject& given = *launch.objects[argument.parameter];
      Buffer& buffer = *launch.buffers[argument.buffer];
      if (!buffer.on(*machine_, piece.device, given.origin, given.size))
        return "device " + machine_->devices()[piece.device].label +
               " has no room for its buffers or can't align them";
      if (machine_->nodes() > 1 && !buffer.hostMemory(*machine_))
        return "there is no host memory to copy through";
    }
  return {};
}

Instruction Session::pieceInstruction(const Launch& launch, const Piece& piece,
                                      cl_context context) {
  const NDRange& range = launch.range;
  const KernelSummary& summary = *launch.code->summaries[piece.device];
  std::vector<std::vector<std::byte>> values;
  std::vector<std::size_t> localSizes;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    localSizes.push_back(argument.isLocal() ? argument.size : 0);
    if (const auto& object = launch.objects[i])
      values.push_back(
          bytesOf(object->buffer->on(*machine_, piece.device, object->origin, object->size)));
    else
      values.push_back(argument.value);
  }
  if (summary.needsPartitionArgument) {
    PartitionArgument partition;
    for (unsigned d = 0; d < 3; ++d) {
      partition.firstGroup[d] = piece.box.begin[d];
      partition.numGroups[d] = range.groups(d);
      partition.globalSize[d] = range.global[d];
      partition.globalOffset[d] = range.offset[d];
    }
    values.push_back(bytesOf(partition));
    localSizes.push_back(0);
  }
  std::array<std::size_t, 3> offset{}, global{}, local{};
  for (unsigned d = 0; d < 3; ++d) {
    std::uint64_t begin = piece.box.begin[d] * range.local[d];
    std::uint64_t end = std::min(piece.box.end[d] * range.local[d], range.global[d]);
    offset[d] = range.offset[d] + begin;
    global[d] = end - begin;
    local[d] = range.local[d];
  }
  Instruction instruction;
  instruction.queue = machine_->queueOf(piece.device, context);
  instruction.done = std::make_shared<Completion>(cl_);
  instruction.immediate = machine_->devices()[piece.device].isGpu;
  instruction.run = [this, kernel = launch.code->kernels[piece.device], values = std::move(values),
                     localSizes = std::move(localSizes), offset, global, local,
                     localGiven = launch.localGiven, dimensions = range.dimensions,
                     queue = instruction.queue](cl_event* last) {
    cl_int status = setArguments(cl_, *kernel, values, localSizes);
    if (status != CL_SUCCESS)
      return status;
    return cl_.clEnqueueNDRangeKernel(queue, kernel->kernel.get(), dimensions, offset.data(),
                                      global.data(), localGiven ? local.data() : nullptr, 0,
                                      nullptr, last);
  };
  return instruction;
}

void Session::issuePlan(Task& task, const std::shared_ptr<Launch>& launch,
                        std::shared_ptr<const LaunchPlan> plan) {
  issueMarkers(task, true);
  // All transfers come before any piece: a piece may overwrite what another has to read first.
  for (const Piece& piece : plan->pieces) {
    Launch::Issued issued;
    issued.device = piece.device;
    issued.groupBegin = piece.box.begin[plan->dimension];
    issued.groupEnd = piece.box.end[plan->dimension];
    std::size_t before = task.parts.size();
    for (std::size_t b = 0; b < launch->buffers.size(); ++b)
      bring(task, *launch->buffers[b], machine_->devices()[piece.device].node, piece.uses[b].needs);
    issued.transfers.assign(task.parts.begin() + static_cast<std::ptrdiff_t>(before),
                            task.parts.end());
    launch->issued.push_back(std::move(issued));
  }
  std::vector<Instruction> instructions;
  for (const Piece& piece : plan->pieces) {
    Instruction instruction = pieceInstruction(*launch, piece, launch->program->context);
    for (std::size_t b = 0; b < launch->buffers.size(); ++b)
      launch->buffers[b]
          ->hazards(machine_->devices()[piece.device].node)
          .collect(!piece.uses[b].writes.empty(), instruction.after);
    instructions.push_back(std::move(instruction));
  }
  for (std::size_t b = 0; b < launch->buffers.size(); ++b) {
    Buffer& buffer = *launch->buffers[b];
    std::map<NodeId, std::vector<CompletionPtr>> writers;
    for (std::size_t p = 0; p < plan->pieces.size(); ++p)
      if (!plan->pieces[p].uses[b].writes.empty())
        writers[machine_->devices()[plan->pieces[p].device].node].push_back(instructions[p].done);
    for (auto& [node, completions] : writers)
      buffer.hazards(node).setWriters(completions);
    for (std::size_t p = 0; p < plan->pieces.size(); ++p) {
      const PieceUse& use = plan->pieces[p].uses[b];
      NodeId node = machine_->devices()[plan->pieces[p].device].node;
      if (use.writes.empty() && !use.needs.empty())
        buffer.hazards(node).addReader(instructions[p].done);
      if (!use.writes.empty())
        buffer.directory().wrote(node, use.writes);
    }
  }
  for (std::size_t p = 0; p < instructions.size(); ++p) {
    launch->issued[p].kernel = instructions[p].done;
    issue(task, plan->pieces[p].device, std::move(instructions[p]));
  }
  issueMarkers(task, false);
}

} // namespace libsplit::runtime
