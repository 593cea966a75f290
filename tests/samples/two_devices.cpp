// A program that shares its work over the devices by itself: one context, a queue per device, a
// buffer that they change by turns.
//
// Variant `kept_event`: holds the event of a launch from before it began to use the second.
#include "kernels/two_devices.h"
#include "tests/samples/sample.h"

namespace {

using sample::check;

/// It is the program's as long as that holds a reference.
void askAbout(cl_event event, cl_command_queue queue) {
  check(clRetainEvent(event), "clRetainEvent");
  check(clReleaseEvent(event), "clReleaseEvent");
  cl_command_type type = 0;
  cl_command_queue of = nullptr;
  cl_uint references = 0;
  check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr),
        "clGetEventInfo");
  check(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, nullptr), "clGetEventInfo");
  check(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, nullptr),
        "clGetEventInfo");
  sample::require(type == CL_COMMAND_NDRANGE_KERNEL && of == queue && references == 1,
                  "the event is not the launch's any more");
}

void twoDevices(sample::Sample& s) {
  const std::size_t n = s.options().size;
  cl_uint count = 0;
  check(clGetDeviceIDs(s.platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  check(clGetDeviceIDs(s.platform(), CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
        "clGetDeviceIDs");

  cl_int error = CL_SUCCESS;
  const sample::Context context =
      clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &error);
  check(error, "clCreateContext");
  const char* source = sample::twoDevicesSource;
  const sample::Program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
  const auto kernel = sample::kernel(program, "plus");
  std::vector<cl_int> values(n);
  const sample::Memory data =
      clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), values.data(), &error);
  check(error, "clCreateBuffer");
  std::vector<sample::Queue> queues;
  sample::Event kept;
  cl_int expected = 0;
  for (cl_device_id device : devices) {
    queues.emplace_back(clCreateCommandQueueWithProperties(context, device, nullptr, &error));
    check(error, "clCreateCommandQueueWithProperties");
    if (s.options().variant != "kept_event" || kept)
      continue;
    sample::setArguments(kernel, data, ++expected);
    const std::size_t local = 64;
    check(clEnqueueNDRangeKernel(queues.front(), kernel, 1, nullptr, &n, &local, 0, nullptr,
                                 kept.out()),
          "clEnqueueNDRangeKernel");
    check(clFinish(queues.front()), "clFinish");
  }
  if (kept)
    askAbout(kept, queues.front());

  for (unsigned i = 0; i < s.options().iterations; ++i)
    for (const sample::Queue& queue : queues) {
      const cl_int value = static_cast<cl_int>(i) + 1;
      sample::setArguments(kernel, data, value);
      sample::launch(queue, kernel, {n}, {64});
      check(clFinish(queue), "clFinish");
      expected += value;
    }
  sample::read(queues.front(), data, values);
  for (cl_int value : values)
    sample::require(value == expected, "wrong sum");
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 3}, twoDevices);
}
