// Two threads enqueue at the same time: while a call of one is with the driver, and its command in
// no queue yet, the other launches. On one queue, which is in order, each command sees what one
// other left. On two queues each does what it likes to its own bytes of a buffer.
#include "kernels/overtaken_calls.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <span>
#include <thread>

namespace {

class OvertakenCalls {
public:
  explicit OvertakenCalls(sample::Sample& s) : s_(s), values_(s.options().size) {}

  /// Fills and launches that change all of a buffer.
  void onOneQueue() {
    const sample::Memory buffer = s_.copyOf(values_);
    sample::setArguments(increase_, buffer);
    bool isWhole = true;
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      whileCalling([&] { fill(queue_, buffer, static_cast<cl_int>(i), 0, bytes_); },
                   [&] {
                     sample::launch(queue_, increase_, {values_.size()}, {64});
                     sample::read(queue_, buffer, values_);
                   });
      isWhole = isWhole && isEach(values_, values_.front());
      sample::read(queue_, buffer, values_);
      isWhole = isWhole && isEach(values_, values_.front());
    }
    sample::require(isWhole, "a command saw bytes of two others");
  }

  /// A fill of one half of a buffer, and a launch that might read all of it and reads the other.
  void onTwoQueues() {
    const std::size_t half = values_.size() / 2;
    std::vector<cl_int> wanted(values_.size());
    const sample::Memory flags = s_.array<cl_int>(values_.size());
    const sample::Memory chosen = s_.array<cl_int>(values_.size());
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      std::ranges::fill(values_, -2);
      const sample::Memory buffer = s_.copyOf(values_);
      const auto value = static_cast<cl_int>(i);
      std::ranges::fill(wanted, 0);
      std::fill_n(wanted.begin(), half, 1);
      sample::write(queue_, flags, wanted);
      sample::setArguments(choose_, flags, buffer, chosen);
      whileCalling([&] { fill(other_, buffer, value, bytes_ / 2, bytes_ / 2); },
                   [&] { sample::launch(queue_, choose_, {values_.size()}, {64}); });
      sample::check(clFinish(queue_), "clFinish");
      std::ranges::fill(wanted, 1);
      sample::write(queue_, flags, wanted);
      sample::launch(queue_, choose_, {values_.size()}, {64});
      sample::read(queue_, chosen, values_);
      s_.output(values_);
      sample::require(isEach(std::span(values_).first(half), -2) &&
                          isEach(std::span(values_).subspan(half), value),
                      "a launch saw old bytes");
    }
  }

  /// The same where the queue that fills has launched on a third part meanwhile, as the first to
  /// do so.
  void besideAnEarlierLaunch() {
    const std::size_t half = values_.size() / 2;
    std::vector<cl_int> first(values_.size()), all(values_.size(), 1);
    std::fill_n(first.begin(), half / 2, 1);
    const sample::Memory flags = s_.array<cl_int>(values_.size());
    const sample::Memory chosen = s_.array<cl_int>(values_.size());
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      std::ranges::fill(values_, -2);
      const sample::Memory buffer = s_.copyOf(values_);
      const cl_buffer_region region{bytes_ / 4, bytes_ / 4};
      cl_int error = CL_SUCCESS;
      const sample::Memory part =
          clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
      sample::check(error, "clCreateSubBuffer");
      const auto value = static_cast<cl_int>(i);
      sample::write(queue_, flags, first);
      sample::check(clFinish(queue_), "clFinish");
      sample::check(clEnqueueFillBuffer(other_, buffer, &value, sizeof value, bytes_ / 2,
                                        bytes_ / 2, 0, nullptr, nullptr),
                    "clEnqueueFillBuffer");
      sample::setArguments(number_, part);
      sample::launch(other_, number_, {half / 2}, {64});
      sample::setArguments(choose_, flags, buffer, chosen);
      sample::launch(queue_, choose_, {values_.size()}, {64});
      sample::check(clFinish(queue_), "clFinish");
      sample::check(clFinish(other_), "clFinish");
      sample::write(queue_, flags, all);
      sample::launch(queue_, choose_, {values_.size()}, {64});
      sample::read(queue_, chosen, values_);
      s_.output(values_);
      sample::require(isEach(std::span(values_).subspan(half), value), "a launch saw old bytes");
    }
  }

private:
  static bool isEach(std::span<const cl_int> of, cl_int value) {
    return std::ranges::count(of, value) == std::ssize(of);
  }

  /// Does `work` when another thread is about to `call`, and waits for both.
  static void whileCalling(const std::function<void()>& call, const std::function<void()>& work) {
    std::atomic<bool> calls = false;
    std::thread other([&] {
      calls = true;
      call();
    });
    while (!calls)
      std::this_thread::yield();
    work();
    other.join();
  }

  void fill(cl_command_queue queue, cl_mem buffer, cl_int value, std::size_t offset,
            std::size_t size) {
    sample::check(
        clEnqueueFillBuffer(queue, buffer, &value, sizeof value, offset, size, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
    sample::check(clFinish(queue), "clFinish");
  }

  sample::Sample& s_;
  std::vector<cl_int> values_;
  const std::size_t bytes_ = values_.size() * sizeof(cl_int);
  sample::Queue queue_ = s_.queue(), other_ = s_.queue();
  sample::Program program_ = s_.program(sample::overtakenCallsSource);
  sample::Kernel increase_ = sample::kernel(program_, "increase");
  sample::Kernel number_ = sample::kernel(program_, "number");
  sample::Kernel choose_ = sample::kernel(program_, "choose");
};

void overtakenCalls(sample::Sample& s) {
  OvertakenCalls calls(s);
  if (s.options().variant == "earlier_launch")
    return calls.besideAnEarlierLaunch();
  calls.onOneQueue();
  calls.onTwoQueues();
  calls.besideAnEarlierLaunch();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 8}, overtakenCalls);
}
