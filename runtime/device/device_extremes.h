// The extremes of a buffer's blocks, computed where the buffer lies.
//
// An index array of hundreds of megabytes on a GPU would take longer to bring to the host and look
// through than the launch that depends on it. Its extremes per 1024 elements are 1/512 of it, and a
// small generated kernel finds them in one pass at the speed of the device's memory.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/plan/extremes.h"

#include <memory>
#include <string>

namespace libsplit::runtime {

/// OpenCL C 1.2 of `kernel void extremes(global const T* data, ulong phase, ulong step, ulong
/// count, global T* out)`: for each block of Extremes::blockElements, a work-group of 64, the least
/// and the greatest of elements data[phase + i * step], as out[2 * block] and out[2 * block + 1].
std::string extremesSource(const ElementLayout& layout);

/// Whether that kernel can address the elements: all at multiples of their size.
bool isAligned(const ElementLayout& layout);

/// The blocks' extremes, from what the kernel wrote.
std::vector<Interval> blocksFrom(std::span<const std::byte> written, const ElementLayout& layout);

/// The kernel, for one device in one context. State is the session's to guard; the kernel object
/// itself belongs to that device's lane.
struct ExtremesKernel {
  explicit ExtremesKernel(const Dispatch& cl) : built(std::make_shared<Completion>(cl)) {}
  CompletionPtr built; ///< or failed
  Ref<cl_kernel> kernel;
};

/// Builds it; blocks. Null if the driver won't.
Ref<cl_kernel> buildExtremesKernel(const Dispatch& cl, cl_context context, cl_device_id device,
                                   const ElementLayout& layout);

/// One pass over one buffer.
struct ExtremesPass {
  Ref<cl_kernel> kernel;
  cl_mem data = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  ElementLayout layout;
  std::uint64_t count = 0; ///< elements
  Ref<cl_mem> out;
  std::vector<std::byte> written; ///< once it is read back

  /// Enqueue the kernel, and the reading of what it wrote. On the lane's thread; this must live
  /// until the events are complete.
  cl_int enqueue(const Dispatch& cl, cl_event* last);
  cl_int readBack(const Dispatch& cl, cl_event* last);
};

} // namespace libsplit::runtime
