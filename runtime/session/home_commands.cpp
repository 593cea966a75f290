#include "runtime/session/home_commands.h"

#include "runtime/core/log.h"

#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {

void HomeCommands::noteOutputs(Task& task, const std::vector<HeldUse>& uses) {
  for (const HeldUse& held : uses)
    if (held.use.writes && held.object && held.object->buffer)
      task.outputs.emplace_back(held.object->buffer, ByteSet(rootRange(held.use, *held.object)));
}

/// What came before the task in its queue, if that is in order.
void HomeCommands::collectEarlier(const Task& task, std::vector<CompletionPtr>& after) {
  if (!task.stream->inOrder)
    return;
  for (const auto& earlier : task.stream->active)
    if (earlier->sequence < task.sequence && earlier->status >= 0)
      after.insert(after.end(), earlier->parts.begin(), earlier->parts.end());
}

void HomeCommands::plan(Task& task, const std::vector<HeldUse>& uses, const HomeCall& call) {
  std::vector<HomeUse> of;
  for (const HeldUse& held : uses) {
    if (!held.object || !held.object->buffer)
      continue;
    const ByteSet bytes(rootRange(held.use, *held.object));
    of.push_back({held.object->buffer, held.use.reads ? bytes : ByteSet(),
                  held.use.writes ? bytes : ByteSet()});
  }
  plan(task, of, call);
}

void HomeCommands::plan(Task& task, const std::vector<HomeUse>& uses, const HomeCall& call) {
  const NodeId home = machine_->homeDevice().node;
  Instruction instruction;
  // The queue's order: after everything that came before in it, whatever it touched.
  collectEarlier(task, instruction.after);
  for (const HomeUse& use : uses) {
    Buffer& buffer = *use.buffer;
    tracked_.track(buffer);
    mover_.bring(task, buffer, home, use.needs);
    buffer.accesses().collect(home, use.needs, use.changes, instruction.after);
  }
  instruction.done = std::make_shared<Completion>(cl_);
  instruction.traced = tracer_.command(task);
  instruction.compiles = call.compiles;
  CompletionPtr done = instruction.done;
  cl_command_queue queue = task.stream->queue;
  if (call.takesWaitList)
    instruction.context = machine_->waitingContextOf(machine_->home(), task.stream->context);
  instruction.run = [this, call = call.enqueue, queue](WaitList waits, Completion&,
                                                       cl_event* last) {
    cl_int status = call(CL_FALSE, waits.count(), waits.data(), last);
    cl_.clFlush(queue);
    return status;
  };
  issuer_.issue(task, machine_->home(), std::move(instruction));
  for (const HomeUse& use : uses) {
    Buffer& buffer = *use.buffer;
    if (!use.changes.empty()) {
      buffer.journal().note(buffer.directory().state(), Journal::Effect::Overwrites, home,
                            use.changes, {done});
      buffer.wrote(home, use.changes);
    }
    buffer.accesses().add({home, use.needs, use.changes, done});
    tracer_.planned(task, buffer, use.needs, false);
    tracer_.planned(task, buffer, use.changes, true);
  }
  task.begin = task.end = done;
}

/// A copy between a device and the program's memory, whose byte 0 of the buffer would lie at
/// `base`. By a pump, if the lane may wait for it.
Instruction HomeCommands::programCopy(const DeviceEnd& end, const Buffer& buffer,
                                      const ByteSet& bytes, std::byte* base, bool mayBlock) {
  const bool toHost = end.engine == Engine::CopyOut;
  Instruction copy = mover_.copyInstruction(end, buffer, buffer.rowsOf(bytes), base, false,
                                            std::make_shared<Completion>(cl_));
  copy.immediate = false; // the application's memory need not be pinned
  const std::span<const ByteRange> ranges = bytes.ranges();
  if (!mayBlock || ranges.size() != 1 || end.way.isRelayed(toHost) || end.way.image)
    return copy;
  const BulkCopy bulk{end.queue,        end.way.memory,
                      toHost,           ranges[0].begin - end.way.begin,
                      ranges[0].size(), base + ranges[0].begin};
  if (!pumps_.isLarge(bulk.size))
    return copy;
  copy.run = [this, bulk, run = std::move(copy.run)](WaitList waits, Completion& done,
                                                     cl_event* last) {
    BulkCopy behind = bulk;
    behind.waitCount = waits.count();
    behind.waitList = waits.data();
    behind.event = last;
    // From here on it counts as under way.
    cl_event begin = nullptr;
    if (cl_.clEnqueueMarkerWithWaitList(bulk.queue, waits.count(), waits.data(), &begin) ==
        CL_SUCCESS)
      done.precede(Ref<cl_event>::adopt(cl_, begin));
    const std::optional<cl_int> status = pumps_.copy(behind, true);
    return status ? *status : run(waits, done, last);
  };
  return copy;
}

void HomeCommands::planWrite(Task& task, Buffer& buffer, ByteRange bytes, std::byte* host) {
  const NodeId home = machine_->homeDevice().node;
  std::byte* base = host - bytes.begin; // where the buffer's byte 0 would lie
  std::map<NodeId, ByteSet> parts;
  for (auto& [node, part] : buffer.readers().shareOut(ByteSet(bytes), home)) {
    const bool isThere = node != hostNode && node != home &&
                         !machine_->devices()[machine_->deviceOfNode(node)].failed &&
                         buffer.hasPlaceFor(*machine_, node, part);
    ByteSet& of = parts[isThere ? node : home];
    of.uniteWith(part);
  }
  issuer_.issueMarkers(task, true);
  const ByteSet whole(bytes);
  std::map<NodeId, std::vector<CompletionPtr>> before; // not those of each other
  for (const auto& [node, part] : parts)
    buffer.accesses().collect(node, {}, part, before[node]);
  ByteSet written;
  for (const auto& [node, part] : parts) {
    const std::size_t device = node == home ? machine_->home() : machine_->deviceOfNode(node);
    const DeviceEnd end = mover_.endOf(buffer, device, Engine::CopyIn);
    Instruction copy = programCopy(end, buffer, part, base, true);
    copy.after = std::move(before[node]);
    // The application's memory may be what an earlier command of the queue writes to.
    collectEarlier(task, copy.after);
    copy.traced = tracer_.transfer(false, buffer, part.size(),
                                   node != home ? Uncounted::No : Uncounted::Home);
    if (node != home) {
      stats_.bytesBetweenNodes += part.size();
      ++stats_.transfers;
      log(LogLevel::Debug, "the application to node ", node, ": ", [&] { return toString(part); });
    }
    // Should one part fail, all are written again: whoever changes any of them waits for all.
    buffer.accesses().add({node, whole, part, copy.done});
    // What several nodes get is the first one's, and then valid on the others, too.
    const ByteSet shared = intersect(part, written), own = subtract(part, written);
    Directory& directory = buffer.directory();
    if (!own.empty()) {
      buffer.journal().note(directory.state(), Journal::Effect::Overwrites, node, own, {copy.done});
      buffer.wrote(node, own);
    }
    if (!shared.empty()) {
      buffer.journal().note(directory.state(), Journal::Effect::Arrives, node, shared, {copy.done});
      directory.confirm(node, shared);
    }
    written.uniteWith(part);
    issuer_.issue(task, device, machine_->devices()[device].lane(Engine::CopyIn), std::move(copy));
  }
  issuer_.issueMarkers(task, false);
  tracer_.planned(task, buffer, ByteSet(bytes), true);
}

void HomeCommands::planInHost(Task& task, const std::vector<HeldUse>& uses, const HostWork& work) {
  Instruction instruction;
  collectEarlier(task, instruction.after);
  std::vector<std::byte*> bases;
  std::vector<HomeUse> of;
  for (const HeldUse& held : uses) {
    Buffer& buffer = *held.object->buffer;
    const ByteSet bytes(rootRange(held.use, *held.object));
    const HomeUse& use =
        of.emplace_back(HomeUse{held.object->buffer, held.use.reads ? bytes : ByteSet(),
                                held.use.writes ? bytes : ByteSet()});
    tracked_.track(buffer);
    std::byte* memory = buffer.hostMemory(*machine_);
    if (!memory)
      throw std::runtime_error("no host memory for a buffer");
    bases.push_back(memory + held.object->origin);
    mover_.bring(task, buffer, hostNode, use.needs);
    buffer.accesses().collect(hostNode, use.needs, use.changes, instruction.after);
  }
  issuer_.issueMarkers(task, true);
  instruction.done = std::make_shared<Completion>(cl_);
  const CompletionPtr done = instruction.done;
  instruction.run = [work, bases = std::move(bases)](WaitList, Completion&, cl_event*) {
    work(bases);
    return CL_SUCCESS;
  };
  issuer_.issue(task, machine_->home(), machine_->hostLane(), std::move(instruction));
  std::vector<Moved> arriving;
  for (const HomeUse& use : of) {
    Buffer& buffer = *use.buffer;
    if (!use.changes.empty()) {
      buffer.journal().note(buffer.directory().state(), Journal::Effect::Overwrites, hostNode,
                            use.changes, {done});
      buffer.wrote(hostNode, use.changes);
    }
    buffer.accesses().add({hostNode, use.needs, use.changes, done});
    tracer_.planned(task, buffer, use.needs, false);
    tracer_.planned(task, buffer, use.changes, true);
    if (const NodeId own = buffer.ownNode(*machine_); own != hostNode)
      mover_.bring(task, buffer, own, use.changes, &arriving);
  }
  for (const Moved& each : arriving) // should one fail, all of it is done again
    for (const HomeUse& use : of)
      use.buffer->accesses().add({hostNode, use.needs, use.changes, each.arrived});
  issuer_.issueMarkers(task, false);
}

void HomeCommands::planRead(Task& task, Buffer& buffer, ByteRange bytes, std::byte* host,
                            bool mayBlock) {
  tracked_.track(buffer);
  const ByteSet wanted(bytes);
  mover_.requireSomewhere(buffer, wanted);
  std::byte* base = host - bytes.begin; // where the buffer's byte 0 would land
  const NodeId home = machine_->homeDevice().node;
  issuer_.issueMarkers(task, true);
  auto readFrom = [&](NodeId node, ByteSet part) {
    const std::size_t device = node == home ? machine_->home() : machine_->deviceOfNode(node);
    const DeviceEnd end = mover_.endOf(buffer, device, Engine::CopyOut);
    Instruction copy = programCopy(end, buffer, part, base, mayBlock);
    buffer.accesses().collect(node, part, {}, copy.after);
    // The application's memory may be what an earlier command of the queue writes to or reads from.
    collectEarlier(task, copy.after);
    copy.traced =
        tracer_.transfer(true, buffer, part.size(), node != home ? Uncounted::No : Uncounted::Home);
    if (node != home) {
      stats_.bytesBetweenNodes += part.size();
      ++stats_.transfers;
      log(LogLevel::Debug, "node ", node, " to the application: ", [&] { return toString(part); });
    }
    // Should one part fail, all are read again.
    buffer.accesses().add({node, wanted, {}, copy.done});
    issuer_.issue(task, device, machine_->devices()[device].lane(Engine::CopyOut), std::move(copy));
  };
  auto readInHost = [&](ByteSet part) {
    Instruction copy;
    copy.done = std::make_shared<Completion>(cl_);
    copy.run = [part, from = buffer.hostMemory(*machine_), base](WaitList, Completion&, cl_event*) {
      for (const ByteRange& each : part.ranges())
        std::memcpy(base + each.begin, from + each.begin, each.size());
      return CL_SUCCESS;
    };
    buffer.accesses().collect(hostNode, part, {}, copy.after);
    collectEarlier(task, copy.after);
    buffer.accesses().add({hostNode, wanted, {}, copy.done});
    issuer_.issue(task, machine_->home(), machine_->hostLane(), std::move(copy));
  };
  for (Directory::Part& part : buffer.directory().sources(home, wanted)) {
    if (part.node == hostNode && buffer.pooled()) {
      readInHost(std::move(part.bytes));
      continue;
    }
    if (part.node == hostNode && home != hostNode) { // no queue reads from there
      mover_.bring(task, buffer, home, part.bytes);
      part.node = home;
    }
    readFrom(part.node, std::move(part.bytes));
  }
  issuer_.issueMarkers(task, false);
  tracer_.planned(task, buffer, ByteSet(bytes), false);
}

} // namespace libsplit::runtime
