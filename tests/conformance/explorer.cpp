#include "tests/conformance/explorer.h"

#include <CL/cl_icd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace conformance {

std::atomic<int> called = 0;

namespace {

constexpr const char* source = R"(
kernel void advance(global uint* at, uint number) {
  const size_t i = get_global_id(0);
  at[i] = at[i] * 3 + number + (uint)i;
}
kernel void look(read_only image2d_t from, sampler_t how, global uint* to) {
  to[get_global_id(0)] = read_imageui(from, how, (int2)(get_global_id(0), 1)).x;
}
)";

/// What PoCL's commands hold until some time after their end, and its buffers of their last one.
const std::set<cl_uint> heldByCommands = {CL_MEM_REFERENCE_COUNT, CL_KERNEL_REFERENCE_COUNT,
                                          CL_QUEUE_REFERENCE_COUNT, CL_EVENT_REFERENCE_COUNT};

void check(cl_int error, const char* what) {
  if (error != CL_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + std::to_string(error));
}

std::uint64_t hash(const void* bytes, std::size_t size) {
  std::uint64_t result = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < size; ++i)
    result = (result ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
  return result;
}

std::string hex(std::uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

} // namespace

Common::Common(unsigned platformNumber) {
  std::vector<cl_platform_id> platforms(platformNumber + 1);
  cl_uint count = 0;
  check(calls.clGetPlatformIDs(platformNumber + 1, platforms.data(), &count), "clGetPlatformIDs");
  check(count > platformNumber ? CL_SUCCESS : CL_INVALID_PLATFORM, "the platform");
  platform = platforms[platformNumber];
  cl_device_id devices[2] = {};
  check(calls.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count), "clGetDeviceIDs");
  device = devices[count > 1 ? 1 : 0]; // of PoCL's two, the one with threads of its own
  cl_int error = CL_SUCCESS;
  context = calls.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  program = calls.clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr,
                                            &error);
  check(error, "clCreateProgramWithSource");
  check(calls.clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", nullptr, nullptr),
        "clBuildProgram");
  std::size_t size = 0;
  check(calls.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
        "CL_PROGRAM_BINARY_SIZES");
  binary.resize(size);
  unsigned char* to = binary.data();
  check(calls.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr),
        "CL_PROGRAM_BINARIES");
  // What an ICD loader finds behind each handle.
  const auto* table = *reinterpret_cast<cl_icd_dispatch* const*>(platform);
#define OPENCL_API(result, name, parameters, arguments)                                            \
  if (!table->name)                                                                                \
    missing.insert(#name);
#include "libsplit/api.inc"
#undef OPENCL_API
}

World::World(Common& forAll, bool split) : common(forAll), host(16384), split_(split) {
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<unsigned char>(i * 7 + i / 256);
  cl_int error = CL_SUCCESS;
  queue =
      calls.clCreateCommandQueue(common.context, common.device, CL_QUEUE_PROFILING_ENABLE, &error);
  check(error, "clCreateCommandQueue");
  kernel = freshKernel();
  const cl_uint number = 5;
  calls.clSetKernelArg(kernel, 1, sizeof number, &number);
  a = freshBuffer();
  b = freshBuffer();
  const cl_buffer_region half{items * 2, items * 2};
  part = calls.clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);
  check(error, "clCreateSubBuffer");
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 16;
  image = calls.clCreateImage(common.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format,
                              &description, host.data(), &error);
  sampler =
      calls.clCreateSampler(common.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
  shared = calls.clSVMAlloc(common.context, CL_MEM_READ_WRITE, items * 4, 0);
  if (shared)
    std::memset(shared, 3, items * 4);
  calls.clSetKernelArg(kernel, 0, sizeof a, &a);
  check(calls.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &over), "a marker");
  calls.clFinish(queue);
  if (split_)
    launch(a); // still under way when the call is made
  auto name = [&](const void* handle, const char* text) {
    if (handle)
      names_[reinterpret_cast<std::uintptr_t>(handle)] = text;
  };
  name(common.platform, "the platform");
  name(common.device, "the device");
  name(common.context, "the context");
  name(common.program, "the program");
  name(queue, "the queue");
  name(kernel, "the kernel");
  name(a, "a");
  name(b, "b");
  name(part, "part");
  name(image, "the image");
  name(shared, "shared memory");
  name(host.data(), "the host's bytes");
}

void World::openGates() {
  for (cl_event gate : gates_) {
    cl_int status = CL_COMPLETE;
    calls.clGetEventInfo(gate, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (status > CL_COMPLETE)
      calls.clSetUserEventStatus(gate, CL_COMPLETE);
  }
}

World::~World() {
  openGates(); // the call may never have been made
  for (cl_event gate : gates_)
    calls.clReleaseEvent(gate);
  calls.clFinish(queue);
  if (shared)
    calls.clSVMFree(common.context, shared);
  calls.clReleaseEvent(over);
  if (image)
    calls.clReleaseMemObject(image);
  if (sampler)
    calls.clReleaseSampler(sampler);
  calls.clReleaseMemObject(part);
  for (cl_mem each : fresh_)
    calls.clReleaseMemObject(each);
  calls.clReleaseKernel(kernel);
  calls.clReleaseCommandQueue(queue);
}

void World::launch(cl_mem on) {
  const std::size_t global = items, local = 64;
  calls.clSetKernelArg(kernel, 0, sizeof on, &on);
  check(
      calls.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr),
      "a launch");
}

cl_mem World::freshBuffer() {
  cl_int error = CL_SUCCESS;
  cl_mem made = calls.clCreateBuffer(common.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     items * 4, host.data(), &error);
  check(error, "clCreateBuffer");
  fresh_.push_back(made);
  // For calls that release it.
  calls.clRetainMemObject(made);
  if (split_) {
    launch(made);
    calls.clSetKernelArg(kernel, 0, sizeof made, a ? &a : &made);
  }
  return made;
}

cl_program World::freshProgram() {
  cl_int error = CL_SUCCESS;
  cl_program made = calls.clCreateProgramWithSource(
      common.context, 1, const_cast<const char**>(&source), nullptr, &error);
  check(error, "clCreateProgramWithSource");
  return made;
}

cl_kernel World::freshKernel() {
  cl_int error = CL_SUCCESS;
  cl_kernel made = calls.clCreateKernel(common.program, "advance", &error);
  check(error, "clCreateKernel");
  return made;
}

cl_event World::freshUserEvent() {
  cl_int error = CL_SUCCESS;
  cl_event made = calls.clCreateUserEvent(common.context, &error);
  check(error, "clCreateUserEvent");
  gates_.push_back(made);
  calls.clRetainEvent(made);
  check(calls.clEnqueueMarkerWithWaitList(queue, 1, &made, nullptr), "a marker");
  const std::size_t global = items, local = 64;
  check(
      calls.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr),
      "a launch");
  return made;
}

void* World::mapped(cl_mem buffer) {
  cl_int error = CL_SUCCESS;
  void* pointer = calls.clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           items * 4, 0, nullptr, nullptr, &error);
  check(error, "clEnqueueMapBuffer");
  return pointer;
}

std::string World::describe(const void* bytes, std::size_t size) const {
  std::string text;
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i, std::min<std::size_t>(8, size - i));
    auto known = names_.find(word);
    text += known != names_.end()                              ? "[" + known->second + "]"
            : word >= 0x500000000000 && word <= 0x7fffffffffff ? std::string("[an address]")
                                                               : hex(word);
    text += size - i > 8 ? " " : "";
  }
  return text.size() <= 200 ? text : "hash " + hex(hash(text.data(), text.size()));
}

std::string World::settle() {
  std::string text;
  cl_event event = *this->event();
  openGates();
  for (auto [of, pointer] : maps_)
    calls.clEnqueueUnmapMemObject(queue, of, pointer, 0, nullptr, nullptr);
  calls.clFinish(queue);
  if (event) {
    cl_int status = 1;
    cl_command_type type = 0;
    for (int i = 0; i < 2000 && status > 0; ++i) {
      calls.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                           nullptr);
      if (status > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    calls.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    text += ", event of " + hex(type) + " ends with " + std::to_string(status);
    calls.clReleaseEvent(event);
    *this->event() = nullptr;
  }
  text += ", answers " + describe(out, sizeof out);
  // The kernel as the call left it, then all bytes.
  const std::size_t global = items, local = 64;
  const cl_int launched =
      calls.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr);
  text += ", a launch " + std::to_string(launched) + ", bytes";
  std::vector<unsigned char> bytes(items * 4);
  for (cl_mem each : {a, b}) {
    calls.clEnqueueReadBuffer(queue, each, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                              nullptr);
    text += " " + hex(hash(bytes.data(), bytes.size()));
  }
  if (image) {
    const std::size_t origin[3] = {0, 0, 0}, region[3] = {16, 16, 1};
    calls.clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, bytes.data(), 0, nullptr,
                             nullptr);
    text += " " + hex(hash(bytes.data(), 1024));
  }
  text += " " + hex(hash(host.data(), host.size()));
  return text;
}

bool Explorer::wanted(const std::string& name) {
  if ((!only_.empty() && !only_.contains(name)) || without_.contains(name))
    return false;
  if (common_.missing.contains(name)) {
    begin(name, "valid");
    end("the driver has none");
    return false;
  }
  return true;
}

void Explorer::begin(const std::string& name, const std::string& what) {
  std::printf("%s\t%s\t", name.c_str(), what.c_str());
  std::fflush(stdout);
}
void Explorer::end(const std::string& result) {
  std::printf("%s\n", result.c_str());
}

std::string Explorer::callbacks(bool expected) {
  for (int i = 0; i < 300 && expected && called == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::to_string(called.load()) + " callbacks";
}

void Explorer::ask(const std::string& name, const Question& question, cl_uint first, cl_uint last,
                   const std::set<cl_uint>& unsteady) {
  if (!wanted(name))
    return;
  World world(common_, split_);
  for (cl_uint which = first; which <= last; ++which) {
    const std::string what = hex(which);
    if (skipped_.contains(name + "/" + what))
      continue;
    begin(name, what);
    std::vector<unsigned char> value(65536);
    std::size_t size = 0, again = 0;
    const cl_int asked = question(world, which, 0, nullptr, &size);
    const cl_int answered = question(world, which, value.size(), value.data(), &again);
    std::string text = std::to_string(asked) + " " + std::to_string(answered);
    if (!unsteady.contains(which) && !(split_ && heldByCommands.contains(which)) &&
        answered == CL_SUCCESS)
      text += " " + std::to_string(size) + " " + std::to_string(again) + " " +
              world.describe(value.data(), again);
    if (answered == CL_SUCCESS && again > 1)
      text +=
          " too short " + std::to_string(question(world, which, again - 1, value.data(), nullptr));
    text += " no room " + std::to_string(question(world, which, 0, nullptr, nullptr));
    end(text);
  }
  world.settle();
}

void giveBack(cl_context object) {
  calls.clReleaseContext(object);
}
void giveBack(cl_command_queue object) {
  calls.clReleaseCommandQueue(object);
}
void giveBack(cl_mem object) {
  calls.clReleaseMemObject(object);
}
void giveBack(cl_sampler object) {
  calls.clReleaseSampler(object);
}
void giveBack(cl_program object) {
  calls.clReleaseProgram(object);
}
void giveBack(cl_kernel object) {
  calls.clReleaseKernel(object);
}
void giveBack(cl_event object) {
  calls.clReleaseEvent(object);
}

} // namespace conformance
