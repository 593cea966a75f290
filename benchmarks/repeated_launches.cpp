// A loop of launches that are all alike, of a kernel that every device does its part of without
// anything to move, after some that do not count. Variants: `waited`, one by one; `queued`, a
// hundred at a time.
#include "tests/samples/sample.h"

#include <algorithm>

#include <dlfcn.h>

namespace {

const char* const source = R"(kernel void add(global const int* x, global int* y, int a) {
  const size_t i = get_global_id(0);
  y[i] += a * x[i];
})";

constexpr unsigned warmUp = 300;

/// Tells a tool that was preloaded, if one was.
void tell(const char* function) {
  if (void* found = ::dlsym(RTLD_DEFAULT, function))
    reinterpret_cast<void (*)()>(found)();
}

void repeatedLaunches(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const unsigned launches = s.options().iterations;
  const unsigned together = s.options().variant == "queued" ? 100 : 1;
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, "add");
  std::vector<cl_int> y(n);
  const auto xBuffer = s.copyOf(std::vector<cl_int>(n, 1));
  const auto yBuffer = s.copyOf(y);
  sample::setArguments(kernel, xBuffer, yBuffer, cl_int(1));
  auto repeat = [&](unsigned times) {
    const std::size_t local = 64;
    for (unsigned i = 1; i <= times; ++i) {
      sample::check(
          clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, &local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
      if (i % together == 0 || i == times)
        sample::check(clFinish(queue), "clFinish");
    }
  };
  repeat(warmUp);
  tell("driverMeterBegin");
  s.timed([&] { repeat(launches); });
  tell("driverMeterEnd");
  sample::read(queue, yBuffer, y);
  sample::require(
      std::ranges::all_of(y, [&](cl_int each) { return each == cl_int(warmUp + launches); }),
      "launches got lost");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 1000, .variant = "waited"},
                     repeatedLaunches);
}
