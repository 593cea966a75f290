// Pointers into buffers that a kernel keeps in private memory, and where in it they may be.
//
// From there they may come out as what they are. As numbers, by way of a union or of a pointer to
// another type, they would tell where buffers lie (address_flow.h), whole or in parts.
//
// Worked example: of `struct { global int* p; int n; } u[4]`, u[i].p = a may keep a pointer at byte
// 0, 16, 32 or 48. u[j].n, 4 bytes at 8, 24, 40 or 56, is part of none; ((private uchar*)u)[j], at
// any byte, may be. The copy v = u[k] keeps one at byte 0 of v.
#pragma once

#include "analysis-pass/pass/address_flow.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace llvm {
class DataLayout;
class GEPOperator;
class MemTransferInst;
} // namespace llvm

namespace libsplit {

/// Of one kernel. Not thread-safe.
class KeptPointers {
public:
  /// `length` bytes at `offset` from a pointer, or at a multiple of `every` from there.
  struct Bytes {
    const llvm::Value* pointer = nullptr;
    std::uint64_t length = 0;
    std::int64_t offset = 0;
    std::uint64_t every = 0;
  };
  static constexpr std::uint64_t toTheEnd = std::numeric_limits<std::int32_t>::max();

  explicit KeptPointers(const llvm::DataLayout& layout);

  /// Finds what is kept. `addresses` must have followed the kernel.
  void follow(llvm::Function& function, const AddressFlow& addresses);
  /// The parameter whose buffer's address, or a part of it, the bytes may hold;
  /// AddressFlow::anyBuffer if it is not known which.
  std::optional<unsigned> in(const Bytes& bytes) const;
  /// … of which a pointer that is loaded from there may hold a part that is not all of it.
  std::optional<unsigned> inPartOf(const llvm::Value* pointer) const;

private:
  using Offsets = std::vector<std::int64_t>;
  /// Where in a private memory something may begin. No memory: in any.
  struct Place {
    const llvm::Value* memory = nullptr;
    std::int64_t size = 0;
    std::optional<Offsets> firsts; ///< nothing: anywhere
  };
  struct Kept {
    std::set<std::int64_t> firsts;
    bool isAnywhere = false;
    unsigned parameter = 0;
  };
  using Places = llvm::SmallVector<Place, 2>;

  std::int64_t sizeOf(const llvm::Value* memory) const;
  bool add(const llvm::GEPOperator& gep, Place& place) const;
  Places placesOf(const Bytes& bytes) const;
  bool keep(const Place& place, unsigned parameter);
  bool copy(const Kept& kept, const Place& from, const Place& to, std::int64_t length);
  bool copy(const llvm::MemTransferInst& transfer);
  template <class Meets> std::optional<unsigned> find(const Places& places, Meets meets) const;

  const llvm::DataLayout& layout_;
  const std::int64_t pointerSize_;
  llvm::MapVector<const llvm::Value*, Kept> kept_; ///< by memory; null: perhaps in all
};

} // namespace libsplit
