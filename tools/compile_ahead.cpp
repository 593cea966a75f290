#include "tools/compile_ahead.h"

#include "runtime/device/compile_order.h"
#include "runtime/device/machine.h"

#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

#include <dlfcn.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace libsplit::tools {

namespace {

using runtime::CompileOrder;
using runtime::EnqueuedRange;

/// The loader's entry points that this takes. Nothing is ever released: the process ends.
struct OpenCl {
  void* loader = ::dlopen("libOpenCL.so.1", RTLD_NOW);

  template <typename Function> Function* find(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(loader, name));
  }
#define LIBSPLIT_ENTRY(name) decltype(::name)* name = find<decltype(::name)>(#name)
  LIBSPLIT_ENTRY(clGetPlatformIDs);
  LIBSPLIT_ENTRY(clGetPlatformInfo);
  LIBSPLIT_ENTRY(clGetDeviceIDs);
  LIBSPLIT_ENTRY(clCreateContext);
  LIBSPLIT_ENTRY(clCreateCommandQueue);
  LIBSPLIT_ENTRY(clCreateProgramWithSource);
  LIBSPLIT_ENTRY(clBuildProgram);
  LIBSPLIT_ENTRY(clCreateKernel);
  LIBSPLIT_ENTRY(clCreateBuffer);
  LIBSPLIT_ENTRY(clSetKernelArg);
  LIBSPLIT_ENTRY(clEnqueueNDRangeKernel);
  LIBSPLIT_ENTRY(clFinish);
#undef LIBSPLIT_ENTRY
};

/// Null if it is not there, or its driver keeps nothing.
cl_device_id deviceOf(const OpenCl& cl, const CompileOrder& order) {
  std::array<cl_platform_id, 64> platforms{};
  std::array<cl_device_id, 64> devices{};
  std::array<char, 256> name{};
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS ||
      order.platform >= std::min<cl_uint>(count, platforms.size()))
    return nullptr;
  const cl_platform_id platform = platforms[order.platform];
  cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
  if (std::string_view(name.data()) != runtime::keepsCompiledKernels ||
      cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices.size(), devices.data(), &count) !=
          CL_SUCCESS ||
      order.device >= std::min<cl_uint>(count, devices.size()))
    return nullptr;
  return devices[order.device];
}

bool setArgument(const OpenCl& cl, cl_context context, cl_kernel kernel, cl_uint number,
                 const CompileOrder::Argument& argument) {
  using Kind = CompileOrder::Argument::Kind;
  if (argument.kind == Kind::Value)
    return cl.clSetKernelArg(kernel, number, argument.value.size(), argument.value.data()) ==
           CL_SUCCESS;
  if (argument.kind == Kind::Local)
    return cl.clSetKernelArg(kernel, number, argument.size, nullptr) == CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  cl_mem buffer = nullptr;
  if (argument.size > 0) // else it is null for the program, too
    buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, argument.size, nullptr, &error);
  return error == CL_SUCCESS &&
         cl.clSetKernelArg(kernel, number, sizeof buffer, &buffer) == CL_SUCCESS;
}

/// As where there is no linker, or the process may not write where the driver keeps what it made.
[[noreturn]] void endAsDriverGaveUp(int = SIGABRT) {
  const std::string_view answer = runtime::driverGaveUp;
  static_cast<void>(::write(STDOUT_FILENO, answer.data(), answer.size()));
  ::_exit(1);
}

/// Kernels have other ways to crash. This program itself never calls exit, as LLVM does where the
/// disk is full.
void hearOfAborts() {
  std::signal(SIGABRT, endAsDriverGaveUp);
}
void hearOfExits() {
  std::atexit([] { endAsDriverGaveUp(); });
}

/// Null if the driver refuses.
cl_program build(const OpenCl& cl, cl_context context, cl_device_id device, const std::string& text,
                 const std::string& options) {
  const char* begin = text.data();
  const std::size_t size = text.size();
  cl_int error = CL_SUCCESS;
  const cl_program program = cl.clCreateProgramWithSource(context, 1, &begin, &size, &error);
  const bool isBuilt =
      error == CL_SUCCESS &&
      cl.clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS;
  return isBuilt ? program : nullptr;
}

/// To see whether the driver still can. It compiles no kernel before it is launched.
bool runNothing(const OpenCl& cl, cl_context context, cl_device_id device) {
  const cl_program program = build(cl, context, device, runtime::emptyProgram, "");
  if (!program)
    return false;
  hearOfAborts();
  cl_int error = CL_SUCCESS;
  const cl_kernel kernel = cl.clCreateKernel(program, runtime::emptyKernel, &error);
  const cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
  const std::size_t one = 1;
  return cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr) ==
             CL_SUCCESS &&
         cl.clFinish(queue) == CL_SUCCESS;
}

/// Whether it did.
bool compile(const OpenCl& cl, const CompileOrder& order) {
  cl_device_id device = deviceOf(cl, order);
  if (!device)
    return false;
  cl_int error = CL_SUCCESS;
  const cl_context context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  if (error != CL_SUCCESS)
    endAsDriverGaveUp();
  const cl_program program = build(cl, context, device, order.text, order.options);
  // Unless it builds nothing at all, headers may be gone that the program found.
  if ((!program || order.launches.empty()) && !runNothing(cl, context, device))
    endAsDriverGaveUp();
  if (!program || order.launches.empty())
    return program;
  hearOfAborts(); // the compiler has its own way of that
  const cl_kernel kernel = cl.clCreateKernel(program, order.kernel.c_str(), &error);
  if (error != CL_SUCCESS)
    return false;
  for (cl_uint i = 0; i < order.arguments.size(); ++i)
    if (!setArgument(cl, context, kernel, i, order.arguments[i]))
      return false;
  const cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
  if (error != CL_SUCCESS)
    return false;
  // Larger ones last: a driver that has compiled for such takes that for smaller ones as well, as
  // long as the process lasts.
  std::vector<EnqueuedRange> launches = order.launches;
  std::ranges::stable_sort(launches, {}, [](const EnqueuedRange& each) {
    return *std::ranges::max_element(each.global);
  });
  for (const EnqueuedRange& each : launches)
    if (cl.clEnqueueNDRangeKernel(queue, kernel, order.dimensions, each.offset.data(),
                                  each.global.data(), each.localGiven ? each.local.data() : nullptr,
                                  0, nullptr, nullptr) != CL_SUCCESS)
      return false;
  return cl.clFinish(queue) == CL_SUCCESS;
}

/// However that came to end, or to give up. Then nobody reads the output any more.
void endWithWhoAsked() {
  pollfd output{STDOUT_FILENO, 0, 0};
  while (::poll(&output, 1, -1) <= 0) {
  }
  ::_exit(1);
}

} // namespace

void compileAhead(std::istream& input) {
  hearOfExits();
  hearOfAborts();
  // Kernels may crash, of which nobody wants to be told. They may also not end.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  constexpr auto seconds = static_cast<rlim_t>(runtime::patienceWithCompiling) + 1;
  const rlimit most{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &most);
  constexpr int steps = 5; // below the program
  static_cast<void>(::nice(steps));
  std::thread(endWithWhoAsked).detach();
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  const auto orders = runtime::parseCompileOrders(text);
  const OpenCl cl;
  const bool isAll = orders && cl.loader && std::ranges::all_of(*orders, [&](const auto& order) {
                       return compile(cl, order);
                     });
  const std::string_view answer = isAll ? runtime::allCompiled : runtime::notCompiled;
  const bool isTold = ::write(STDOUT_FILENO, answer.data(), answer.size()) >= 0;
  ::_exit(isAll && isTold ? 0 : 1); // what a kernel left of the process may not end well
}

} // namespace libsplit::tools
