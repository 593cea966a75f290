// A callback of an event that launches something, while the program launches something else on
// buffers that nobody has used before. Where callbacks run in the driver's only thread, nothing
// that the second launch needs of the driver comes before the first has been enqueued.
#include "kernels/busy_callback.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace {

/// What the callback launches, and when.
struct Order {
  cl_command_queue queue;
  cl_kernel kernel;
  std::size_t items;
  std::atomic<bool> begun = false;
  std::atomic<bool> mayLaunch = false;
  std::atomic<cl_int> status = 1;
};

void CL_CALLBACK launchLate(cl_event, cl_int, void* data) {
  auto* order = static_cast<Order*>(data);
  order->begun = true;
  while (!order->mayLaunch)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the program is in its own by now
  const std::size_t local = 16;
  cl_int status = clEnqueueNDRangeKernel(order->queue, order->kernel, 1, nullptr, &order->items,
                                         &local, 0, nullptr, nullptr);
  if (status == CL_SUCCESS)
    status = clFlush(order->queue);
  order->status = status;
}

void busyCallback(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const std::size_t bytes = n * sizeof(cl_int);
  const auto program = s.program(sample::busyCallbackSource);
  const auto queue = s.queue();
  const auto late = sample::kernel(program, "square"), soon = sample::kernel(program, "square");
  std::vector<cl_int> values(n), result(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<cl_int>(sample::randomBits(i) % 30000);

  for (unsigned round = 0; round < s.options().iterations; ++round) {
    const auto in = s.buffer(CL_MEM_READ_ONLY, bytes);
    const auto first = s.buffer(CL_MEM_WRITE_ONLY, bytes),
               second = s.buffer(CL_MEM_WRITE_ONLY, bytes);
    sample::setArguments(late, in, first, static_cast<cl_int>(round));
    sample::setArguments(soon, in, second, static_cast<cl_int>(round + 1));
    sample::Event written;
    sample::check(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, bytes, values.data(), 0, nullptr,
                                       written.out()),
                  "clEnqueueWriteBuffer");
    Order order{queue, late, n};
    sample::check(clSetEventCallback(written, CL_COMPLETE, launchLate, &order),
                  "clSetEventCallback");
    sample::check(clFlush(queue), "clFlush");
    while (!order.begun)
      std::this_thread::yield();
    order.mayLaunch = true;
    sample::launch(queue, soon, {n}, {16});
    while (order.status == 1)
      std::this_thread::yield();
    sample::check(order.status, "the callback's launch");
    for (const auto& [made, added] : {std::pair{&second, 1u}, {&first, 0u}}) {
      sample::read(queue, *made, result);
      for (std::size_t i = 0; i < n; ++i)
        sample::require(result[i] == values[i] * values[i] + static_cast<cl_int>(round + added),
                        "element " + std::to_string(i) + " is wrong");
      s.output(result);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 4}, busyCallback);
}
