// What a program may rely on that does not wait for its commands: they go on by themselves, and a
// call that enqueues one comes back, whatever another thread or a callback of the program does.
//
// Variants: `polled`, which asks an event of the last of many commands whether it is over;
// `callback`, whose callback wants what the enqueueing thread holds; `fed`, of which a thread
// enqueues until another has enqueued some and waited for them; `mapped`, beside which another maps
// and unmaps; `held`, which maps beside a launch that it holds back, on a queue without order;
// `refused`, which enqueues behind such a launch what can't be done; `unflushed`, which has to wait
// in three ways on a queue without order, until when nothing need begin.
#include "kernels/unwaited.h"
#include "tests/samples/sample.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

/// The launches of one work-group stay at home.
struct Setting {
  explicit Setting(sample::Sample& sample)
      : s(sample), values(s.options().size), queue(s.queue()),
        program(s.program(sample::unwaitedSource)), large(sample::kernel(program, "add")),
        small(sample::kernel(program, "add")), buffer(s.copyOf(values)), other(s.copyOf(values)) {
    sample::setArguments(large, buffer, cl_int(1));
    sample::setArguments(small, other, cl_int(1));
  }
  void launchLarge(cl_event* event = nullptr) const { launch(large, values.size(), event); }
  void launchSmall() const { launch(small, 16, nullptr); }
  void launch(cl_kernel kernel, std::size_t items, cl_event* event) const {
    const std::size_t local = 16;
    sample::check(
        clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &local, 0, nullptr, event),
        "clEnqueueNDRangeKernel");
  }
  void output() {
    for (const auto& each : {&buffer, &other}) {
      sample::read(queue, *each, values);
      s.output(values);
    }
  }

  sample::Sample& s;
  std::vector<cl_int> values;
  sample::Queue queue;
  sample::Program program;
  sample::Kernel large, small;
  sample::Memory buffer, other;
};

void polled(sample::Sample& s) {
  Setting setting(s);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    setting.launchLarge();
    sample::Event last;
    for (cl_int i = 0; i < 300; ++i)
      sample::check(clEnqueueFillBuffer(setting.queue, setting.other, &i, sizeof i, 0, 64, 0,
                                        nullptr, last.out()),
                    "clEnqueueFillBuffer");
    sample::check(clFlush(setting.queue), "clFlush");
    for (cl_int status = CL_QUEUED; status != CL_COMPLETE;
         std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      sample::check(
          clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
          "clGetEventInfo");
  }
  setting.output();
}

struct Shared {
  std::mutex mutex;
  unsigned ended = 0;
  std::condition_variable changed;
};

void CL_CALLBACK countEnd(cl_event, cl_int, void* data) {
  auto* shared = static_cast<Shared*>(data);
  const std::lock_guard lock(shared->mutex);
  ++shared->ended;
  shared->changed.notify_all();
}

void callback(sample::Sample& s) {
  Setting setting(s);
  Shared shared;
  const unsigned rounds = s.options().iterations;
  for (unsigned round = 0; round < rounds; ++round) {
    sample::Event event;
    for (unsigned i = 0; i < 8; ++i)
      setting.launchLarge(event.out());
    sample::check(clSetEventCallback(event, CL_COMPLETE, countEnd, &shared), "clSetEventCallback");
    std::unique_lock lock(shared.mutex);
    for (unsigned i = 0; i < 100; ++i)
      setting.launchSmall();
    sample::check(clFlush(setting.queue), "clFlush");
    shared.changed.wait(lock, [&] { return shared.ended > round; });
  }
  setting.output();
}

/// Keeps the queue filled, some launches ahead of those that are over, until there were `most`.
class Feeder {
public:
  explicit Feeder(const Setting& setting) : thread_([this, &setting] { feed(setting); }) {
    while (launches_ < ahead)
      std::this_thread::yield();
  }
  ~Feeder() {
    if (thread_.joinable())
      stop();
  }
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  bool isDone() const { return launches_ == most; }
  /// The launches that it made.
  unsigned stop() {
    isOver_ = true;
    thread_.join();
    return launches_;
  }

private:
  void feed(const Setting& setting) {
    std::array<sample::Event, ahead> events;
    for (; !isOver_ && launches_ < most; ++launches_) {
      sample::Event& event = events[launches_ % ahead];
      if (event)
        sample::check(clWaitForEvents(1, event.address()), "clWaitForEvents");
      setting.launchLarge(event.out());
    }
  }

  static constexpr unsigned ahead = 12, most = 20000;
  std::atomic<bool> isOver_ = false;
  std::atomic<unsigned> launches_ = 0;
  std::thread thread_;
};

/// Ends the feeding; every launch has had its effect.
void stop(sample::Sample& s, Setting& setting, Feeder& feeder) {
  const auto launches = static_cast<cl_int>(feeder.stop());
  sample::read(setting.queue, setting.buffer, setting.values);
  for (const cl_int each : setting.values)
    sample::require(each == launches, "launches got lost");
  sample::read(setting.queue, setting.other, setting.values);
  s.output(setting.values);
}

void fed(sample::Sample& s) {
  Setting setting(s);
  Feeder feeder(setting);
  sample::check(clFinish(setting.queue), "clFinish");
  sample::require(!feeder.isDone(), "clFinish waits for what comes after it");
  for (unsigned i = 0; i < 100; ++i)
    setting.launchSmall();
  sample::require(!feeder.isDone(), "a launch waits for what comes after it");
  stop(s, setting, feeder);
}

/// Looks at another buffer while the queue is being filled, and changes it.
void mapped(sample::Sample& s) {
  Setting setting(s);
  Feeder feeder(setting);
  for (unsigned i = 0; i < 20; ++i) {
    cl_int error = CL_SUCCESS;
    const std::size_t bytes = setting.values.size() * sizeof(cl_int);
    auto* values = static_cast<cl_int*>(clEnqueueMapBuffer(setting.queue, setting.other, CL_TRUE,
                                                           CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                                           nullptr, nullptr, &error));
    sample::check(error, "clEnqueueMapBuffer");
    ++values[0];
    sample::check(
        clEnqueueUnmapMemObject(setting.queue, setting.other, values, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
    setting.launchSmall();
  }
  sample::require(!feeder.isDone(), "a map waits for what comes after it");
  stop(s, setting, feeder);
}

/// Maps a buffer, and only then has the launch on another begin.
void held(sample::Sample& s) {
  Setting setting(s);
  setting.launchLarge();
  setting.launchSmall();
  sample::check(clFinish(setting.queue), "clFinish");
  const auto queue = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int error = CL_SUCCESS;
  const sample::Event gate = clCreateUserEvent(s.context(), &error);
  sample::check(error, "clCreateUserEvent");
  const std::size_t items = setting.values.size();
  sample::Event launched;
  sample::check(clEnqueueNDRangeKernel(queue, setting.large, 1, nullptr, &items, nullptr, 1,
                                       gate.address(), launched.out()),
                "clEnqueueNDRangeKernel");
  auto* values = static_cast<cl_int*>(
      clEnqueueMapBuffer(queue, setting.other, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                         sizeof(cl_int), 0, nullptr, nullptr, &error));
  sample::check(error, "clEnqueueMapBuffer");
  ++values[0];
  sample::check(clEnqueueUnmapMemObject(queue, setting.other, values, 0, nullptr, nullptr),
                "clEnqueueUnmapMemObject");
  sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  sample::check(clFinish(queue), "clFinish");
  setting.output();
}

/// A launch behind what the program holds back, and calls that are answered with an error.
void refused(sample::Sample& s) {
  Setting setting(s);
  setting.launchLarge();
  sample::check(clFinish(setting.queue), "clFinish");
  cl_int error = CL_SUCCESS;
  const sample::Event gate = clCreateUserEvent(s.context(), &error);
  sample::check(error, "clCreateUserEvent");
  const std::size_t items = setting.values.size(), none = 0, uneven = 15;
  const std::size_t bytes = items * sizeof(cl_int);
  sample::check(clEnqueueNDRangeKernel(setting.queue, setting.large, 1, nullptr, &items, nullptr, 1,
                                       gate.address(), nullptr),
                "clEnqueueNDRangeKernel");
  const auto withoutArguments = sample::kernel(setting.program, "add");
  const auto inRows = sample::kernel(setting.program, "add_in_rows");
  sample::setArguments(inRows, setting.other, cl_int(1));
  const std::size_t row = 16; // of two
  const auto hidden = s.buffer(CL_MEM_HOST_NO_ACCESS, bytes);
  std::vector<cl_int> answers = {
      clEnqueueNDRangeKernel(setting.queue, setting.small, 1, nullptr, &items, &none, 0, nullptr,
                             nullptr),
      clEnqueueNDRangeKernel(setting.queue, setting.small, 1, nullptr, &items, &uneven, 0, nullptr,
                             nullptr),
      clEnqueueNDRangeKernel(setting.queue, setting.small, 1, nullptr, &items, &items, 0, nullptr,
                             nullptr),
      clEnqueueNDRangeKernel(setting.queue, withoutArguments, 1, nullptr, &items, nullptr, 0,
                             nullptr, nullptr),
      clEnqueueNDRangeKernel(setting.queue, inRows, 1, nullptr, &items, &row, 0, nullptr, nullptr),
      clEnqueueReadBuffer(setting.queue, setting.other, CL_FALSE, 0, bytes, nullptr, 0, nullptr,
                          nullptr),
      clEnqueueReadBuffer(setting.queue, setting.other, CL_FALSE, 4, bytes, setting.values.data(),
                          0, nullptr, nullptr),
      clEnqueueReadBuffer(setting.queue, hidden, CL_FALSE, 0, bytes, setting.values.data(), 0,
                          nullptr, nullptr),
      clEnqueueWriteBuffer(setting.queue, setting.other, CL_FALSE, 0, bytes, nullptr, 0, nullptr,
                           nullptr),
      clEnqueueFillBuffer(setting.queue, setting.other, &items, 3, 0, 12, 0, nullptr, nullptr),
      clEnqueueCopyBuffer(setting.queue, setting.other, setting.other, 0, 4, 8, 0, nullptr,
                          nullptr),
      clEnqueueUnmapMemObject(setting.queue, setting.other, setting.values.data(), 0, nullptr,
                              nullptr)};
  clEnqueueMapBuffer(setting.queue, setting.other, CL_FALSE,
                     CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes, 0, nullptr, nullptr,
                     &error);
  answers.push_back(error);
  for (const cl_int answer : answers)
    sample::require(answer != CL_SUCCESS, "what can't be done is accepted");
  s.output(answers);
  sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  setting.output();
}

/// A launch behind a command that the driver has and need not have begun.
void unflushed(sample::Sample& s) {
  Setting setting(s);
  setting.queue = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int error = CL_SUCCESS;
  const sample::Event unused = clCreateUserEvent(s.context(), &error);
  sample::check(error, "clCreateUserEvent");
  for (unsigned round = 0; round < 3 * s.options().iterations; ++round) {
    sample::Event filled, launched;
    const auto value = static_cast<cl_int>(round);
    sample::check(clEnqueueFillBuffer(setting.queue, setting.other, &value, sizeof value, 0, 64, 0,
                                      nullptr, filled.out()),
                  "clEnqueueFillBuffer");
    const std::size_t items = setting.values.size(), local = 16;
    sample::check(clEnqueueNDRangeKernel(setting.queue, setting.large, 1, nullptr, &items, &local,
                                         1, filled.address(), launched.out()),
                  "clEnqueueNDRangeKernel");
    if (round % 3 == 0)
      sample::check(clFinish(setting.queue), "clFinish");
    else if (round % 3 == 1)
      sample::check(clWaitForEvents(1, launched.address()), "clWaitForEvents");
    else
      sample::check(clEnqueueReadBuffer(setting.queue, setting.buffer, CL_TRUE, 0, items,
                                        setting.values.data(), 1, launched.address(), nullptr),
                    "clEnqueueReadBuffer");
  }
  setting.output();
}

void unwaited(sample::Sample& s) {
  sample::choose(s, {{"polled", polled},
                     {"callback", callback},
                     {"fed", fed},
                     {"mapped", mapped},
                     {"held", held},
                     {"refused", refused},
                     {"unflushed", unflushed}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 4, .variant = "polled"}, unwaited);
}
