// Threads that are cancelled while they wait for launches: in clFinish, in clWaitForEvents, or in a
// call that reads and waits. Others use the queue afterwards. What becomes of such a thread within
// a driver is the driver's own affair, so this is no program to run natively.
#include "kernels/cancelled.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>

namespace {

constexpr std::size_t local = 16;

/// What a thread is to enqueue, and to wait for.
struct Order {
  cl_command_queue queue;
  cl_kernel kernel;
  cl_mem buffer;
  cl_event gate;
  std::vector<cl_int>* values;
  std::string way;
  std::atomic<bool> waits = false;
};

void* enqueueAndWait(void* data) {
  auto* order = static_cast<Order*>(data);
  const std::size_t n = order->values->size();
  cl_event ended = nullptr;
  if (clEnqueueNDRangeKernel(order->queue, order->kernel, 1, nullptr, &n, &local, 1, &order->gate,
                             &ended) != CL_SUCCESS)
    return nullptr;
  order->waits = true;
  if (order->way == "finish")
    clFinish(order->queue);
  else if (order->way == "events")
    clWaitForEvents(1, &ended);
  else
    clEnqueueReadBuffer(order->queue, order->buffer, CL_TRUE, 0, n * sizeof(cl_int),
                        order->values->data(), 0, nullptr, nullptr);
  pthread_testcancel();
  return nullptr;
}

void cancelled(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::cancelledSource);
  const auto add = sample::kernel(program, "add");
  std::vector<cl_int> values(n);
  const auto buffer = s.copyOf(values);
  sample::setArguments(add, buffer, cl_int(1));
  sample::launch(queue, add, {n}, {local});
  sample::check(clFinish(queue), "clFinish");
  cl_int launches = 1;
  for (const char* way : {"finish", "events", "read"}) {
    cl_int status = CL_SUCCESS;
    const sample::Event gate = clCreateUserEvent(s.context(), &status);
    sample::check(status, "clCreateUserEvent");
    Order order{queue, add, buffer, gate, &values, way};
    pthread_t thread{};
    sample::require(pthread_create(&thread, nullptr, enqueueAndWait, &order) == 0, "no thread");
    while (!order.waits)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // it is in the call by now
    pthread_cancel(thread);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    void* result = nullptr;
    sample::require(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED,
                    std::string("not cancelled after ") + way);
    sample::launch(queue, add, {n}, {local});
    launches += 2;
    sample::read(queue, buffer, values);
    sample::require(std::ranges::all_of(values, [&](cl_int each) { return each == launches; }),
                    "launches got lost");
    s.output(values);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024}, cancelled);
}
