#include "runtime/device/timing_costs.h"

#include "runtime/core/completion.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <vector>

namespace libsplit::runtime {

namespace {

constexpr std::size_t bytes = 64;

/// Of a small write.
std::optional<double> secondsOf(const Dispatch& cl, cl_command_queue queue, cl_mem buffer) {
  constexpr std::array<std::byte, bytes> zeros{};
  cl_event event = nullptr;
  const auto begin = std::chrono::steady_clock::now();
  if (cl.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, zeros.data(), 0, nullptr,
                              &event) != CL_SUCCESS)
    return std::nullopt;
  const auto over = Ref<cl_event>::adopt(cl, event);
  if (awaitEvent(cl, event) != CL_SUCCESS)
    return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

double timingCosts(const Dispatch& cl, cl_context context, cl_command_queue untimed,
                   cl_command_queue timed) {
  constexpr std::size_t rounds = 12, warmUp = 1;
  cl_int error = CL_SUCCESS;
  const auto buffer =
      Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error));
  if (error != CL_SUCCESS || !untimed || !timed)
    return 0;
  std::vector<double> without, with;
  for (std::size_t round = 0; round < warmUp + rounds; ++round) {
    const auto less = secondsOf(cl, untimed, buffer.get());
    const auto more = secondsOf(cl, timed, buffer.get());
    if (!less || !more)
      return 0;
    if (round >= warmUp) {
      without.push_back(*less);
      with.push_back(*more);
    }
  }
  std::ranges::sort(without);
  std::ranges::sort(with);
  // Three quarters of the timed ones are slower than three quarters of the others: not by chance,
  // and however slow a few of either are on a machine that does other things as well.
  return std::max(0.0, with[rounds / 4] - without[rounds - 1 - rounds / 4]);
}

} // namespace libsplit::runtime
