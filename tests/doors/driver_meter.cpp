// What a program and the layers above the driver take of the processor and of the heap, without the
// driver's part.
//
// An OpenCL layer right above the driver, and preloaded as well: as a layer it knows when a thread
// is in the driver, as a preloaded library it sees threads begin and memory being allocated. What
// threads do that the driver has started is the driver's, also what they call back. So is what was
// started before there were any layers.
//
// To read a clock whenever a call begins and ends would take longer than what is to be measured. So
// each thread is asked where it is every millisecond of its processor's time; systems may round
// that up, and then tell how many milliseconds have passed. The error is that of a poll: 10 % with
// 100 answers, of which there should be a few thousand.
//
// The program says when it begins to count, and when it ends (`driverMeterBegin`,
// `driverMeterEnd`). At its end a line of JSON goes to the file $DRIVER_METER. Of all but the
// driver: nanoseconds of the processor, and allocations. Of the driver: calls.
#include "tests/doors/layer.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

extern "C" {
// glibc's own, below those that are replaced here.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<bool> isCounting = false;
std::atomic<std::uint64_t> allocations, calls, milliseconds;
thread_local unsigned depth [[gnu::tls_model("initial-exec")]] = 0; ///< of calls into the driver

struct InDriver {
  InDriver() {
    if (depth++ == 0 && isCounting)
      ++calls;
  }
  ~InDriver() { --depth; }
};

void sample(int, siginfo_t* info, void*) {
  if (depth == 0 && isCounting)
    milliseconds += 1 + static_cast<unsigned>(info->si_overrun);
}

/// Has the calling thread interrupted, for good.
void sampleThisThread() {
  struct sigaction action{};
  action.sa_sigaction = sample;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  ::sigaction(SIGPROF, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = ::gettid();
  timer_t timer{};
  constexpr itimerspec often{{0, 1'000'000}, {0, 1'000'000}};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
    ::timer_settime(timer, 0, &often, nullptr);
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

struct Start {
  void* (*function)(void*);
  void* data;
  bool isDriver;
};

void* run(void* data) {
  const Start start = *static_cast<Start*>(data);
  delete static_cast<Start*>(data);
  if (start.isDriver)
    ++depth; // for ever
  else
    sampleThisThread();
  return start.function(start.data);
}

bool isLayer = false;

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
  std::fprintf(file,
               R"({"nanoseconds": %llu, "allocations": %llu, "driver_calls": %llu})"
               "\n",
               static_cast<unsigned long long>(milliseconds * 1'000'000),
               static_cast<unsigned long long>(allocations),
               static_cast<unsigned long long>(calls));
  std::fclose(file);
}

void* noted(void* memory) {
  if (depth == 0 && isCounting)
    allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] void driverMeterBegin() {
  sampleThisThread();
  isCounting = true;
}
[[gnu::visibility("default")]] void driverMeterEnd() {
  isCounting = false;
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
  auto start = new Start{function, data, depth > 0 || !isLayer};
  const int error = next(thread, how, run, start);
  if (error != 0)
    delete start;
  return error;
}
}
