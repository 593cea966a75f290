#include "runtime/session/mover.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <ranges>
#include <stdexcept>

namespace libsplit::runtime {

namespace {

/// Rows that differ in length or distance, each of which takes a command or two of its own: with
/// more of them a copy is for its lane's thread, beside the program's and those of other devices.
constexpr std::size_t fewRows = 2;

/// Drivers send so little as fast from any memory.
constexpr std::uint64_t smallTransfer = std::uint64_t{1} << 16;

void copyRows(const std::vector<Rows>& rows, std::byte* packed, std::byte* base, bool pack) {
  for (const Rows& each : rows)
    for (std::uint64_t k = 0; k < each.count; ++k, packed += each.length) {
      std::byte* at = base + each.first + k * each.pitch;
      std::memcpy(pack ? packed : at, pack ? at : packed, each.length);
    }
}

/// What is sent ahead may be taken: the launch that it follows is done with.
bool isBehindRetired(const Task& ahead) {
  return std::ranges::all_of(ahead.waitTasks, [](const std::shared_ptr<Task>& each) {
    return each->state == Task::State::Retired;
  });
}

} // namespace

CountedMoves::~CountedMoves() {
  for (BufferMove& each : std::views::reverse(moves_))
    each.buffer->directory().restore(each.before);
}

template <class Count> void CountedMoves::count(Buffer& buffer, const Count& bringAll) {
  Directory::State before = buffer.directory().state();
  try {
    for (Directory::NeededMove& each : bringAll())
      moves_.push_back({&buffer, std::move(each.move), before});
  } catch (...) {
    buffer.directory().restore(before);
    throw;
  }
}

void CountedMoves::add(Buffer& buffer, std::span<const Directory::Need> needs) {
  count(buffer, [&] { return buffer.directory().bringAll(needs, Directory::Gaps::Wanted); });
}

void CountedMoves::addWanted(Buffer& buffer, std::span<const Directory::Need> needs) {
  count(buffer, [&] { return buffer.bringAll(needs); });
}

/// One set of bytes on its way from a node to others.
struct Mover::Transfer {
  Buffer* buffer = nullptr;
  NodeId from = hostNode;
  ByteSet bytes;
  std::vector<NodeId> to{};
  std::vector<Chunk> chunks{};
  bool isDirect = false; ///< without a ring
  std::vector<CompletionPtr> beforeLeaving{};
  std::vector<std::vector<CompletionPtr>> beforeArriving{}; ///< by receiver
  // What was issued last; the next chunk's waits for it.
  CompletionPtr left{};
  std::vector<CompletionPtr> arrived{}; ///< by receiver
  // … and first, unless it goes without a ring.
  CompletionPtr firstLeft{};
  std::vector<CompletionPtr> firstArrived{};
};

/// Whether bytes that come to `node` have arrived: at a stop on the way they have not.
bool Mover::isDestination(NodeId node) const {
  return node != hostNode || std::ranges::any_of(machine_->devices(), [](const Device& device) {
           return device.node == hostNode;
         });
}

/// Whether the node's device failed: nobody will use what comes there.
bool Mover::isLost(NodeId node) const {
  return node != hostNode && machine_->devices()[machine_->deviceOfNode(node)].failed;
}

DeviceEnd Mover::endOf(Buffer& buffer, std::size_t device, Engine engine, Timing timing) {
  const HostWay way = buffer.wayTo(*machine_, device, engine);
  // All that goes through a relay goes one behind the other, in one queue.
  if (way.isRelayed(engine == Engine::CopyOut))
    timing = Timing::On;
  DeviceEnd end{device, way, machine_->queueOf(device, buffer.context(), engine, timing), engine};
  if (!end.way || !end.queue)
    throw std::runtime_error("no memory for a buffer's copy");
  return end;
}

/// Throws if that end of a transfer can't be had.
void Mover::checkEnd(Buffer& buffer, NodeId node, Engine engine) {
  if (node != hostNode)
    endOf(buffer, machine_->deviceOfNode(node), engine);
  else if (!buffer.hostMemory(*machine_))
    throw std::runtime_error("no host memory for a buffer");
}

Instruction Mover::copyInstruction(const DeviceEnd& end, const Buffer& buffer,
                                   std::vector<Rows> rows, std::byte* host, bool packed,
                                   const CompletionPtr& done) const {
  Instruction copy;
  copy.queue = end.queue;
  copy.context = machine_->waitingContextOf(end.device, buffer.context());
  copy.immediate = machine_->devices()[end.device].isGpu && rows.size() <= fewRows;
  copy.done = done;
  copy.run = [this,
              rowCopy = RowCopy{end.queue, end.way, end.engine == Engine::CopyOut, std::move(rows),
                                host, packed}](WaitList waits, Completion& ended, cl_event* last) {
    return rowCopy.enqueue(cl_, waits, &ended, last);
  };
  return copy;
}

/// `chunk` goes from `node` to `part` of a ring, or from there to `node`, behind `after`.
void Mover::issueChunkCopy(Task& task, Buffer& buffer, const Chunk& chunk, NodeId node,
                           Engine engine, std::byte* part, std::vector<CompletionPtr> after,
                           const CompletionPtr& done, Uncounted uncounted) {
  const bool leaves = engine == Engine::CopyOut;
  Instruction copy;
  std::size_t device = machine_->home();
  Lane* lane = &machine_->hostLane();
  if (node == hostNode) {
    copy.done = done;
    copy.run = [rows = chunk.rows, part, base = buffer.hostMemory(*machine_),
                leaves](WaitList, Completion&, cl_event*) {
      copyRows(rows, part, base, leaves);
      return CL_SUCCESS;
    };
  } else {
    const DeviceEnd end = endOf(buffer, machine_->deviceOfNode(node), engine, task.timing);
    device = end.device;
    lane = &machine_->devices()[device].lane(engine);
    copy = copyInstruction(end, buffer, chunk.rows, part, true, done);
    copy.traced = tracer_.transfer(leaves, buffer, chunk.size, uncounted);
    ++stats_.transfers;
  }
  copy.after = std::move(after);
  issuer_.issue(task, device, *lane, std::move(copy));
}

/// The `index`-th chunk leaves for `part`.
void Mover::issueLeaving(Task& task, Transfer& transfer, std::size_t index,
                         const StagingRing::Part& part) {
  std::vector<CompletionPtr> after =
      transfer.left ? std::vector{transfer.left} : transfer.beforeLeaving;
  after.insert(after.end(), part.after.begin(), part.after.end());
  transfer.left = std::make_shared<Completion>(cl_);
  const bool arrives = transfer.to.front() == hostNode && isDestination(hostNode);
  issueChunkCopy(task, *transfer.buffer, transfer.chunks[index], transfer.from, Engine::CopyOut,
                 part.address, std::move(after), transfer.left,
                 arrives ? Uncounted::No : Uncounted::Stopover);
}

/// It arrives at `transfer.to[receiver]`, from `part`, once `left` is over. `done`: what others
/// wait for.
void Mover::issueArriving(Task& task, Transfer& transfer, std::size_t index, std::size_t receiver,
                          std::byte* part, const CompletionPtr& left, const CompletionPtr& done) {
  CompletionPtr& before = transfer.arrived[receiver];
  std::vector<CompletionPtr> after =
      before ? std::vector{before} : transfer.beforeArriving[receiver];
  after.push_back(left);
  before = done;
  issueChunkCopy(task, *transfer.buffer, transfer.chunks[index], transfer.to[receiver],
                 Engine::CopyIn, part, std::move(after), done, Uncounted::No);
}

/// Between a device and the host's memory, without a stop.
void Mover::issueDirect(Task& task, Transfer& transfer) {
  Buffer& buffer = *transfer.buffer;
  const bool toHost = transfer.to.front() == hostNode;
  const NodeId node = toHost ? transfer.from : transfer.to.front();
  const DeviceEnd end = endOf(buffer, machine_->deviceOfNode(node),
                              toHost ? Engine::CopyOut : Engine::CopyIn, task.timing);
  Instruction copy =
      copyInstruction(end, buffer, buffer.rowsOf(transfer.bytes), buffer.hostMemory(*machine_),
                      false, std::make_shared<Completion>(cl_));
  // Drivers copy at once, and in the calling thread, what is neither small nor in pinned memory.
  copy.immediate = copy.immediate && transfer.bytes.size() <= smallTransfer;
  copy.after = transfer.beforeLeaving;
  copy.after.insert(copy.after.end(), transfer.beforeArriving[0].begin(),
                    transfer.beforeArriving[0].end());
  copy.traced =
      tracer_.transfer(toHost, buffer, transfer.bytes.size(),
                       isDestination(transfer.to.front()) ? Uncounted::No : Uncounted::Stopover);
  ++stats_.transfers;
  transfer.left = transfer.arrived[0] = copy.done;
  issuer_.issue(task, end.device, machine_->devices()[end.device].lane(end.engine),
                std::move(copy));
}

/// Of moves that take the same bytes from one node to several, one transfer. Throws if something
/// that it takes can't be had; nothing is issued then.
std::vector<Mover::Transfer> Mover::asTransfers(std::span<BufferMove> moves) {
  std::vector<Transfer> transfers;
  for (BufferMove& each : moves) {
    const auto same = std::ranges::find_if(transfers, [&](const Transfer& transfer) {
      return transfer.buffer == each.buffer && transfer.from == each.move.from &&
             transfer.from != hostNode && transfer.to.front() != hostNode &&
             each.move.to != hostNode && transfer.bytes == each.move.bytes;
    });
    Transfer& transfer =
        same != transfers.end()
            ? *same
            : transfers.emplace_back(Transfer{each.buffer, each.move.from, each.move.bytes});
    each.transfer = static_cast<std::size_t>(&transfer - transfers.data());
    each.receiver = transfer.to.size();
    transfer.to.push_back(each.move.to);
    if (transfer.to.size() == 1)
      transfer.buffer->accesses().collect(transfer.from, transfer.bytes, {},
                                          transfer.beforeLeaving);
    std::vector<CompletionPtr>& before = transfer.beforeArriving.emplace_back();
    // From another device of the host's it goes in the same queue as who wrote it; where that was
    // skipped, a queue that goes on after an error would run both.
    if (each.move.to == hostNode)
      transfer.buffer->accesses().collect(hostNode, {}, transfer.bytes, before);
    else
      transfer.buffer->accesses().collectForArrival(each.move.to, transfer.bytes, before);
    transfer.arrived.emplace_back();
    transfer.firstArrived.emplace_back();
  }
  for (Transfer& transfer : transfers) {
    const bool touchesHost = transfer.from == hostNode || transfer.to.front() == hostNode;
    const NodeId other = transfer.from == hostNode ? transfer.to.front() : transfer.from;
    const Device& device = machine_->devices()[machine_->deviceOfNode(other)];
    const bool isDenseBetter = device.quirks.hostRows == HostRows::Dense &&
                               transfer.bytes.ranges().size() > 2; // else it goes row by row
    const bool isStagedToHost =
        isDenseBetter || (device.isGpu && transfer.bytes.size() > smallTransfer);
    StagingRing* ring = machine_->ring(transfer.from, transfer.buffer->context());
    transfer.isDirect = touchesHost && (!isStagedToHost || !ring);
    for (const NodeId node : transfer.to)
      checkEnd(*transfer.buffer, node, Engine::CopyIn);
    checkEnd(*transfer.buffer, transfer.from, Engine::CopyOut);
    if (transfer.isDirect)
      continue;
    if (!ring)
      throw std::runtime_error("no host memory to copy through");
    const std::uint64_t most = ring->chunk() / largestPixel * largestPixel;
    transfer.chunks = inChunks(transfer.buffer->rowsOf(transfer.bytes), most);
  }
  return transfers;
}

std::vector<Moved> Mover::transfer(Task& task, std::span<BufferMove> moves) {
  if (moves.empty())
    return {};
  std::vector<Transfer> transfers;
  try {
    transfers = asTransfers(moves);
  } catch (...) {
    for (const BufferMove& each : std::views::reverse(moves))
      each.buffer->directory().restore(each.before);
    throw;
  }
  struct Arriving {
    Transfer* transfer;
    std::size_t index;
    std::byte* part;
    CompletionPtr left;
    std::vector<CompletionPtr> done; ///< by receiver
  };
  std::vector<Arriving> arriving;
  auto issueArrivals = [&] {
    for (const Arriving& each : arriving) {
      for (std::size_t receiver = 0; receiver < each.done.size(); ++receiver)
        issueArriving(task, *each.transfer, each.index, receiver, each.part, each.left,
                      each.done[receiver]);
      machine_->ring(each.transfer->from, each.transfer->buffer->context())->noteIssued();
    }
    arriving.clear();
  };
  std::size_t rounds = 0;
  for (Transfer& each : transfers) {
    rounds = std::max(rounds, each.chunks.size());
    if (each.isDirect)
      issueDirect(task, each);
  }
  for (std::size_t index = 0; index < rounds; ++index)
    for (Transfer& each : transfers) {
      if (index >= each.chunks.size())
        continue;
      StagingRing& ring = *machine_->ring(each.from, each.buffer->context());
      if (ring.waitsForNew(each.chunks[index].size))
        issueArrivals();
      std::vector<CompletionPtr> done;
      for (std::size_t receiver = 0; receiver < each.to.size(); ++receiver)
        done.push_back(std::make_shared<Completion>(cl_));
      const StagingRing::Part part = ring.take(each.chunks[index].size, done);
      issueLeaving(task, each, index, part);
      if (index == 0) {
        each.firstLeft = each.left;
        each.firstArrived = done;
      }
      arriving.push_back({&each, index, part.address, each.left, std::move(done)});
    }
  issueArrivals();
  for (const Transfer& each : transfers)
    each.buffer->accesses().add({each.from, each.bytes, {}, each.left, false});
  std::vector<Moved> moved;
  for (const BufferMove& each : moves) {
    const Transfer& transfer = transfers[each.transfer];
    const CompletionPtr& arrived = transfer.arrived[each.receiver];
    Buffer& buffer = *each.buffer;
    buffer.accesses().add({each.move.to, {}, each.move.bytes, arrived, false});
    buffer.journal().note(each.before, Journal::Effect::Arrives, each.move.to, each.move.bytes,
                          {arrived});
    moved.push_back(
        {transfer.left, arrived, transfer.firstLeft, transfer.firstArrived[each.receiver]});
    if (isDestination(each.move.to))
      stats_.bytesBetweenNodes += each.move.bytes.size();
    log(LogLevel::Debug, "node ", each.move.from, " to node ", each.move.to, ": ",
        [&] { return toString(each.move.bytes); });
  }
  return moved;
}

void Mover::bring(Task& task, Buffer& buffer, NodeId node, const ByteSet& bytes,
                  std::vector<Moved>* moved) {
  requireSomewhere(buffer, bytes);
  const Directory::Need need{node, &bytes};
  CountedMoves counted;
  counted.addWanted(buffer, {&need, 1});
  for (Moved& each : transfer(task, counted))
    if (moved)
      moved->push_back(std::move(each));
}

void Mover::sendAhead(Task& task, std::span<const std::shared_ptr<Buffer>> buffers) {
  CountedMoves counted;
  std::shared_ptr<Task> ahead;
  for (const std::shared_ptr<Buffer>& buffer : buffers) {
    const std::vector<Move> due = buffer->forecast().due();
    if (due.empty() || buffer->isReleased())
      continue;
    std::vector<Directory::Need> needs;
    for (const Move& each : due)
      if (!isLost(each.to) && buffer->hasPlaceFor(*machine_, each.to, each.bytes))
        needs.push_back({each.to, &each.bytes});
    counted.add(*buffer, needs);
    if (!ahead)
      ahead = std::make_shared<Task>();
    ahead->outputs.emplace_back(buffer, ByteSet()); // which keeps it
  }
  if (counted.isEmpty())
    return;
  ahead->waitTasks.push_back(task.shared_from_this());
  ahead->after = task.after;
  ahead->timing = task.timing;
  ahead->call = task.call;
  sentAhead_.push_back(ahead);
  try {
    transfer(*ahead, counted);
  } catch (const std::exception& error) {
    log(LogLevel::Debug, "nothing is sent ahead: ", error.what());
  }
}

bool Mover::sends(const Buffer& buffer) const {
  return std::ranges::any_of(sentAhead_, [&](const std::shared_ptr<Task>& each) {
    return std::ranges::any_of(each->outputs,
                               [&](const auto& of) { return of.first.get() == &buffer; });
  });
}

bool Mover::works(std::size_t device) const {
  return std::ranges::any_of(sentAhead_, [&](const std::shared_ptr<Task>& each) {
    return each->retired && std::ranges::count(each->partDevices, device) > 0;
  });
}

std::shared_ptr<Task> Mover::failedAhead() const {
  const auto hasFailed = [](const std::shared_ptr<Task>& each) {
    const auto isOver = [](const CompletionPtr& part) { return part->over(); };
    const auto isFailed = [](const CompletionPtr& part) { return part->hasFailed(); };
    return isBehindRetired(*each) && std::ranges::all_of(each->parts, isOver) &&
           std::ranges::any_of(each->parts, isFailed);
  };
  const auto found = std::ranges::find_if(sentAhead_, hasFailed);
  return found == sentAhead_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<Task>> Mover::takeArrived() {
  const auto hasArrived = [](const std::shared_ptr<Task>& each) {
    return isBehindRetired(*each) &&
           std::ranges::all_of(each->parts, [](const CompletionPtr& part) {
             return part->poll() && part->succeeded();
           });
  };
  const auto arrived = std::ranges::stable_partition(sentAhead_, std::not_fn(hasArrived));
  std::vector<std::shared_ptr<Task>> taken(arrived.begin(), arrived.end());
  sentAhead_.erase(arrived.begin(), arrived.end());
  for (const std::shared_ptr<Task>& each : taken) {
    if (each->retired)
      each->retired(*each);
    if (!each->waitTasks.empty()) // it belongs to a call of the program's
      tracer_.arrived(*each);
  }
  return taken;
}

bool Mover::isSendingAhead() const {
  return std::ranges::any_of(sentAhead_, [](const std::shared_ptr<Task>& each) {
    return std::ranges::any_of(each->parts,
                               [](const CompletionPtr& part) { return !part->poll(); });
  });
}

void Mover::awaitSentAhead(Lock& lock) {
  awaitThose(lock, [](const Task&) { return true; });
}

void Mover::awaitSentFromProgramsMemory(Lock& lock) {
  if (isIdle())
    return;
  awaitThose(lock, [](const Task& sent) {
    const auto isEnding = [](const std::shared_ptr<Task>& before) { return before->isEnding(); };
    return std::ranges::all_of(sent.waitTasks, isEnding) &&
           std::ranges::any_of(sent.outputs,
                               [](const auto& of) { return of.first->isInProgramsMemory(); });
  });
}

void Mover::awaitThose(Lock& lock, bool (*isOne)(const Task&)) {
  GoesUnlocked<std::vector<CompletionPtr>> pending(lock, {});
  for (const std::shared_ptr<Task>& each : sentAhead_)
    if (isOne(*each))
      std::ranges::copy(each->parts, std::back_inserter(*pending));
  awaitUnlocked(lock, *pending);
  const GoesUnlocked arrived(lock, takeArrived());
}

bool Mover::sendsUnusedBuffer() const {
  std::map<const Buffer*, long> held;
  for (const std::shared_ptr<Task>& each : sentAhead_)
    for (const auto& [buffer, bytes] : each->outputs)
      ++held[buffer.get()];
  for (const std::shared_ptr<Task>& each : sentAhead_)
    for (const auto& [buffer, bytes] : each->outputs)
      if (buffer.use_count() == held[buffer.get()])
        return true;
  return false;
}

void Mover::requireSomewhere(const Buffer& buffer, const ByteSet& bytes) const {
  if (mayHaveLost_ && !buffer.directory().lost(bytes).empty())
    throw LostBytes();
}

} // namespace libsplit::runtime
