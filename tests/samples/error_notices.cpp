// A context whose callback for errors calls OpenCL itself. Whatever fails: the program hears of it
// and ends.
#include "kernels/error_notices.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using sample::check;

/// What the callback uses, and whether it was called.
struct Notices {
  std::atomic<cl_context> context = nullptr;
  std::atomic<unsigned> heard = 0;
};

void CL_CALLBACK hear(const char*, const void*, std::size_t, void* data) {
  auto& notices = *static_cast<Notices*>(data);
  if (const cl_context context = notices.context) {
    clRetainContext(context);
    clReleaseContext(context);
  }
  ++notices.heard;
}

void work(sample::Sample& s, Notices& notices) {
  const std::size_t n = s.options().size, local = 64, bytes = n * sizeof(cl_int);
  const cl_device_id device = s.device();
  cl_int error = CL_SUCCESS;
  const sample::Context context = clCreateContext(nullptr, 1, &device, hear, &notices, &error);
  check(error, "clCreateContext");
  struct Forgets { // before the context goes
    Notices& notices;
    ~Forgets() { notices.context = nullptr; }
  } const forgets{notices};
  notices.context = context;
  const sample::Queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
  check(error, "clCreateCommandQueueWithProperties");
  const char* source = sample::errorNoticesSource;
  const sample::Program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  const auto add = sample::kernel(program, "add");
  std::vector<cl_int> numbers(n, 1), result(n);
  const sample::Memory in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                                           numbers.data(), &error);
  check(error, "clCreateBuffer");
  const sample::Memory out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, nullptr, &error);
  check(error, "clCreateBuffer");
  const sample::FinishesFirst finishes(queue);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    sample::setArguments(add, in, out, static_cast<cl_int>(round));
    sample::Event event;
    check(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &n, &local, 0, nullptr, event.out()),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, result.data(), 1, event.address(),
                              nullptr),
          "clEnqueueReadBuffer");
    for (const cl_int each : result)
      sample::require(each == static_cast<cl_int>(round) + 1, "an element is wrong");
  }
}

void errorNotices(sample::Sample& s) {
  static Notices notices; // drivers may call until the end
  try {
    work(s, notices);
  } catch (const sample::Failure&) {
    constexpr std::chrono::seconds patience(5);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (notices.heard == 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    if (notices.heard == 0)
      throw;
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 3}, errorNotices);
}
