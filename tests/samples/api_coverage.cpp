// Every call that touches a buffer's bytes, made between launches of a kernel that works on the
// same buffer. The host repeats each step on a mirror; all bytes must agree after each.
//
// Each case runs as: launch, the call, launch, read everything, compare. So the call meets the
// buffer in the state a launch left it in, and a launch meets what the call left.
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/api_coverage.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

namespace {

using sample::check;
using sample::require;

constexpr std::size_t itemBytes = sizeof(cl_int);

/// A buffer, the kernel that changes it, and what its bytes must be.
class Case {
public:
  Case(sample::Sample& sample, cl_command_queue onQueue, cl_kernel withKernel)
      : s(sample), queue(onQueue), n(sample.options().size), expected(n), advance(withKernel) {
    std::iota(expected.begin(), expected.end(), 7);
    buffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * itemBytes, expected.data());
  }

  void launch() { launchOn(buffer, 0, n); }
  /// The kernel over `count` items of `memory`, whose first is item `first` of this buffer.
  void launchOn(cl_mem memory, std::size_t first, std::size_t count) {
    check(clSetKernelArg(advance, 0, sizeof memory, &memory), "clSetKernelArg");
    sample::setArgument(advance, 1, static_cast<cl_int>(count));
    sample::launch(queue, advance, {sample::roundUp(count, 64)}, {64});
    for (std::size_t i = 0; i < count; ++i)
      expected[first + i] = static_cast<cl_int>(static_cast<cl_uint>(expected[first + i]) * 3U + i);
  }

  void compare(const char* when) {
    std::vector<cl_int> actual(n);
    sample::read(queue, buffer, actual);
    for (std::size_t i = 0; i < n; ++i)
      if (actual[i] != expected[i])
        throw sample::Failure(std::string(when) + ": item " + std::to_string(i) + " is " +
                              std::to_string(actual[i]) + ", expected " +
                              std::to_string(expected[i]));
    s.output(actual);
  }

  sample::Sample& s;
  cl_command_queue queue;
  std::size_t n;
  std::vector<cl_int> expected;
  cl_kernel advance;
  sample::Memory buffer;
};

std::vector<cl_int> numbers(std::size_t count, cl_int first) {
  std::vector<cl_int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void writeBlocking(Case& c) {
  const auto values = numbers(c.n / 2, -1000);
  check(clEnqueueWriteBuffer(c.queue, c.buffer, CL_TRUE, c.n / 4 * itemBytes,
                             values.size() * itemBytes, values.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  std::copy(values.begin(), values.end(), c.expected.begin() + c.n / 4);
}

void writeUnaligned(Case& c) {
  // One byte in the middle of an item, and an empty-handed neighbour.
  const char byte = 0x5A;
  check(clEnqueueWriteBuffer(c.queue, c.buffer, CL_FALSE, c.n / 2 * itemBytes + 1, 1, &byte, 0,
                             nullptr, nullptr),
        "clEnqueueWriteBuffer");
  check(clFinish(c.queue), "clFinish");
  std::memcpy(reinterpret_cast<char*>(&c.expected[c.n / 2]) + 1, &byte, 1);
}

void writeAfterEvent(Case& c) {
  const auto values = numbers(c.n, 5);
  sample::Event done;
  check(clEnqueueWriteBuffer(c.queue, c.buffer, CL_FALSE, 0, c.n * itemBytes, values.data(), 0,
                             nullptr, done.out()),
        "clEnqueueWriteBuffer");
  check(clFlush(c.queue), "clFlush");
  check(clWaitForEvents(1, done.address()), "clWaitForEvents");
  c.expected = values;
}

void readPart(Case& c) {
  std::vector<cl_int> part(c.n / 3);
  sample::Event done;
  check(clEnqueueReadBuffer(c.queue, c.buffer, CL_FALSE, c.n / 3 * itemBytes,
                            part.size() * itemBytes, part.data(), 0, nullptr, done.out()),
        "clEnqueueReadBuffer");
  check(clWaitForEvents(1, done.address()), "clWaitForEvents");
  require(std::equal(part.begin(), part.end(), c.expected.begin() + c.n / 3), "wrong part read");
}

void copyFromOther(Case& c) {
  Case other(c.s, c.queue, c.advance);
  other.launch();
  sample::check(clEnqueueCopyBuffer(c.queue, other.buffer, c.buffer, c.n / 8 * itemBytes,
                                    c.n / 2 * itemBytes, c.n / 4 * itemBytes, 0, nullptr, nullptr),
                "clEnqueueCopyBuffer");
  std::copy_n(other.expected.begin() + c.n / 8, c.n / 4, c.expected.begin() + c.n / 2);
  other.compare("source of a copy");
}

void copyWithin(Case& c) {
  check(clEnqueueCopyBuffer(c.queue, c.buffer, c.buffer, 0, c.n / 2 * itemBytes,
                            c.n / 2 * itemBytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  std::copy_n(c.expected.begin(), c.n / 2, c.expected.begin() + c.n / 2);
}

void fill(Case& c) {
  const cl_int4 wide = {{1, -2, 3, -4}};
  check(clEnqueueFillBuffer(c.queue, c.buffer, &wide, sizeof wide, c.n / 4 * itemBytes,
                            c.n / 2 * itemBytes, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  for (std::size_t i = 0; i < c.n / 2; ++i)
    c.expected[c.n / 4 + i] = wide.s[i % 4];
  const unsigned char narrow = 0x11;
  check(clEnqueueFillBuffer(c.queue, c.buffer, &narrow, 1, 2, 5, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  std::memset(reinterpret_cast<char*>(c.expected.data()) + 2, narrow, 5);
}

/// A window of 64-item rows: rows [rows/4, 3 rows/4), items [8, 40) of each.
struct Window {
  explicit Window(std::size_t n) : rows(n / 64 / 2), firstRow(n / 64 / 4) {}
  static constexpr std::size_t pitch = 64;
  static constexpr std::size_t first = 8;
  static constexpr std::size_t width = 32;
  std::size_t rows;
  std::size_t firstRow;

  std::size_t origin[3] = {first * itemBytes, firstRow, 0};
  std::size_t region[3] = {width * itemBytes, rows, 1};
  std::size_t index(std::size_t row, std::size_t column) const {
    return (firstRow + row) * pitch + first + column;
  }
};

void writeRect(Case& c) {
  const Window w(c.n);
  const std::size_t hostOrigin[3] = {0, 0, 0};
  const auto values = numbers(w.rows * Window::width, 99);
  check(clEnqueueWriteBufferRect(c.queue, c.buffer, CL_TRUE, w.origin, hostOrigin, w.region,
                                 Window::pitch * itemBytes, 0, 0, 0, values.data(), 0, nullptr,
                                 nullptr),
        "clEnqueueWriteBufferRect");
  for (std::size_t i = 0; i < values.size(); ++i)
    c.expected[w.index(i / Window::width, i % Window::width)] = values[i];
}

void readRect(Case& c) {
  const Window w(c.n);
  const std::size_t hostOrigin[3] = {0, 0, 0};
  std::vector<cl_int> values(w.rows * Window::width);
  check(clEnqueueReadBufferRect(c.queue, c.buffer, CL_TRUE, w.origin, hostOrigin, w.region,
                                Window::pitch * itemBytes, 0, 0, 0, values.data(), 0, nullptr,
                                nullptr),
        "clEnqueueReadBufferRect");
  for (std::size_t i = 0; i < values.size(); ++i)
    require(values[i] == c.expected[w.index(i / Window::width, i % Window::width)],
            "wrong item in the rect read");
}

void copyRect(Case& c) {
  Case other(c.s, c.queue, c.advance);
  other.launch();
  const Window w(c.n);
  check(clEnqueueCopyBufferRect(c.queue, other.buffer, c.buffer, w.origin, w.origin, w.region,
                                Window::pitch * itemBytes, 0, Window::pitch * itemBytes, 0, 0,
                                nullptr, nullptr),
        "clEnqueueCopyBufferRect");
  for (std::size_t row = 0; row < w.rows; ++row)
    for (std::size_t column = 0; column < Window::width; ++column)
      c.expected[w.index(row, column)] = other.expected[w.index(row, column)];
}

cl_int* map(Case& c, cl_mem memory, cl_map_flags flags, std::size_t first, std::size_t count) {
  cl_int error = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(c.queue, memory, CL_TRUE, flags, first * itemBytes,
                                    count * itemBytes, 0, nullptr, nullptr, &error);
  check(error, "clEnqueueMapBuffer");
  return static_cast<cl_int*>(mapped);
}

void unmap(Case& c, cl_mem memory, void* mapped) {
  check(clEnqueueUnmapMemObject(c.queue, memory, mapped, 0, nullptr, nullptr),
        "clEnqueueUnmapMemObject");
}

void mapRead(Case& c) {
  cl_int* mapped = map(c, c.buffer, CL_MAP_READ, c.n / 3, c.n / 2);
  require(std::equal(mapped, mapped + c.n / 2, c.expected.begin() + c.n / 3), "wrong map");
  unmap(c, c.buffer, mapped);
}

void mapReadAndWrite(Case& c) {
  cl_int* mapped = map(c, c.buffer, CL_MAP_READ | CL_MAP_WRITE, c.n / 4, c.n / 2);
  for (std::size_t i = 0; i < c.n / 2; i += 3)
    c.expected[c.n / 4 + i] = mapped[i] = mapped[i] / 2 - 1;
  unmap(c, c.buffer, mapped);
}

void mapInvalidating(Case& c) {
  cl_int* mapped = map(c, c.buffer, CL_MAP_WRITE_INVALIDATE_REGION, c.n / 5, c.n / 5);
  for (std::size_t i = 0; i < c.n / 5; ++i)
    c.expected[c.n / 5 + i] = mapped[i] = static_cast<cl_int>(i);
  unmap(c, c.buffer, mapped);
}

void mapTwice(Case& c) {
  cl_int error = CL_SUCCESS;
  sample::Event ready;
  auto* low = static_cast<cl_int*>(clEnqueueMapBuffer(c.queue, c.buffer, CL_FALSE, CL_MAP_WRITE, 0,
                                                      c.n / 4 * itemBytes, 0, nullptr, ready.out(),
                                                      &error));
  check(error, "clEnqueueMapBuffer");
  cl_int* high = map(c, c.buffer, CL_MAP_READ, c.n / 2, c.n / 2);
  check(clWaitForEvents(1, ready.address()), "clWaitForEvents");
  cl_uint count = 0;
  check(clGetMemObjectInfo(c.buffer, CL_MEM_MAP_COUNT, sizeof count, &count, nullptr),
        "CL_MEM_MAP_COUNT");
  require(count == 2, "two mappings expected");
  require(std::equal(high, high + c.n / 2, c.expected.begin() + c.n / 2), "wrong second map");
  for (std::size_t i = 0; i < c.n / 4; ++i)
    c.expected[i] = low[i] = high[i] + 1;
  unmap(c, c.buffer, low);
  unmap(c, c.buffer, high);
}

void subBuffers(Case& c) {
  const std::size_t first = c.n / 4;
  const std::size_t count = c.n / 2;
  const cl_buffer_region region = {first * itemBytes, count * itemBytes};
  cl_int error = CL_SUCCESS;
  const sample::Memory part =
      clCreateSubBuffer(c.buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  check(error, "clCreateSubBuffer");

  c.launchOn(part, first, count);
  const auto values = numbers(100, 31);
  check(clEnqueueWriteBuffer(c.queue, part, CL_TRUE, 50 * itemBytes, 100 * itemBytes, values.data(),
                             0, nullptr, nullptr),
        "write to the sub-buffer");
  std::copy(values.begin(), values.end(), c.expected.begin() + first + 50);
  c.launch();
  c.launchOn(part, first, count);
  std::vector<cl_int> actual(count);
  sample::read(c.queue, part, actual);
  require(std::equal(actual.begin(), actual.end(), c.expected.begin() + first),
          "wrong bytes in the sub-buffer");

  c.launch();
  cl_int* mapped = map(c, part, CL_MAP_READ | CL_MAP_WRITE, 10, 20);
  for (std::size_t i = 0; i < 20; ++i)
    c.expected[first + 10 + i] = mapped[i] -= 4;
  unmap(c, part, mapped);

  cl_mem parent = nullptr;
  check(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, nullptr),
        "CL_MEM_ASSOCIATED_MEMOBJECT");
  require(parent == c.buffer, "the sub-buffer has another parent");
}

void migrate(Case& c) {
  check(clEnqueueMigrateMemObjects(c.queue, 1, c.buffer.address(), CL_MIGRATE_MEM_OBJECT_HOST, 0,
                                   nullptr, nullptr),
        "clEnqueueMigrateMemObjects to the host");
  c.launch();
  check(clEnqueueMigrateMemObjects(c.queue, 1, c.buffer.address(), 0, 0, nullptr, nullptr),
        "clEnqueueMigrateMemObjects");
}

sample::Memory makeImage(Case& c, cl_mem_object_type type, std::size_t width, std::size_t height,
                         cl_mem buffer) {
  const cl_image_format format = {CL_R, CL_SIGNED_INT32};
  cl_image_desc description = {};
  description.image_type = type;
  description.image_width = width;
  description.image_height = height;
  description.mem_object = buffer;
  cl_int error = CL_SUCCESS;
  sample::Memory image =
      clCreateImage(c.s.context(), CL_MEM_READ_WRITE, &format, &description, nullptr, &error);
  check(error, "clCreateImage");
  return image;
}

void throughImage(Case& c) {
  const std::size_t rows = c.n / 2 / 64;
  const auto image = makeImage(c, CL_MEM_OBJECT_IMAGE2D, 64, rows, nullptr);
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {64, rows, 1};
  check(clEnqueueCopyBufferToImage(c.queue, c.buffer, image, c.n / 4 * itemBytes, origin, region, 0,
                                   nullptr, nullptr),
        "clEnqueueCopyBufferToImage");
  const auto copied =
      std::vector<cl_int>(c.expected.begin() + c.n / 4, c.expected.begin() + c.n / 4 + rows * 64);
  c.launch();
  check(
      clEnqueueCopyImageToBuffer(c.queue, image, c.buffer, origin, region, 0, 0, nullptr, nullptr),
      "clEnqueueCopyImageToBuffer");
  std::copy(copied.begin(), copied.end(), c.expected.begin());
}

/// An image whose texels are the buffer's bytes: what a kernel wrote must be there.
void imageOverBuffer(Case& c) {
  const auto image = makeImage(c, CL_MEM_OBJECT_IMAGE1D_BUFFER, c.n, 0, c.buffer);
  const auto program = c.s.program(sample::apiCoverageSource);
  const auto copyTexels = sample::kernel(program, "copy_texels");
  const auto out = c.s.buffer(CL_MEM_READ_WRITE, c.n * itemBytes);
  sample::setArguments(copyTexels, image, out);
  sample::launch(c.queue, copyTexels, {c.n});
  std::vector<cl_int> texels(c.n);
  sample::read(c.queue, out, texels);
  require(texels == c.expected, "wrong texels in the image over the buffer");
}

void barriersAndMarkers(Case& c) {
  sample::Event event;
  check(clEnqueueMarkerWithWaitList(c.queue, 0, nullptr, event.out()), "marker");
  check(clEnqueueBarrierWithWaitList(c.queue, 1, event.address(), nullptr), "barrier");
  c.launch();
  sample::Event old;
  check(clEnqueueMarker(c.queue, old.out()), "clEnqueueMarker");
  check(clEnqueueBarrier(c.queue), "clEnqueueBarrier");
  c.launch();
  check(clWaitForEvents(1, old.address()), "clWaitForEvents");
}

void CL_CALLBACK noteRelease(cl_mem, void* released) {
  *static_cast<std::atomic<bool>*>(released) = true;
}

void hostPointer(Case& c) {
  static std::atomic<bool> released;
  released = false;
  Case other(c.s, c.queue, c.advance);
  std::vector<cl_int> memory = numbers(c.n, 3);
  other.buffer = c.s.buffer(CL_MEM_USE_HOST_PTR, c.n * itemBytes, memory.data());
  other.expected = memory;
  check(clSetMemObjectDestructorCallback(other.buffer, noteRelease, &released),
        "clSetMemObjectDestructorCallback");
  other.launch();
  void* host = nullptr;
  check(clGetMemObjectInfo(other.buffer, CL_MEM_HOST_PTR, sizeof host, &host, nullptr),
        "CL_MEM_HOST_PTR");
  require(host == memory.data(), "the buffer forgot its host pointer");
  cl_int* mapped = map(other, other.buffer, CL_MAP_READ, 0, c.n);
  require(mapped == memory.data(), "the map of a USE_HOST_PTR buffer lies elsewhere");
  require(std::equal(memory.begin(), memory.end(), other.expected.begin()),
          "the host's memory lacks what the kernel wrote");
  unmap(other, other.buffer, mapped);
  other.launch();
  other.compare("USE_HOST_PTR");
  other.buffer.reset();
  check(clFinish(c.queue), "clFinish");
  // A driver may delete the object on a thread of its own.
  for (int i = 0; i < 200 && !released; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  require(released, "the destructor callback did not come");
}

struct NativeArguments {
  cl_int* data;
  std::size_t n;
};

void CL_CALLBACK addOne(void* raw) {
  const auto* arguments = static_cast<NativeArguments*>(raw);
  for (std::size_t i = 0; i < arguments->n; ++i)
    ++arguments->data[i];
}

void nativeKernel(Case& c) {
  cl_device_exec_capabilities capabilities = 0;
  check(clGetDeviceInfo(c.s.device(), CL_DEVICE_EXECUTION_CAPABILITIES, sizeof capabilities,
                        &capabilities, nullptr),
        "CL_DEVICE_EXECUTION_CAPABILITIES");
  if (!(capabilities & CL_EXEC_NATIVE_KERNEL))
    return;
  NativeArguments arguments{nullptr, c.n};
  const void* where = &arguments.data;
  check(clEnqueueNativeKernel(c.queue, addOne, &arguments, sizeof arguments, 1, c.buffer.address(),
                              &where, 0, nullptr, nullptr),
        "clEnqueueNativeKernel");
  for (cl_int& value : c.expected)
    ++value;
}

void bufferWithProperties(Case& c) {
  cl_int error = CL_SUCCESS;
  const sample::Memory other = clCreateBufferWithProperties(
      c.s.context(), nullptr, CL_MEM_COPY_HOST_PTR, c.n * itemBytes, c.expected.data(), &error);
  if (error == CL_INVALID_OPERATION)
    return; // a device of before 3.0
  check(error, "clCreateBufferWithProperties");
  c.launchOn(other, 0, c.n);
  check(clEnqueueCopyBuffer(c.queue, other, c.buffer, 0, 0, c.n * itemBytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

void withoutHostAccess(Case& c) {
  const sample::Memory other = c.s.buffer(CL_MEM_HOST_NO_ACCESS, c.n * itemBytes);
  check(clEnqueueCopyBuffer(c.queue, c.buffer, other, 0, 0, c.n * itemBytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  c.launchOn(other, 0, c.n);
  check(clEnqueueCopyBuffer(c.queue, other, c.buffer, 0, 0, c.n * itemBytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

void retained(Case& c) {
  check(clRetainMemObject(c.buffer), "clRetainMemObject");
  c.launch();
  check(clReleaseMemObject(c.buffer), "clReleaseMemObject");
  c.launch();
}

void svm(Case& c) {
  cl_device_svm_capabilities capabilities = 0;
  const cl_int known = clGetDeviceInfo(c.s.device(), CL_DEVICE_SVM_CAPABILITIES,
                                       sizeof capabilities, &capabilities, nullptr);
  if (known != CL_SUCCESS || !(capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER))
    return;
  const std::size_t bytes = c.n * itemBytes;
  auto* memory = static_cast<cl_int*>(clSVMAlloc(c.s.context(), CL_MEM_READ_WRITE, bytes, 0));
  require(memory, "clSVMAlloc");
  {
    const auto program = c.s.program(sample::apiCoverageSource);
    const auto advance = sample::kernel(program, "advance");
    check(
        clEnqueueSVMMemcpy(c.queue, CL_TRUE, memory, c.expected.data(), bytes, 0, nullptr, nullptr),
        "clEnqueueSVMMemcpy");
    const cl_int pattern = 17;
    check(clEnqueueSVMMemFill(c.queue, memory, &pattern, sizeof pattern, bytes / 2, 0, nullptr,
                              nullptr),
          "clEnqueueSVMMemFill");
    std::fill_n(c.expected.begin(), c.n / 2, pattern);
    check(clSetKernelArgSVMPointer(advance, 0, memory), "clSetKernelArgSVMPointer");
    sample::setArgument(advance, 1, static_cast<cl_int>(c.n));
    sample::launch(c.queue, advance, {c.n}, {64});
    for (std::size_t i = 0; i < c.n; ++i)
      c.expected[i] = static_cast<cl_int>(static_cast<cl_uint>(c.expected[i]) * 3U + i);
    check(clEnqueueSVMMap(c.queue, CL_TRUE, CL_MAP_READ, memory, bytes, 0, nullptr, nullptr),
          "clEnqueueSVMMap");
    require(std::equal(c.expected.begin(), c.expected.end(), memory), "wrong bytes in SVM");
    check(clEnqueueWriteBuffer(c.queue, c.buffer, CL_TRUE, 0, bytes, memory, 0, nullptr, nullptr),
          "write from SVM");
    check(clEnqueueSVMUnmap(c.queue, memory, 0, nullptr, nullptr), "clEnqueueSVMUnmap");
    check(clFinish(c.queue), "clFinish");
  }
  clSVMFree(c.s.context(), memory);
}

void apiCoverage(sample::Sample& s) {
  const auto queue = s.queue();
  const auto program = s.program(sample::apiCoverageSource);
  const auto advance = sample::kernel(program, "advance");
  const struct {
    const char* name;
    void (*call)(Case&);
  } cases[] = {
      {"blocking write", writeBlocking},
      {"unaligned write", writeUnaligned},
      {"write with event", writeAfterEvent},
      {"read of a part", readPart},
      {"copy from another buffer", copyFromOther},
      {"copy within the buffer", copyWithin},
      {"fill", fill},
      {"rect write", writeRect},
      {"rect read", readRect},
      {"rect copy", copyRect},
      {"map for reading", mapRead},
      {"map for reading and writing", mapReadAndWrite},
      {"invalidating map", mapInvalidating},
      {"two maps at once", mapTwice},
      {"sub-buffers", subBuffers},
      {"migration", migrate},
      {"buffer to image and back", throughImage},
      {"image over the buffer", imageOverBuffer},
      {"barriers and markers", barriersAndMarkers},
      {"host pointer", hostPointer},
      {"native kernel", nativeKernel},
      {"buffer with properties", bufferWithProperties},
      {"buffer without host access", withoutHostAccess},
      {"retain and release", retained},
      {"shared virtual memory", svm},
  };
  for (const auto& one : cases) {
    Case c(s, queue, advance);
    c.launch();
    one.call(c);
    c.launch();
    c.compare(one.name);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 1}, apiCoverage);
}
