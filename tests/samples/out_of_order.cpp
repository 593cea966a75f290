// A queue without order, in a program that has made a user event: what is to come after something
// says so, by barriers and markers that stand behind all before them, or by events.
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

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 4}, outOfOrder);
}
