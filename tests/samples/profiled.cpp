// Launches of one queue in order, for none of which the program waits: their profiling times follow
// each other as the launches do. What they read lies in memory that nobody can write to.
#include "kernels/profiled.h"
#include "tests/samples/sample.h"

#include <array>

namespace {

constexpr std::size_t count = 4096;
constexpr std::array<cl_uint, count> constants = {1, 2, 3, 5, 7};

void profiled(sample::Sample& s) {
  const auto queue = s.queue(CL_QUEUE_PROFILING_ENABLE);
  const auto program = s.program(sample::profiledSource);
  const auto add = sample::kernel(program, "add");
  std::vector<cl_uint> values(count);
  const auto from = s.buffer(CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, sizeof constants,
                             const_cast<cl_uint*>(constants.data()));
  const auto to = s.copyOf(values);
  sample::setArguments(add, from, to);
  std::vector<sample::Event> events(s.options().iterations);
  const std::size_t local = 16;
  for (sample::Event& event : events)
    sample::check(
        clEnqueueNDRangeKernel(queue, add, 1, nullptr, &count, &local, 0, nullptr, event.out()),
        "clEnqueueNDRangeKernel");
  sample::check(clFinish(queue), "clFinish");
  cl_ulong queued = 0, ended = 0;
  for (const sample::Event& event : events) {
    const cl_ulong nowQueued = sample::moment(event, CL_PROFILING_COMMAND_QUEUED);
    const cl_ulong started = sample::moment(event, CL_PROFILING_COMMAND_START);
    sample::require(queued <= nowQueued, "a launch was queued before the one before it");
    sample::require(ended <= started, "a launch started before the one before it had ended");
    queued = nowQueued;
    ended = sample::moment(event, CL_PROFILING_COMMAND_END);
  }
  sample::read(queue, to, values);
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.iterations = 12}, profiled);
}
