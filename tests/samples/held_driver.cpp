// What a program asks for while a callback of its own holds the driver's only thread, and with it a
// launch that is under way: to have a device partitioned, by the callback itself (of an event, a
// native kernel, or the end of a build for which the first waits), or to have a program built again
// while this thread holds what the callback waits for. Natively all of that is answered at once.
#include "kernels/held_driver.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

using sample::check;

/// Between the program and its callbacks.
struct Order {
  cl_device_id device = nullptr;
  std::atomic<bool> hasBegun = false, mayAsk = false, isOver = false;
  std::mutex mutex;

  void ask() {
    const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id part = nullptr;
    if (clCreateSubDevices(device, halves, 1, &part, nullptr) == CL_SUCCESS)
      clReleaseDevice(part);
    isOver = true;
  }
};

void await(const std::atomic<bool>& flag) {
  while (!flag)
    std::this_thread::yield();
}

void askWhenToldTo(Order& order) {
  order.hasBegun = true;
  await(order.mayAsk);
  order.ask();
}
void CL_CALLBACK askInEvent(cl_event, cl_int, void* order) {
  askWhenToldTo(*static_cast<Order*>(order));
}
void CL_CALLBACK askInKernel(void* arguments) {
  Order* order = nullptr;
  std::memcpy(&order, arguments, sizeof order);
  askWhenToldTo(*order);
}
void CL_CALLBACK askAfterBuild(cl_program, void* order) {
  static_cast<Order*>(order)->ask();
}
void CL_CALLBACK waitForBuild(cl_event, cl_int, void* data) {
  auto& order = *static_cast<Order*>(data);
  order.hasBegun = true;
  await(order.isOver);
}
void CL_CALLBACK waitForLock(cl_event, cl_int, void* data) {
  auto& order = *static_cast<Order*>(data);
  order.hasBegun = true;
  const std::lock_guard lock(order.mutex);
  order.isOver = true;
}

void heldDriver(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  const std::size_t n = s.options().size, local = 64;
  const auto queue = s.queue(), other = s.queue();
  const auto program = s.program(sample::heldDriverSource);
  auto add = sample::kernel(program, "add");
  std::vector<cl_int> numbers(n);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] = static_cast<cl_int>(sample::randomBits(i) % 1000);
  const auto in = s.copyOf(numbers), out = s.array<cl_int>(n);
  std::vector<cl_int> result(n);
  for (cl_int round = 0; round < 3; ++round) {
    sample::setArguments(add, in, out, round);
    sample::launch(queue, add, {n}, {local});
    sample::read(queue, out, result);
  }

  Order order;
  order.device = s.device();
  std::unique_lock lock(order.mutex, std::defer_lock);
  sample::Event event;
  if (variant == "kernel") {
    Order* argument = &order;
    check(clEnqueueNativeKernel(other, askInKernel, &argument, sizeof argument, 0, nullptr, nullptr,
                                0, nullptr, event.out()),
          "clEnqueueNativeKernel");
  } else {
    check(clEnqueueMarkerWithWaitList(other, 0, nullptr, event.out()),
          "clEnqueueMarkerWithWaitList");
    check(clSetEventCallback(event, CL_COMPLETE,
                             variant == "event"   ? askInEvent
                             : variant == "build" ? waitForBuild
                                                  : waitForLock,
                             &order),
          "clSetEventCallback");
  }
  if (variant == "rebuild")
    lock.lock();
  check(clFlush(other), "clFlush");
  await(order.hasBegun);
  sample::setArguments(add, out, in, cl_int{7});
  sample::launch(queue, add, {n}, {local});
  check(clFlush(queue), "clFlush");
  add.reset();
  constexpr std::chrono::milliseconds untilPlanned(20);
  std::this_thread::sleep_for(untilPlanned);
  order.mayAsk = true;
  sample::Program another;
  const cl_device_id device = s.device();
  if (variant == "build") {
    another = s.unbuiltProgram(sample::heldDriverSource);
    check(clBuildProgram(another, 1, &device, "", askAfterBuild, &order), "clBuildProgram");
  } else if (variant == "rebuild") {
    // Whether the launch is over by then, only the driver can say.
    clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    lock.unlock();
  }
  await(order.isOver);
  sample::read(queue, in, result);
  for (std::size_t i = 0; i < n; ++i)
    sample::require(result[i] == numbers[i] + 2 + 7, "element " + std::to_string(i) + " is wrong");
  s.output(result);
  sample::read(queue, out, result);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 1, .variant = "event"}, heldDriver);
}
