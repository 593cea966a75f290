#include "runtime/device/link_times.h"

#include "runtime/device/pump.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace libsplit::runtime {

namespace {

constexpr std::size_t smallest = 4096, growth = 8; ///< bytes; from one size to the next
constexpr unsigned most = 3;                       ///< copies of each size, the fastest counts
constexpr double longEnough = 1e-3;                ///< seconds

class Probe {
public:
  Probe(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::span<std::byte> host,
        SecondsNow now)
      : cl_(cl), queue_(queue), buffer_(buffer), host_(host), now_(now) {}

  /// How long copies in one direction take; nothing if one failed.
  std::optional<LinkTimes::Way> way(bool toHost) const {
    const std::size_t little = std::min(smallest, host_.size());
    const std::optional<double> small = fastest(toHost, little);
    std::optional<double> large = small;
    std::size_t size = little;
    while (large && size < host_.size() && *large - *small < longEnough) {
      size = std::min(size * growth, host_.size());
      large = fastest(toHost, size);
    }
    if (!large)
      return std::nullopt;
    const double more = std::max(0.0, *large - *small);
    return LinkTimes::Way{*small, size > little ? more / static_cast<double>(size - little) : 0};
  }

private:
  /// Seconds of the fastest of a few copies of the first `size` bytes, of two if they take long.
  std::optional<double> fastest(bool toHost, std::size_t size) const {
    const BulkCopy copy{queue_, buffer_, toHost, 0, size, host_.data()};
    double least = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < most && (i < 2 || least < longEnough); ++i) {
      const double begin = now_();
      if (copy.enqueue(cl_, CL_TRUE) != CL_SUCCESS)
        return std::nullopt;
      least = std::min(least, now_() - begin);
    }
    return least;
  }

  const Dispatch& cl_;
  cl_command_queue queue_;
  cl_mem buffer_;
  std::span<std::byte> host_;
  SecondsNow now_;
};

} // namespace

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::optional<LinkTimes> linkTimes(const Dispatch& cl, cl_context context, cl_command_queue queue,
                                   std::span<std::byte> host, SecondsNow now) {
  cl_int error = CL_SUCCESS;
  const auto buffer = Ref<cl_mem>::adopt(
      cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE, host.size(), nullptr, &error));
  if (error != CL_SUCCESS || !queue || host.empty())
    return std::nullopt;
  const Probe probe(cl, queue, buffer.get(), host, now);
  const std::optional<LinkTimes::Way> in = probe.way(false);
  const std::optional<LinkTimes::Way> out = in ? probe.way(true) : std::nullopt;
  if (!out)
    return std::nullopt;
  return LinkTimes{*in, *out};
}

} // namespace libsplit::runtime
