// Memory of the host through which a buffer's bytes go to and from devices with memories of their
// own.
//
// To and from pinned memory a GPU copies seven times as fast as to and from other. Drivers allocate
// such memory if asked, but take 0.6 s per GiB for it, and launches wait meanwhile (NVIDIA's, on an
// H200). So the memory is ours, in large pages, and comes to exist step by step on any thread, at
// 0.15 to 0.2 s per GiB; then the driver only pins it, at 0.03 to 0.05 s per GiB.
#pragma once

#include "runtime/machine.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace libsplit::runtime {

class HostBlock {
public:
  /// Blocks up to this size are not pinned: drivers send so little as fast from anywhere.
  static constexpr std::size_t smallTransfer = std::size_t{1} << 16;

  /// Address space for `size` bytes. Null if there is not twice that much memory left beside what
  /// is promised: the program needs some too.
  static std::shared_ptr<HostBlock> reserve(std::size_t size, bool hasGpu,
                                            std::shared_ptr<PromisedMemory> promised);
  /// Ready to be used at once. Null if there is no memory. `context`: where the buffer lives.
  static std::shared_ptr<HostBlock> allocate(const Dispatch& cl, Machine& machine,
                                             cl_context context, std::size_t size);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// Makes some more of the memory exist; false if all of it does, or is about to. Any thread.
  bool touchNext();
  /// Makes what is left of it exist, and pins it. If that fails it is used as it is.
  void makeReady(const Dispatch& cl, Machine& machine, cl_context context);
  /// What makeReady would take, about; 0 once it was called.
  double secondsToReady() const;
  /// … of a block that is not reserved yet.
  static double secondsToReady(std::size_t size, bool hasGpu);

  std::byte* address() const { return address_; }
  std::size_t size() const { return size_; }

private:
  HostBlock(void* memory, std::size_t mapped, std::size_t size, bool pinned,
            std::shared_ptr<PromisedMemory> promised);

  void* memory_; ///< as mapped
  std::size_t mapped_;
  std::byte* address_; ///< in it
  std::size_t size_;
  std::atomic<std::size_t> claimed_ = 0; ///< bytes that somebody touches or has touched
  std::atomic<std::size_t> touched_ = 0;
  bool isReady_;
  std::shared_ptr<PromisedMemory> promised_; ///< null: it is never touched beforehand
  Ref<cl_mem> pinned_;                       ///< goes before the memory does
};

/// Bytes that the machine, or the container, can still give without swapping.
std::size_t availableMemory();

} // namespace libsplit::runtime
