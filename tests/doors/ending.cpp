// Ends while launches and a read are still under way, in one of the ways in which programs end. The
// kernel gets the name that is given, so that a caller can have one that no cache holds.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace {

constexpr std::size_t items = 1 << 14;
constexpr int launches = 8;

// Some endings run destructors of what is static; the read's target outlives them all.
std::vector<cl_int>& values() {
  static auto* kept = new std::vector<cl_int>(items);
  return *kept;
}

bool succeeded(cl_int code, const char* what) {
  if (code != CL_SUCCESS)
    std::fprintf(stderr, "%s: error %d\n", what, code);
  return code == CL_SUCCESS;
}

struct Work {
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem data = nullptr;
  cl_event last = nullptr;

  bool make(const std::string& name) {
    const std::string text = "kernel void " + name +
                             "(global int* data) {\n"
                             "  size_t i = get_global_id(0);\n"
                             "  data[i] = data[i] * 3;\n"
                             "}\n";
    const char* source = text.c_str();
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_int error = clGetPlatformIDs(1, &platform, nullptr);
    error |= clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    if (!succeeded(error, "devices"))
      return false;
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    queue = clCreateCommandQueue(context, device, 0, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    error |= clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    kernel = clCreateKernel(program, name.c_str(), &error);
    data = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, items * sizeof(cl_int), values().data(),
                          &error);
    error |= clSetKernelArg(kernel, 0, sizeof data, &data);
    return succeeded(error, "set-up");
  }

  bool begin() {
    cl_int error = CL_SUCCESS;
    const std::size_t local = 64;
    for (int i = 0; i < launches; ++i)
      error |= clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &local, 0, nullptr,
                                      i + 1 == launches ? &last : nullptr);
    error |= clEnqueueReadBuffer(queue, data, CL_FALSE, 0, items * sizeof(cl_int), values().data(),
                                 0, nullptr, nullptr);
    error |= clFlush(queue);
    return succeeded(error, "launches");
  }
};

[[noreturn]] void sleepForEver() {
  for (;;)
    pause();
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ending WAY KERNEL\n");
    return 2;
  }
  const std::string way = argv[1];
  static Work work;
  auto begin = [&] {
    if (!work.make(argv[2]) || !work.begin())
      _exit(3);
  };
  if (way == "return") {
    begin();
    return 0;
  }
  if (way == "exit") {
    begin();
    std::exit(7);
  }
  if (way == "_exit") {
    begin();
    _exit(7);
  }
  if (way == "quick_exit") {
    begin();
    std::quick_exit(7);
  }
  if (way == "thread") { // that used OpenCL, while main waits for it
    std::thread([&] {
      begin();
      std::exit(7);
    }).join();
  }
  if (way == "other_thread") { // that never used OpenCL
    begin();
    std::thread([] { std::exit(7); }).join();
  }
  if (way == "main_of_thread") { // main never used OpenCL, and returns
    std::thread(begin).join();
    return 0;
  }
  if (way == "handler") { // registered before OpenCL was used; waits for the work
    std::atexit([] { clFinish(work.queue); });
    begin();
    return 0;
  }
  if (way == "callback") {
    begin();
    clSetEventCallback(
        work.last, CL_COMPLETE, [](cl_event, cl_int, void*) { std::exit(7); }, nullptr);
    clFinish(work.queue);
    sleepForEver();
  }
  if (way == "pthread_exit") {
    begin();
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      clFinish(work.queue);
      std::exit(7);
    }).detach();
    pthread_exit(nullptr);
  }
  if (way == "last_thread") { // nobody calls exit
    begin();
    clFinish(work.queue);
    pthread_exit(nullptr);
  }
  std::fprintf(stderr, "no such way\n");
  return 2;
}
