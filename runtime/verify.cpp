// LIBSPLIT_VERIFY: each split launch is run a second time, unsplit and from the same inputs, and the bytes
// are compared. The application goes on with the unsplit result, so a wrong split does no harm.
#include "runtime/launch.h"
#include "runtime/log.h"
#include "runtime/session.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// First difference of two buffers, widened to the end of the last one.
std::optional<ByteRange> difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  auto first = std::mismatch(a.begin(), a.end(), b.begin());
  if (first.first == a.end())
    return std::nullopt;
  auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin());
  return ByteRange{static_cast<std::uint64_t>(first.first - a.begin()),
                   static_cast<std::uint64_t>(a.rend() - last.first)};
}

} // namespace

cl_int Session::launchVerified(Lock& lock, const Command& command,
                               const std::shared_ptr<Launch>& launch) {
  auto stream = findStream(command.queue);
  Command internal;
  internal.queue = command.queue;

  auto run = [&](const Command& as, std::function<void(Task&)> plan,
                 std::function<void(Task&)> retired = nullptr) {
    auto task = newTask(stream, as);
    task->plan = std::move(plan);
    task->retired = std::move(retired);
    submit(task);
    return waitFor(lock, task);
  };
  using Contents = std::vector<std::vector<std::byte>>;
  auto readAll = [&] {
    Contents contents;
    for (const auto& buffer : launch->buffers) {
      std::vector<std::byte> bytes(buffer->size());
      run(internal, [&](Task& task) { planRead(task, *buffer, {0, bytes.size()}, bytes.data()); });
      contents.push_back(std::move(bytes));
    }
    return contents;
  };

  // The wait list first: what it waits for may be the inputs.
  Command waits = command;
  waits.event = nullptr;
  cl_int status = run(waits, [](Task&) {});
  Contents before = readAll();
  if (status >= 0)
    status = run(
        internal, [&](Task& task) { planLaunch(task, launch); },
        [&](Task& task) { observe(task, *launch); });
  if (status >= 0 && launch->wasSplit) {
    Contents split = readAll();
    for (std::size_t b = 0; b < launch->buffers.size(); ++b) {
      Buffer& buffer = *launch->buffers[b];
      HeldUse whole;
      whole.use.writes = true;
      whole.use.reads = false;
      whole.object = std::make_shared<MemoryObject>();
      whole.object->buffer = launch->buffers[b];
      whole.object->size = buffer.size();
      run(internal, [&](Task& task) {
        planHomeCall(task, {whole},
                     [&](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
                       return cl_.clEnqueueWriteBuffer(command.queue, buffer.home(), CL_TRUE, 0,
                                                       buffer.size(), before[b].data(), count, list,
                                                       event);
                     });
      });
    }
    // Where the program left the local size open, the driver's choice for the whole is its own: compare
    // with that, as the program would have got it.
    status = run(internal, [&](Task& task) { planUnsplit(task, launch); });
    Contents unsplit = readAll();
    ++stats_.verifiedLaunches;
    for (std::size_t b = 0; b < launch->buffers.size(); ++b) {
      auto differs = difference(split[b], unsplit[b]);
      if (!differs)
        continue;
      std::string name;
      for (const BufferArgument& argument : launch->request.buffers)
        if (argument.buffer == b)
          name += (name.empty() ? "" : ", ") + std::string("`") +
                  launch->code->summaries[machine_->home()]->parameters[argument.parameter].name +
                  "`";
      ++stats_.differingLaunches;
      log(LogLevel::Error, "verify: kernel ", launch->code->name, ", argument ", name,
          ": split and unsplit results differ in bytes [", differs->begin, ",", differs->end,
          "); the kernel is not split again");
      launch->code->state = KernelCode::State::Unsplittable;
      launch->code->reason = "its split result differed from the unsplit one";
    }
  }
  // The application's event: a command of the right type behind all of this.
  auto last = newTask(stream, internal);
  Command visible = command;
  visible.waitCount = 0;
  visible.waitList = nullptr;
  attachEvent(*last, visible);
  cl_command_queue queue = command.queue;
  last->plan = [this, queue](Task& task) {
    planHomeCall(task, {}, [this, queue](cl_bool, cl_uint, const cl_event*, cl_event* event) {
      return cl_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, event);
    });
  };
  last->status = std::min(status, CL_SUCCESS);
  submit(last);
  waitFor(lock, last);
  return CL_SUCCESS;
}

} // namespace libsplit::runtime
