// One program, built again and again between launches of its kernel, each time after a call that
// the driver refuses; every other time with a callback, which is to be called once.
#include "kernels/rebuilt.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <string>

namespace {

void CL_CALLBACK buildEnded(cl_program, void* data) {
  auto& ended = *static_cast<std::atomic<unsigned>*>(data);
  ++ended;
  ended.notify_all();
}

void runRebuilt(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto program = s.unbuiltProgram(sample::rebuiltSource);
  const auto queue = s.queue();
  const auto numbers = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  std::vector<cl_int> out(n);
  std::atomic<unsigned> ended = 0;
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const bool isNotified = i % 2 == 1;
    const unsigned before = ended;
    const auto factor = static_cast<cl_int>(i % 3 + 1);
    const std::string options = "-DFACTOR=" + std::to_string(factor);
    sample::checkCode(clBuildProgram(program, 1, nullptr, options.c_str(), nullptr, nullptr),
                      CL_INVALID_VALUE, "clBuildProgram for no device");
    sample::check(clBuildProgram(program, 0, nullptr, options.c_str(),
                                 isNotified ? buildEnded : nullptr, isNotified ? &ended : nullptr),
                  "clBuildProgram");
    if (isNotified)
      ended.wait(before);
    const auto kernel = sample::kernel(program, "multiples");
    sample::setArguments(kernel, numbers);
    sample::launch(queue, kernel, {n}, {64});
    sample::read(queue, numbers, out);
    for (std::size_t item = 0; item < n; ++item)
      sample::require(out[item] == static_cast<cl_int>(item) * factor, "another build was run");
    sample::require(ended - before == unsigned{isNotified}, "its end was told more than once");
  }
  s.output(out);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 6}, runRebuilt);
}
