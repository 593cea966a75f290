// What a helper fails to do is done by the program's own device; the program does not notice.
//
// Whatever a device other than home does wrong (it refuses a command, has no memory, is lost),
// work that depends on it is skipped, by all lanes, and changes nothing. So when a task ends with
// an error, a recovery waits until everything that was planned is over, leaves out the devices that
// failed, has the directories corrected by their journals (journal.h), and goes through the tasks
// in the order in which they were planned. What succeeded stays. What did not is done again:
//
//   a read, a copy, a launch at home  as it was planned first, from where the bytes are now;
//   a launch of which nothing began   by the home device alone, with the program's own kernel;
//   a launch that was done in part    the pieces that are missing, by the home device. What others
//                                     changed is merged without those that failed, and these pieces
//                                     run after that, in one of the orders that the kernel allows.
//
// A piece can be done again only while the bytes that it started from are there. They are: what
// changes them on another node waits for the piece (accesses.h). But bytes that a device has
// alone are lost with it, and so are those that a kernel changes in place when it fails halfway.
// Who wants such bytes gets an error, never something else in their place.
//
// Where pieces overlap (plan/overlap.h) only a piece's own groups are done again: what it ran of
// others' is theirs, and what others ran of its own is as good, but does not count. Once a device
// has failed, pieces overlap no more.
//
// What the home device fails to do is the program's own error, as without libsplit.
#include "runtime/session/recovery.h"

#include "runtime/core/log.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

bool isFailed(const CompletionPtr& part) {
  return part->hasFailed();
}

bool isOwnFailure(const CompletionPtr& part) {
  return part->outcome() == Outcome::Refused || part->outcome() == Outcome::Failed;
}

bool hasFailed(const Task& task) {
  return task.planFailed || std::ranges::any_of(task.parts, isFailed);
}

/// What it was to do, without the groups of others that it also ran: these are done by them.
const Piece& ownPiece(const Launch::Issued& issued) {
  return issued.piece->own ? *issued.piece->own : *issued.piece;
}

/// Makes the task one of which nothing is issued.
void reset(Task& task) {
  task.parts.clear();
  task.partDevices.clear();
  task.planFailed = false;
  task.after = task.events; // of all else it is known to be over
  for (const auto& before : task.waitTasks)
    task.after.insert(task.after.end(), before->parts.begin(), before->parts.end());
}

} // namespace

/// Waits until all that was planned is over.
void Recovery::drain(Lock& lock) const {
  GoesUnlocked<std::vector<CompletionPtr>> pending(lock, {});
  for (const auto& task : scheduler_.planned())
    pending->insert(pending->end(), task->parts.begin(), task->parts.end());
  {
    GoesUnlocked buffers(lock, tracked_.buffers());
    for (const auto& buffer : *buffers) {
      buffer->journal().collect(*pending);
      for (const NativeWrite& write : buffer->nativeWrites)
        pending->push_back(write.done);
    }
  }
  awaitUnlocked(lock, *pending);
}

bool Recovery::recover(Lock& lock, const Task& failed) {
  const unsigned round = failed.redone;
  if (!machine_ || round > machine_->devices().size())
    return false;
  scheduler_.beginRecovery();
  try {
    putRight(lock);
  } catch (const std::exception& error) { // what is not done again keeps its error
    if (!lock.owns_lock())
      lock.lock();
    log(LogLevel::Error, "not all that a device failed to do could be done again: ", error.what());
  }
  scheduler_.endRecovery();
  return failed.redone != round;
}

void Recovery::putRight(Lock& lock) {
  chunks_.awaitNone(lock);
  pooled_.awaitNone(lock);
  while (!redoAll(lock)) {
  }
}

/// All that failed. False if something could not be issued: those behind it have to wait until it
/// is, so all is to be looked at again.
bool Recovery::redoAll(Lock& lock) {
  drain(lock);
  GoesUnlocked tasks(lock, scheduler_.planned());
  leaveOutFailed(*tasks);
  GoesUnlocked ahead(lock, mover_.takeSentAhead());
  leaveOutFailed(*ahead);
  for (const auto& each : *ahead)
    if (each->retired)
      each->retired(*each);
  GoesUnlocked buffers(lock, tracked_.buffers());
  for (const auto& buffer : *buffers) {
    buffer->settle();
    for (const Device& device : machine_->devices())
      if (device.failed && device.node != hostNode)
        buffer->directory().leaveToOthers(device.node);
  }
  for (const auto& task : *tasks) {
    if (task->isEnding() || task->status < 0 || !hasFailed(*task))
      continue;
    for (const std::shared_ptr<Task>& before : task->waitTasks)
      if (before->status < 0)
        task->failBehind(*before);
    if (std::ranges::any_of(task->events, isFailed))
      task->failBehind();
    if (task->status >= 0)
      tryRedo(*task);
    if (task->status < 0)
      loseOutputs(*task);
    else if (task->planFailed)
      return false;
  }
  return true;
}

void Recovery::leaveOutFailed(const std::vector<std::shared_ptr<Task>>& tasks) {
  for (const auto& task : tasks)
    for (std::size_t i = 0; i < task->parts.size(); ++i) {
      Device& device = machine_->devices()[task->partDevices[i]];
      if (device.isHome || device.failed || !isOwnFailure(task->parts[i]))
        continue;
      device.failed = true;
      shared_.mayHaveLost = true;
      log(LogLevel::Warn, "device ", device.label, " (", device.name, ") failed with error ",
          task->parts[i]->wait(), "; from now on the others work without it");
    }
}

/// Without an error, but `planFailed` afterwards: it is to be tried once more.
void Recovery::tryRedo(Task& task) {
  const unsigned round = task.redone;
  const bool isUntold = task.hasFailedUntold(machine_->home());
  bool isGivenUp = false;
  try {
    redo(task);
  } catch (const LostBytes&) {
    isGivenUp = true;
    task.status = CL_OUT_OF_RESOURCES;
  } catch (const std::exception& error) {
    log(LogLevel::Info, "a command could not be issued: ", error.what());
    task.planFailed = true;
  }
  task.redone = round + 1;
  if (task.planFailed && round >= machine_->devices().size() && task.status >= 0) {
    isGivenUp = true;
    task.status = CL_OUT_OF_HOST_MEMORY;
  }
  if (task.status < 0)
    task.isUntold = task.isUntold || isUntold || isGivenUp;
}

/// After a device failed: who reads what a task should have written, and did not, must get an error
/// as well, since programs that don't look at a launch's own status would take old bytes for new
/// ones. The same goes for what no driver was given, and so none tells of.
void Recovery::loseOutputs(const Task& task) {
  const bool hadBegun = !task.parts.empty();
  if (task.isPooled && hadBegun)
    shared_.mayHaveLost = true;
  if (!shared_.mayHaveLost)
    return;
  auto lose = [&](Buffer& buffer, const ByteSet& bytes) {
    tracked_.track(buffer);
    for (NodeId node = 0; node < machine_->nodes(); ++node) {
      buffer.journal().note(buffer.directory().state(), Journal::Effect::Spoils, node, bytes, {});
      buffer.directory().spoiled(node, bytes);
    }
  };
  for (const auto& [buffer, bytes] : task.outputs)
    lose(*buffer, bytes);
  if (!task.launch)
    return;
  const std::vector<bool>& writes = task.launch->code->writes;
  for (std::size_t i = 0; i < task.launch->objects.size(); ++i)
    if (const auto& object = task.launch->objects[i];
        object && object->buffer && (i >= writes.size() || writes[i]))
      lose(*object->buffer, ByteSet(object->origin, object->origin + object->size));
}

/// Issues anew what did not succeed of the task.
void Recovery::redo(Task& task) {
  const std::size_t home = machine_->home();
  auto isHomesFailure = [&](std::size_t i) {
    return task.partDevices[i] == home && isOwnFailure(task.parts[i]);
  };
  const std::shared_ptr<Launch> launch = task.launch;
  const bool wasIssued = launch && !launch->issued.empty();
  if (!wasIssued) {
    for (std::size_t i = 0; i < task.parts.size(); ++i)
      if (isHomesFailure(i))
        task.status = std::min(task.status, task.parts[i]->wait());
    if (task.status < 0)
      return;
    reset(task);
    if (launch)
      redoAtHome(task, launch);
    else
      scheduler_.planAgain(task);
    return;
  }
  auto mayHaveBegun = [](const Launch::Issued& each) {
    return each.kernel && (each.kernel->outcome() == Outcome::Succeeded ||
                           each.kernel->outcome() == Outcome::Failed);
  };
  const bool isDoneInPart = std::ranges::any_of(launch->issued, mayHaveBegun);
  for (const Launch::Issued& each : launch->issued) {
    std::vector<CompletionPtr> parts = each.arrivals;
    if (each.kernel)
      parts.push_back(each.kernel);
    for (const CompletionPtr& part : parts)
      if (each.device == home && part->outcome() == Outcome::Failed)
        task.status = std::min(task.status, part->wait());
  }
  if (task.status < 0)
    return;
  reset(task);
  if (task.call.reason.empty())
    LaunchObserver::countUnsplit(task, *launch, "a device that took part failed");
  if (isDoneInPart)
    redoPieces(task, *launch);
  else
    redoAtHome(task, launch);
}

/// The whole launch, of which nothing was done.
void Recovery::redoAtHome(Task& task, const std::shared_ptr<Launch>& launch) {
  launch->wasSplit = launch->isChunked = false;
  const std::vector<Launch::Issued> issued = std::exchange(launch->issued, {});
  launch->merges.clear();
  launch->plan = nullptr;
  std::vector<HomeUse> uses;
  for (std::size_t b = 0; b < launch->buffers.size(); ++b) {
    HomeUse& use = uses.emplace_back(HomeUse{launch->buffers[b], {}, {}});
    for (const Launch::Issued& each : issued) {
      const PieceUse& of = ownPiece(each).uses[b];
      use.needs.uniteWith(unite(of.needs, of.merged));
      use.changes.uniteWith(unite(of.writes, of.merged));
    }
  }
  if (issued.empty())
    planner_.planUnsplit(task, launch);
  else
    homeCommands_.plan(task, uses, executor_.homeCall(task, *launch));
}

/// Those pieces of the launch that are missing.
void Recovery::redoPieces(Task& task, Launch& launch) {
  merger_.redo(task, launch);
  const std::size_t home = machine_->home();
  const NodeId node = machine_->homeDevice().node;
  for (Launch::Issued& each : launch.issued) {
    if (isDone(each, home))
      continue;
    auto redone = std::make_shared<Piece>(ownPiece(each));
    Piece& piece = *redone;
    piece.device = home;
    piece.isBoundary = false;
    for (PieceUse& use : piece.uses) {
      use.needs.uniteWith(use.merged);
      use.writes.uniteWith(std::exchange(use.merged, {}));
    }
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      mover_.bring(task, *launch.buffers[b], node, piece.uses[b].needs);
    Instruction instruction = executor_.pieceInstruction(launch, piece);
    executor_.collectBefore(launch, piece, instruction.after);
    instruction.traced = shared_.tracer.piece(launch, piece, launch.plan->dimension);
    executor_.book(launch, piece, instruction.done);
    each.device = home;
    each.isRedone = true;
    each.piece = std::move(redone);
    each.kernel = instruction.done;
    if (task.begin && task.begin->hasFailed())
      task.begin = instruction.done;
    each.transfers.clear();
    each.arrivals.clear();
    issuer_.issue(task, home, std::move(instruction));
  }
  issuer_.issueMarkers(task, false);
}

} // namespace libsplit::runtime
