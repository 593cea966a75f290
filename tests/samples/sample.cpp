#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>
#include <iostream>
#include <string_view>
#include <thread>

namespace sample {

std::string errorName(cl_int code) {
  switch (code) {
#define SAMPLE_CODE(name)                                                                          \
  case name:                                                                                       \
    return #name;
    SAMPLE_CODE(CL_SUCCESS)
    SAMPLE_CODE(CL_DEVICE_NOT_FOUND)
    SAMPLE_CODE(CL_DEVICE_NOT_AVAILABLE)
    SAMPLE_CODE(CL_COMPILER_NOT_AVAILABLE)
    SAMPLE_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    SAMPLE_CODE(CL_OUT_OF_RESOURCES)
    SAMPLE_CODE(CL_OUT_OF_HOST_MEMORY)
    SAMPLE_CODE(CL_PROFILING_INFO_NOT_AVAILABLE)
    SAMPLE_CODE(CL_MEM_COPY_OVERLAP)
    SAMPLE_CODE(CL_BUILD_PROGRAM_FAILURE)
    SAMPLE_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    SAMPLE_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    SAMPLE_CODE(CL_COMPILE_PROGRAM_FAILURE)
    SAMPLE_CODE(CL_LINK_PROGRAM_FAILURE)
    SAMPLE_CODE(CL_INVALID_VALUE)
    SAMPLE_CODE(CL_INVALID_CONTEXT)
    SAMPLE_CODE(CL_INVALID_QUEUE_PROPERTIES)
    SAMPLE_CODE(CL_INVALID_COMMAND_QUEUE)
    SAMPLE_CODE(CL_INVALID_HOST_PTR)
    SAMPLE_CODE(CL_INVALID_MEM_OBJECT)
    SAMPLE_CODE(CL_INVALID_BINARY)
    SAMPLE_CODE(CL_INVALID_BUILD_OPTIONS)
    SAMPLE_CODE(CL_INVALID_PROGRAM)
    SAMPLE_CODE(CL_INVALID_PROGRAM_EXECUTABLE)
    SAMPLE_CODE(CL_INVALID_KERNEL_NAME)
    SAMPLE_CODE(CL_INVALID_KERNEL)
    SAMPLE_CODE(CL_INVALID_ARG_INDEX)
    SAMPLE_CODE(CL_INVALID_ARG_VALUE)
    SAMPLE_CODE(CL_INVALID_ARG_SIZE)
    SAMPLE_CODE(CL_INVALID_KERNEL_ARGS)
    SAMPLE_CODE(CL_INVALID_WORK_DIMENSION)
    SAMPLE_CODE(CL_INVALID_WORK_GROUP_SIZE)
    SAMPLE_CODE(CL_INVALID_WORK_ITEM_SIZE)
    SAMPLE_CODE(CL_INVALID_GLOBAL_OFFSET)
    SAMPLE_CODE(CL_INVALID_EVENT_WAIT_LIST)
    SAMPLE_CODE(CL_INVALID_EVENT)
    SAMPLE_CODE(CL_INVALID_OPERATION)
    SAMPLE_CODE(CL_INVALID_BUFFER_SIZE)
    SAMPLE_CODE(CL_INVALID_GLOBAL_WORK_SIZE)
#undef SAMPLE_CODE
  }
  return std::to_string(code);
}

void check(cl_int code, const char* what) {
  checkCode(code, CL_SUCCESS, what);
}

cl_ulong moment(cl_event event, cl_profiling_info which) {
  cl_ulong value = 0;
  check(clGetEventProfilingInfo(event, which, sizeof value, &value, nullptr),
        "clGetEventProfilingInfo");
  return value;
}

void checkCode(cl_int code, cl_int expected, const char* what) {
  if (code != expected)
    throw Failure(std::string(what) + ": " + errorName(code) + ", expected " + errorName(expected));
}

void require(bool condition, const std::string& what) {
  if (!condition)
    throw Failure(what);
}

namespace {

template <typename T, typename Get> std::vector<T> list(Get get, const char* what) {
  cl_uint count = 0;
  check(get(0, nullptr, &count), what);
  std::vector<T> items(count);
  check(get(count, items.data(), nullptr), what);
  return items;
}

std::FILE* openFile(const std::string& path) {
  if (path.empty())
    return nullptr;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  require(file, "can't write " + path);
  return file;
}

[[noreturn]] void usage(const char* program) {
  std::cerr << "usage: " << program
            << " [--device P.D] [--size N] [--iterations N] [--variant NAME] [--seed N]"
               " [--together N] [--check on|off]"
               " [--dump FILE] [--times FILE] [--result FILE]\n";
  std::exit(2);
}

Options parse(int argc, char** argv, Defaults defaults) {
  Options options;
  static_cast<Defaults&>(options) = defaults;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc)
      usage(argv[0]);
    const char* value = argv[i + 1];
    if (name == "--device") {
      if (std::sscanf(value, "%u.%u", &options.platform, &options.device) != 2)
        usage(argv[0]);
    } else if (name == "--size") {
      options.size = std::strtoull(value, nullptr, 10);
    } else if (name == "--iterations") {
      options.iterations = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    } else if (name == "--variant") {
      options.variant = value;
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--together") {
      options.together = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
      if (options.together == 0)
        usage(argv[0]);
    } else if (name == "--check") {
      options.checks = std::string_view(value) == "on";
      if (!options.checks && std::string_view(value) != "off")
        usage(argv[0]);
    } else if (name == "--dump") {
      options.dump = value;
    } else if (name == "--times") {
      options.times = value;
    } else if (name == "--result") {
      options.result = value;
    } else {
      usage(argv[0]);
    }
  }
  return options;
}

} // namespace

Sample::Sample(const Options& options) : options_(options) {
  const auto platforms =
      list<cl_platform_id>([](cl_uint n, cl_platform_id* ids,
                              cl_uint* count) { return clGetPlatformIDs(n, ids, count); },
                           "clGetPlatformIDs");
  require(options.platform < platforms.size(), "no such platform");
  platform_ = platforms[options.platform];

  const auto devices = list<cl_device_id>(
      [this](cl_uint n, cl_device_id* ids, cl_uint* count) {
        return clGetDeviceIDs(platform_, CL_DEVICE_TYPE_ALL, n, ids, count);
      },
      "clGetDeviceIDs");
  require(options.device < devices.size(), "no such device");
  device_ = devices[options.device];

  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform_), 0};
  cl_int error = CL_SUCCESS;
  context_ = clCreateContext(properties, 1, &device_, nullptr, nullptr, &error);
  check(error, "clCreateContext");

  dump_ = openFile(options.dump);
  times_ = openFile(options.times);
}

Sample::~Sample() {
  if (dump_)
    std::fclose(dump_);
  if (times_)
    std::fclose(times_);
}

bool Sample::hasImages() const {
  cl_bool supported = CL_FALSE;
  check(clGetDeviceInfo(device_, CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported, nullptr),
        "CL_DEVICE_IMAGE_SUPPORT");
  return supported != CL_FALSE;
}

bool Sample::hasUnevenGroups() const {
  cl_bool supported = CL_FALSE; // older devices don't know the question
  return clGetDeviceInfo(device_, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof supported,
                         &supported, nullptr) == CL_SUCCESS &&
         supported != CL_FALSE;
}

std::vector<unsigned char> binaryOf(cl_program program) {
  std::size_t size = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
        "CL_PROGRAM_BINARY_SIZES");
  std::vector<unsigned char> binary(size);
  unsigned char* where = binary.data();
  check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof where, &where, nullptr),
        "CL_PROGRAM_BINARIES");
  return binary;
}

Program Sample::fromBinary(const std::vector<unsigned char>& binary) const {
  const std::size_t size = binary.size();
  const unsigned char* bytes = binary.data();
  cl_int status = CL_SUCCESS, error = CL_SUCCESS;
  Program program =
      clCreateProgramWithBinary(context_, 1, &device_, &size, &bytes, &status, &error);
  check(error, "clCreateProgramWithBinary");
  check(status, "binary status");
  return program;
}

Queue Sample::queue(cl_command_queue_properties properties) const {
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  cl_int error = CL_SUCCESS;
  Queue queue = clCreateCommandQueueWithProperties(context_, device_, list, &error);
  check(error, "clCreateCommandQueueWithProperties");
  return queue;
}

Program Sample::unbuiltProgram(const std::string& source) const {
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  Program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  return program;
}

Program Sample::program(const std::string& source, const char* buildOptions) const {
  Program program = unbuiltProgram(source);
  const cl_int error = clBuildProgram(program, 1, &device_, buildOptions, nullptr, nullptr);
  if (error != CL_SUCCESS) {
    std::size_t size = 0;
    clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    throw Failure("clBuildProgram: " + errorName(error) + "\n" + log.c_str());
  }
  return program;
}

Memory Sample::buffer(cl_mem_flags flags, std::size_t bytes, void* host) const {
  cl_int error = CL_SUCCESS;
  Memory memory = clCreateBuffer(context_, flags, bytes, host, &error);
  check(error, "clCreateBuffer");
  return memory;
}

std::uint64_t Sample::randomBits(std::uint64_t index, std::uint64_t stream) const {
  return sample::randomBits(index, stream + (options_.seed << 8));
}

float Sample::randomFloat(std::uint64_t index, float low, float high, std::uint64_t stream) const {
  return sample::randomFloat(index, low, high, stream + (options_.seed << 8));
}

std::vector<float> Sample::randomFloats(std::size_t count, float low, float high,
                                        std::uint64_t stream) const {
  return sample::randomFloats(count, low, high, stream + (options_.seed << 8));
}

void Sample::output(const void* bytes, std::size_t count) {
  if (!options_.result.empty())
    for (std::size_t i = 0; i < count; ++i)
      outputHash_ = (outputHash_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001B3ULL;
  if (dump_)
    require(std::fwrite(bytes, 1, count, dump_) == count, "can't write the dump");
}

void Sample::timed(const std::function<void()>& launch) {
  const auto begin = std::chrono::steady_clock::now();
  launch();
  note(std::chrono::steady_clock::now() - begin);
}

void Sample::timed(cl_command_queue queue, const std::function<void()>& enqueue) {
  if (enqueued_ == 0)
    since_ = std::chrono::steady_clock::now();
  enqueue();
  if (++enqueued_ < options_.together)
    return;
  sample::check(clFinish(queue), "clFinish");
  note((std::chrono::steady_clock::now() - since_) / std::exchange(enqueued_, 0));
}

void Sample::note(std::chrono::duration<double> seconds) {
  seconds_.push_back(seconds.count());
  if (times_)
    std::fprintf(times_, "%.9f\n", seconds_.back());
}

void Sample::verify(const std::function<void()>& check) const {
  if (options_.checks)
    check();
}

void Sample::finish(const std::string& program) const {
  if (options_.result.empty())
    return;
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  std::FILE* file = options_.result == "-" ? stdout : openFile(options_.result);
  std::fprintf(file,
               R"({"program": "%s", "variant": "%s", "device": "%u.%u", "size": %zu, )"
               R"("iterations": %u, "seed": %llu, "checked": %s, "launches": %zu)",
               program.c_str(), options_.variant.c_str(), options_.platform, options_.device,
               options_.size, options_.iterations, static_cast<unsigned long long>(options_.seed),
               options_.checks ? "true" : "false", sorted.size());
  if (!sorted.empty())
    std::fprintf(file, R"(, "seconds": {"first": %.9f, "median": %.9f, "least": %.9f})",
                 seconds_.front(), sorted[sorted.size() / 2], sorted.front());
  std::fprintf(file, ", \"output\": \"%016llx\"}\n", static_cast<unsigned long long>(outputHash_));
  if (file != stdout)
    std::fclose(file);
}

Kernel kernel(cl_program program, const char* name) {
  cl_int error = CL_SUCCESS;
  Kernel kernel = clCreateKernel(program, name, &error);
  check(error, "clCreateKernel");
  return kernel;
}

void launch(cl_command_queue queue, cl_kernel kernel, const Sizes& global, const Sizes& local,
            const Sizes& offset) {
  check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()),
                               offset.empty() ? nullptr : offset.data(), global.data(),
                               local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

std::uint64_t randomBits(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t z = (seed << 32) + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

float randomFloat(std::uint64_t index, float low, float high, std::uint64_t seed) {
  const float unit = static_cast<float>(randomBits(index, seed) >> 40) * 0x1p-24F;
  return low + (high - low) * unit;
}

std::vector<float> randomFloats(std::size_t count, float low, float high, std::uint64_t seed) {
  std::vector<float> values(count);
  inParallel(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = randomFloat(i, low, high, seed);
  });
  return values;
}

void inParallel(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body,
                std::size_t step) {
  const std::size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t length = roundUp(std::max<std::size_t>(count / threads, 1), step);
  std::vector<std::future<void>> pieces;
  for (std::size_t begin = 0; begin < count; begin += length)
    pieces.push_back(std::async(std::launch::async, body, begin, std::min(begin + length, count)));
  for (std::future<void>& piece : pieces)
    piece.get();
}

void checkClose(double actual, double expected, double tolerance, const char* what,
                std::size_t index) {
  // Written so that NaN fails.
  if (!(std::fabs(actual - expected) <= tolerance * std::max(1.0, std::fabs(expected))))
    throw Failure(std::string(what) + "[" + std::to_string(index) +
                  "] = " + std::to_string(actual) + ", expected " + std::to_string(expected));
}

std::size_t roundUp(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void choose(Sample& sample,
            std::initializer_list<std::pair<const char*, void (*)(Sample&)>> variants) {
  std::string names;
  for (const auto& [name, body] : variants) {
    if (sample.options().variant == name)
      return body(sample);
    names += std::string(names.empty() ? "" : ", ") + name;
  }
  throw Failure("--variant is one of " + names);
}

int run(int argc, char** argv, Defaults defaults, void (*body)(Sample&)) {
  const Options options = parse(argc, argv, defaults);
  try {
    Sample sample(options);
    body(sample);
    const std::string program = argv[0];
    sample.finish(program.substr(program.rfind('/') + 1));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 1;
  }
}

} // namespace sample
