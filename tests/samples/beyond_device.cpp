// Commands that the program's device may not be able to do at all: native kernels, and those on
// shared virtual memory. Whether it can the device says; where it can't each is refused in its own
// call, also behind launches, and what follows is as if it had not been made.
#include "kernels/beyond_device.h"
#include "tests/samples/sample.h"

#include <array>
#include <string>

namespace {

void CL_CALLBACK doNothing(void*) {}

class Commands {
public:
  Commands(sample::Sample& s, cl_command_queue queue) : s_(s), queue_(queue) {}

  void nativeKernel() const {
    cl_device_exec_capabilities can = 0;
    clGetDeviceInfo(s_.device(), CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr);
    expect("clEnqueueNativeKernel", (can & CL_EXEC_NATIVE_KERNEL) != 0,
           clEnqueueNativeKernel(queue_, doNothing, nullptr, 0, 0, nullptr, nullptr, 0, nullptr,
                                 nullptr));
  }

  void sharedMemory() const {
    cl_device_svm_capabilities can = 0;
    clGetDeviceInfo(s_.device(), CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr);
    std::array<char, 128> version{};
    clGetDeviceInfo(s_.device(), CL_DEVICE_VERSION, version.size() - 1, version.data(), nullptr);
    const bool isKnown =
        std::string(version.data()) >= "OpenCL 2"; // else there may be no such call
    if (!isKnown || can != 0)
      return; // samples/shared_virtual tells of those that can
    std::array<cl_int, 16> memory{};
    const cl_int zero = 0;
    expect("clEnqueueSVMMemFill", false,
           clEnqueueSVMMemFill(queue_, memory.data(), &zero, sizeof zero, sizeof memory, 0, nullptr,
                               nullptr));
  }

private:
  static void expect(const std::string& name, bool isPossible, cl_int status) {
    sample::require((status == CL_SUCCESS) == isPossible, name + " gave " + std::to_string(status));
  }

  sample::Sample& s_;
  cl_command_queue queue_;
};

void beyondDevice(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto kernel = sample::kernel(s.program(sample::beyondDeviceSource), "add");
  std::vector<float> y(n);
  const auto xBuffer = s.copyOf(std::vector<float>(n, 1));
  const auto yBuffer = s.copyOf(y);
  const Commands commands(s, queue);
  constexpr unsigned rounds = 4;
  for (unsigned round = 0; round < rounds; ++round) {
    sample::setArguments(kernel, xBuffer, yBuffer);
    sample::launch(queue, kernel, {n}, {64});
    commands.nativeKernel();
    commands.sharedMemory();
  }
  sample::check(clFinish(queue), "clFinish");
  sample::read(queue, yBuffer, y);
  sample::checkAll(y, [](std::size_t) { return rounds; }, 0, "element");
  s.output(y);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096}, beyondDevice);
}
