// Two threads on one queue, which is in order: one reads and writes a buffer at large while the
// other changes all of it, so each reads what one command left. And what a driver refuses is
// refused at once, also while the queue waits for the program.
#include "kernels/shared_queue.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

namespace {

class SharedQueue {
public:
  explicit SharedQueue(sample::Sample& s) : s_(s), values_(s.options().size) {
    sample::setArguments(kernel_, buffer_);
    write(0);
  }

  /// Reads, and sometimes writes, while another thread calls `change` all the time.
  void readDuring(const std::function<void(cl_int)>& change) {
    std::atomic<bool> enough = false;
    std::thread other([&] {
      for (cl_int i = 1; !enough; ++i) {
        change(i);
        sample::check(clFinish(queue_), "clFinish");
      }
    });
    bool isWhole = true;
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      if (i % 4 == 3)
        write(-static_cast<cl_int>(i));
      sample::read(queue_, buffer_, values_);
      isWhole = isWhole && std::ranges::count(values_, values_.front()) == std::ssize(values_);
    }
    enough = true;
    other.join();
    sample::require(isWhole, "a read brought bytes of two commands");
  }

  void fillMeanwhile() {
    readDuring([&](cl_int value) {
      sample::check(clEnqueueFillBuffer(queue_, buffer_, &value, sizeof value, 0, bytes_, 0,
                                        nullptr, nullptr),
                    "clEnqueueFillBuffer");
    });
  }

  /// What comes after all that.
  void launch() {
    write(7);
    sample::launch(queue_, kernel_, {values_.size()}, {64});
    sample::read(queue_, buffer_, values_);
    sample::require(std::ranges::count(values_, 8) == std::ssize(values_), "a value is wrong");
    s_.output(values_);
  }

  void refusedAtOnce() {
    const auto unread = s_.buffer(CL_MEM_READ_WRITE | CL_MEM_HOST_WRITE_ONLY, bytes_);
    const auto unwritten = s_.buffer(CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, bytes_);
    cl_int error = CL_SUCCESS;
    const sample::Event held = clCreateUserEvent(s_.context(), &error);
    sample::check(error, "clCreateUserEvent");
    sample::check(clEnqueueMarkerWithWaitList(queue_, 1, held.address(), nullptr),
                  "clEnqueueMarkerWithWaitList");
    sample::checkCode(clEnqueueReadBuffer(queue_, unread, CL_TRUE, 0, bytes_, values_.data(), 0,
                                          nullptr, nullptr),
                      CL_INVALID_OPERATION, "a read of what the host must not read");
    sample::checkCode(clEnqueueWriteBuffer(queue_, unwritten, CL_TRUE, 0, bytes_, values_.data(), 0,
                                           nullptr, nullptr),
                      CL_INVALID_OPERATION, "a write to what the host must not write");
    sample::check(clSetUserEventStatus(held, CL_COMPLETE), "clSetUserEventStatus");
    sample::check(clFinish(queue_), "clFinish");
  }

private:
  void write(cl_int value) {
    const std::vector<cl_int> all(values_.size(), value);
    sample::check(
        clEnqueueWriteBuffer(queue_, buffer_, CL_TRUE, 0, bytes_, all.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  }

  sample::Sample& s_;
  std::vector<cl_int> values_;
  const std::size_t bytes_ = values_.size() * sizeof(cl_int);
  sample::Queue queue_ = s_.queue();
  sample::Program program_ = s_.program(sample::sharedQueueSource);
  sample::Kernel kernel_ = sample::kernel(program_, "increase");
  sample::Memory buffer_ = s_.buffer(CL_MEM_READ_WRITE, bytes_);
};

void sharedQueue(sample::Sample& s) {
  SharedQueue queue(s);
  queue.fillMeanwhile();
  queue.refusedAtOnce();
  queue.launch();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 60}, sharedQueue);
}
