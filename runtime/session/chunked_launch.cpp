// A launch given out in chunks: for the first launch of a kernel of which nothing is known, and
// under `dynamic` for every launch.
//
// The program's own device begins with a small chunk. What that took says how long the rest would
// take there. If that is short, the rest stays there, and little is lost: one more launch. Else
// every device gets a chunk, and the next when it is done with that, until none is left. Each
// device has a thread that asks for chunks, issues them under the session's lock and waits for them
// without it; so nothing waits in the application's thread, and lanes stay first-in-first-out.
//
// Correct by construction. Each chunk is a piece of its own: what it needs is brought to its node
// by the directory, and what it writes is noted there before the next chunk is looked at. So the
// chunks have the effect of running one after another in the order in which they were issued, which
// is one of the orders that the kernel must allow anyway. Where two chunks may write the same byte,
// the later one's copy waits for the earlier one; where they don't, which is the rule, nothing
// waits.
//
// While a launch is being given out, nobody else plans: other queues' tasks would have to be
// ordered against chunks that nobody knows yet. That is a first launch's price, and it is bounded
// by it.
#include "runtime/session/chunked_launch.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <new>

namespace libsplit::runtime {

struct ChunkedLaunch {
  explicit ChunkedLaunch(std::size_t count) : plan(static_cast<unsigned>(count)) {}

  // Dropped when everything is issued: the task itself holds the launch until it retires.
  std::shared_ptr<Task> task;
  std::shared_ptr<Launch> launch;

  std::vector<std::size_t> members; ///< devices that take part; the plan's devices, in its order
  std::size_t home = 0;             ///< the program's own device, as a member
  solver::ChunkPlan plan;
  unsigned dimension = 0;
  std::vector<PlanDevice> devices;
  bool probing = true;         ///< only the home device works, as far as its part seems short
  double known = 0;            ///< seconds that the rest takes there by what earlier ones took
  std::uint64_t homeTakes = 0; ///< … and then takes so many groups at once; 0: as planned
  unsigned working = 0;        ///< members that may still ask

  std::vector<CompletionPtr> chunks; ///< issued
};

namespace {

constexpr double handoutSeconds = 100e-6; // what a chunk costs beside its work
/// No chunk of a device that is measured is planned to take less.
constexpr double leastChunkSeconds = 20 * handoutSeconds;
/// So many of its fillings a device's part must have, for chunks not to leave it half empty.
constexpr std::uint64_t leastFillings = 16;
constexpr std::uint64_t itemsPerComputeUnit = 2048; // of a GPU, resident at once

/// Groups that `device` runs at once: fewer take as long as these.
std::uint64_t fillOf(const Device& device, const NDRange& range) {
  const std::uint64_t items = range.local[0] * range.local[1] * range.local[2];
  const std::uint64_t perUnit =
      device.isGpu
          ? std::max<std::uint64_t>(1, itemsPerComputeUnit / std::max<std::uint64_t>(items, 1))
          : 1;
  return perUnit * std::max(1u, device.computeUnits);
}

/// Which groups a device will take nobody knows: each may use all of every buffer.
LaunchPlan usingAll(const Launch& launch, const LaunchPlan& whole) {
  LaunchPlan plan = whole;
  for (Piece& piece : plan.pieces)
    for (std::size_t b = 0; b < piece.uses.size(); ++b)
      piece.uses[b].needs = ByteSet(0, launch.buffers[b]->size());
  return plan;
}

std::uint64_t mostGroups(const NDRange& range) {
  return std::max({range.groups(0), range.groups(1), range.groups(2)});
}

} // namespace

bool ChunkedLaunches::canBegin(const Launch& launch) const {
  const Device& home = machine_->homeDevice();
  return home.participates && !open_ &&
         mostGroups(launch.range) >= leastFillings * fillOf(home, launch.range);
}

std::vector<double> ChunkedLaunches::sharesOfAll(const Launch& launch,
                                                 const ShareController& controller) const {
  std::vector<double> uniform;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    const Device& device = machine_->devices()[i];
    const bool fills = mostGroups(launch.range) >= leastFillings * fillOf(device, launch.range);
    uniform.push_back(controller.canUse(i) && fills ? 1 : 0);
  }
  return uniform;
}

std::string ChunkedLaunches::begin(Task& task, const std::shared_ptr<Launch>& launch,
                                   const std::shared_ptr<const LaunchPlan>& whole) {
  if (whole->rung > Rung::Possible)
    return "its pieces' results have to be merged";
  const bool probing = options_.policy.kind == Policy::Kind::Auto;
  Provisions none; // home has all that it needs
  std::string why = probing ? executor_.reserveOn(task, *launch, machine_->home(), {}, none)
                            : executor_.reserve(task, *launch, usingAll(*launch, *whole));
  if (!why.empty() || task.mustBePlannedAgain())
    return why;

  auto chunked = std::make_shared<ChunkedLaunch>(whole->pieces.size());
  std::vector<double> hints;
  std::vector<std::uint64_t> fills;
  for (const Piece& piece : whole->pieces) {
    if (piece.device == machine_->home())
      chunked->home = chunked->members.size();
    chunked->members.push_back(piece.device);
    hints.push_back(piece.device < launch->shares.size() ? launch->shares[piece.device] : 0);
    fills.push_back(fillOf(machine_->devices()[piece.device], launch->range));
  }
  const std::uint64_t groups = launch->range.groups(whole->dimension);
  if (chunked->members.size() < 2 || chunked->members[chunked->home] != machine_->home() ||
      groups < leastFillings * fills[chunked->home])
    return "it has too few work-groups for chunks";
  feeders_.resize(machine_->devices().size());
  for (auto& feeder : feeders_)
    if (!feeder)
      feeder = std::make_unique<Worker>();
  const auto hold = feeders_[machine_->home()]->hold();
  if (!hold)
    return "there is no thread to be had that would give it out";
  for (std::size_t i = 0; i < machine_->devices().size(); ++i)
    chunked->devices.push_back({machine_->devices()[i].node, launch->code->summaries[i]});
  chunked->task = task.stream->active.back();
  chunked->launch = launch;
  chunked->dimension = whole->dimension;
  chunked->probing = probing;
  if (const auto& controller = launch->code->histories.at(launch->key).controller)
    chunked->known = controller->expectedHomeSeconds();
  chunked->plan.begin(groups, 1, hints, {leastChunkSeconds, fills});
  feed(chunked, chunked->home); // which begins once the lock is free
  if (chunked->working == 0)
    return "there is no memory to give it out with";
  launch->plan = whole;
  launch->isChunked = true;
  task.learning = true;
  task.open = true;
  open_ = chunked;
  tracked_.reserve(this, launch->buffers);
  scheduler_.suspend();
  issuer_.issueMarkers(task, true);
  for (std::size_t member = 0; member < chunked->members.size() && !probing; ++member)
    if (member != chunked->home)
      feed(chunked, member);
  return {};
}

/// Where there is no thread to be had for that, or no memory, others do the work.
void ChunkedLaunches::feed(const std::shared_ptr<ChunkedLaunch>& chunked, std::size_t member) {
  ++chunked->working;
  auto work = [this, chunked, member] {
    Lock lock(shared_.mutex);
    try {
      while (give(lock, *chunked, member)) {
      }
    } catch (const std::exception& error) {
      if (!lock.owns_lock())
        lock.lock();
      log(LogLevel::Info, "a device takes no more parts of a launch: ", error.what());
    }
    if (--chunked->working == 0)
      close(*chunked);
  };
  bool isTaken = false;
  try {
    isTaken = feeders_[chunked->members[member]]->post(work);
  } catch (const std::bad_alloc&) {
  }
  if (!isTaken)
    --chunked->working;
}

/// Gives `member` its next chunk and waits for it. False if there is none, or no more sense in it.
bool ChunkedLaunches::give(Lock& lock, ChunkedLaunch& chunked, std::size_t member) {
  Task& task = *chunked.task;
  const auto index = static_cast<unsigned>(member);
  const solver::GroupRange range = chunked.probing && chunked.homeTakes > 0
                                       ? chunked.plan.take(index, chunked.homeTakes)
                                       : chunked.plan.next(index);
  if (range.empty() || task.status < 0)
    return false;
  const auto begin = std::chrono::steady_clock::now();
  Launch::Issued issued;
  try {
    issued = issue(chunked, chunked.members[member], range);
  } catch (const std::exception& error) {
    log(LogLevel::Info, "a part of a launch could not be issued: ", error.what());
    leave(chunked, range);
    return false;
  }
  chunked.launch->issued.push_back(issued);
  lock.unlock();
  const cl_int status = issued.kernel->wait();
  const double moving = secondsOf(issued.transfers);
  lock.lock();
  if (status < 0)
    return false; // others do the rest, and a recovery what this was to do
  // Device time, where it is known: what the driver does for a kernel's first run (PoCL compiles
  // it) says nothing of the next. And what a device lacks for its first chunk it mostly has for
  // others.
  const bool isFirst = std::none_of(
      chunked.launch->issued.begin(), chunked.launch->issued.end(), [&](const auto& each) {
        return each.device == issued.device && each.groupBegin < issued.groupBegin;
      });
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (const auto interval = issued.kernel->interval())
    seconds = interval->seconds() + handoutSeconds + (isFirst ? 0 : moving);
  chunked.plan.finish(index, range, seconds);
  if (!chunked.probing)
    return true;

  const std::uint64_t left = chunked.plan.remaining();
  const double took = seconds - handoutSeconds;
  chunked.known -= took;
  // The first groups may have been the easy ones.
  const double rest =
      std::max(took / static_cast<double>(range.size()) * static_cast<double>(left), chunked.known);
  log(LogLevel::Debug, "kernel ", chunked.launch->code->name, ": the rest would take ", rest,
      " s at home");
  if (rest < leastSeconds) {
    // A part of it, and then another look.
    const bool sure = rest < leastChunkSeconds && chunked.homeTakes > 0;
    chunked.homeTakes = sure ? left : (left + 3) / 4;
    return true;
  }
  chunked.probing = false;
  for (std::size_t other = 0; other < chunked.members.size(); ++other) {
    if (other == member)
      continue;
    // Launches that come later see that, too, and are then planned without the device.
    std::string why;
    try {
      why = reserveNow(lock, chunked, chunked.members[other]);
    } catch (const std::runtime_error& error) {
      why = error.what();
    }
    if (why.empty())
      feed(open_, other);
    else
      log(LogLevel::Debug, "kernel ", chunked.launch->code->name, ": ", why);
  }
  return true;
}

/// Waits until the launch's buffers exist on `device`. Why not, if they can't.
std::string ChunkedLaunches::reserveNow(Lock& lock, ChunkedLaunch& chunked, std::size_t device) {
  Launch& launch = *chunked.launch;
  for (;;) {
    Provisions pending;
    std::string why = executor_.reserveOn(*chunked.task, launch, device, {}, pending);
    launch.lacksRoom = {}; // for all that a chunk may use; a launch's part may be less
    if (!why.empty() || pending.empty())
      return why;
    awaitUnlocked(lock, provider_.provide(pending));
  }
}

/// Brings what the chunk needs and issues it.
Launch::Issued ChunkedLaunches::issue(ChunkedLaunch& chunked, std::size_t device,
                                      solver::GroupRange range) {
  Launch& launch = *chunked.launch;
  Task& task = *chunked.task;
  const NodeId node = machine_->devices()[device].node;
  // What the launch's regions rest on is read only, and was found out when it was planned.
  LaunchContents contents(*machine_, task, launch);
  const Piece piece = [&] {
    const bool mayAsk = machine_->nodes() > 1 && !launch.withoutContents;
    const Asking asking(launch.request, mayAsk ? &contents : nullptr);
    return planPiece(launch.request, chunked.devices, device, chunked.dimension, range.begin,
                     range.end);
  }();
  Launch::Issued issued;
  issued.device = device;
  issued.groupBegin = range.begin;
  issued.groupEnd = range.end;
  issued.piece = std::make_shared<const Piece>(piece);
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    mover_.bring(task, buffer, node, piece.uses[b].needs, &issued.transfers);
  }
  Instruction instruction = executor_.pieceInstruction(launch, piece);
  executor_.collectBefore(launch, piece, instruction.after);
  // Chunks on one node run beside each other, as work-groups do, unless one of them may store back
  // what the other writes (Effect::Rewrite).
  const auto mustWaitFor = [&](const CompletionPtr& chunk) {
    return std::ranges::any_of(launch.issued, [&](const Launch::Issued& other) {
      return other.kernel == chunk && machine_->devices()[other.device].node == node &&
             rewriteEachOther(other.piece->uses, piece.uses);
    });
  };
  std::erase_if(instruction.after, [&](const CompletionPtr& before) {
    return std::find(chunked.chunks.begin(), chunked.chunks.end(), before) !=
               chunked.chunks.end() &&
           !mustWaitFor(before);
  });
  executor_.book(launch, piece, instruction.done);
  issued.kernel = instruction.done;
  instruction.traced = shared_.tracer.piece(launch, piece, chunked.dimension);
  shared_.tracer.planned(task, launch);
  chunked.chunks.push_back(instruction.done);
  launch.wasSplit = launch.wasSplit || device != machine_->home();
  log(LogLevel::Debug, "kernel ", launch.code->name, ": device ", device, " takes groups [",
      range.begin, ",", range.end, ")");
  issuer_.issue(task, device, std::move(instruction));
  return issued;
}

/// Groups that nobody does, for a recovery to find. Where there is no memory to say which, the
/// launch ends with that error.
void ChunkedLaunches::leave(ChunkedLaunch& chunked, solver::GroupRange range) try {
  Launch& launch = *chunked.launch;
  Launch::Issued issued;
  issued.device = machine_->home();
  issued.groupBegin = range.begin;
  issued.groupEnd = range.end;
  issued.piece = std::make_shared<const Piece>(planPiece(
      launch.request, chunked.devices, issued.device, chunked.dimension, range.begin, range.end));
  issued.kernel = std::make_shared<Completion>(cl_);
  issued.kernel->finish(CL_OUT_OF_RESOURCES, Outcome::Skipped);
  launch.issued.push_back(issued);
  chunked.task->partDevices.push_back(issued.device);
  chunked.task->parts.push_back(std::move(issued.kernel));
} catch (const std::bad_alloc&) {
  chunked.task->status = CL_OUT_OF_HOST_MEMORY;
}

/// Everything is issued: the task may retire, and others may plan again.
void ChunkedLaunches::close(ChunkedLaunch& chunked) {
  if (const std::uint64_t left = chunked.plan.remaining(); left > 0)
    leave(chunked, chunked.plan.take(static_cast<unsigned>(chunked.home), left));
  issuer_.issueMarkers(*chunked.task, false);
  auto task = std::move(chunked.task);
  chunked.launch.reset();
  task->open = false;
  open_.reset();
  tracked_.leave(this);
  scheduler_.resume();
  task->stream->wake.notify_all();
  shared_.progress.notify_all();
  scheduler_.pump();
}

void ChunkedLaunches::awaitNone(Lock& lock) const {
  shared_.progress.wait(lock, [&] { return !open_; });
}

} // namespace libsplit::runtime
