// LIBSPLIT_VERIFY: each split launch is run a second time, unsplit and from the same inputs, and
// the bytes are compared. The application goes on with the unsplit result, so a wrong split does no
// harm.
//
// It is a chain of five tasks in place of one, none of which holds up the application: read the
// inputs, run split, read the result, put the inputs back and run unsplit, read the result. The
// comparison comes when the last retires; it carries the application's event.
//
// Other queues may use the same buffers, as long as they keep to other bytes of them. So only what
// the launch was given, a sub-buffer or all of a buffer, is read, put back and compared; and from
// the first task to the last nobody else plans, or passes on to the driver, what uses its buffers.
#include "runtime/session/verifier.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <stdexcept>

namespace libsplit::runtime {

namespace {

/// Bytes that the launch was given: of one argument, or of several that overlap.
struct Part {
  std::size_t buffer = 0; ///< of the launch
  ByteRange bytes;
  bool mayBeWritten = false;
};

using Contents = std::vector<std::vector<std::byte>>; ///< by part

std::vector<Part> partsOf(const Launch& launch) {
  std::vector<ByteSet> given(launch.buffers.size()), written(launch.buffers.size());
  for (const BufferArgument& argument : launch.request.buffers) {
    const ByteRange bytes{
        argument.origin, argument.origin + launch.request.arguments[argument.parameter].bufferSize};
    given[argument.buffer].add(bytes);
    if (launch.code->writes[argument.parameter])
      written[argument.buffer].add(bytes);
  }
  std::vector<Part> parts;
  for (std::size_t b = 0; b < given.size(); ++b)
    for (const ByteRange& bytes : given[b].ranges())
      parts.push_back({b, bytes, written[b].intersects(ByteSet(bytes))});
  return parts;
}

/// From the first differing byte to the last, if any differs.
std::optional<ByteRange> difference(const std::vector<std::byte>& a,
                                    const std::vector<std::byte>& b) {
  auto first = std::mismatch(a.begin(), a.end(), b.begin());
  if (first.first == a.end())
    return std::nullopt;
  auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin());
  return ByteRange{static_cast<std::uint64_t>(first.first - a.begin()),
                   static_cast<std::uint64_t>(a.rend() - last.first)};
}

/// The parameters through which the launch sees a part: "`a`, `b`".
std::string parameterNames(const Launch& launch, const KernelSummary& summary, const Part& part) {
  std::string names;
  for (const BufferArgument& argument : launch.request.buffers)
    if (argument.buffer == part.buffer && part.bytes.begin <= argument.origin &&
        argument.origin < part.bytes.end)
      names += (names.empty() ? "`" : ", `") + summary.parameters[argument.parameter].name + "`";
  return names;
}

} // namespace

struct Verification {
  explicit Verification(std::shared_ptr<Launch> of)
      : launch(std::move(of)), parts(partsOf(*launch)) {}

  const std::shared_ptr<Launch> launch;
  const std::vector<Part> parts;
  Contents before, split, unsplit;
};

void Verifier::readAll(Task& task, const Verification& verification,
                       std::vector<std::vector<std::byte>>& contents) {
  contents.clear(); // of a reading that failed
  for (const Part& part : verification.parts) {
    contents.emplace_back(part.bytes.size());
    homeCommands_.planRead(task, *verification.launch->buffers[part.buffer], part.bytes,
                           contents.back().data(), true);
  }
}

void Verifier::restore(Task& task, Verification& verification) {
  for (std::size_t p = 0; p < verification.parts.size(); ++p) {
    const auto& [index, range, mayBeWritten] = verification.parts[p];
    if (!mayBeWritten) // it may lie in memory that nobody can write to
      continue;
    const std::shared_ptr<Buffer>& buffer = verification.launch->buffers[index];
    HeldUse use;
    use.use = {nullptr, true, range.begin, range.end, false};
    use.object = std::make_shared<MemoryObject>();
    use.object->buffer = buffer;
    use.object->size = buffer->size();
    const HostWay way = buffer->wayTo(*machine_, machine_->home(), Engine::Kernels);
    if (!way)
      throw std::runtime_error("no memory to put a buffer's bytes back through");
    homeCommands_.plan(task, {use},
                       {[this, queue = machine_->queueOf(machine_->home(), buffer->context()), way,
                         rows = buffer->rowsOf(ByteSet(range)), range,
                         &bytes = verification.before[p]](cl_bool, cl_uint count,
                                                          const cl_event* list, cl_event* event) {
                         const std::vector<cl_event> waits(list, list + count);
                         const RowCopy copy{queue, way, false, rows, bytes.data() - range.begin};
                         const cl_int status = copy.enqueue(cl_, {waits}, nullptr, event);
                         cl_.clFlush(queue);
                         return status;
                       }});
  }
}

void Verifier::submit(const Command& command, const std::shared_ptr<Launch>& launch) {
  auto stream = scheduler_.find(command.queue);
  auto verification = std::make_shared<Verification>(launch);
  Command internal;
  internal.queue = command.queue;
  std::vector<std::shared_ptr<Task>> tasks;
  auto add = [&](const Command& as, auto plan, std::function<void(Task&)> retired) {
    auto task = scheduler_.create(stream, as);
    if (!tasks.empty())
      task->waitTasks.push_back(tasks.back());
    task->program = launch->program.get();
    task->verification = verification.get();
    task->plan = std::move(plan);
    task->retired = std::move(retired);
    tasks.push_back(task);
    return task;
  };

  Command waiting = command;
  waiting.event = nullptr;
  add(waiting, [this, verification](Task& task) { begin(task, verification); }, nullptr);
  auto split = add(
      internal, [this, launch](Task& task) { planner_.plan(task, launch); },
      [this, launch](Task& task) { observer_.observe(task, *launch); });
  split->isLaunch = true;
  split->launch = launch;
  add(
      internal,
      [this, verification](Task& task) { readAll(task, *verification, verification->split); },
      nullptr);
  add(
      internal,
      [this, verification](Task& task) {
        if (!verification->launch->wasSplit)
          return;
        restore(task, *verification);
        planner_.planUnsplit(task, verification->launch);
      },
      nullptr);
  auto last = add(
      internal,
      [this, verification](Task& task) {
        issuer_.issueMarkers(task, true);
        readAll(task, *verification, verification->unsplit);
        issuer_.issueMarkers(task, false);
      },
      [this, verification](Task& task) { end(task, *verification); });
  Command visible = command;
  visible.waitCount = 0;
  visible.waitList = nullptr;
  scheduler_.attachEvent(*last, visible);
  // Nothing that may be refused comes between them: only the last one ends what the first begins.
  for (const std::shared_ptr<Task>& task : tasks)
    scheduler_.submit(task);
}

void Verifier::begin(Task& task, const std::shared_ptr<Verification>& verification) {
  verification->launch->reason = nativeWork_.engage(task, *verification->launch);
  if (task.mustBePlannedAgain())
    return;
  open_ = verification;
  scheduler_.reserveFor(verification.get());
  tracked_.reserve(this, verification->launch->buffers);
  readAll(task, *verification, verification->before);
}

void Verifier::end(const Task& task, const Verification& verification) {
  if (open_.get() == &verification) {
    scheduler_.reserveFor(nullptr);
    tracked_.leave(this);
    open_.reset();
  }
  if (task.status >= 0 && verification.launch->wasSplit)
    compare(verification);
}

void Verifier::compare(const Verification& verification) {
  const Launch& launch = *verification.launch;
  const KernelSummary& summary = *launch.code->summaries[machine_->home()];
  ++shared_.stats.verifiedLaunches;
  bool differed = false;
  for (std::size_t p = 0; p < verification.parts.size(); ++p) {
    auto differs = difference(verification.split[p], verification.unsplit[p]);
    if (!differs)
      continue;
    differed = true;
    log(LogLevel::Error, "verify: kernel ", launch.code->name, ", argument ",
        parameterNames(launch, summary, verification.parts[p]),
        ": split and unsplit results differ in bytes [", differs->begin, ",", differs->end,
        "); the kernel is not split again");
  }
  if (!differed)
    return;
  ++shared_.stats.differingLaunches;
  launch.code->neverSplit("its split result differed from the unsplit one");
}

} // namespace libsplit::runtime
