// LIBSPLIT_VERIFY: each split launch is run a second time, unsplit and from the same inputs, and
// the bytes are compared. The application goes on with the unsplit result, so a wrong split does no
// harm.
//
// It is a chain of five tasks in place of one, none of which holds up the application: read the
// inputs, run split, read the result, put the inputs back and run unsplit, read the result. The
// comparison comes when the last retires; it carries the application's event.
#include "runtime/launch.h"
#include "runtime/log.h"
#include "runtime/session.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

using Contents = std::vector<std::vector<std::byte>>; ///< by buffer of the launch

struct Verification {
  std::shared_ptr<Launch> launch;
  Contents before, split, unsplit;
};

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

/// The parameters through which the launch sees buffer `index`: "`a`, `b`".
std::string parameterNames(const Launch& launch, const KernelSummary& summary, std::size_t index) {
  std::string names;
  for (const BufferArgument& argument : launch.request.buffers)
    if (argument.buffer == index)
      names += (names.empty() ? "`" : ", `") + summary.parameters[argument.parameter].name + "`";
  return names;
}

} // namespace

void Session::planReadAll(Task& task, const Launch& launch,
                          std::vector<std::vector<std::byte>>& contents) {
  for (const auto& buffer : launch.buffers) {
    contents.emplace_back(buffer->size());
    planRead(task, *buffer, {0, buffer->size()}, contents.back().data());
  }
}

void Session::planRestore(Task& task, const Launch& launch,
                          const std::vector<std::vector<std::byte>>& contents) {
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer& buffer = *launch.buffers[b];
    HeldUse whole;
    whole.use.writes = true;
    whole.use.reads = false;
    whole.object = std::make_shared<MemoryObject>();
    whole.object->buffer = launch.buffers[b];
    whole.object->size = buffer.size();
    planHomeCall(task, {whole},
                 [this, queue = task.stream->queue, home = buffer.home(), &bytes = contents[b]](
                     cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
                   return cl_.clEnqueueWriteBuffer(queue, home, CL_FALSE, 0, bytes.size(),
                                                   bytes.data(), count, list, event);
                 });
  }
}

cl_int Session::launchVerified(const Command& command, const std::shared_ptr<Launch>& launch) {
  auto stream = findStream(command.queue);
  auto verification = std::make_shared<Verification>();
  verification->launch = launch;
  Command internal;
  internal.queue = command.queue;
  std::shared_ptr<Task> previous;
  auto add = [&](const Command& as, auto plan, std::function<void(Task&)> retired) {
    auto task = newTask(stream, as);
    if (previous)
      task->waitTasks.push_back(previous);
    task->plan = std::move(plan);
    task->retired = std::move(retired);
    previous = task;
    return task;
  };

  Command waiting = command;
  waiting.event = nullptr;
  submit(add(
      waiting,
      [this, verification](Task& task) {
        planReadAll(task, *verification->launch, verification->before);
      },
      nullptr));
  auto split = add(
      internal, [this, launch](Task& task) { planLaunch(task, launch); },
      [this, launch](Task& task) { observe(task, *launch); });
  split->isLaunch = true;
  submit(split);
  submit(add(
      internal,
      [this, verification](Task& task) {
        planReadAll(task, *verification->launch, verification->split);
      },
      nullptr));
  submit(add(
      internal,
      [this, verification](Task& task) {
        if (!verification->launch->wasSplit)
          return;
        planRestore(task, *verification->launch, verification->before);
        planUnsplit(task, verification->launch);
      },
      nullptr));
  auto last = add(
      internal,
      [this, verification](Task& task) {
        issueMarkers(task, true);
        planReadAll(task, *verification->launch, verification->unsplit);
        issueMarkers(task, false);
      },
      [this, verification](Task& task) {
        if (task.status >= 0 && verification->launch->wasSplit)
          compare(*verification->launch, verification->split, verification->unsplit);
      });
  Command visible = command;
  visible.waitCount = 0;
  visible.waitList = nullptr;
  attachEvent(*last, visible);
  submit(last);
  return CL_SUCCESS;
}

void Session::compare(const Launch& launch, const std::vector<std::vector<std::byte>>& split,
                      const std::vector<std::vector<std::byte>>& unsplit) {
  const KernelSummary& summary = *launch.code->summaries[machine_->home()];
  ++stats_.verifiedLaunches;
  bool differed = false;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    auto differs = difference(split[b], unsplit[b]);
    if (!differs)
      continue;
    differed = true;
    log(LogLevel::Error, "verify: kernel ", launch.code->name, ", argument ",
        parameterNames(launch, summary, b), ": split and unsplit results differ in bytes [",
        differs->begin, ",", differs->end, "); the kernel is not split again");
  }
  if (!differed)
    return;
  ++stats_.differingLaunches;
  launch.code->state = KernelCode::State::Unsplittable;
  launch.code->reason = "its split result differed from the unsplit one";
}

} // namespace libsplit::runtime
