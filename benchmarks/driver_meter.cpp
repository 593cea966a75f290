// What a program and the layers above the driver take of the processor and of the heap, without the
// driver's part.
//
// An OpenCL layer right above the driver, and preloaded as well: as a layer it knows when a thread
// is in the driver, as a preloaded library it sees threads begin and memory being allocated. What
// threads do that the driver has started is the driver's, also what they call back. So is what was
// started before there were any layers.
//
// The program says when it begins to count, and when it ends (`driverMeterBegin`,
// `driverMeterEnd`). At its end a line of JSON goes to the file $DRIVER_METER. Of all but the
// driver: nanoseconds of the processor, and allocations. Of the driver: calls. To find out when a
// call begins and ends takes time itself, about half of which falls outside of it; that is measured
// first and taken off.
#include "tests/doors/layer.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <set>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>

extern "C" {
// glibc's own, below those that are replaced here.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<std::uint64_t> allocations, calls, inDriver;            ///< the last in nanoseconds
thread_local unsigned depth [[gnu::tls_model("initial-exec")]] = 0; ///< of calls into the driver

std::uint64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct InDriver {
  InDriver() {
    if (depth++ == 0)
      begin = now(CLOCK_THREAD_CPUTIME_ID);
  }
  ~InDriver() {
    if (--depth > 0)
      return;
    inDriver += now(CLOCK_THREAD_CPUTIME_ID) - begin;
    ++calls;
  }
  std::uint64_t begin = 0;
};

/// Of the calling thread, for the bounds of a call, the part that does not count as the driver's.
double nanosecondsPerCall() {
  constexpr unsigned times = 100'000;
  const std::uint64_t before = inDriver, begin = now(CLOCK_THREAD_CPUTIME_ID);
  for (unsigned i = 0; i < times; ++i)
    const InDriver nothing;
  const std::uint64_t all = now(CLOCK_THREAD_CPUTIME_ID) - begin;
  return static_cast<double>(all - (inDriver - before)) / times;
}

template <auto member> struct Metered;
template <class Result, class... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*member)(Arguments...)>
struct Metered<member> {
  static Result CL_API_CALL call(Arguments... arguments) {
    const InDriver meter;
    return (below.*member)(arguments...);
  }
};

// Threads that the driver started.
std::mutex mutex;
std::set<clockid_t> running;
std::uint64_t ended = 0; ///< nanoseconds of those that are over

struct Start {
  void* (*function)(void*);
  void* data;
};

void* runForDriver(void* data) {
  const Start start = *static_cast<Start*>(data);
  ++depth; // for ever
  delete static_cast<Start*>(data);
  clockid_t clock{};
  ::pthread_getcpuclockid(::pthread_self(), &clock);
  {
    const std::lock_guard lock(mutex);
    running.insert(clock);
  }
  void* result = start.function(start.data);
  const std::lock_guard lock(mutex);
  running.erase(clock);
  ended += now(CLOCK_THREAD_CPUTIME_ID);
  return result;
}

bool isLayer = false;
double perCall = 0; ///< nanoseconds

struct Reading {
  std::uint64_t processor = 0, driver = 0; ///< nanoseconds
  std::uint64_t allocations = 0, calls = 0;
};
Reading begun, counted;

Reading read() {
  const std::lock_guard lock(mutex);
  Reading reading{now(CLOCK_PROCESS_CPUTIME_ID), inDriver + ended, allocations, calls};
  for (const clockid_t clock : running)
    reading.driver += now(clock);
  return reading;
}

void install() {
#define OPENCL_API(result, name, parameters, arguments)                                            \
  if (below.name)                                                                                  \
    table.name = Metered<&cl_icd_dispatch::name>::call;
#include "libsplit/api.inc"
#undef OPENCL_API
  isLayer = true;
}

[[gnu::destructor]] void tell() {
  const char* path = std::getenv("DRIVER_METER");
  std::FILE* file = isLayer && path ? std::fopen(path, "w") : nullptr;
  if (!file)
    return;
  const std::uint64_t called = counted.calls - begun.calls;
  const double outside = static_cast<double>(counted.processor - begun.processor) -
                         static_cast<double>(counted.driver - begun.driver) -
                         perCall * static_cast<double>(called);
  std::fprintf(file,
               R"({"nanoseconds": %.0f, "allocations": %llu, "driver_calls": %llu})"
               "\n",
               outside, static_cast<unsigned long long>(counted.allocations - begun.allocations),
               static_cast<unsigned long long>(called));
  std::fclose(file);
}

void* noted(void* memory) {
  if (depth == 0)
    allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] void driverMeterBegin() {
  perCall = nanosecondsPerCall();
  begun = read();
}
[[gnu::visibility("default")]] void driverMeterEnd() {
  counted = read();
}

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  return noted(__libc_malloc(size));
}
[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) {
  return noted(__libc_calloc(count, size));
}
[[gnu::visibility("default")]] void* realloc(void* old, std::size_t size) {
  return noted(__libc_realloc(old, size));
}
[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return noted(__libc_memalign(alignment, size));
}

[[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                                                  void* (*function)(void*), void* data) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (depth == 0 && isLayer)
    return next(thread, how, function, data);
  auto start = new Start{function, data};
  const int error = next(thread, how, runForDriver, start);
  if (error != 0)
    delete start;
  return error;
}
}
