// Commands behind a launch that never ran, since what it waited for failed: those that the program
// waits for say so, and none of them changes a byte. The buffer's bytes lie where launches before
// left them.
#include "kernels/failed_waits.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <string>

namespace {

void failedWaits(sample::Sample& s) {
  const std::size_t n = s.options().size, bytes = n * sizeof(cl_int);
  const auto queue = s.queue();
  const auto program = s.program(sample::failedWaitsSource);
  const auto add = sample::kernel(program, "add");
  std::vector<cl_int> values(n);
  const auto buffer = s.copyOf(values), other = s.copyOf(values);
  sample::setArguments(add, buffer, cl_int(1));

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, add, {n}, {16});
    sample::check(clFinish(queue), "clFinish");
    cl_int status = CL_SUCCESS;
    const sample::Event gate = clCreateUserEvent(s.context(), &status);
    sample::check(status, "clCreateUserEvent");
    sample::Event launched;
    const std::size_t local = 16;
    sample::check(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &n, &local, 1, gate.address(),
                                         launched.out()),
                  "clEnqueueNDRangeKernel");
    sample::check(clSetUserEventStatus(gate, CL_DEVICE_NOT_AVAILABLE), "clSetUserEventStatus");

    std::vector<cl_int> result(n, -7);
    const void* mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes, 1,
                                            launched.address(), nullptr, &status);
    sample::require(!mapped && status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                    "a map behind a failure: " + std::to_string(status));
    status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, result.data(), 1,
                                 launched.address(), nullptr);
    sample::require(status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                    "a read behind a failure: " + std::to_string(status));
    // Whether it is refused or only never done is the driver's affair.
    clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, result.data(), 1, launched.address(),
                         nullptr);
    clEnqueueCopyBuffer(queue, other, buffer, 0, 0, bytes, 1, launched.address(), nullptr);
    clFinish(queue);
    sample::read(queue, buffer, values);
    sample::require(std::ranges::count(values, static_cast<cl_int>(i + 1)) ==
                        static_cast<std::ptrdiff_t>(n),
                    "bytes are wrong");
    s.output(values);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 3}, failedWaits);
}
