// Buffers asked for when the device is full, by who must not be kept waiting: a thread that holds a
// lock for which a callback waits, and with it perhaps the driver's only thread; callbacks of
// events and of memory objects; a native kernel. And a buffer that is given up while what was asked
// of it then is still under way. Meant for a device with room for three of them, there ten.
#include "kernels/full_device.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

using sample::check;

/// Between the program and a function that somebody else calls.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> hasBegun = false;
  bool isOver = false;
  cl_context context = nullptr;
  std::size_t bytes = 0;
  cl_mem released = nullptr; ///< by the function, before it asks for another
  cl_int code = CL_SUCCESS;

  void end() {
    const std::lock_guard lock(mutex);
    isOver = true;
    changed.notify_all();
  }
  void await(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock, [&] { return isOver; });
  }
  /// Tries to have a buffer.
  void ask() {
    hasBegun = true;
    if (released)
      clReleaseMemObject(released);
    if (const cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code))
      clReleaseMemObject(made);
    end();
  }
};

void CL_CALLBACK waitForLock(cl_event, cl_int, void* meeting) {
  static_cast<Meeting*>(meeting)->hasBegun = true;
  static_cast<Meeting*>(meeting)->end();
}
void CL_CALLBACK askAtEnd(cl_event, cl_int, void* meeting) {
  static_cast<Meeting*>(meeting)->ask();
}
void CL_CALLBACK askWhenGone(cl_mem, void* meeting) {
  static_cast<Meeting*>(meeting)->ask();
}
void CL_CALLBACK askInKernel(void* arguments) {
  Meeting* meeting = nullptr;
  std::memcpy(&meeting, arguments, sizeof meeting);
  meeting->ask();
}

void fullDevice(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  const std::size_t n = s.options().size, bytes = n * sizeof(cl_int);
  const auto queue = s.queue(), other = s.queue();
  const auto program = s.program(sample::fullDeviceSource);
  const auto add = sample::kernel(program, "add"), increase = sample::kernel(program, "increase");
  std::vector<cl_int> numbers(n, 1);
  const auto in = s.copyOf(numbers), out = s.array<cl_int>(n);
  sample::setArguments(add, in, out, cl_int{1});
  sample::launch(queue, add, {n}, {64});
  sample::read(queue, out, numbers);
  s.output(numbers);
  const auto tell = [&](const Meeting& meeting) {
    std::cout << variant << ": " << sample::errorName(meeting.code) << std::endl;
  };
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    Meeting meeting;
    meeting.context = s.context();
    meeting.bytes = bytes;
    auto third =
        s.copyOf(numbers, CL_MEM_READ_WRITE | (variant == "late" ? CL_MEM_HOST_WRITE_ONLY : 0));
    std::unique_lock lock(meeting.mutex);
    if (variant == "lock") {
      const std::vector<cl_int> written(n, 3);
      sample::Event event;
      check(clEnqueueWriteBuffer(other, third, CL_FALSE, 0, bytes, written.data(), 0, nullptr,
                                 event.out()),
            "clEnqueueWriteBuffer");
      check(clSetEventCallback(event, CL_COMPLETE, waitForLock, &meeting), "clSetEventCallback");
      check(clFlush(other), "clFlush");
      while (!meeting.hasBegun)
        std::this_thread::yield();
      sample::launch(queue, add, {n}, {64});
      check(clFlush(queue), "clFlush");
      if (const cl_mem made =
              clCreateBuffer(meeting.context, CL_MEM_READ_WRITE, bytes, nullptr, &meeting.code))
        clReleaseMemObject(made);
      meeting.await(lock);
    } else if (variant == "kernel") {
      lock.unlock();
      sample::launch(queue, add, {n}, {64});
      Meeting* argument = &meeting;
      check(clEnqueueNativeKernel(queue, askInKernel, &argument, sizeof argument, 0, nullptr,
                                  nullptr, 0, nullptr, nullptr),
            "clEnqueueNativeKernel");
      check(clFlush(queue), "clFlush");
      lock.lock();
      meeting.await(lock);
    } else {
      lock.unlock();
      sample::setArguments(increase, third, static_cast<cl_int>(i));
      sample::Event event;
      const std::size_t local = 64;
      check(
          clEnqueueNDRangeKernel(queue, increase, 1, nullptr, &n, &local, 0, nullptr, event.out()),
          "clEnqueueNDRangeKernel");
      sample::setArgument(increase, 0, out); // nobody else has the third any more
      if (variant == "event") {
        meeting.released = third;
        check(clRetainMemObject(third), "clRetainMemObject");
        third.reset();
        check(clSetEventCallback(event, CL_COMPLETE, askAtEnd, &meeting), "clSetEventCallback");
      } else if (variant == "late") {
        Meeting unused;
        check(clSetEventCallback(event, CL_COMPLETE, waitForLock, &unused), "clSetEventCallback");
        check(clWaitForEvents(1, event.address()), "clWaitForEvents");
        {
          std::unique_lock called(unused.mutex);
          unused.await(called);
        }
        meeting.bytes = 8 * bytes; // of ten
        meeting.ask();
        third.reset();
        auto fresh = s.array<cl_int>(n);
        std::vector<cl_int> zeros(n, 0);
        check(clEnqueueWriteBuffer(queue, fresh, CL_TRUE, 0, bytes, zeros.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
        constexpr std::chrono::milliseconds whatComesLate(400);
        std::this_thread::sleep_for(whatComesLate);
        sample::read(queue, fresh, zeros);
        s.output(zeros);
      } else {
        meeting.bytes = 3 * bytes; // for which there never is room
        check(clSetMemObjectDestructorCallback(third, askWhenGone, &meeting),
              "clSetMemObjectDestructorCallback");
        event.reset();
        third.reset();
      }
      check(clFlush(queue), "clFlush");
      lock.lock();
      meeting.await(lock);
    }
    lock.unlock();
    check(clFinish(queue), "clFinish");
    check(clFinish(other), "clFinish");
    tell(meeting);
  }
  sample::read(queue, out, numbers);
  s.output(numbers);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 16384, .iterations = 4, .variant = "lock"}, fullDevice);
}
