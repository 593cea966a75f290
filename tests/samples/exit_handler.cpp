// A program that returns from main with all of its work under way, and waits for that in a handler
// that the end of the process calls.
#include "kernels/exit_handler.h"
#include "tests/samples/sample.h"

#include <cstdio>
#include <cstdlib>

namespace {

/// What the handler needs. Its objects are the process's to release.
struct Pending {
  cl_command_queue queue;
  cl_mem out;
  std::size_t count;
};
Pending pending;

void waitForAll() {
  std::vector<cl_int> found(pending.count);
  bool isRight =
      clFinish(pending.queue) == CL_SUCCESS &&
      clEnqueueReadBuffer(pending.queue, pending.out, CL_TRUE, 0, found.size() * sizeof(cl_int),
                          found.data(), 0, nullptr, nullptr) == CL_SUCCESS;
  for (std::size_t i = 0; i < found.size(); ++i)
    isRight = isRight && found[i] == static_cast<cl_int>(2 * (5 + found.size() - 1 - i));
  std::puts(isRight ? "at the end all is there" : "at the end something is wrong");
}

void exitHandler(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto program = s.program(sample::exitHandlerSource);
  const auto number = sample::kernel(program, "number"),
             reverse = sample::kernel(program, "reverse");
  const auto queue = s.queue();
  const auto first = s.array<cl_int>(n), second = s.array<cl_int>(n);
  pending = {queue, second, n};
  sample::setArguments(number, first, cl_int{5});
  sample::launch(queue, number, {n}, {64});
  sample::setArguments(reverse, first, second);
  sample::launch(queue, reverse, {n}, {64});
  sample::check(clFlush(queue), "clFlush");
  sample::require(std::atexit(waitForAll) == 0, "no handler can be registered");
  std::exit(0);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096}, exitHandler);
}
