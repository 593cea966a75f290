#include "runtime/session/prefetcher.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

namespace {

/// Launches of a queue that may try in vain, since memory is being made, or there is none.
constexpr unsigned mostTries = 16;

/// Less takes a link no longer.
constexpr std::uint64_t leastAtOnce = std::uint64_t{1} << 20;
constexpr std::uint64_t mostAtOnce = std::uint64_t{1} << 30;

/// The first bytes of them, at most so many.
ByteSet firstOf(const ByteSet& bytes, std::uint64_t most) {
  ByteSet first;
  for (const ByteRange& range : bytes.ranges()) {
    if (most == 0)
      break;
    const std::uint64_t size = std::min(range.end - range.begin, most);
    first.add({range.begin, range.begin + size});
    most -= size;
  }
  return first;
}

/// Whether the kernel may write to the launch's buffer, for all that is known without its regions.
/// At home it counts as writing to all of it.
bool mayWrite(const Launch& launch, std::size_t b) {
  return std::ranges::any_of(launch.request.buffers, [&](const BufferArgument& each) {
    return each.buffer == b && launch.code->writes[each.parameter];
  });
}

/// Calls `visit(b, node, bytes)` for what pieces on other nodes need of the launch's buffers that
/// are constant, by buffer.
template <class Visit>
void forEachNeed(const Machine& machine, const Launch& launch, const Outlook::Step& step,
                 const Visit& visit) {
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (step.isConstant[b] && !mayWrite(launch, b))
      for (const Piece& piece : step.plan->pieces)
        if (const NodeId node = machine.devices()[piece.device].node;
            node != machine.homeDevice().node)
          visit(b, node, piece.uses[b].needs);
}

} // namespace

bool Prefetcher::look(Stream& stream, const Launch& launch, const Outlook::Step& step) const {
  if (stream.prefetch.cycle != stream.cycle.number()) { // how another one fared says nothing
    std::vector<std::weak_ptr<Task>> underWay = std::move(stream.prefetch.underWay);
    stream.prefetch = {};
    stream.prefetch.cycle = stream.cycle.number();
    stream.prefetch.underWay = std::move(underWay);
  }
  unsigned& tries = stream.prefetch.tries;
  // In the host's memory home would copy, and not compute.
  if (!step.plan || machine_->homeDevice().node == hostNode ||
      step.isConstant.size() != launch.buffers.size() ||
      std::ranges::any_of(launch.buffers, &Buffer::isImage))
    tries = mostTries;
  if (shared_.ending || shared_.steppingAside || scheduler_.isRecovering() || tries == mostTries)
    return false;
  bool isAny = false;
  forEachNeed(*machine_, launch, step, [&](std::size_t b, NodeId node, const ByteSet& bytes) {
    const Buffer& buffer = *launch.buffers[b];
    // Of one that no launch was planned with yet, or none of late, all is at home.
    isAny = isAny || !(buffer.engaged() ? buffer.directory().missing(node, bytes) : bytes).empty();
  });
  if (!isAny)
    return false;
  stream.prefetch.isWanted = true;
  std::uint64_t& atOnce = stream.prefetch.atOnce;
  if (!isUnderWay(stream))
    return true;
  if (!std::exchange(stream.prefetch.isLate, true))
    atOnce = std::max(leastAtOnce, atOnce / 2);
  return false;
}

bool Prefetcher::isUnderWay(Stream& stream) {
  std::erase_if(stream.prefetch.underWay, [](const std::weak_ptr<Task>& each) {
    const std::shared_ptr<Task> task = each.lock();
    return !task || std::ranges::all_of(std::views::reverse(task->parts),
                                        [](const CompletionPtr& part) { return part->poll(); });
  });
  return !stream.prefetch.underWay.empty();
}

LaunchCycle::Ahead Prefetcher::stateOf(Stream& stream) {
  using Ahead = LaunchCycle::Ahead;
  if (stream.prefetch.cycle != stream.cycle.number())
    return Ahead::Arrived; // none of its launches was asked to send anything
  if (stream.prefetch.tries == mostTries)
    return Ahead::Refused;
  const bool isWanted = std::exchange(stream.prefetch.isWanted, false);
  return isWanted || isUnderWay(stream) ? Ahead::UnderWay : Ahead::Arrived;
}

void Prefetcher::send(Task& task, Launch& launch) try {
  trySend(task, launch);
} catch (const std::exception& error) {
  launch.lacksRoom.reset();
  log(LogLevel::Debug, "nothing is sent ahead: ", error.what());
}

void Prefetcher::trySend(Task& task, Launch& launch) {
  const Outlook::Step& step = *launch.sends;
  Stream::Prefetch& prefetch = task.stream->prefetch;
  const NodeId home = machine_->homeDevice().node;
  for (const Piece& piece : step.plan->pieces) {
    if (machine_->devices()[piece.device].failed)
      return;
    Provisions pending;
    const std::string why = executor_.reserveOn(task, launch, piece.device, piece.uses, pending);
    if (std::exchange(launch.lacksRoom, {}))
      prefetch.tries = mostTries; // when it is split, others take its part
    if (!why.empty())
      return;
    if (!provider_.provide(pending).empty()) { // which takes its time
      prefetch.tries -= prefetch.tries > 0;
      return;
    }
  }
  std::deque<ByteSet> parts;
  std::vector<std::vector<Directory::Need>> needs(launch.buffers.size());
  std::vector<std::uint64_t> left(machine_->nodes(), prefetch.atOnce);
  forEachNeed(*machine_, launch, step, [&](std::size_t b, NodeId node, const ByteSet& bytes) {
    if (left[node] == 0)
      return;
    const Buffer& buffer = *launch.buffers[b];
    ByteSet part = firstOf(buffer.directory().missing(node, bytes), left[node]);
    if (part.empty())
      return;
    mover_.requireSomewhere(buffer, part);
    // Bytes that wait for others on their way would hold up what comes behind them.
    if (!buffer.accesses().isIdle(home, part, false))
      return;
    left[node] -= part.size();
    needs[b].push_back({node, &parts.emplace_back(std::move(part))});
  });
  if (parts.empty())
    return;
  auto work = std::make_shared<Task>();
  work->waitTasks.push_back(task.shared_from_this());
  work->after = task.after;
  work->call = task.call;
  for (const std::shared_ptr<Buffer>& buffer : launch.buffers)
    work->outputs.emplace_back(buffer, ByteSet()); // which keeps it
  prefetch.underWay.push_back(work);
  mover_.note(work);
  CountedMoves counted;
  for (std::size_t b = 0; b < needs.size(); ++b)
    counted.add(*launch.buffers[b], needs[b]);
  std::vector<BufferMove> moves = counted.take();
  mover_.transfer(*work, moves);
  if (!std::exchange(task.stream->hasSentAhead, true))
    log(LogLevel::Info, "kernel ", launch.code->name,
        ": what it only reads is sent ahead of the first launch that is split");
  prefetch.tries = 0;
  prefetch.isLate = false;
  prefetch.atOnce = std::min(prefetch.atOnce + prefetch.atOnce / 2, mostAtOnce);
}

} // namespace libsplit::runtime
