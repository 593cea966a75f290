// What a kernel makes from the addresses of its buffers.
//
// Each device has its own copies of buffers, and these lie elsewhere. So nothing that a kernel
// stores, and nothing that decides what it does, may come from an address: neither from all of it
// nor from some bits, since a copy of what the program has at &host[4] need not begin at such a
// place. Not so whether two pointers are equal, their distance where both lie in one buffer, and
// which of two pointers comes first unless they surely lie in different ones:
//
//     while (p < end && *p != ' ') ++p;  length[i] = p - begin;      // the same everywhere
//     if (((ulong)p & 31) == 0) …                                    // not so
#pragma once

#include "analysis-pass/pass/pointer_targets.h"

#include <llvm/ADT/DenseMap.h>

#include <optional>

namespace libsplit {

/// Of one kernel. Not thread-safe. What goes through memory is not followed.
class AddressFlow {
public:
  /// `pointers`, the kernel's, must outlive this.
  explicit AddressFlow(PointerResolver& pointers) : pointers_(pointers) {}

  /// To be called before others.
  void follow(llvm::Function& function);
  static constexpr unsigned anyBuffer = ~0U;
  /// The parameter whose buffer's address goes into `value`; `anyBuffer` if it is not known which.
  std::optional<unsigned> in(llvm::Value* value) const;

private:
  std::optional<unsigned> pointedTo(llvm::Value* pointer) const;
  std::optional<unsigned> bufferOf(llvm::Value* address) const;
  bool isSameOnEachDevice(const llvm::User& operation) const;

  PointerResolver& pointers_;
  llvm::DenseMap<const llvm::Value*, unsigned> parameters_; ///< of what is no pointer
};

} // namespace libsplit
