// Iterations whose rhythm repeats until it changes, drawn from a seed (--size): buffers that swap
// roles, halos, steps in place; and in the midst of it, without waiting, the program writes to a
// buffer, maps it, fills it, copies it, gives it up for a new one, uses a part of it, other
// offsets, another queue, or holds everything back by a user event.
//
// --variant aside: at some point the program begins to use a second device by itself. Any other of
// `endings`: at some point it ends that way, with exit code 7 and all of it under way.
#include "kernels/changed_mind.h"
#include "tests/samples/sample.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>

namespace {

constexpr std::size_t elements = std::size_t{1} << 15; // of a buffer
constexpr cl_uint width = 128;                         // of a row
constexpr std::size_t group = 64;
constexpr std::size_t buffers = 3;

/// A command of a rhythm.
struct Step {
  std::size_t kernel, in, out;
  cl_uint value;
  std::size_t begin, size; ///< of the NDRange
  bool hasLocal;
};

class Program {
public:
  explicit Program(sample::Sample& s) : s_(s), random_(s.options().size) {
    queues_.push_back(s.queue());
    queues_.push_back(s.queue());
    queues_.push_back(s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    for (const char* name : {"stencil", "shift", "advance", "collatz", "tiles", "count"})
      kernels_.push_back(sample::kernel(program_, name));
    for (sample::Memory& each : memory_)
      renew(each);
    const std::string& variant = s.options().variant;
    if (!variant.empty())
      turn_ = 1 + below(s.options().iterations - 1);
  }

  void rhythm(unsigned number) {
    std::vector<Step> steps(1 + below(3));
    for (Step& each : steps)
      each = step();
    if (steps.size() == 2 && chance(70)) // back and forth
      steps[1] = {steps[0].kernel, steps[0].out,  steps[0].in,      steps[0].value,
                  steps[0].begin,  steps[0].size, steps[0].hasLocal};
    const std::size_t times = 2 + below(24);
    const std::size_t turnsAt = number == turn_ ? below(times) : times;
    for (std::size_t i = 0; i < times && !isOver_; ++i) {
      for (const Step& each : steps)
        launch(each);
      if (i == turnsAt)
        turn();
      if (!isOver_ && chance(12))
        changeMind();
    }
    if (!isOver_)
      changeMind();
  }

  void finish() {
    flush();
    sample::check(clFinish(queues_[lastQueue_]), "clFinish");
    for (const auto& each : memory_) {
      auto& bytes = *read_.emplace_back(std::make_unique<std::vector<cl_uint>>(elements));
      sample::read(queues_[queue_], each, bytes);
    }
    for (const auto& bytes : read_)
      s_.output(*bytes);
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::vector<cl_uint> values(std::size_t count) {
    std::vector<cl_uint> result(count);
    for (cl_uint& each : result)
      each = static_cast<cl_uint>(random_());
    return result;
  }

  Step step() {
    Step step{below(kernels_.size()),
              below(buffers),
              0,
              static_cast<cl_uint>(below(1000)),
              0,
              elements,
              chance(70)};
    step.out = (step.in + 1 + below(buffers - 1)) % buffers;
    if (chance(25)) {
      step.size = (1 + below(elements / group)) * group;
      step.begin = below((elements - step.size) / group + 1) * group;
    }
    return step;
  }

  void renew(sample::Memory& memory) {
    auto first = values(elements);
    memory = s_.copyOf(first);
  }

  /// The wait list of a command that comes behind the last one, if that was in another queue.
  struct Behind {
    cl_event event = nullptr;
    cl_uint count() const { return event ? 1 : 0; }
    const cl_event* list() const { return event ? &event : nullptr; }
  };
  Behind behind() const {
    return queue_ == 2 || queue_ != lastQueue_ ? Behind{last_} : Behind{nullptr};
  }
  /// To be called with a command's event as its `out()`; the command before goes.
  cl_event* event() {
    lastQueue_ = queue_;
    before_ = std::move(last_);
    return last_.out();
  }
  cl_command_queue queue() const { return queues_[queue_]; }

  void launch(const Step& step) {
    const sample::Kernel& kernel = kernels_[step.kernel];
    const bool hasWidth = step.kernel == 0;
    const cl_uint value = hasWidth ? width : step.kernel == 1 ? step.value % 200 : step.value;
    sample::setArguments(kernel, memory_[step.in], memory_[step.out], value,
                         static_cast<cl_uint>(elements));
    const Behind after = behind();
    sample::check(clEnqueueNDRangeKernel(queue(), kernel, 1, &step.begin, &step.size,
                                         step.hasLocal || step.kernel == 4 ? &group : nullptr,
                                         after.count(), after.list(), event()),
                  "clEnqueueNDRangeKernel");
  }

  void write() { write(below(buffers), chance(50) ? elements : 1 + below(elements)); }

  void write(std::size_t buffer, std::size_t count) {
    auto& bytes = *written_.emplace_back(std::make_unique<std::vector<cl_uint>>(values(count)));
    const Behind after = behind();
    const cl_bool blocking = waits();
    sample::check(clEnqueueWriteBuffer(queue(), memory_[buffer], blocking,
                                       below(elements - count + 1) * sizeof(cl_uint),
                                       count * sizeof(cl_uint), bytes.data(), after.count(),
                                       after.list(), event()),
                  "clEnqueueWriteBuffer");
    if (blocking)
      std::fill(bytes.begin(), bytes.end(), 0xEEEEEEEE);
  }

  void read() {
    const std::size_t count = chance(50) ? elements : 1 + below(elements);
    auto& bytes = *read_.emplace_back(std::make_unique<std::vector<cl_uint>>(count));
    const Behind after = behind();
    sample::check(clEnqueueReadBuffer(queue(), memory_[below(buffers)], waits(),
                                      below(elements - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), bytes.data(), after.count(),
                                      after.list(), event()),
                  "clEnqueueReadBuffer");
  }

  void fill() {
    const std::size_t count = 1 + below(elements);
    const auto pattern = static_cast<cl_uint>(random_());
    const Behind after = behind();
    sample::check(clEnqueueFillBuffer(queue(), memory_[below(buffers)], &pattern, sizeof pattern,
                                      below(elements - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), after.count(), after.list(),
                                      event()),
                  "clEnqueueFillBuffer");
  }

  void copy() {
    const std::size_t from = below(buffers), to = (from + 1 + below(buffers - 1)) % buffers;
    const std::size_t count = 1 + below(elements);
    const Behind after = behind();
    sample::check(clEnqueueCopyBuffer(queue(), memory_[from], memory_[to],
                                      below(elements - count + 1) * sizeof(cl_uint),
                                      below(elements - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), after.count(), after.list(),
                                      event()),
                  "clEnqueueCopyBuffer");
  }

  void map() {
    const sample::Memory& memory = memory_[below(buffers)];
    const std::size_t count = 1 + below(elements);
    const Behind after = behind();
    waits();
    cl_int error = CL_SUCCESS;
    auto* mapped = static_cast<cl_uint*>(
        clEnqueueMapBuffer(queue(), memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                           below(elements - count + 1) * sizeof(cl_uint), count * sizeof(cl_uint),
                           after.count(), after.list(), event(), &error));
    sample::check(error, "clEnqueueMapBuffer");
    read_.push_back(std::make_unique<std::vector<cl_uint>>(mapped, mapped + count));
    for (std::size_t i = 0; i < count; i += 1 + below(8))
      mapped[i] = mapped[i] * 3 + 1;
    sample::check(clEnqueueUnmapMemObject(queue(), memory, mapped, 0, nullptr, event()),
                  "clEnqueueUnmapMemObject");
  }

  /// A part of a buffer does a few steps with all of another.
  void part() {
    const std::size_t from = below(buffers), to = (from + 1) % buffers;
    const cl_buffer_region region{below(4) * elements, elements};
    cl_int error = CL_SUCCESS;
    const sample::Memory half = clCreateSubBuffer(memory_[to], CL_MEM_READ_WRITE,
                                                  CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    sample::check(error, "clCreateSubBuffer");
    const std::size_t size = elements / 4, offset = 0;
    const sample::Kernel& kernel = kernels_[below(5)];
    for (unsigned i = 0; i < 3; ++i) {
      sample::setArguments(kernel, memory_[from], half, width, static_cast<cl_uint>(size));
      const Behind after = behind();
      sample::check(clEnqueueNDRangeKernel(queue(), kernel, 1, &offset, &size, &group,
                                           after.count(), after.list(), event()),
                    "clEnqueueNDRangeKernel");
    }
  }

  /// What comes next waits for the program, until `open`.
  sample::Event close() {
    cl_int error = CL_SUCCESS;
    sample::Event gate = clCreateUserEvent(s_.context(), &error);
    sample::check(error, "clCreateUserEvent");
    std::vector<cl_event> after = {gate};
    if (last_)
      after.push_back(last_);
    sample::check(clEnqueueMarkerWithWaitList(queue(), static_cast<cl_uint>(after.size()),
                                              after.data(), event()),
                  "clEnqueueMarkerWithWaitList");
    isHeld_ = true;
    return gate;
  }
  void open(const sample::Event& gate) {
    isHeld_ = false;
    sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  }

  void holdBack() {
    const sample::Event gate = close();
    const Step first = step();
    for (unsigned i = 0; i < 4; ++i) {
      launch(first);
      if (chance(50))
        write();
      if (chance(20))
        read();
    }
    if (gateTurns_)
      turnNow();
    open(gate);
  }

  cl_bool waits() {
    flush();
    return !isHeld_ && chance(30) ? CL_TRUE : CL_FALSE;
  }
  void flush() {
    for (const auto& each : queues_)
      sample::check(clFlush(each), "clFlush");
  }

  void changeMind() {
    switch (below(14)) {
    case 0:
    case 1:
      return write();
    case 2:
    case 3:
      return read();
    case 4:
      return fill();
    case 5:
      return copy();
    case 6:
      return map();
    case 7:
      return part();
    case 8:
      return renew(memory_[below(buffers)]);
    case 9:
    case 10:
      queue_ = below(queues_.size());
      return;
    case 11:
      return holdBack();
    case 12:
      flush();
      sample::check(clFinish(queue()), "clFinish");
      return;
    default:
      return flush();
    }
  }

  /// A second device comes into use while a write waits of what several devices read before, and
  /// nothing comes after.
  void writeAside() {
    for (unsigned i = 0; i < 3; ++i)
      launch({0, 0, 1, 0, 0, elements, true});
    const sample::Event gate = close();
    write(0, elements);
    useAnother();
    open(gate);
    isOver_ = true;
  }

  /// With or without commands that wait for the program.
  void turn() {
    if (s_.options().variant == "aside" && chance(50))
      return writeAside();
    if (!chance(40))
      return turnNow();
    gateTurns_ = true;
    holdBack();
    gateTurns_ = false;
  }

  void turnNow() {
    const std::string& how = s_.options().variant;
    if (chance(50))
      flush();
    if (how == "aside") {
      isOver_ = chance(60);
      return useAnother();
    }
    if (how == "exit")
      std::exit(7);
    if (how == "_exit")
      _exit(7);
    if (how == "quick_exit")
      std::quick_exit(7);
    if (how == "thread") {
      std::thread([] { std::exit(7); }).join();
    } else if (how == "while_waiting") {
      std::thread other([] { std::exit(7); });
      for (const auto& each : queues_)
        clFinish(each);
      other.join();
    }
    throw sample::Failure("no variant is named " + how);
  }

  void useAnother() {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (cl_platform_id platform : platforms) {
      cl_uint here = 0;
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &here);
      std::vector<cl_device_id> devices(here);
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, here, devices.data(), nullptr);
      for (cl_device_id device : devices) {
        if (device == s_.device())
          continue;
        cl_int error = CL_SUCCESS;
        otherContext_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        sample::check(error, "clCreateContext");
        otherQueue_ = clCreateCommandQueueWithProperties(otherContext_, device, nullptr, &error);
        sample::check(error, "clCreateCommandQueueWithProperties");
        return;
      }
    }
  }

  sample::Sample& s_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<std::vector<cl_uint>>> read_{}, written_{};
  sample::Program program_ = s_.program(sample::changedMindSource);
  std::vector<sample::Kernel> kernels_{};
  std::vector<sample::Queue> queues_{};
  sample::Context otherContext_{};
  sample::Queue otherQueue_{};
  std::array<sample::Memory, buffers> memory_{};
  sample::Event last_{}, before_{};
  std::size_t queue_ = 0, lastQueue_ = 0;
  std::size_t turn_ = ~std::size_t{0}; ///< the rhythm in which the variant comes
  bool gateTurns_ = false, isHeld_ = false;
  bool isOver_ = false; ///< nothing comes any more but reads of all buffers
};

void changedMind(sample::Sample& s) {
  Program program(s);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    program.rhythm(i);
  program.finish();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1, .iterations = 4}, changedMind);
}
