// The session's life.
#include "runtime/session/session.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

namespace libsplit::runtime {

namespace {

/// That a call may take longer which must not wait for what may wait for it.
constexpr std::chrono::milliseconds shortWait(100);

/// Asks again and again until it `holds`; false if it does not within `seconds`.
template <class Holds> bool waitUntil(const Holds& holds, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds))
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

} // namespace

Session::Session(const Dispatch& cl, Options options)
    : shared_(cl, std::move(options)), cache_(options_.cacheDir), binaryOrigins_(cache_),
      scheduler_(shared_, tracked_, mover_, recovery_),
      pumps_(cl_, 2 * options_.stagingBytes, scheduler_.calls()),
      provider_([this] { scheduler_.goOnUnlocked(); }),
      contentsFetcher_(shared_, shared_.mutex, issuer_, mover_, [this] { scheduler_.goOn(); }) {
  shared_.allRetired = [this](Lock& lock) {
    leaveIfAllIsHome();
    forgetContexts(lock);
  };
  shared_.stepAside = [this](const std::string& why) { stepAside(why); };
  setLogLevel(options_.log);
  if (!options_.trace.empty())
    shared_.tracer.open(options_.trace, shared_.shortestLaunch());
}

Session::Session(const Dispatch& cl) : Session(cl, Options{}) {
  shared_.active = false;
}

void Session::stepAside(const std::string& why) {
  std::vector<std::shared_ptr<MemoryObject>> held; // destroyed after the lock is gone
  Lock lock(shared_.mutex);
  if (shared_.steppingAside && !CallbackScope::active()) // whoever does it may wait for a callback
    shared_.progress.wait(lock, [&] { return hasSteppedAside_; });
  if (!shared_.isActive() || shared_.steppingAside)
    return;
  log(LogLevel::Info, "steps aside: ", why);
  shared_.stats.steppedAside = why;
  // From here on nothing is split. What still waits for the program can't be waited for; it runs at
  // home later, and the last of it ends the session's part.
  shared_.steppingAside = true;
  struct Through { // whatever happens, those who wait go on
    Session& session;
    ~Through() {
      session.hasSteppedAside_ = true;
      session.shared_.progress.notify_all();
    }
  } through{*this};
  held = memory_.engaged();
  // What does not get home while a callback waits that it may depend on, later commands bring.
  bringHome(lock, held, CallbackScope::active() ? std::optional(shortWait) : std::nullopt);
  leaveIfAllIsHome();
}

/// Waits for what is under way, and has home get the bytes of all of `objects`, where it can.
/// False: it takes longer than `patience`, if there is one.
bool Session::bringHome(Lock& lock, std::span<const std::shared_ptr<MemoryObject>> objects,
                        std::optional<std::chrono::milliseconds> patience) {
  auto work = std::make_shared<Task>(); // of no queue
  const auto areSettled = [&] {
    return !chunks_.isUnderWay() && !pooledLaunches_.isUnderWay() && !scheduler_.isRecovering();
  };
  const auto until =
      std::chrono::steady_clock::now() + patience.value_or(std::chrono::milliseconds(0));
  if (!patience)
    shared_.progress.wait(lock, areSettled);
  else if (!shared_.progress.wait_until(lock, until, areSettled))
    return false;
  std::vector<CompletionPtr> parts;
  for (const auto& [queue, stream] : scheduler_.streams())
    for (const auto& task : stream->active)
      parts.insert(parts.end(), task->parts.begin(), task->parts.end());
  for (const auto& object : objects) {
    Buffer& buffer = *object->buffer;
    if (buffer.pooled() || !buffer.engaged())
      continue;            // it is nobody else's business, now as before, or again
    buffer.readers() = {}; // the program's writes go home alone
    work->outputs.emplace_back(object->buffer, ByteSet()); // which keeps it
    try {
      mover_.bring(*work, buffer, machine_->homeDevice().node, ByteSet(0, buffer.size()));
    } catch (const std::exception& error) {
      log(LogLevel::Debug, "a buffer can't be brought home: ", error.what());
    }
  }
  parts.insert(parts.end(), work->parts.begin(), work->parts.end());
  lock.unlock();
  const auto areOver = [&] {
    return std::ranges::all_of(parts, [](const auto& part) { return part->poll(); });
  };
  bool isOver = true;
  if (patience) {
    constexpr std::chrono::microseconds pause(200);
    while (!(isOver = areOver()) && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(pause);
  } else {
    for (const CompletionPtr& part : parts)
      part->wait();
  }
  lock.lock();
  if (!isOver) // it goes on, whatever the program gives up meanwhile
    mover_.note(std::move(work));
  if (!patience)
    mover_.awaitSentAhead(lock); // some of it may have been on its way home
  return isOver;
}

bool Session::isIdleAtHome(const Buffer& buffer) const {
  const NodeId home = machine_->homeDevice().node;
  const ByteSet all(0, buffer.size());
  return buffer.directory().isValid(home, all) && buffer.accesses().isIdle(home, all, false);
}

bool Session::makeRoom(cl_context context, unsigned attempt) {
  // Destroyed after the lock is gone.
  std::vector<std::shared_ptr<MemoryObject>> engaged, holders;
  std::vector<std::shared_ptr<const void>> given;
  Lock lock(shared_.mutex);
  if (!shared_.isActive() || shared_.steppingAside)
    return false;
  if (!machine_) { // so nothing but pumps has any memory there
    lock.unlock();
    return attempt == 0 && pumps_.yield(context);
  }
  // What a task held goes when it retires, of whose end the program may have heard before: what it
  // gave up then was still there when it wanted the room. Now it is not.
  const Scheduler::Streams streams = scheduler_.streams();
  const bool mayHaveHeld =
      std::ranges::any_of(streams, [](const auto& each) { return each.second->submitted > 0; });
  if (CallbackScope::active()) { // which may not wait for long, and not know for what
    constexpr unsigned looks = 20;
    if (mayHaveHeld && attempt < looks)
      shared_.progress.wait_for(lock, shortWait / looks);
    return mayHaveHeld && attempt < looks;
  }
  if (attempt > 0)
    return false;
  for (const auto& [queue, stream] : streams)
    if (scheduler_.maySettle(*stream))
      scheduler_.waitAll(lock, stream);
  // What may be waiting for the program mostly is not, and ends by itself. Natively it would have.
  // What is not over by then may wait for this very thread.
  if (!shared_.progress.wait_for(lock, shortWait, [&] { return scheduler_.isEmpty(); }))
    return mayHaveHeld;
  engaged = memory_.engaged();
  std::ranges::copy_if(engaged, std::back_inserter(holders), [&](const auto& object) {
    return !object->buffer->pooled() && object->buffer->hasMoreAtHome(*machine_);
  });
  const bool mayBeHeld = shared_.userEvents || shared_.callbacks;
  if (!bringHome(lock, holders, mayBeHeld ? std::optional(shortWait) : std::nullopt) ||
      !scheduler_.isEmpty() || mover_.isSendingAhead())
    return mayHaveHeld; // what waits for the program may need it
  const auto give = [&](std::shared_ptr<const void> memory) {
    if (memory)
      given.push_back(std::move(memory));
  };
  for (const auto& object : holders)
    if (object->buffer->engaged() && isIdleAtHome(*object->buffer))
      given.push_back(object->buffer->yieldAtHome(*machine_));
  give(machine_->yieldRings());
  lock.unlock();
  give(pumps_.yield(context));
  if (!given.empty())
    log(LogLevel::Info, "the program's device is full: gives up what memory it has there");
  return mayHaveHeld || !given.empty();
}

/// Having stepped aside, ends the session's part once nothing is pending, and home has all bytes.
/// Where some are lost or could not be brought, or lie in pooled memory, of which drivers know
/// nothing, it goes on as long as the program does.
void Session::leaveIfAllIsHome() {
  if (!shared_.steppingAside || !scheduler_.isEmpty())
    return;
  const auto isHome = [&](const std::shared_ptr<MemoryObject>& object) {
    return !object->buffer->pooled() && isIdleAtHome(*object->buffer);
  };
  if (std::ranges::all_of(memory_.engaged(), isHome))
    shared_.active = false;
}

void Session::finish() {
  if (shared_.ending.exchange(true))
    return;
  // A signal's handler that ends the process may have interrupted a thread that holds the lock.
  Lock lock(shared_.mutex, std::defer_lock);
  if (!waitUntil([&] { return lock.try_lock(); }, 1))
    return;
  preparer_.stop(lock);
  bool isFinished = scheduler_.finish(lock);
  std::vector<std::shared_ptr<Task>> arrived; // which keep no buffer from going any more
  waitUntil(
      [&] {
        const bool isOver = !mover_.isSendingAhead() || !isFinished;
        for (auto& each : mover_.takeArrived())
          arrived.push_back(std::move(each));
        return isOver;
      },
      2);
  isFinished = isFinished && !mover_.isSendingAhead(); // a rehearsal may take its time
  // Compilers have static objects, which go soon.
  if (machine_ && !isFinished && !scheduler_.isWaitedFor())
    machine_->suspendCompiling();
  lock.unlock();
  if (machine_ && !isFinished)
    waitUntil([&] { return !machine_->isCompiling(); }, 30);
  pumps_.stop();
  launcher_.stop();
  outlooks_.stop(0);
  ahead_.stop();
  contentsFetcher_.stop(2); // it may be waiting for the program's own work
  if (!isFinished) {
    lock.lock();
    scheduler_.forgoContents();
    lock.unlock();
  }
  preparer_.save();
  writeStats();
  shared_.tracer.close();
}

void Session::writeStats() {
  if (!options_.wantsStats())
    return;
  std::string json, table;
  {
    Lock lock(shared_.mutex);
    if (!options_.stats.empty())
      json = toJson(shared_.stats, machine_.get());
    if (options_.summary)
      table = toTable(shared_.stats, machine_.get());
  }
  writeReport(table);
  if (!options_.stats.empty() && !writeStatsFile(options_.stats, json))
    log(LogLevel::Error, "can't write the statistics to ", options_.stats);
}

bool Session::contextReleased(cl_context context) {
  if (!contexts_.released(context))
    return false;
  static_cast<void>(pumps_.forget(context)); // without the lock: drivers may call the program
  Lock lock(shared_.mutex);
  givenUp_.push_back(context);
  // Else it goes with the process. In a callback it may be that which the driver waits for.
  if (scheduler_.isEmpty() && !shared_.ending && !CallbackScope::active())
    mover_.awaitSentAhead(lock);
  forgetContexts(lock);
  return true;
}

/// Drops what was made in contexts that the program gave up. While something is under way that may
/// be of theirs they are left for later, and so is one that the program has queues in: to those it
/// may still enqueue.
void Session::forgetContexts(Lock& lock) {
  if (givenUp_.empty() || !scheduler_.isEmpty() || mover_.isSendingAhead())
    return;
  // The context may go with it.
  GoesUnlocked<std::vector<std::shared_ptr<const void>>> dropped(lock, {});
  std::erase_if(givenUp_, [&](cl_context context) {
    if (scheduler_.hasQueueIn(context))
      return false;
    if (machine_)
      dropped->push_back(machine_->forget(context));
    dropped->push_back(pumps_.forget(context)); // of copies since the program gave it up
    dropped->push_back(contentsFetcher_.forget(context));
    return true;
  });
}

void Session::queueReleased(cl_command_queue queue) {
  scheduler_.released(queue);
  Lock lock(shared_.mutex);
  forgetContexts(lock);
}

Session::Finished Session::finishQueue(cl_command_queue queue) {
  Lock lock(shared_.mutex);
  auto stream = scheduler_.find(queue);
  if (!stream)
    return {};
  scheduler_.waitAll(lock, stream);
  const cl_int status = Scheduler::tell(*stream);
  // While all is quiet nobody keeps book of what goes to the driver.
  const bool isKnown = shared_.isActive() && !shared_.isQuiet() && !stream->hasFailed;
  return {status, isKnown && stream->isEmptyNatively()};
}

void Session::asksFor(cl_event event) {
  if (scheduler_.events().isEmpty())
    return;
  Lock lock(shared_.mutex);
  const auto ours = scheduler_.events().find(event);
  const auto task = ours && !ours->ended ? ours->task.lock() : nullptr;
  if (task)
    scheduler_.seeThrough(lock, task->stream);
}

Session::Finished Session::awaitEvents(cl_uint count, const cl_event* list) {
  const EventTable& events = scheduler_.events();
  if (events.isEmpty() || !list)
    return {};
  // What the driver refuses, it refuses before anything is waited for.
  const auto contextOf = [&](cl_event event) {
    return property<cl_context>(shared_.cl.clGetEventInfo, event, CL_EVENT_CONTEXT);
  };
  const cl_context context = count > 1 && list[0] ? contextOf(list[0]) : nullptr;
  for (cl_uint i = 0; i < count; ++i)
    if (!list[i] || (i > 0 && contextOf(list[i]) != context))
      return {};
  bool hasFailed = false, areOurs = count > 0;
  cl_int told = CL_SUCCESS;
  Lock lock(shared_.mutex);
  for (cl_uint i = 0; i < count; ++i) {
    auto ours = events.find(list[i]);
    areOurs = areOurs && ours;
    if (!ours)
      continue;
    if (auto task = ours->task.lock()) {
      scheduler_.waitFor(lock, task);
      told = std::min(told, Scheduler::tell(*task->stream));
    }
    areOurs = areOurs && ours->ended;
    hasFailed = hasFailed || (ours->ended && ours->status < 0);
  }
  return {hasFailed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : told, areOurs};
}

} // namespace libsplit::runtime
