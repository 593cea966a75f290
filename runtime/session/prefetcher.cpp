#include "runtime/session/prefetcher.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

namespace {

/// Launches of a queue that may try in vain, since memory is being made, or there is none.
constexpr unsigned mostTries = 16;

/// What is sent beside launches takes so much of their time, for what the program reads after them
/// to find the link free.
constexpr double partOfLaunch = 0.75;

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
  Stream::Prefetch& prefetch = stream.prefetch;
  if (prefetch.cycle != stream.cycle.number()) { // how another one fared says nothing
    std::vector<Stream::Prefetch::Sent> underWay = std::move(prefetch.underWay);
    prefetch = {};
    prefetch.cycle = stream.cycle.number();
    prefetch.underWay = std::move(underWay);
  }
  // In the host's memory home would copy, and not compute.
  if (!step.plan || machine_->homeDevice().node == hostNode ||
      step.isConstant.size() != launch.buffers.size() ||
      std::ranges::any_of(launch.buffers, &Buffer::isImage))
    prefetch.tries = mostTries;
  if (shared_.ending || shared_.steppingAside || scheduler_.isRecovering() ||
      prefetch.tries == mostTries)
    return false;
  std::vector<NodeId> nodes;
  forEachNeed(*machine_, launch, step, [&](std::size_t b, NodeId node, const ByteSet& bytes) {
    const Buffer& buffer = *launch.buffers[b];
    // Of one that no launch was planned with yet, or none of late, all is at home.
    if (!(buffer.engaged() ? buffer.directory().missing(node, bytes) : bytes).empty())
      nodes.push_back(node);
  });
  prefetch.isWanted = prefetch.isWanted || !nodes.empty();
  noteArrived(stream);
  return std::ranges::any_of(nodes, [&](NodeId node) { return allowed(stream, launch, node) > 0; });
}

/// Takes note of what has arrived.
void Prefetcher::noteArrived(Stream& stream) const {
  Stream::Prefetch& prefetch = stream.prefetch;
  std::erase_if(prefetch.underWay, [&](const Stream::Prefetch::Sent& sent) {
    if (!std::ranges::all_of(sent.moves, [](const Moved& each) { return each.arrived->poll(); }))
      return false;
    const bool isThere = std::ranges::all_of(
        sent.moves, [](const Moved& each) { return each.arrived->succeeded(); });
    if (const double seconds = isThere ? secondsOf(sent.moves) : 0; seconds > 0) {
      prefetch.secondsPerByte.resize(machine_->nodes());
      prefetch.secondsPerByte[sent.node] = seconds / static_cast<double>(sent.bytes);
      shared_.moving.note(sent.moves.size(), sent.bytes, seconds);
    }
    if (stream.mayLeaveAftermath()) // its events are not let go of under the lock
      for (const Moved& each : sent.moves)
        for (const CompletionPtr& part :
             {each.left, each.arrived, each.firstLeft, each.firstArrived})
          if (part)
            stream.aftermath.spent.completions.push_back(part);
    return true;
  });
}

/// So many bytes more may be under way to that node; not so few that they take a link no less time.
std::uint64_t Prefetcher::allowed(const Stream& stream, const Launch& launch, NodeId node) const {
  const Stream::Prefetch& prefetch = stream.prefetch;
  const LaunchHistory& history = launch.code->histories.at(launch.key);
  const double seconds = history.controller ? history.controller->expectedHomeSeconds() : 0;
  if (!(seconds > 0))
    return 0;
  const double seen = node < prefetch.secondsPerByte.size() ? prefetch.secondsPerByte[node] : 0;
  const double perByte = seen > 0 ? seen : shared_.moving.perByteOrGuess();
  const auto launches =
      static_cast<double>(std::max<std::size_t>(Scheduler::launchesOf(stream), 1));
  const double arriving = launches * partOfLaunch * seconds / perByte;
  auto bytes = static_cast<std::uint64_t>(std::clamp<double>(arriving, leastAtOnce, mostAtOnce));
  for (const Stream::Prefetch::Sent& sent : prefetch.underWay)
    if (sent.node == node)
      bytes -= std::min(bytes, sent.bytes);
  return bytes / leastAtOnce * leastAtOnce;
}

LaunchCycle::Ahead Prefetcher::stateOf(Stream& stream) const {
  using Ahead = LaunchCycle::Ahead;
  if (stream.prefetch.cycle != stream.cycle.number())
    return Ahead::Arrived; // none of its launches was asked to send anything
  noteArrived(stream);
  if (stream.prefetch.tries == mostTries)
    return Ahead::Refused;
  const bool isWanted = std::exchange(stream.prefetch.isWanted, false);
  return isWanted || !stream.prefetch.underWay.empty() ? Ahead::UnderWay : Ahead::Arrived;
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
  if (std::ranges::any_of(launch.buffers, &Buffer::isReleased))
    return; // the program may free its memory
  Provisions pending;
  for (const Piece& piece : step.plan->pieces) {
    if (machine_->devices()[piece.device].failed)
      return;
    const std::string why = executor_.reserveOn(task, launch, piece.device, piece.uses, pending);
    if (std::exchange(launch.lacksRoom, {}))
      prefetch.tries = mostTries; // when it is split, others take its part
    if (!why.empty())
      return;
  }
  if (!provider_.provide(pending).empty()) { // which takes its time
    prefetch.tries -= prefetch.tries > 0;
    return;
  }
  std::deque<ByteSet> parts;
  std::vector<std::vector<Directory::Need>> needs(launch.buffers.size());
  std::vector<std::uint64_t> left;
  for (NodeId node = 0; node < machine_->nodes(); ++node)
    left.push_back(allowed(*task.stream, launch, node));
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
  mover_.note(work);
  CountedMoves counted;
  for (std::size_t b = 0; b < needs.size(); ++b)
    counted.add(*launch.buffers[b], needs[b]);
  std::vector<BufferMove> moves = counted.take();
  const std::vector<Moved> moved = mover_.transfer(*work, moves);
  for (NodeId node = 0; node < machine_->nodes(); ++node) {
    Stream::Prefetch::Sent sent{node, 0, {}};
    for (std::size_t m = 0; m < moves.size(); ++m)
      if (moves[m].move.to == node) {
        sent.bytes += moves[m].move.bytes.size();
        sent.moves.push_back(moved[m]);
      }
    if (!sent.moves.empty())
      prefetch.underWay.push_back(std::move(sent));
  }
  if (!std::exchange(task.stream->hasSentAhead, true))
    log(LogLevel::Info, "kernel ", launch.code->name,
        ": what it only reads is sent ahead of the first launch that is split");
  prefetch.tries = 0;
}

} // namespace libsplit::runtime
