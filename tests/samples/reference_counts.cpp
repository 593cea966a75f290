// What the driver says of references, to every kind of object, at each step of a small program.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/reference_counts.h"
#include "tests/samples/settled_counts.h"

#include <array>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

using sample::check;
using sample::count;
using sample::settled;

class Counted {
public:
  explicit Counted(sample::Sample& s)
      : s_(s), n_(s.options().size), queue_(s.queue(CL_QUEUE_PROFILING_ENABLE)),
        program_(s.program(sample::referenceCountsSource)),
        kernel_(sample::kernel(program_, "add")) {
    const std::vector<float> values = s.randomFloats(n_, -1, 1);
    a_ = s.copyOf(values);
    b_ = s.copyOf(values);
    cl_int error = CL_SUCCESS;
    const cl_buffer_region half{0, n_ / 2 * sizeof(float)};
    part_ = clCreateSubBuffer(b_, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);
    check(error, "clCreateSubBuffer");
    if (!s.hasImages())
      return;
    sampler_ = clCreateSampler(s.context(), CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    check(error, "clCreateSampler");
  }

  void say(const char* when) {
    enum : std::uint8_t { Context, Program, Kernel, A, B, Part, Sampler, Queue, Event, Kinds };
    const auto counts = settled([&] {
      std::array<cl_uint, Kinds> read{};
      read[Context] = count(clGetContextInfo, s_.context(), CL_CONTEXT_REFERENCE_COUNT);
      read[Program] = count(clGetProgramInfo, cl_program(program_), CL_PROGRAM_REFERENCE_COUNT);
      read[Kernel] = count(clGetKernelInfo, cl_kernel(kernel_), CL_KERNEL_REFERENCE_COUNT);
      read[A] = count(clGetMemObjectInfo, cl_mem(a_), CL_MEM_REFERENCE_COUNT);
      read[B] = count(clGetMemObjectInfo, cl_mem(b_), CL_MEM_REFERENCE_COUNT);
      read[Part] = count(clGetMemObjectInfo, cl_mem(part_), CL_MEM_REFERENCE_COUNT);
      if (sampler_)
        read[Sampler] = count(clGetSamplerInfo, cl_sampler(sampler_), CL_SAMPLER_REFERENCE_COUNT);
      read[Queue] = ofQueue();
      if (event_)
        read[Event] = ofEvent();
      return read;
    });
    std::cout << when << ": context " << counts[Context] << ", program " << counts[Program]
              << ", kernel " << counts[Kernel] << ", buffers " << counts[A] << " " << counts[B]
              << ", part " << counts[Part];
    if (sampler_)
      std::cout << ", sampler " << counts[Sampler];
    // PoCL's buffers hold the event of their last command, and that its queue.
    if (s_.options().variant == "all" || !hasLaunched_)
      std::cout << ", queue " << counts[Queue];
    if (event_) {
      if (s_.options().variant == "all")
        std::cout << ", event " << counts[Event];
      std::cout << ", queue and event by " << static_cast<int>(counts[Queue] - queueBefore_)
                << " and " << static_cast<int>(counts[Event] - eventBefore_);
      eventBefore_ = counts[Event];
    }
    queueBefore_ = counts[Queue];
    std::cout << "\n";
  }

  void run() {
    say("made");
    sample::setArguments(kernel_, a_, b_);
    hasLaunched_ = true;
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      sample::launch(queue_, kernel_, {n_}, {64});
      check(clFinish(queue_), "clFinish");
      if (i < 3)
        say("launched");
    }
    say("launched often");
    const std::size_t global = n_, local = 64;
    check(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &global, &local, 0, nullptr,
                                 event_.out()),
          "clEnqueueNDRangeKernel");
    check(clWaitForEvents(1, event_.address()), "clWaitForEvents");
    check(clFinish(queue_), "clFinish");
    const auto before = settled([&] { return std::array{ofQueue(), ofEvent()}; });
    queueBefore_ = before[0];
    eventBefore_ = before[1];
    say("launched with an event");
    check(clRetainEvent(event_), "clRetainEvent");
    check(clRetainMemObject(b_), "clRetainMemObject");
    check(clRetainKernel(kernel_), "clRetainKernel");
    check(clRetainProgram(program_), "clRetainProgram");
    check(clRetainCommandQueue(queue_), "clRetainCommandQueue");
    check(clRetainContext(s_.context()), "clRetainContext");
    say("retained");
    check(clReleaseEvent(event_), "clReleaseEvent");
    check(clReleaseMemObject(b_), "clReleaseMemObject");
    check(clReleaseKernel(kernel_), "clReleaseKernel");
    check(clReleaseProgram(program_), "clReleaseProgram");
    check(clReleaseCommandQueue(queue_), "clReleaseCommandQueue");
    check(clReleaseContext(s_.context()), "clReleaseContext");
    say("released");
    std::vector<float> result(n_);
    sample::read(queue_, b_, result);
    s_.output(result);
    event_.reset();
    say("read");
    sampler_.reset();
    a_.reset();
    const auto less = settled([&] {
      return std::array{count(clGetContextInfo, s_.context(), CL_CONTEXT_REFERENCE_COUNT)};
    });
    std::cout << "less: context " << less[0] << "\n";
  }

private:
  sample::Sample& s_;
  const std::size_t n_;
  sample::Queue queue_;
  sample::Program program_;
  sample::Kernel kernel_;
  sample::Memory a_, b_, part_;
  sample::Sampler sampler_;
  sample::Event event_;
  bool hasLaunched_ = false;
  cl_uint queueBefore_ = 0, eventBefore_ = 0;

  cl_uint ofQueue() const {
    return count(clGetCommandQueueInfo, cl_command_queue(queue_), CL_QUEUE_REFERENCE_COUNT);
  }
  cl_uint ofEvent() const {
    return count(clGetEventInfo, cl_event(event_), CL_EVENT_REFERENCE_COUNT);
  }
};

void referenceCounts(sample::Sample& s) {
  Counted(s).run();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 40, .variant = "counted"},
                     referenceCounts);
}
