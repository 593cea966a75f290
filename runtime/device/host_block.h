// Memory of the host for bytes of buffers: where they travel through, or lie for good on the host's
// own memory node.
//
// It is ours, in large pages, and not a driver's: drivers that are asked for memory that they can
// copy to and from fast take 0.6 s per GiB for it (NVIDIA's, on an H200), and a quarter of that
// where they only have to pin what exists.
#pragma once

#include "runtime/core/opencl.h"

#include <cstddef>
#include <memory>

namespace libsplit::runtime {

class HostBlock {
public:
  /// `size` bytes, which come to exist as they are used. Null if there is not twice that much
  /// memory left: the program needs some too.
  static std::shared_ptr<HostBlock> reserve(std::size_t size);
  /// The same without a look at how much is left: the caller had one.
  static std::shared_ptr<HostBlock> promised(std::size_t size);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// Makes all of it exist and has the driver of a device in `context` pin it. What one context has
  /// pinned serves all. If that fails it is used as it is; false then.
  bool pin(const Dispatch& cl, cl_context context);

  std::byte* address() const { return address_; }
  std::size_t size() const { return size_; }

private:
  static std::shared_ptr<HostBlock> map(std::size_t size, int flags);
  HostBlock(void* memory, std::size_t mapped, std::size_t size);

  void* memory_; ///< as mapped
  std::size_t mapped_;
  std::byte* address_; ///< in it
  std::size_t size_;
  Ref<cl_mem> pinned_; ///< goes before the memory does
};

/// Bytes that the machine, or the container, can still give without swapping.
std::size_t availableMemory();

} // namespace libsplit::runtime
