// Questions about reference counts while other threads make and give back objects, and in drivers'
// callbacks. What is printed is what is left when all of that is over, so it is the same in any
// order.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/asked_by_threads.h"
#include "tests/samples/settled_counts.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

namespace {

using sample::check;
using sample::count;

cl_uint ofContext(cl_context context) {
  return count(clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT);
}

cl_uint ofProgram(cl_program program) {
  return count(clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT);
}

cl_uint settledOf(cl_context context) {
  return sample::settled([&] { return std::array{ofContext(context)}; })[0];
}

/// Does `work` in a thread again and again as long as it lives.
class Meanwhile {
public:
  explicit Meanwhile(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!isOver_)
            work();
        }) {}
  ~Meanwhile() {
    isOver_ = true;
    thread_.join();
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

private:
  std::atomic<bool> isOver_ = false;
  std::thread thread_;
};

class Asked {
public:
  explicit Asked(sample::Sample& s)
      : s_(s), n_(s.options().size), queue_(s.queue()),
        program_(s.program(sample::askedByThreadsSource)), kernel_(sample::kernel(program_, "add")),
        a_(s.array<float>(n_)), b_(s.array<float>(n_)) {
    sample::setArguments(kernel_, a_, b_);
  }

  void run() {
    launch(queue_, kernel_);
    askFirstBesideOthers();
    buildInCallbacks();
    loseBuffersInCallbacks();
    giveUpAQueue();
  }

private:
  sample::Sample& s_;
  const std::size_t n_;
  sample::Queue queue_;
  sample::Program program_;
  sample::Kernel kernel_;
  sample::Memory a_, b_;

  void launch(cl_command_queue queue, cl_kernel kernel) const {
    sample::launch(queue, kernel, {n_}, {64});
    check(clFinish(queue), "clFinish");
  }

  /// What others do at that moment is not to be remembered.
  void askFirstBesideOthers() {
    {
      const Meanwhile kernels([this] { sample::kernel(program_, "add"); });
      const Meanwhile buffers([this] { s_.array<float>(16); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ofProgram(program_);
      ofContext(s_.context());
    }
    std::cout << "program "
              << sample::settled([this] { return std::array{ofProgram(program_)}; })[0]
              << ", context " << settledOf(s_.context()) << "\n";
  }

  struct Builds {
    cl_program program;
    unsigned refused = 0;
    std::atomic<unsigned> done = 0;
  };
  static void CL_CALLBACK buildAgain(cl_event, cl_int, void* data) {
    auto& builds = *static_cast<Builds*>(data);
    const char* options = builds.done % 2 == 0 ? "-DX=1" : "-DX=2";
    builds.refused +=
        clBuildProgram(builds.program, 0, nullptr, options, nullptr, nullptr) != CL_SUCCESS;
    ++builds.done;
  }
  /// Of a program whose kernels are gone, and of which another thread wants to know.
  void buildInCallbacks() {
    const sample::Program program = s_.program(sample::askedByThreadsSource);
    Builds builds{program};
    {
      const Meanwhile asking([&] { ofProgram(program); });
      for (unsigned i = 0; i < s_.options().iterations; ++i) {
        {
          const sample::Kernel kernel = sample::kernel(program, "add");
          sample::setArguments(kernel, a_, b_);
          launch(queue_, kernel);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        sample::Event event;
        check(clEnqueueMarkerWithWaitList(queue_, 0, nullptr, event.out()), "a marker");
        check(clSetEventCallback(event, CL_COMPLETE, buildAgain, &builds), "clSetEventCallback");
        check(clFinish(queue_), "clFinish");
        while (builds.done <= i)
          std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    std::cout << "refused builds: " << builds.refused << "\n";
  }

  static void CL_CALLBACK isGone(cl_mem, void* data) {
    const auto& s = *static_cast<const sample::Sample*>(data);
    ofContext(s.context());
    s.array<float>(16);
  }
  void loseBuffersInCallbacks() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([this] {
        const auto queue = s_.queue();
        const auto kernel = sample::kernel(program_, "add");
        for (unsigned j = 0; j < 8 * s_.options().iterations; ++j) {
          const sample::Memory a = s_.array<float>(n_), b = s_.array<float>(n_);
          check(clSetMemObjectDestructorCallback(a, isGone, &s_), "a callback");
          sample::setArguments(kernel, a, b);
          for (unsigned each = 0; each <= j % 4; ++each)
            sample::launch(queue, kernel, {n_}, {64});
          check(clFinish(queue), "clFinish");
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    std::cout << "context " << settledOf(s_.context()) << "\n";
  }

  /// Which its event still tells of.
  void giveUpAQueue() {
    sample::Event event;
    {
      const auto queue = s_.queue();
      const std::size_t global = n_, local = 64;
      check(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, &local, 0, nullptr,
                                   event.out()),
            "clEnqueueNDRangeKernel");
      check(clFinish(queue), "clFinish");
    }
    launch(queue_, kernel_); // drivers may keep the event of a buffer's last command
    cl_command_queue queue = nullptr;
    cl_context context = nullptr;
    check(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr),
          "clGetEventInfo");
    check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr),
          "clGetCommandQueueInfo");
    sample::require(context == s_.context(), "the event's queue is another");
    std::cout << "queue given up: context " << settledOf(s_.context());
    event.reset();
    std::cout << ", and its event: context " << settledOf(s_.context()) << "\n";
  }
};

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 12, .iterations = 8},
                     [](sample::Sample& s) { Asked(s).run(); });
}
