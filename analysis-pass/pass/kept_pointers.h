// Pointers into buffers that a kernel keeps in private memory, and where in it they may be.
//
// From there they may come out as what they are. As numbers, by way of a union or of a pointer to
// another type, they would tell where buffers lie (address_flow.h), whole or in parts.
//
// Worked example: of `struct { global int* p; int n; } u[4]`, u[i].p = a keeps 8 bytes at byte 0 of
// every 16. So u[j].n, 4 bytes at byte 8 of every 16, is none of it, but ((private uchar*)u)[j], at
// any byte, may be. The copy v = u[k] keeps 8 bytes at byte 0 of v.
#pragma once

#include "analysis-pass/pass/address_flow.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace llvm {
class AllocaInst;
class DataLayout;
class GEPOperator;
class MemTransferInst;
} // namespace llvm

namespace libsplit {

/// Of one kernel. Not thread-safe.
class KeptPointers {
public:
  explicit KeptPointers(const llvm::DataLayout& layout) : layout_(layout) {}

  /// Finds what is kept. `addresses` must have followed the kernel.
  void follow(llvm::Function& function, const AddressFlow& addresses);
  /// The parameter whose buffer's address, or a part of it, `length` bytes at `pointer`, or a
  /// multiple of `every` away from it, may hold; AddressFlow::anyBuffer if it is not known which.
  std::optional<unsigned> in(const llvm::Value* pointer, std::uint64_t length,
                             std::uint64_t every = 0) const;
  static constexpr std::uint64_t toTheEnd = std::numeric_limits<std::int64_t>::max();

private:
  /// Bytes of a private memory: `length` of them at `first`, and at all that is a multiple of
  /// `every` away from it; 0: there alone.
  struct Place {
    const llvm::AllocaInst* memory = nullptr;
    std::uint64_t every = 0;
    std::int64_t first = 0;
    std::uint64_t length = 0;
  };
  struct Kept {
    Place place;
    unsigned parameter = 0;
  };
  using Places = llvm::SmallVector<Place, 2>;

  void add(const llvm::GEPOperator& gep, Place& place) const;
  Places placesOf(const llvm::Value* pointer, std::uint64_t length) const;
  static bool mayOverlap(const Place& a, const Place& b);
  bool keep(Place place, unsigned parameter);
  bool copy(const Kept& kept, const Place& from, const Place& to);
  bool copy(const llvm::MemTransferInst& transfer);

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::AllocaInst*, llvm::SmallVector<Kept, 4>> kept_;
};

} // namespace libsplit
