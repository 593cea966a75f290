// Launches on a large buffer, of --size elements, while the program holds something back: --variant
// made, the launch itself, and more buffers are made before it may run; --variant beside, a command
// on another buffer in another queue, which the launch need not wait for. --variant nearly: nothing
// is held back, and each work-group reads all but a large buffer's last bytes, while there is
// another such buffer.
#include "kernels/pending_launches.h"
#include "tests/samples/sample.h"

namespace {

using Numbers = std::vector<cl_uint>;

/// Over when this goes, if not before.
class Gate {
public:
  explicit Gate(const sample::Sample& s) {
    cl_int error = CL_SUCCESS;
    event_ = clCreateUserEvent(s.context(), &error);
    sample::check(error, "clCreateUserEvent");
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  void open() {
    if (!std::exchange(isOpen_, true))
      clSetUserEventStatus(event_, CL_COMPLETE);
  }
  const cl_event* address() const { return event_.address(); }

private:
  sample::Event event_;
  bool isOpen_ = false;
};

void made(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::pendingLaunchesSource);
  const auto kernel = sample::kernel(program, "take");
  const auto large = s.copyOf(Numbers(n));
  sample::setArguments(kernel, large, static_cast<cl_uint>(n));
  Gate gate(s);
  sample::check(
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 1, gate.address(), nullptr),
      "clEnqueueNDRangeKernel");
  std::vector<sample::Memory> more;
  for (cl_uint i = 0; i < 4; ++i) {
    more.push_back(s.copyOf(Numbers(n / 4, i)));
    sample::check(clEnqueueFillBuffer(queue, more.back(), &i, sizeof i, 0, n / 8 * sizeof i, 0,
                                      nullptr, nullptr),
                  "clEnqueueFillBuffer");
  }
  gate.open();
  sample::check(clFinish(queue), "clFinish");
  Numbers found(n);
  sample::read(queue, large, found);
  sample::require(found[0] == n, "work-items are missing");
  for (std::size_t i = 1; i < n; ++i)
    sample::require(found[i] == 7 * (i - 1), "a place was not taken");
  s.output(found);
}

void beside(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue(), other = s.queue();
  const auto program = s.program(sample::pendingLaunchesSource);
  const auto kernel = sample::kernel(program, "add");
  const auto large = s.copyOf(Numbers(n, 5)), some = s.copyOf(Numbers(128, 1));
  const auto apart = s.copyOf(Numbers(128));
  Gate gate(s);
  const cl_uint pattern = 3;
  sample::check(clEnqueueFillBuffer(other, apart, &pattern, sizeof pattern, 0, 512, 1,
                                    gate.address(), nullptr),
                "clEnqueueFillBuffer");
  sample::check(clFlush(other), "clFlush");
  sample::setArguments(kernel, large, some);
  sample::launch(queue, kernel, {n}, {64});
  Numbers found(n);
  sample::read(queue, large, found);
  for (const cl_uint each : found)
    sample::require(each == 16, "a sum is wrong");
  s.output(found);
  gate.open();
  sample::check(clFinish(other), "clFinish");
}

void nearly(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::pendingLaunchesSource);
  const auto add = sample::kernel(program, "add"), kernel = sample::kernel(program, "sums");
  const auto large = s.copyOf(Numbers(n, 5)), other = s.copyOf(Numbers(n, 6));
  const auto some = s.copyOf(Numbers(128, 1)), out = s.copyOf(Numbers(128));
  for (const auto* each : {&large, &other}) {
    sample::setArguments(add, *each, some);
    sample::launch(queue, add, {n}, {64});
  }
  const auto count = static_cast<cl_uint>(n - 8);
  sample::setArguments(kernel, large, out, count);
  sample::launch(queue, kernel, {128}, {32});
  Numbers found(128);
  sample::read(queue, out, found);
  for (cl_uint i = 0; i < found.size(); ++i) {
    cl_uint sum = 0;
    for (cl_uint k = 0; k < count; ++k)
      sum += 16 * (k ^ i);
    sample::require(found[i] == sum, "a sum is wrong");
  }
  s.output(found);
}

void pendingLaunches(sample::Sample& s) {
  sample::choose(s, {{"made", made}, {"beside", beside}, {"nearly", nearly}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 1, .variant = "made"},
                     pendingLaunches);
}
