// Instructions that move bytes between nodes, and commands that run at home.
#include "runtime/session.h"

#include "runtime/log.h"

#include <algorithm>
#include <stdexcept>

namespace libsplit::runtime {

void Session::issue(Task& task, std::size_t device, Instruction instruction) {
  instruction.after.insert(instruction.after.end(), task.after.begin(), task.after.end());
  if (!instruction.done)
    instruction.done = std::make_shared<Completion>(cl_);
  task.parts.push_back(instruction.done);
  if (instruction.traced) {
    instruction.traced->device = device;
    instruction.traced->done = instruction.done;
    task.traced.push_back(instruction.traced);
  }
  machine_->devices()[device].lane->issue(std::move(instruction));
}

CompletionPtr Session::move(Task& task, Buffer& buffer, const Move& move,
                            const std::vector<CompletionPtr>* besides) {
  const bool toHost = move.to == hostNode;
  const std::size_t device = machine_->deviceOfNode(toHost ? move.from : move.to);
  cl_mem memory = buffer.on(*machine_, device);
  std::byte* host = buffer.hostMemory(*machine_);
  cl_command_queue queue = machine_->queueOf(device, buffer.context());
  if (!memory || !host || !queue)
    throw std::runtime_error("no memory for a buffer's copy");

  Instruction copy;
  copy.queue = queue;
  buffer.hazards(move.from).collect(false, copy.after);
  buffer.hazards(move.to).collect(true, copy.after);
  if (besides)
    std::erase_if(copy.after, [&](const CompletionPtr& before) {
      return std::find(besides->begin(), besides->end(), before) != besides->end();
    });
  // A stop in the host's memory on the way between devices is no node's arrival.
  const auto& devices = machine_->devices();
  bool arrives = !toHost || std::any_of(devices.begin(), devices.end(),
                                        [](const Device& each) { return each.node == hostNode; });
  copy.done = std::make_shared<Completion>(cl_);
  copy.run = [this, queue, memory, host, bytes = move.bytes, toHost,
              end = copy.done](cl_event* last) {
    return copyBytes(cl_, queue, memory, host, bytes, toHost, *end, last);
  };
  copy.traced = tracedTransfer(toHost, move.bytes, arrives ? nullptr : "stopover");
  CompletionPtr done = copy.done;
  issue(task, device, std::move(copy));
  buffer.hazards(move.from).addReader(done);
  if (besides)
    buffer.hazards(move.to).addWriter(done); // what it did not wait for still counts
  else
    buffer.hazards(move.to).setWriters({done});

  if (arrives)
    stats_.bytesBetweenNodes += move.bytes.size();
  ++stats_.transfers;
  log(LogLevel::Debug, "node ", move.from, " to node ", move.to, ": ",
      [&] { return toString(move.bytes); });
  return done;
}

void Session::bring(Task& task, Buffer& buffer, NodeId node, const ByteSet& bytes) {
  for (const Move& each : buffer.directory().bring(node, bytes))
    move(task, buffer, each);
}

std::vector<HeldUse> Session::hold(const std::vector<BufferUse>& uses) {
  std::vector<HeldUse> held;
  for (const BufferUse& use : uses)
    if (use.object)
      held.push_back({use, findObject(use.object), Ref<cl_mem>::retain(cl_, use.object)});
  return held;
}

namespace {

/// The bytes of the root buffer that a use means.
ByteRange rootRange(const BufferUse& use, const MemoryObject& object) {
  std::uint64_t begin = std::min<std::uint64_t>(use.begin, object.size);
  std::uint64_t end = std::min<std::uint64_t>(use.end, object.size);
  return {object.origin + begin, object.origin + std::max(begin, end)};
}

} // namespace

bool Session::homeIsCurrent(const std::vector<BufferUse>& uses) {
  for (const BufferUse& use : uses) {
    auto object = use.object ? findObject(use.object) : nullptr;
    if (!object || !object->buffer || !object->buffer->engaged())
      continue;
    Buffer& buffer = *object->buffer;
    NodeId home = machine_->homeDevice().node;
    if (use.reads && !buffer.directory().isValid(home, ByteSet(rootRange(use, *object))))
      return false;
    if (!buffer.hazards(home).idleFor(use.writes))
      return false;
  }
  return true;
}

void Session::noteNativeWrites(const std::vector<BufferUse>& uses) {
  for (const BufferUse& use : uses) {
    auto object = use.writes && use.object ? findObject(use.object) : nullptr;
    if (object && object->buffer && object->buffer->engaged())
      object->buffer->directory().wrote(machine_->homeDevice().node,
                                        ByteSet(rootRange(use, *object)));
  }
}

void Session::planHomeCall(Task& task, const std::vector<HeldUse>& uses, const NativeCall& call) {
  const NodeId home = machine_->homeDevice().node;
  Instruction instruction;
  // The queue's order: after everything that came before in it, whatever it touched.
  for (const auto& earlier : task.stream->active)
    if (earlier.get() != &task && task.stream->inOrder)
      instruction.after.insert(instruction.after.end(), earlier->parts.begin(),
                               earlier->parts.end());
  for (const HeldUse& held : uses) {
    if (!held.object || !held.object->buffer)
      continue;
    Buffer& buffer = *held.object->buffer;
    if (!buffer.engage(*machine_))
      throw std::runtime_error("a buffer's address can't be had");
    ByteSet bytes(rootRange(held.use, *held.object));
    if (held.use.reads)
      bring(task, buffer, home, bytes);
    buffer.hazards(home).collect(held.use.writes, instruction.after);
  }
  instruction.done = std::make_shared<Completion>(cl_);
  instruction.traced = tracedCommand(task);
  CompletionPtr done = instruction.done;
  cl_command_queue queue = task.stream->queue;
  instruction.run = [this, call, queue](cl_event* last) {
    cl_int status = call(CL_FALSE, 0, nullptr, last);
    cl_.clFlush(queue);
    return status;
  };
  issue(task, machine_->home(), std::move(instruction));
  for (const HeldUse& held : uses) {
    if (!held.object || !held.object->buffer)
      continue;
    Buffer& buffer = *held.object->buffer;
    if (held.use.writes) {
      buffer.hazards(home).setWriters({done});
      buffer.directory().wrote(home, ByteSet(rootRange(held.use, *held.object)));
    } else {
      buffer.hazards(home).addReader(done);
    }
  }
  task.begin = task.end = done;
}

void Session::planRead(Task& task, Buffer& buffer, ByteRange bytes, std::byte* host) {
  if (!buffer.engage(*machine_))
    throw std::runtime_error("a buffer's address can't be had");
  ByteSet wanted(bytes);
  std::byte* base = host - bytes.begin; // where the buffer's byte 0 would land
  const NodeId home = machine_->homeDevice().node;
  issueMarkers(task, true);
  auto readFrom = [&](NodeId node, ByteSet part) {
    if (part.empty())
      return;
    std::size_t device = node == home ? machine_->home() : machine_->deviceOfNode(node);
    cl_command_queue queue = machine_->queueOf(device, buffer.context());
    cl_mem memory = buffer.on(*machine_, device);
    Instruction copy;
    copy.queue = queue;
    buffer.hazards(node).collect(false, copy.after);
    copy.done = std::make_shared<Completion>(cl_);
    copy.traced = tracedTransfer(true, part, node != home ? nullptr : "home");
    if (node != home) {
      stats_.bytesBetweenNodes += part.size();
      ++stats_.transfers;
      log(LogLevel::Debug, "node ", node, " to the application: ", toString(part));
    }
    copy.run = [this, queue, memory, base, bytesRead = std::move(part),
                end = copy.done](cl_event* last) {
      return copyBytes(cl_, queue, memory, base, bytesRead, true, *end, last);
    };
    buffer.hazards(node).addReader(copy.done);
    issue(task, device, std::move(copy));
  };
  const Directory& directory = buffer.directory();
  readFrom(home, intersect(wanted, directory.valid(home)));
  wanted = directory.missing(home, wanted);
  for (NodeId node = 0; node < machine_->nodes() && !wanted.empty(); ++node) {
    if (node == home || node == hostNode)
      continue;
    readFrom(node, intersect(wanted, directory.valid(node)));
    wanted = directory.missing(node, wanted);
  }
  // What only the host's own memory holds goes by way of the home device.
  if (!wanted.empty()) {
    bring(task, buffer, home, wanted);
    readFrom(home, wanted);
  }
  issueMarkers(task, false);
}

} // namespace libsplit::runtime
