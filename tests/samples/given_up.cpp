// Contexts that the program gives up, with all that it made there, while a launch is held back.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/given_up.h"
#include "tests/samples/sample.h"

namespace {

/// A launch in a context of its own, behind `gate`'s. Its event.
sample::Event launchAndGiveUp(sample::Sample& s, sample::Event& gate) {
  constexpr std::size_t local = 16;
  const std::size_t n = s.options().size;
  const cl_device_id device = s.device();
  const char* source = sample::givenUpSource;
  cl_int status = CL_SUCCESS;
  auto checked = [&](const char* what) { sample::check(status, what); };
  const sample::Context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  checked("clCreateContext");
  const sample::Queue queue = clCreateCommandQueue(context, device, 0, &status);
  checked("clCreateCommandQueue");
  const sample::Program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  checked("clCreateProgramWithSource");
  sample::check(clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr), "clBuildProgram");
  const auto kernel = sample::kernel(program, "add");
  const sample::Memory buffer =
      clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof(cl_int), nullptr, &status);
  checked("clCreateBuffer");
  sample::setArguments(kernel, buffer, cl_int(1));
  *gate.out() = clCreateUserEvent(context, &status);
  checked("clCreateUserEvent");
  sample::Event ended;
  const cl_event before = gate;
  sample::check(
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, &local, 1, &before, ended.out()),
      "clEnqueueNDRangeKernel");
  sample::check(clFlush(queue), "clFlush");
  return ended;
}

void givenUp(sample::Sample& s) {
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    sample::Event gate;
    sample::Event ended = launchAndGiveUp(s, gate);
    sample::check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    sample::check(clWaitForEvents(1, ended.address()), "clWaitForEvents");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024}, givenUp);
}
