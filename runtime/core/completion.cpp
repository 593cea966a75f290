#include "runtime/core/completion.h"

#include "runtime/core/forks.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

namespace libsplit::runtime {

cl_int awaitEvent(const Dispatch& cl, cl_event event) {
  constexpr auto pause = std::chrono::microseconds(100);
  constexpr unsigned patience = 3, longest = 50'000; // questions: 5 s
  unsigned unanswered = 0;
  for (unsigned asked = 0;; ++asked) {
    const cl_int waited = cl.clWaitForEvents(1, &event);
    if (waited == CL_SUCCESS)
      return CL_SUCCESS;
    cl_int executed = CL_QUEUED;
    if (cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof executed, &executed,
                          nullptr) == CL_SUCCESS) {
      if (executed <= CL_COMPLETE)
        return executed;
    } else if (++unanswered == patience) {
      return waited;
    }
    if (asked == longest)
      return waited;
    std::this_thread::sleep_for(pause);
  }
}

namespace {

/// How the commands of one piece of work ended, all of which are over.
Completion::Ends endsOf(const Dispatch& cl, cl_int last, const std::vector<Ref<cl_event>>& others) {
  constexpr cl_int notRun = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  Completion::Ends ends{last, last == notRun};
  for (const Ref<cl_event>& command : others) {
    const cl_int status = executionStatus(cl, command.get(), CL_COMPLETE);
    ends.worst = std::min(ends.worst, status);
    ends.noneRan = ends.noneRan && status == notRun;
  }
  return ends;
}

} // namespace

CompletionPtr Completion::of(const Dispatch& cl, cl_event event) {
  auto completion = std::make_shared<Completion>(cl);
  completion->submit(Ref<cl_event>::retain(cl, event), nullptr);
  return completion;
}

void Completion::submit(Ref<cl_event> event, cl_command_queue queue, cl_context context,
                        std::vector<std::shared_ptr<Completion>> implied) {
  std::lock_guard lock(mutex_);
  context_ = context;
  implied_ = std::move(implied);
  event_ = std::move(event);
  queue_ = queue;
  state_ = State::Submitted;
  changed_.notify_all();
}

void Completion::precede(Ref<cl_event> command) {
  std::lock_guard lock(mutex_);
  preceding_.push_back(std::move(command));
}

void Completion::finish(cl_int status, Outcome outcome) {
  std::lock_guard lock(mutex_);
  status_ = status;
  outcome_ = outcome;
  state_ = State::Over;
  changed_.notify_all();
}

void Completion::abandon(cl_int status) {
  std::vector<Ref<cl_event>> begun;
  {
    std::lock_guard lock(mutex_);
    begun = preceding_;
  }
  for (const Ref<cl_event>& command : begun)
    awaitEvent(cl_, command.get());
  finish(status, begun.empty() ? Outcome::Refused : Outcome::Failed);
}

void Completion::waitSubmitted() {
  if (submitted())
    return;
  const Forkable waiting;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::Pending; });
}

struct Completion::Link {
  Completion* at;
  CompletionPtr keep;                 ///< `at`, but for the first, which the caller holds
  Ends own;                           ///< how its commands ended
  std::vector<CompletionPtr> implied; ///< still to be looked at
  cl_int impliedStatus = CL_SUCCESS;  ///< the worst of those that were
};

// What is implied implies more in turn: as many as a program enqueues while a device is busy. So
// neither waiting nor going is recursive.

Completion::~Completion() {
  std::vector<CompletionPtr> going = std::move(implied_);
  while (!going.empty()) {
    const CompletionPtr last = std::move(going.back());
    going.pop_back();
    if (last.use_count() == 1)
      std::ranges::move(last->implied_, std::back_inserter(going));
  }
}

/// Itself as a link, once its own commands are over; nothing if it may not block until then.
std::optional<Completion::Link> Completion::follow(bool mayBlock, CompletionPtr keep) {
  Link link{this, std::move(keep), {}, {}};
  std::vector<CompletionPtr> known; // destroyed without the lock, and while no fork may come
  std::optional<Forkable> waiting;
  if (mayBlock)
    waiting.emplace();
  if (mayBlock && !submitted()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ != State::Pending; });
  }
  const State state = state_;
  if (state == State::Over)
    return link;
  if (state == State::Pending)
    return std::nullopt;
  // What was submitted stays as it is, but for `implied_`.
  const cl_int status =
      mayBlock ? awaitEvent(cl_, event_.get()) : executionStatus(cl_, event_.get());
  if (status > CL_COMPLETE)
    return std::nullopt;
  link.own = endsOf(cl_, status, preceding_);
  {
    const std::lock_guard lock(mutex_);
    for (const CompletionPtr& each : implied_)
      if (each->over()) // as most are by then
        link.impliedStatus = std::min(link.impliedStatus, each->status_);
      else
        link.implied.push_back(each);
    if (link.implied.empty()) {
      known.swap(implied_);
      settle(link);
    }
  }
  waiting.reset();
  keepMemory(known);
  return link;
}

/// Of what is no longer implied, which goes without the lock.
void Completion::keepMemory(std::vector<CompletionPtr>& list) {
  if (list.capacity() == 0)
    return;
  list.clear();
  const std::lock_guard lock(mutex_);
  spare_.swap(list);
}

/// Its status, once it is over with all that it depends on; nothing if it may not block until then.
std::optional<cl_int> Completion::resolve(bool mayBlock) {
  if (over())
    return status_;
  std::optional<Link> next = follow(mayBlock, nullptr);
  if (next && next->implied.empty())
    return end(*next);
  std::vector<Link> chain;
  while (next) {
    chain.push_back(std::move(*next));
    while (chain.back().implied.empty()) {
      const cl_int status = chain.back().at->end(chain.back());
      chain.pop_back();
      if (chain.empty())
        return status;
      chain.back().impliedStatus = std::min(chain.back().impliedStatus, status);
    }
    CompletionPtr before = std::move(chain.back().implied.back());
    chain.back().implied.pop_back();
    Completion* const at = before.get();
    next = at->follow(mayBlock, std::move(before));
  }
  return std::nullopt;
}

cl_int Completion::wait() {
  return *resolve(/*mayBlock=*/true);
}

bool Completion::precedes(cl_command_queue queue) const {
  const State state = state_;
  return state == State::Over ? status_ >= 0
                              : state == State::Submitted && queue_ && queue_ == queue;
}

Ref<cl_event> Completion::eventIn(cl_context context) const {
  return state_ == State::Submitted && context && context_ == context ? event_ : Ref<cl_event>();
}

bool Completion::poll() {
  return resolve(/*mayBlock=*/false).has_value();
}

/// Its commands are over, and what they depend on. Its status.
cl_int Completion::end(const Link& link) {
  if (over())
    return status_;
  std::vector<CompletionPtr> implied; // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    implied.swap(implied_);
    settle(link);
  }
  keepMemory(implied);
  return status_;
}

/// The same; the lock is held.
void Completion::settle(const Link& link) {
  if (state_ == State::Over)
    return;
  // A command whose wait list holds one that failed is not executed.
  const bool wasSkipped = link.own.noneRan && link.impliedStatus < 0;
  status_ = wasSkipped ? link.impliedStatus : std::min(link.own.worst, link.impliedStatus);
  outcome_ = wasSkipped ? Outcome::Skipped : status_ < 0 ? Outcome::Failed : Outcome::Succeeded;
  state_ = State::Over;
}

std::optional<cl_ulong> Completion::profilingTime(cl_profiling_info name) const {
  std::lock_guard lock(mutex_);
  return timeOf(name);
}

/// The lock is held.
std::optional<cl_ulong> Completion::timeOf(cl_profiling_info name) const {
  const bool ends = name == CL_PROFILING_COMMAND_END || preceding_.empty();
  return timeOf(ends ? event_ : preceding_.front(), name);
}

std::optional<cl_ulong> Completion::timeOf(const Ref<cl_event>& command,
                                           cl_profiling_info name) const {
  cl_ulong time = 0;
  if (!event_ ||
      cl_.clGetEventProfilingInfo(command.get(), name, sizeof time, &time, nullptr) != CL_SUCCESS)
    return std::nullopt;
  return time;
}

std::optional<double> Completion::secondsAtWork() const {
  std::lock_guard lock(mutex_);
  const std::optional<DeviceInterval>& all = intervalLocked();
  if (!all || preceding_.empty())
    return all ? std::optional(all->seconds()) : std::nullopt;
  cl_ulong sum = 0;
  const auto add = [&](const Ref<cl_event>& command) {
    const auto start = timeOf(command, CL_PROFILING_COMMAND_START);
    const auto end = timeOf(command, CL_PROFILING_COMMAND_END);
    const bool isKnown = start && end && *start <= *end;
    sum += isKnown ? *end - *start : 0;
    return isKnown;
  };
  if (!std::ranges::all_of(preceding_, add) || !add(event_))
    return std::nullopt;
  return std::min(1e-9 * static_cast<double>(sum), all->seconds());
}

std::optional<DeviceInterval> Completion::interval() const {
  std::lock_guard lock(mutex_);
  return intervalLocked();
}

/// The lock is held.
const std::optional<DeviceInterval>& Completion::intervalLocked() const {
  if (interval_)
    return interval_;
  const auto start = timeOf(CL_PROFILING_COMMAND_START);
  const auto end = timeOf(CL_PROFILING_COMMAND_END);
  // Drivers tell nothing of the kind of commands whose device was lost. And none takes longer than
  // the machine has been running.
  const auto isPossible = [](cl_ulong nanoseconds) {
    using std::chrono::steady_clock;
    const std::chrono::duration<cl_ulong, std::nano> took(nanoseconds);
    constexpr std::chrono::seconds certainly(1); // which spares a look at the clock
    return took <= certainly || took <= steady_clock::now().time_since_epoch();
  };
  if (start && end && *start > 0 && *start <= *end && isPossible(*end - *start))
    interval_ = {*start, *end};
  return interval_;
}

} // namespace libsplit::runtime
