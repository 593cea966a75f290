#include "runtime/session/copy_room.h"

#include "runtime/core/log.h"
#include "runtime/session/launch.h"
#include "runtime/session/preparer.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Launches that take turns, each of which needs the room of the other's windows, make them anew
/// each time. So often is enough for shares to be found.
constexpr unsigned mostAnew = 32;

/// Over when all of `ends` are, however they end.
std::shared_ptr<Provision> after(const Dispatch& cl, std::vector<CompletionPtr> ends) {
  return std::make_shared<Provision>(cl, [ends = std::move(ends)] {
    for (const CompletionPtr& each : ends)
      each->wait();
    return CL_SUCCESS;
  });
}

} // namespace

ByteRange touchedBy(const PieceUse& use) {
  ByteSet ends;
  for (const ByteSet* each : {&use.needs, &use.writes, &use.merged, &use.rewrites, &use.repeats})
    if (!each->empty())
      ends.uniteWith(each->hull());
  return ends.hull();
}

bool canTakeWindows(const Launch& launch, std::size_t device) {
  const auto& kernel = launch.code->windowed[device].kernel;
  return kernel && (!launch.localGiven || groupItems(launch.range) <= kernel->maxGroup);
}

/// Whether all of the launch's buffers are on the device as a whole, as they mostly are.
bool CopyRoom::areWhole(const Launch& launch, std::size_t device, Provisions& pending) const {
  return std::ranges::all_of(launch.buffers, [&](const std::shared_ptr<Buffer>& buffer) {
    const ByteRange all{0, buffer->size()};
    return buffer->holds(*machine_, device) == all &&
           buffer->roomOn(*machine_, device, all, pending) != Room::None;
  });
}

std::vector<CopyWish> CopyRoom::wishesOf(const Launch& launch, std::size_t device,
                                         std::span<const PieceUse> uses) const {
  std::vector<CopyWish> wishes;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Buffer& buffer = *launch.buffers[b];
    CopyWish& wish = wishes.emplace_back();
    wish.size = buffer.size();
    wish.touched = uses.empty() ? ByteRange{0, buffer.size()} : touchedBy(uses[b]);
    if (const ByteRange held = buffer.holds(*machine_, device); !held.empty())
      wish.has = held;
    wish.mayBeWhole = !buffer.wasRefusedWhole(device);
  }
  // Images, and constants, of which there may not be much anyway, are whole.
  const std::vector<Parameter>& parameters = launch.code->summaries[device]->parameters;
  for (const BufferArgument& argument : launch.request.buffers)
    if (parameters[argument.parameter].kind != ParameterKind::GlobalBuffer)
      wishes[argument.buffer].touched = {0, wishes[argument.buffer].size};
  return wishes;
}

WindowLimits CopyRoom::limitsOf(std::size_t device, std::span<const CopyWish> wishes) const {
  const Device& on = machine_->devices()[device];
  std::uint64_t others = *on.copied;
  for (const CopyWish& wish : wishes)
    others -= wish.has ? std::min(others, wish.has->size()) : 0;
  return {on.memory - std::min(on.memory, others), on.largestBuffer, on.bufferAlignment};
}

/// Why the launch's kernel does not take these copies on the device, if so.
std::string CopyRoom::kernelFor(Launch& launch, std::size_t device,
                                std::span<const ByteRange> chosen, Provisions& pending) {
  const Device& on = machine_->devices()[device];
  const auto isShifted = [&](const BufferArgument& argument) {
    const ByteRange& range = chosen[argument.buffer];
    return range.size() < launch.buffers[argument.buffer]->size() && range.begin != argument.origin;
  };
  if (std::ranges::none_of(launch.request.buffers, isShifted))
    return {};
  const CompletionPtr built = build_(launch.program, launch.code, device);
  if (!built)
    return noThread;
  if (!built->over()) {
    if (shared_.options.policy.kind == Policy::Kind::Auto && !shared_.options.waitAnalysis)
      return notBuiltYet;
    pending.push_back(after(cl_, {built}));
    return {};
  }
  if (canTakeWindows(launch, device))
    return {};
  launch.lacksRoom = device;
  return "device " + on.label + " has no room for its buffers, and its kernel can't do with parts";
}

Room CopyRoom::release(Task& task, Buffer& buffer, std::size_t device, Provisions& pending) {
  const NodeId node = machine_->devices()[device].node;
  const NodeId home = buffer.ownNode(*machine_);
  const ByteSet all(0, buffer.size());
  auto work = std::make_shared<Task>(); // of no queue, as what is sent ahead
  std::vector<CompletionPtr> ends;
  // All that home lacks, also if others have it: should one of these fail, it must be somewhere.
  if (const ByteSet alone =
          subtract(buffer.directory().valid(node), buffer.directory().valid(home));
      !alone.empty()) {
    work->waitTasks.push_back(task.shared_from_this());
    work->call = task.call;
    work->outputs.emplace_back(buffer.shared_from_this(), ByteSet()); // which keeps it
    const Directory::Need need{home, &alone};
    CountedMoves counted;
    counted.add(buffer, {&need, 1});
    mover_.note(work);
    mover_.transfer(*work, counted);
    ends = work->parts;
  }
  buffer.accesses().collect(node, all, all, ends);
  buffer.accesses().collectAll(node, ends);
  if (std::ranges::any_of(ends, [](const CompletionPtr& each) { return each->hasFailed(); }))
    return Room::None; // a recovery has to look at it first
  std::erase_if(ends, [](const CompletionPtr& each) { return each->over(); });
  if (ends.empty()) {
    buffer.drop(*machine_, device);
    return Room::There;
  }
  pending.push_back(after(cl_, std::move(ends)));
  return Room::OnItsWay;
}

std::string CopyRoom::reserve(Task& task, Launch& launch, std::size_t device,
                              std::span<const PieceUse> uses, Provisions& pending) {
  if (areWhole(launch, device, pending))
    return {};
  const std::string lacks =
      "device " + machine_->devices()[device].label + " has no room for its buffers";
  for (;;) {
    const std::vector<CopyWish> wishes = wishesOf(launch, device, uses);
    const auto chosen = chooseWindows(wishes, limitsOf(device, wishes));
    if (!chosen) {
      launch.lacksRoom = device;
      return lacks;
    }
    const std::size_t before = pending.size();
    if (std::string why = kernelFor(launch, device, *chosen, pending); !why.empty())
      return why;
    for (std::size_t b = 0; b < wishes.size(); ++b) {
      Buffer& buffer = *launch.buffers[b];
      if (!wishes[b].has || *wishes[b].has == (*chosen)[b])
        continue;
      if (buffer.timesDropped(device) >= mostAnew) {
        launch.lacksRoom = device;
        return lacks + " beside what other launches need there";
      }
      if (release(task, buffer, device, pending) == Room::None)
        return lacks + " yet";
    }
    if (pending.size() > before)
      return {};
    std::optional<std::size_t> refused;
    for (std::size_t b = 0; b < wishes.size() && !refused; ++b)
      if (launch.buffers[b]->roomOn(*machine_, device, (*chosen)[b], pending) == Room::None)
        refused = b;
    if (!refused)
      return {};
    // Where whole copies are refused, windows may still be had.
    if ((*chosen)[*refused].size() < wishes[*refused].size) {
      launch.lacksRoom = device;
      return lacks;
    }
  }
}

} // namespace libsplit::runtime
