// A user event holds a chain of commands back: nothing of it may run before the gate opens, and
// the thread that enqueues must not block, neither when it maps a buffer or an image behind all of
// them, launches a kernel on shared virtual memory or one whose work-groups are not all of one
// size, frees memory, builds a program again, or cuts its device. Where the event fails, nothing
// that waits for it is done, and that says so. Some drivers deadlock here by themselves (PoCL's
// basic device up to 3.1 does), so the tests run this on others.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/user_events.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <thread>

namespace {

cl_int status(cl_event event) {
  cl_int value = 0;
  sample::check(
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof value, &value, nullptr),
      "CL_EVENT_COMMAND_EXECUTION_STATUS");
  return value;
}

void CL_CALLBACK triple(void* arguments) {
  **static_cast<cl_int**>(arguments) *= 3;
}

bool runsNativeKernels(cl_device_id device) {
  cl_device_exec_capabilities capabilities = 0;
  sample::check(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof capabilities,
                                &capabilities, nullptr),
                "CL_DEVICE_EXECUTION_CAPABILITIES");
  return capabilities & CL_EXEC_NATIVE_KERNEL;
}

void CL_CALLBACK count(cl_event, cl_int, void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}

/// A number in shared virtual memory; null where the device has none.
class SharedNumber {
public:
  explicit SharedNumber(sample::Sample& s) : context_(s.context()) {
    cl_device_svm_capabilities capabilities = 0;
    if (clGetDeviceInfo(s.device(), CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities,
                        nullptr) == CL_SUCCESS &&
        capabilities != 0)
      pointer_ = clSVMAlloc(context_, CL_MEM_READ_WRITE, sizeof(cl_int), 0);
  }
  ~SharedNumber() { clSVMFree(context_, pointer_); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;

  void* pointer() const { return pointer_; }
  void set(cl_command_queue queue, cl_int value) { copy(queue, pointer_, &value); }
  cl_int value(cl_command_queue queue) const {
    cl_int value = 0;
    copy(queue, &value, pointer_);
    return value;
  }

private:
  static void copy(cl_command_queue queue, void* to, const void* from) {
    sample::check(clEnqueueSVMMemcpy(queue, CL_TRUE, to, from, sizeof(cl_int), 0, nullptr, nullptr),
                  "clEnqueueSVMMemcpy");
  }

  cl_context context_;
  void* pointer_ = nullptr;
};

/// An image of `side` squared numbers, which the host may read; null where the device has none.
sample::Memory squareImage(sample::Sample& s, std::size_t side, cl_mem_flags flags) {
  if (!s.hasImages())
    return {};
  const cl_image_format format{CL_R, CL_SIGNED_INT32};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = side;
  cl_int error = CL_SUCCESS;
  sample::Memory image = clCreateImage(s.context(), flags, &format, &shape, nullptr, &error);
  sample::check(error, "clCreateImage");
  return image;
}

/// The numbers of a squareImage, from some time on.
class MappedImage {
public:
  MappedImage(cl_command_queue queue, cl_mem image, std::size_t side)
      : queue_(queue), image_(image), side_(side) {}

  /// Behind a copy of `from`, which is behind `gate`.
  void begin(cl_mem from, cl_event gate) {
    if (!image_)
      return;
    const std::size_t corner[] = {0, 0, 0}, square[] = {side_, side_, 1};
    cl_int error = CL_SUCCESS;
    sample::Event copied;
    sample::check(
        clEnqueueCopyBufferToImage(queue_, from, image_, 0, corner, square, 1, &gate, copied.out()),
        "clEnqueueCopyBufferToImage");
    numbers_ = static_cast<std::byte*>(clEnqueueMapImage(queue_, image_, CL_FALSE, CL_MAP_READ,
                                                         corner, square, &pitch_, nullptr, 1,
                                                         copied.address(), mapped_.out(), &error));
    sample::check(error, "clEnqueueMapImage");
  }
  void requireSame(const std::vector<cl_int>& expected) {
    if (!image_)
      return;
    sample::check(clWaitForEvents(1, mapped_.address()), "clWaitForEvents");
    for (std::size_t row = 0; row < side_; ++row)
      sample::require(
          std::memcmp(numbers_ + row * pitch_, &expected[row * side_], side_ * sizeof(cl_int)) == 0,
          "wrong numbers in row " + std::to_string(row) + " of the image's map");
    sample::check(clEnqueueUnmapMemObject(queue_, image_, numbers_, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

private:
  cl_command_queue queue_;
  cl_mem image_;
  std::size_t side_, pitch_ = 0;
  std::byte* numbers_ = nullptr;
  sample::Event mapped_{};
};

/// `kernel` is launched behind an event that fails, and behind that launch once more.
void launchBehindFailure(sample::Sample& s, cl_command_queue queue, cl_kernel kernel,
                         std::size_t items) {
  cl_int error = CL_SUCCESS;
  const sample::Event gate = clCreateUserEvent(s.context(), &error);
  sample::check(error, "clCreateUserEvent");
  sample::Event launched, behind;
  sample::check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 1,
                                       gate.address(), launched.out()),
                "clEnqueueNDRangeKernel");
  sample::check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 1,
                                       launched.address(), behind.out()),
                "clEnqueueNDRangeKernel");
  sample::check(clFlush(queue), "clFlush");
  sample::check(clSetUserEventStatus(gate, CL_DEVICE_NOT_AVAILABLE), "clSetUserEventStatus");
  for (const sample::Event* each : {&behind, &launched})
    sample::require(clWaitForEvents(1, each->address()) ==
                        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                    "the launch does not say that what it waits for failed");
}

void userEvents(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> values(n);
  std::iota(values.begin(), values.end(), -5);
  const std::size_t bytes = n * sizeof(cl_int);

  const auto first = s.queue();
  const auto second = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const auto program = s.program(sample::userEventsSource);
  const auto scale = sample::kernel(program, "scale");
  const auto rebuilt = s.program(sample::userEventsSource);
  sample::kernel(rebuilt, "scale").reset();
  const auto in = s.buffer(CL_MEM_READ_ONLY, bytes);
  const auto out = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto addTwo = sample::kernel(program, "add_two");
  const cl_int zero = 0;
  const auto steps = s.buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, const_cast<cl_int*>(&zero));
  constexpr std::size_t side = 16;
  const auto image = squareImage(s, side, CL_MEM_READ_WRITE),
             readable = squareImage(s, side, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
  const bool takesUneven = s.hasUnevenGroups();
  const auto newer = s.program(sample::userEventsSource, takesUneven ? "-cl-std=CL3.0" : "");
  const auto addTwoEach = sample::kernel(newer, "add_two_each");
  constexpr std::size_t uneven = 13;
  const auto numbers = s.copyOf(std::vector<cl_int>(uneven));
  sample::setArguments(addTwoEach, numbers);
  cl_int expectedSteps = 0, expectedSum = 0;
  const auto addUp = sample::kernel(program, "add_up");
  SharedNumber sum(s);
  if (sum.pointer()) {
    sum.set(first, 0);
    sample::check(clSetKernelArgSVMPointer(addUp, 0, sum.pointer()), "clSetKernelArgSVMPointer");
    sample::setArgument(addUp, 1, steps);
  }
  std::atomic<int> completed = 0;

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    cl_int error = CL_SUCCESS;
    const sample::Event gate = clCreateUserEvent(s.context(), &error);
    sample::check(error, "clCreateUserEvent");

    sample::Event written;
    sample::check(clEnqueueWriteBuffer(first, in, CL_FALSE, 0, bytes, values.data(), 1,
                                       gate.address(), written.out()),
                  "write");
    sample::Event scaled;
    sample::setArguments(scale, static_cast<cl_int>(i + 2), in, out);
    sample::check(clEnqueueNDRangeKernel(second, scale, 1, nullptr, &n, nullptr, 1,
                                         written.address(), scaled.out()),
                  "scale");
    std::vector<cl_int> result(n);
    sample::Event read;
    sample::check(clEnqueueReadBuffer(second, out, CL_FALSE, 0, bytes, result.data(), 1,
                                      scaled.address(), read.out()),
                  "read");
    sample::Event mapped;
    const auto* inPlace = static_cast<const cl_int*>(
        clEnqueueMapBuffer(second, out, CL_FALSE, CL_MAP_READ, bytes / 2, bytes / 2, 1,
                           read.address(), mapped.out(), &error));
    sample::check(error, "clEnqueueMapBuffer");
    MappedImage picture(second, image, side), readablePicture(second, readable, side);
    picture.begin(out, scaled);
    readablePicture.begin(out, scaled);
    sample::check(clSetEventCallback(scaled, CL_COMPLETE, count, &completed), "callback");
    sample::check(clSetEventCallback(read, CL_COMPLETE, count, &completed), "callback");
    // Behind the gate's write in the queue's order.
    sample::setArguments(addTwo, steps);
    sample::check(clEnqueueTask(first, addTwo, 0, nullptr, nullptr), "clEnqueueTask");
    expectedSteps += 2;
    if (takesUneven) {
      const std::size_t groups = 5;
      sample::check(clEnqueueNDRangeKernel(first, addTwoEach, 1, nullptr, &uneven, &groups, 0,
                                           nullptr, nullptr),
                    "add_two_each");
    }
    if (runsNativeKernels(s.device())) {
      cl_int* address = nullptr;
      const void* place = &address;
      sample::check(clEnqueueNativeKernel(first, triple, &address, sizeof address, 1,
                                          steps.address(), &place, 0, nullptr, nullptr),
                    "clEnqueueNativeKernel");
      expectedSteps *= 3;
    }
    if (sum.pointer()) {
      const std::size_t one = 1;
      sample::check(
          clEnqueueNDRangeKernel(first, addUp, 1, nullptr, &one, &one, 0, nullptr, nullptr),
          "add_up");
      expectedSum += expectedSteps;
      void* spare = clSVMAlloc(s.context(), CL_MEM_READ_WRITE, sizeof(cl_int), 0);
      sample::check(clEnqueueSVMFree(first, 1, &spare, nullptr, nullptr, 0, nullptr, nullptr),
                    "clEnqueueSVMFree");
    }
    sample::check(clFlush(first), "clFlush");
    sample::check(clFlush(second), "clFlush");

    sample::check(clBuildProgram(rebuilt, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
    if (i + 1 == s.options().iterations) {
      // Refused or not: from here on the program might use devices of its own making.
      const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
      cl_uint parts = 0;
      clCreateSubDevices(s.device(), equally, 0, nullptr, &parts);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (cl_event event :
         {cl_event{gate}, cl_event{written}, cl_event{scaled}, cl_event{read}, cl_event{mapped}})
      sample::require(status(event) > CL_COMPLETE, "a command passed the closed gate");
    sample::require(completed == static_cast<int>(2 * i), "a callback passed the closed gate");
    sample::require(result == std::vector<cl_int>(n), "bytes passed the closed gate");
    sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");

    sample::check(clWaitForEvents(1, read.address()), "clWaitForEvents");
    sample::require(status(scaled) == CL_COMPLETE, "the read passed the launch it waits for");
    for (std::size_t k = 0; k < n; ++k)
      sample::require(result[k] == values[k] * static_cast<cl_int>(i + 2),
                      "wrong element " + std::to_string(k));
    s.output(result);
    sample::check(clWaitForEvents(1, mapped.address()), "clWaitForEvents");
    sample::require(std::equal(inPlace, inPlace + n / 2, result.begin() + n / 2),
                    "wrong elements in the map");
    sample::check(
        clEnqueueUnmapMemObject(second, out, const_cast<cl_int*>(inPlace), 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
    picture.requireSame(result);
    readablePicture.requireSame(result);
    sample::check(clFinish(second), "clFinish");
    cl_int stepped = 0;
    sample::check(clEnqueueReadBuffer(first, steps, CL_TRUE, 0, sizeof stepped, &stepped, 0,
                                      nullptr, nullptr),
                  "read of steps");
    std::vector<cl_int> added(uneven);
    sample::read(first, numbers, added);
    sample::require(!takesUneven ||
                        added == std::vector<cl_int>(uneven, 2 * static_cast<cl_int>(i + 1)),
                    "the launch with a smaller group did not keep its turn");
    sample::require(stepped == expectedSteps,
                    "the task or the native kernel: " + std::to_string(stepped));
    sample::require(!sum.pointer() || sum.value(first) == expectedSum,
                    "the kernel on shared virtual memory did not keep its turn");
    // Callbacks may come a little after completion.
    for (int tries = 0; completed < static_cast<int>(2 * i + 2) && tries < 5000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sample::require(completed == static_cast<int>(2 * i + 2), "a callback did not come");
    if (i > 0)
      continue;
    sample::setArguments(scale, cl_int(1000), in, out);
    launchBehindFailure(s, second, scale, n);
    std::vector<cl_int> kept(n);
    sample::read(first, out, kept);
    sample::require(kept == result, "the launch was done although what it waits for failed");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 4}, userEvents);
}
