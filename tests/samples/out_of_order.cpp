// A queue without order, in a program that has made a user event: what is to come after something
// says so, by barriers and markers that stand behind all before them, or by events. Variants:
// `plain`; `lists`, where something waits for an event that the program sets only once it has seen
// the end of what does not wait for it.
#include "kernels/out_of_order.h"
#include "tests/samples/sample.h"

#include <array>

namespace {

void outOfOrder(sample::Sample& s) {
  const std::size_t n = s.options().size, half = n / 2;
  const auto queue = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto program = s.program(sample::outOfOrderSource);
  const auto combine = sample::kernel(program, "combine"),
             change = sample::kernel(program, "change");
  cl_int error = CL_SUCCESS;
  const sample::Event user(clCreateUserEvent(s.context(), &error));
  sample::check(error, "clCreateUserEvent");
  sample::check(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");

  std::vector<cl_int> zeros(n), next(n), early(n), late(n), numbers(n);
  const std::array<sample::Memory, 2> in = {s.copyOf(zeros), s.copyOf(zeros)};
  const auto out = s.copyOf(zeros), changed = s.copyOf(zeros);
  const sample::FinishesFirst finishes(queue);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    for (std::size_t k = 0; k < n; ++k)
      next[k] = static_cast<cl_int>(k * (i + 1));
    // While one input is worked on the next one arrives.
    sample::write(queue, in[(i + 1) % 2], next);
    sample::setArguments(combine, in[i % 2], out);
    sample::launch(queue, combine, {n}, {64});
    sample::check(clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr),
                  "clEnqueueBarrierWithWaitList");
    sample::setArguments(combine, in[(i + 1) % 2], out);
    sample::launch(queue, combine, {n}, {64});
    sample::check(clFinish(queue), "clFinish");

    // While something is read the other half of it changes.
    sample::beginRead(queue, out, early);
    sample::Event filled, changedHalf, all;
    const auto pattern = static_cast<cl_int>(i + 7);
    sample::check(clEnqueueFillBuffer(queue, changed, &pattern, sizeof pattern, 0,
                                      half * sizeof(cl_int), 0, nullptr, filled.out()),
                  "clEnqueueFillBuffer");
    sample::setArguments(change, changed, static_cast<cl_uint>(half));
    sample::check(clEnqueueNDRangeKernel(queue, change, 1, nullptr, &half, nullptr, 0, nullptr,
                                         changedHalf.out()),
                  "clEnqueueNDRangeKernel");
    sample::check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, all.out()),
                  "clEnqueueMarkerWithWaitList");
    sample::check(clWaitForEvents(1, all.address()), "clWaitForEvents");
    s.output(early);
    sample::setArguments(change, changed, cl_uint{0});
    const std::array<cl_event, 2> both = {filled, changedHalf};
    sample::check(
        clEnqueueNDRangeKernel(queue, change, 1, nullptr, &n, nullptr, 2, both.data(), nullptr),
        "clEnqueueNDRangeKernel");
    sample::check(clFinish(queue), "clFinish");
    sample::read(queue, changed, numbers);
    s.output(numbers);
  }
  sample::read(queue, out, late);
  s.output(late);
}

/// A command of a queue without order, which waits until `release` is called.
struct Held {
  Held(sample::Sample& s, cl_command_queue in, cl_mem buffer, std::vector<cl_int>& values,
       bool writes)
      : queue(in) {
    cl_int error = CL_SUCCESS;
    user = sample::Event(clCreateUserEvent(s.context(), &error));
    sample::check(error, "clCreateUserEvent");
    const std::size_t bytes = values.size() * sizeof(cl_int);
    sample::check(writes ? clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, values.data(), 1,
                                                user.address(), nullptr)
                         : clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes, values.data(), 1,
                                               user.address(), nullptr),
                  "a command behind a user event");
  }
  void release() const {
    sample::check(clSetUserEventStatus(user, CL_COMPLETE), "clSetUserEventStatus");
    sample::check(clFinish(queue), "clFinish");
  }
  cl_command_queue queue;
  sample::Event user;
};

void ownLists(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto program = s.program(sample::outOfOrderSource);
  const auto change = sample::kernel(program, "change");
  std::vector<cl_int> values(n, 3), seen(n);
  const auto held = s.copyOf(std::vector<cl_int>(n)), numbers = s.copyOf(values);
  const auto launch = [&](sample::Event& event) {
    sample::setArguments(change, numbers, cl_uint{0});
    sample::check(
        clEnqueueNDRangeKernel(queue, change, 1, nullptr, &n, nullptr, 0, nullptr, event.out()),
        "clEnqueueNDRangeKernel");
    sample::check(clFlush(queue), "clFlush");
  };
  const auto await = [](const sample::Event& event) {
    sample::check(clWaitForEvents(1, event.address()), "clWaitForEvents");
  };
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    for (std::size_t k = 0; k < n; ++k)
      values[k] = static_cast<cl_int>(k + i);
    const Held write(s, queue, held, values, true);
    sample::Event first, second, third, marked, barred;
    launch(first); // needs not come behind what is held
    await(first);
    write.release();

    const Held read(s, queue, held, seen, false);
    launch(second);
    sample::check(clEnqueueMarkerWithWaitList(queue, 1, second.address(), marked.out()),
                  "clEnqueueMarkerWithWaitList");
    await(marked);
    sample::check(clEnqueueBarrierWithWaitList(queue, 1, second.address(), barred.out()),
                  "clEnqueueBarrierWithWaitList");
    launch(third);
    await(barred);
    await(third);
    const std::array<cl_event, 2> unsound = {third, nullptr};
    sample::require(clWaitForEvents(2, unsound.data()) != CL_SUCCESS, "there is no second event");
    read.release();
    s.output(seen);
  }
  sample::read(queue, numbers, values);
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 4}, [](sample::Sample& s) {
    s.options().variant == "lists" ? ownLists(s) : outOfOrder(s);
  });
}
