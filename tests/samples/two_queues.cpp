// Two queues that depend on each other through events, one of them out of order; markers,
// callbacks, and profiling times that must make sense.
#include "kernels/two_queues.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace {

void checkProfile(cl_event event, cl_command_type type, cl_command_queue queue) {
  const cl_ulong queued = sample::moment(event, CL_PROFILING_COMMAND_QUEUED);
  const cl_ulong submitted = sample::moment(event, CL_PROFILING_COMMAND_SUBMIT);
  const cl_ulong started = sample::moment(event, CL_PROFILING_COMMAND_START);
  const cl_ulong ended = sample::moment(event, CL_PROFILING_COMMAND_END);
  sample::require(queued <= submitted && submitted <= started && started <= ended,
                  "profiling times out of order");
  cl_command_type actualType = 0;
  sample::check(
      clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof actualType, &actualType, nullptr),
      "CL_EVENT_COMMAND_TYPE");
  sample::require(actualType == type, "wrong command type");
  cl_command_queue actualQueue = nullptr;
  sample::check(
      clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof actualQueue, &actualQueue, nullptr),
      "CL_EVENT_COMMAND_QUEUE");
  sample::require(actualQueue == queue, "the event belongs to another queue");
}

void CL_CALLBACK count(cl_event, cl_int status, void* counter) {
  if (status == CL_COMPLETE || status == CL_RUNNING)
    ++*static_cast<std::atomic<int>*>(counter);
}

void twoQueues(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> values(n);
  std::iota(values.begin(), values.end(), -5);
  const std::size_t bytes = n * sizeof(cl_int);

  const auto first = s.queue(CL_QUEUE_PROFILING_ENABLE);
  const auto second = s.queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto program = s.program(sample::twoQueuesSource);
  const auto scale = sample::kernel(program, "scale");
  const auto add = sample::kernel(program, "add");
  const auto in = s.buffer(CL_MEM_READ_ONLY, bytes);
  const auto a = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto b = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto sum = s.buffer(CL_MEM_READ_WRITE, bytes);
  std::atomic<int> completed = 0, started = 0;

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    cl_int error = CL_SUCCESS;
    const sample::Event open = clCreateUserEvent(s.context(), &error);
    sample::check(error, "clCreateUserEvent");
    sample::check(clSetUserEventStatus(open, CL_COMPLETE), "clSetUserEventStatus");

    // first:  (open) write in -> scale 2 -> a
    // second:                 \> scale 3 -> b, add a b -> sum, read sum; all by events
    sample::Event written;
    sample::check(clEnqueueWriteBuffer(first, in, CL_FALSE, 0, bytes, values.data(), 1,
                                       open.address(), written.out()),
                  "write");
    sample::Event doubled;
    sample::setArguments(scale, cl_int{2}, in, a);
    sample::check(
        clEnqueueNDRangeKernel(first, scale, 1, nullptr, &n, nullptr, 0, nullptr, doubled.out()),
        "scale by 2");
    sample::Event tripled;
    const std::size_t local = 32;
    sample::setArguments(scale, cl_int{3}, in, b);
    sample::check(clEnqueueNDRangeKernel(second, scale, 1, nullptr, &n, &local, 1,
                                         written.address(), tripled.out()),
                  "scale by 3");
    sample::Event added;
    const cl_event operands[] = {doubled, tripled};
    sample::setArguments(add, a, b, sum);
    sample::check(
        clEnqueueNDRangeKernel(second, add, 1, nullptr, &n, &local, 2, operands, added.out()),
        "add");
    sample::Event marker;
    sample::check(clEnqueueMarkerWithWaitList(second, 1, added.address(), marker.out()), "marker");
    std::vector<cl_int> result(n);
    sample::Event read;
    sample::check(clEnqueueReadBuffer(second, sum, CL_FALSE, 0, bytes, result.data(), 1,
                                      marker.address(), read.out()),
                  "read");
    sample::check(clSetEventCallback(added, CL_RUNNING, count, &started), "callback of add");
    sample::check(clSetEventCallback(added, CL_COMPLETE, count, &completed), "callback of add");
    sample::check(clSetEventCallback(read, CL_COMPLETE, count, &completed), "callback of read");
    sample::check(clFlush(first), "clFlush");
    sample::check(clFlush(second), "clFlush");

    sample::check(clWaitForEvents(1, read.address()), "clWaitForEvents");
    for (std::size_t k = 0; k < n; ++k)
      sample::require(result[k] == values[k] * 5, "wrong element " + std::to_string(k));
    s.output(result);

    checkProfile(doubled, CL_COMMAND_NDRANGE_KERNEL, first);
    checkProfile(tripled, CL_COMMAND_NDRANGE_KERNEL, second);
    checkProfile(added, CL_COMMAND_NDRANGE_KERNEL, second);
    checkProfile(read, CL_COMMAND_READ_BUFFER, second);
    sample::require(sample::moment(added, CL_PROFILING_COMMAND_START) >=
                        sample::moment(doubled, CL_PROFILING_COMMAND_END),
                    "add began before its operand was there");
    sample::check(clFinish(first), "clFinish");
    sample::check(clFinish(second), "clFinish");
    // Callbacks may come a little after completion.
    const int all = static_cast<int>(i) + 1;
    for (int tries = 0; (completed < 2 * all || started < all) && tries < 5000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sample::require(completed == 2 * all, "callbacks: " + std::to_string(completed));
    sample::require(started == all, "callbacks of the start: " + std::to_string(started));
    std::reverse(values.begin(), values.end());
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 4}, twoQueues);
}
