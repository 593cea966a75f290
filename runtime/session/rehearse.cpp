// Devices that seem slower than home take part once a rehearsal has shown what they are worth
// (cost/rehearsal.h): a few work-groups of a launch, done beside it in the device's own memory,
// into bytes that nobody takes for valid.
//
// To the rest of libsplit a rehearsal looks like what is sent ahead: a task of no queue, whose
// transfers count, and whose kernel is booked as work on the bytes that it uses, but not as the
// writer of any. So nobody waits for it but who wants to use the same bytes on that device. Should
// it fail, then so has the device.
#include "runtime/session/rehearsals.h"

#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Of the time that a kernel's launches took so far, what moving bytes for a rehearsal may take.
constexpr double rehearsalPart = 0.05;

/// At most `groups` of the range's, from its middle, those of a row first. Never none.
GroupBox middleOf(const NDRange& range, std::uint64_t groups) {
  GroupBox box;
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t extent = std::clamp<std::uint64_t>(groups, 1, range.groups(d));
    box.begin[d] = (range.groups(d) - extent) / 2;
    box.end[d] = box.begin[d] + extent;
    groups /= extent;
  }
  return box;
}

/// Of the kernel's launches so far.
double secondsOf(const KernelCode& code) {
  return code.times.seconds() + code.readySeconds;
}

/// Groups of the least piece that can be cut off.
double leastPieceOf(const NDRange& range, const LaunchHistory& history) {
  std::uint64_t slabs = std::max({range.groups(0), range.groups(1), range.groups(2)});
  if (history.dimension)
    slabs = range.groups(*history.dimension);
  return static_cast<double>(range.groups()) /
         static_cast<double>(std::max<std::uint64_t>(slabs, 1));
}

/// The launch as it is without those who rehearse. `seconds`: 0 where that is not known yet.
Rehearsal::Launch launchWithout(const NDRange& range, const LaunchHistory& history) {
  Rehearsal::Launch launch{static_cast<double>(range.groups()), leastPieceOf(range, history), 0};
  if (history.controller)
    launch.seconds = history.controller->splitSeconds() > 0 ? history.controller->splitSeconds()
                                                            : history.controller->homeSeconds();
  return launch;
}

} // namespace

bool Rehearsals::canTakePart(std::size_t i, const Launch& launch, LaunchHistory& history) {
  const Device& device = machine_->devices()[i];
  const auto& kernel = launch.code->kernels[i];
  if (isLatecomer(*machine_, options_.policy, i)) {
    if (!history.rehearsals[i].joins())
      return false;
    if (!kernel)
      preparer_.buildForLatecomers(launch.program, launch.code);
    else if (!ahead_.mayJoin(i, launch, history))
      return false;
  }
  return device.participates && kernel && !history.lacksRoom[i] &&
         (!launch.localGiven || (groupItems(launch.range) <= kernel->maxGroup &&
                                 (device.nonUniformGroups || !isNonUniform(launch.range))));
}

void Rehearsals::settle(const Launch& launch, LaunchHistory& history,
                        const ShareController::Prior& prior) const {
  using From = ShareController::Prior::From;
  history.rehearsals.resize(machine_->devices().size());
  if (prior.from != From::SameLaunch && prior.from != From::OtherLaunches)
    return;
  const auto groups = static_cast<double>(launch.range.groups());
  const double groupsPerItem = groups / static_cast<double>(itemsOf(launch.range));
  double others = 0;
  for (std::size_t i = 0; i < prior.speeds.size(); ++i)
    if (!isLatecomer(*machine_, options_.policy, i) && machine_->devices()[i].participates)
      others += prior.speeds[i] * groupsPerItem;
  if (!(others > 0))
    return;
  const Rehearsal::Launch without{groups, leastPieceOf(launch.range, history), groups / others};
  for (std::size_t i = 0; i < prior.speeds.size(); ++i)
    if (isLatecomer(*machine_, options_.policy, i) && prior.speeds[i] > 0 &&
        !history.rehearsals[i].isOver())
      history.rehearsals[i].settle(Rehearsal::isWorthIt(prior.speeds[i] * groupsPerItem, without));
}

void Rehearsals::rehearse(Task& task, const std::shared_ptr<Launch>& launch) try {
  if (options_.policy.kind != Policy::Kind::Auto || shared_.ending || shared_.steppingAside ||
      scheduler_.isRecovering() || !launch->plan->merges.empty() ||
      std::ranges::count(launch->code->loaded, true) > 0)
    return;
  LaunchHistory& history = launch->code->histories.at(launch->key);
  const Rehearsal::Launch without = launchWithout(launch->range, history);
  if (!(without.seconds > 0))
    return;
  history.rehearsals.resize(machine_->devices().size());
  history.lacksRoom.resize(machine_->devices().size());
  for (std::size_t i = 0; i < machine_->devices().size(); ++i)
    if (isLatecomer(*machine_, options_.policy, i) && !machine_->devices()[i].failed &&
        !history.lacksRoom[i]) {
      const std::uint64_t groups =
          history.rehearsals[i].next(without, groupsAtOnce(machine_->devices()[i]));
      if (groups > 0 && launch->code->kernels[i]) {
        const GroupBox box = middleOf(launch->range, groups);
        if (ahead_.mayRehearse(i, *launch, history, box))
          rehearseOn(i, box, task, *launch, history);
      } else if (groups > 0 && preparer_.latecomersPay(secondsOf(*launch->code))) {
        preparer_.buildForLatecomers(launch->program, launch->code);
      }
    }
} catch (const std::exception& error) {
  launch->lacksRoom.reset();
  log(LogLevel::Debug, "nobody rehearses: ", error.what());
}

void Rehearsals::rehearseOn(std::size_t device, const GroupBox& box, Task& task, Launch& launch,
                            LaunchHistory& history) {
  Device& on = machine_->devices()[device];
  if (mover_.works(device))
    return; // for another kernel
  for (const auto& buffer : launch.buffers)
    if (buffer->isImage() || buffer->isReleased())
      return;
  const Piece piece = planPiece(launch.request, planDevicesOf(*machine_, launch), device, box);
  Provisions pending;
  const std::string why = executor_.reserveOn(task, launch, device, piece.uses, pending);
  if (std::exchange(launch.lacksRoom, {}))
    history.lacksRoom.at(device) = true;
  if (!why.empty() || !provider_.provide(pending).empty())
    return; // the next launch finds it there
  Instruction instruction = executor_.pieceInstruction(launch, piece);
  std::uint64_t missing = 0;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Directory& directory = launch.buffers[b]->directory();
    const PieceUse& use = piece.uses[b];
    // Bytes that wait for others on their way hold up what comes behind them.
    if (!launch.buffers[b]->accesses().isIdle(on.node, unite(use.needs, use.stores()), true))
      return;
    // What it changes must be nothing there.
    if (!intersect(directory.valid(on.node), use.stores()).empty())
      return;
    missing += directory.missing(on.node, use.needs).size();
    mover_.requireSomewhere(*launch.buffers[b], use.needs);
  }
  if (shared_.moving.seconds(missing) > rehearsalPart * secondsOf(*launch.code))
    return;

  auto work = std::make_shared<Task>();
  work->waitTasks.push_back(task.shared_from_this());
  work->after = task.after;
  work->call = task.call;
  CountedMoves counted;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Directory::Need need{on.node, &piece.uses[b].needs};
    counted.add(*launch.buffers[b], {&need, 1});
    work->outputs.emplace_back(launch.buffers[b], ByteSet()); // which keeps it
  }
  mover_.note(work);
  mover_.transfer(*work, counted);
  executor_.collectBefore(launch, piece, instruction.after);
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    const ByteSet stores = piece.uses[b].stores();
    if (!stores.empty()) { // also of what has just been brought, to be read and stored back
      buffer.journal().note(buffer.directory().state(), Journal::Effect::Spoils, on.node, stores,
                            {instruction.done});
      buffer.directory().spoiled(on.node, stores);
    }
    buffer.accesses().add({on.node, piece.uses[b].needs, stores, instruction.done, false});
  }
  work->retired = [this, device, groups = box.groups(), code = launch.code, key = launch.key,
                   range = launch.range, kernel = instruction.done](Task&) {
    rehearsed(device, groups, *code, key, range, *kernel);
  };
  issuer_.issue(*work, device, std::move(instruction));
  history.rehearsals[device].begins();
}

void Rehearsals::rehearsed(std::size_t device, std::uint64_t groups, KernelCode& code,
                           const LaunchKey& key, const NDRange& range, const Completion& kernel) {
  LaunchHistory& history = code.histories.at(key);
  if (device >= history.rehearsals.size())
    return;
  Rehearsal& rehearsal = history.rehearsals[device];
  const auto interval = kernel.interval();
  if (!interval) {
    rehearsal.breaksOff();
    return;
  }
  rehearsal.took(groups, interval->seconds(), launchWithout(range, history),
                 groupsAtOnce(machine_->devices()[device]));
  log(LogLevel::Debug, "kernel ", code.name, ": device ", machine_->devices()[device].label,
      " rehearsed ", groups, " groups in ", interval->seconds(), " s");
  if (!rehearsal.isOver())
    return;
  log(LogLevel::Info, "kernel ", code.name, ": device ", machine_->devices()[device].label,
      rehearsal.joins() ? " joins" : " is too slow to join");
  if (history.record) {
    history.record->secondsPerItem[device] =
        static_cast<double>(range.groups()) /
        (rehearsal.rate() * static_cast<double>(itemsOf(range)));
    knownSpeeds_->touch(*history.record);
  }
}

} // namespace libsplit::runtime
