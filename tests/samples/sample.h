// What the samples share: options, the choice of the device, handles that release themselves, a
// reproducible source of input, and the dump that lets two runs be compared byte for byte.
//
// The samples are plain OpenCL programs. Nothing here knows of libsplit.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sample {

/// What a sample does when the command line does not say.
struct Defaults {
  std::size_t size = 0;    ///< elements, or the side of a square; each sample says which
  unsigned iterations = 1; ///< launches, steps: each sample says which
  std::string variant{};   ///< of the algorithm; empty if the sample has but one
  std::uint64_t seed = 0;  ///< of the input, where the sample draws it by `Sample::randomFloats`
};

struct Options : Defaults {
  unsigned platform = 0;
  unsigned device = 0;
  unsigned together = 1; ///< launches or steps between two waits of the host
  bool checks = true;    ///< `Sample::verify` does what it is told
  std::string dump;      ///< file for the raw bytes of every output, empty: none
  std::string times;     ///< file for the seconds of every timed launch, empty: none
  std::string result;    ///< file for a line of JSON that sums the run up, "-": stdout, empty: none
};

/// Thrown when the sample's own check fails; `run` prints it and answers exit code 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The spec's name of an error code, or its number.
std::string errorName(cl_int code);

/// Throws Failure unless `code` is CL_SUCCESS.
void check(cl_int code, const char* what);
/// Throws Failure unless `code` is `expected`.
void checkCode(cl_int code, cl_int expected, const char* what);
void require(bool condition, const std::string& what);
/// One of an event's profiling times.
cl_ulong moment(cl_event event, cl_profiling_info which);

/// Owns one reference of an OpenCL object.
template <typename T, cl_int (*release)(T)> class Handle {
public:
  Handle() = default;
  Handle(T object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() { reset(); }

  void reset() {
    if (object_)
      release(std::exchange(object_, nullptr));
  }
  operator T() const { return object_; }
  const T* address() const { return &object_; }
  /// For calls that hand a new object out through a pointer. Releases the old one.
  T* out() {
    reset();
    return &object_;
  }

private:
  T object_ = nullptr;
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Program = Handle<cl_program, clReleaseProgram>;
using Kernel = Handle<cl_kernel, clReleaseKernel>;
using Memory = Handle<cl_mem, clReleaseMemObject>;
using Event = Handle<cl_event, clReleaseEvent>;
using Sampler = Handle<cl_sampler, clReleaseSampler>;

/// Waits in the end for all that a queue was given: declared behind memory that the driver reads or
/// writes until then, which goes after it, also where a call fails.
class FinishesFirst {
public:
  explicit FinishesFirst(cl_command_queue queue) : queue_(queue) {}
  FinishesFirst(const FinishesFirst&) = delete;
  ~FinishesFirst() { clFinish(queue_); }

private:
  cl_command_queue queue_;
};

/// Of a program that was built for one device.
std::vector<unsigned char> binaryOf(cl_program program);

/// A device with its context, and the files that the run leaves behind.
class Sample {
public:
  explicit Sample(const Options& options);
  ~Sample();
  Sample(const Sample&) = delete;

  const Options& options() const { return options_; }
  cl_platform_id platform() const { return platform_; }
  cl_device_id device() const { return device_; }
  cl_context context() const { return context_; }

  bool hasImages() const;
  /// Whether the last work-groups of an NDRange may be smaller.
  bool hasUnevenGroups() const;
  Queue queue(cl_command_queue_properties properties = 0) const;
  Program unbuiltProgram(const std::string& source) const;
  /// Built for the device; on failure the build log is part of the exception.
  Program program(const std::string& source, const char* buildOptions = "") const;
  /// Not built yet.
  Program fromBinary(const std::vector<unsigned char>& binary) const;
  Memory buffer(cl_mem_flags flags, std::size_t bytes, void* host = nullptr) const;
  /// A buffer with a copy of `values`.
  template <typename T>
  Memory copyOf(const std::vector<T>& values, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
    return buffer(flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                  const_cast<T*>(values.data())); // is only read
  }
  template <typename T> Memory array(std::size_t count) const {
    return buffer(CL_MEM_READ_WRITE, count * sizeof(T));
  }

  /// As the functions of these names, of the seed that the command line gave.
  std::uint64_t randomBits(std::uint64_t index, std::uint64_t stream = 0) const;
  float randomFloat(std::uint64_t index, float low, float high, std::uint64_t stream = 0) const;
  std::vector<float> randomFloats(std::size_t count, float low, float high,
                                  std::uint64_t stream = 0) const;

  /// Appends the bytes of one output to the dump.
  void output(const void* bytes, std::size_t count);
  template <typename T> void output(const std::vector<T>& values) {
    output(values.data(), values.size() * sizeof(T));
  }

  /// Runs `launch` (which must wait for its own end) and notes how long it took.
  void timed(const std::function<void()>& launch);
  /// The same for what `enqueue` puts into the queue, with a clFinish; if the command line says
  /// --together N, with one after each N of them, and noted is their mean. The last ones may then
  /// be under way yet, unnoted.
  void timed(cl_command_queue queue, const std::function<void()>& enqueue);

  /// Runs `check`, which throws if a result is wrong, unless the command line says --check off.
  void verify(const std::function<void()>& check) const;

  /// Writes what --result asks for.
  void finish(const std::string& program) const;

private:
  void note(std::chrono::duration<double> seconds);

  Options options_;
  cl_platform_id platform_ = nullptr;
  cl_device_id device_ = nullptr;
  Context context_;
  std::FILE* dump_ = nullptr;
  std::FILE* times_ = nullptr;
  std::vector<double> seconds_;                      // of each timed launch
  std::chrono::steady_clock::time_point since_;      // when the first of `enqueued_` began
  unsigned enqueued_ = 0;                            // by `timed`, and not waited for yet
  std::uint64_t outputHash_ = 0xCBF29CE484222325ULL; // FNV-1a
};

Kernel kernel(cl_program program, const char* name);

/// Local memory of a kernel argument.
struct Local {
  std::size_t bytes;
};

inline void setArgument(cl_kernel kernel, cl_uint index, Local local) {
  check(clSetKernelArg(kernel, index, local.bytes, nullptr), "clSetKernelArg (local)");
}
template <typename T, cl_int (*release)(T)>
void setArgument(cl_kernel kernel, cl_uint index, const Handle<T, release>& object) {
  check(clSetKernelArg(kernel, index, sizeof(T), object.address()), "clSetKernelArg (object)");
}
template <typename T> void setArgument(cl_kernel kernel, cl_uint index, const T& value) {
  check(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg (value)");
}

template <typename... Arguments>
void setArguments(cl_kernel kernel, const Arguments&... arguments) {
  cl_uint index = 0;
  (setArgument(kernel, index++, arguments), ...);
}

/// Up to three sizes of an NDRange; none stands for NULL.
using Sizes = std::vector<std::size_t>;

/// Enqueues the kernel over `global` and returns at once.
void launch(cl_command_queue queue, cl_kernel kernel, const Sizes& global, const Sizes& local = {},
            const Sizes& offset = {});

/// Blocking read of the whole vector from the start of the buffer.
template <typename T> void read(cl_command_queue queue, cl_mem buffer, std::vector<T>& values) {
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, values.size() * sizeof(T), values.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
}

/// Non-blocking write: `values` must live until the queue is finished.
template <typename T>
void write(cl_command_queue queue, cl_mem buffer, const std::vector<T>& values) {
  check(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, values.size() * sizeof(T), values.data(),
                             0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

/// Non-blocking read of the whole vector: it is the driver's until the queue is finished.
template <typename T>
void beginRead(cl_command_queue queue, cl_mem buffer, std::vector<T>& values) {
  check(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, values.size() * sizeof(T), values.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
}

/// The same numbers in every run: splitmix64 of (seed, index).
std::uint64_t randomBits(std::uint64_t index, std::uint64_t seed = 0);
/// In [low, high).
float randomFloat(std::uint64_t index, float low, float high, std::uint64_t seed = 0);
std::vector<float> randomFloats(std::size_t count, float low, float high, std::uint64_t seed = 0);

/// Calls body(begin, end) for pieces of [0, count) that are multiples of `step` long (but for the
/// last one), from all the machine's threads. Throws what a piece threw.
void inParallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body,
                std::size_t step = 1024);

/// Throws Failure where |actual - expected| > tolerance * max(1, |expected|).
void checkClose(double actual, double expected, double tolerance, const char* what,
                std::size_t index);

/// checkClose of actual[i] and expected(i), for all i or, if there are more than `most`, for that
/// many. `expected` is called by several threads.
template <typename T>
void checkAll(const std::vector<T>& actual, const std::function<double(std::size_t)>& expected,
              double tolerance, const char* what, std::size_t most = std::size_t(-1)) {
  const std::size_t count = std::min(actual.size(), most);
  inParallel(
      count,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
          const std::size_t i = count == actual.size() ? k : randomBits(k) % actual.size();
          checkClose(actual[i], expected(i), tolerance, what, i);
        }
      },
      64);
}
/// The same with a vector.
template <typename T>
void checkAll(const std::vector<T>& actual, const std::vector<double>& expected, double tolerance,
              const char* what) {
  checkAll(actual, [&](std::size_t i) { return expected[i]; }, tolerance, what);
}

std::size_t roundUp(std::size_t value, std::size_t multiple);

/// Runs the one of `variants` that the command line names; throws Failure with all names if there
/// is none such.
void choose(Sample& sample,
            std::initializer_list<std::pair<const char*, void (*)(Sample&)>> variants);

/// Parses the command line (--device P.D, --size N, --iterations N, --variant NAME, --seed N,
/// --together N, --check on|off, --dump FILE, --times FILE, --result FILE), runs `body`, prints its
/// failure. The exit code of the program: 0 right, 1 wrong, 2 usage.
int run(int argc, char** argv, Defaults defaults, void (*body)(Sample&));

} // namespace sample
