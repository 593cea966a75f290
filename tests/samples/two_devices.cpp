// A program that shares its work over the devices by itself: one context, a queue per device, a
// buffer that they change by turns.
#include "kernels/two_devices.h"
#include "tests/samples/sample.h"

namespace {

using sample::check;

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
  for (cl_device_id device : devices) {
    queues.emplace_back(clCreateCommandQueueWithProperties(context, device, nullptr, &error));
    check(error, "clCreateCommandQueueWithProperties");
  }

  cl_int expected = 0;
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
