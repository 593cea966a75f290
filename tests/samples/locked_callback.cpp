// Callbacks that depend on what the program's own thread does meanwhile. Drivers that call back on
// a thread of their own let both go on. Variants: `locked`, the program waits for its queue under a
// lock that the callback takes; `behind`, the callback goes on once the program has seen the launch
// behind end. And what any driver allows: `maps`, the callback maps what it was called for;
// `first`, it has been called whatever the program waited for, where the driver calls back first;
// `early`, the callback is for a command that is not over, which another one is enqueued behind
// meanwhile.
#include "kernels/locked_callback.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace {

struct Call {
  std::mutex mutex;
  std::thread::id program = std::this_thread::get_id();
  std::atomic<bool> mayReturn = true, isOver = false;
  std::chrono::milliseconds takes{0};
  cl_kernel sets = nullptr; ///< null: it sets no argument
  std::atomic<bool> hasBegun = false;
  cl_command_queue queue = nullptr;
  cl_mem maps = nullptr; ///< null: it maps nothing
  std::size_t bytes = 0;
  std::atomic<cl_int> status = CL_SUCCESS;
};

void CL_CALLBACK onEnd(cl_event, cl_int, void* data) {
  auto* call = static_cast<Call*>(data);
  call->hasBegun = true;
  // Of an event that has ended by then, drivers tell at once.
  if (std::this_thread::get_id() != call->program) {
    const std::lock_guard lock(call->mutex);
    while (!call->mayReturn)
      std::this_thread::yield();
  }
  if (call->maps) {
    cl_int status = CL_SUCCESS;
    void* address = clEnqueueMapBuffer(call->queue, call->maps, CL_FALSE, CL_MAP_READ, 0,
                                       call->bytes, 0, nullptr, nullptr, &status);
    if (status == CL_SUCCESS)
      status = clEnqueueUnmapMemObject(call->queue, call->maps, address, 0, nullptr, nullptr);
    call->status = status;
  }
  std::this_thread::sleep_for(call->takes);
  if (call->sets) {
    const cl_int value = 1;
    call->status = clSetKernelArg(call->sets, 1, sizeof value, &value);
  }
  call->isOver = true;
}

/// Waits for the queue or the event in one of several ways, and perhaps by another queue.
void wait(cl_command_queue queue, cl_command_queue other, cl_event event, cl_mem buffer,
          unsigned way) {
  cl_int value = 0;
  cl_int status = CL_SUCCESS;
  const auto read = [&](cl_command_queue by, cl_bool blocking, cl_uint count, cl_event* done) {
    sample::check(clEnqueueReadBuffer(by, buffer, blocking, 0, sizeof value, &value, count,
                                      count > 0 ? &event : nullptr, done),
                  "clEnqueueReadBuffer");
  };
  const auto await = [](cl_event each) {
    sample::check(clWaitForEvents(1, &each), "clWaitForEvents");
  };
  sample::Event done;
  sample::check(clFlush(queue), "clFlush");
  switch (way % 6) {
  case 0:
    sample::check(clFinish(queue), "clFinish");
    break;
  case 1:
    read(queue, CL_TRUE, 0, nullptr);
    break;
  case 2:
    read(queue, CL_FALSE, 0, done.out());
    await(done);
    break;
  case 3:
    read(other, CL_TRUE, 1, nullptr);
    break;
  case 4: {
    void* address = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, sizeof value, 0,
                                       nullptr, nullptr, &status);
    sample::check(status, "clEnqueueMapBuffer");
    sample::check(clEnqueueUnmapMemObject(queue, buffer, address, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
    break;
  }
  default:
    sample::check(clEnqueueMarkerWithWaitList(other, 1, &event, done.out()),
                  "clEnqueueMarkerWithWaitList");
    await(done);
  }
}

/// What the variant `early` does beside the queue, which is busy.
void callEarly(cl_command_queue queue, cl_command_queue other, cl_mem buffer, Call& call) {
  const cl_int written = 7;
  cl_int value = 0;
  sample::Event event, done;
  sample::check(clEnqueueWriteBuffer(other, buffer, CL_FALSE, 0, sizeof written, &written, 0,
                                     nullptr, event.out()),
                "clEnqueueWriteBuffer");
  sample::check(clSetEventCallback(event, CL_RUNNING, onEnd, &call), "clSetEventCallback");
  sample::check(clFlush(other), "clFlush");
  while (!call.hasBegun)
    std::this_thread::yield();
  const cl_event before = event;
  sample::check(
      clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof value, &value, 1, &before, done.out()),
      "clEnqueueReadBuffer");
  sample::check(clFinish(queue), "clFinish");
  sample::check(clFinish(other), "clFinish");
  sample::require(value == written, "a read did not wait");
}

void lockedCallback(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const std::string& variant = s.options().variant;
  const auto queue = s.queue(), other = s.queue();
  const auto program = s.program(sample::lockedCallbackSource);
  const auto kernel = sample::kernel(program, "add"), idle = sample::kernel(program, "add");
  std::vector<cl_int> values(n);
  const auto buffer = s.copyOf(values), beside = s.copyOf(values);
  cl_int last = 0;
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    Call call;
    call.queue = queue;
    call.bytes = n * sizeof(cl_int);
    if (variant == "maps")
      call.maps = buffer;
    call.mayReturn = variant != "behind";
    call.takes = std::chrono::milliseconds(variant == "first" ? 3 : variant == "early" ? 20 : 0);
    if (variant == "early")
      call.sets = idle;
    std::unique_lock lock(call.mutex, std::defer_lock);
    if (variant == "locked")
      lock.lock();
    sample::Event first, second;
    for (sample::Event* event : {&first, &second}) {
      const std::size_t local = 16;
      sample::setArguments(kernel, buffer, ++last);
      sample::check(
          clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, &local, 0, nullptr, event->out()),
          "clEnqueueNDRangeKernel");
      if (event == &first && variant != "early")
        sample::check(clSetEventCallback(first, CL_COMPLETE, onEnd, &call), "clSetEventCallback");
    }
    if (variant == "behind") {
      const cl_event behind = second;
      sample::check(clWaitForEvents(1, &behind), "clWaitForEvents");
      call.mayReturn = true;
    } else if (variant == "first") {
      wait(queue, other, second, buffer, round);
      sample::require(call.isOver, "the program goes on before it is called back");
    } else if (variant == "early") {
      callEarly(queue, other, beside, call);
    } else {
      sample::check(clFinish(queue), "clFinish");
    }
    if (lock.owns_lock())
      lock.unlock();
    while (!call.isOver)
      std::this_thread::yield();
    sample::check(call.status, "the callback's call");
    sample::read(queue, buffer, values);
    s.output(values);
  }
  for (const cl_int value : values)
    sample::require(value == last * (last + 1) / 2, "launches got lost");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 3, .variant = "maps"},
                     lockedCallback);
}
