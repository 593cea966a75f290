// Stores of what was worked out from what stood in their place.
//
//     out[a] = 0.5f * out[a] + x;        // or out[a] += x, out[a]++, out[a] = fmax(out[a], x)
//     if (z < depth[p]) depth[p] = z;
//
// Where several work-items do so to one place nothing orders them, yet programs do it where they
// seldom meet, and most of what each adds stays. Devices that each begin with what was there before
// meet everywhere: of all that was added to a place only one device's part would stay.
//
// `seen[v] = 1` behind `if (!seen[v])` is none of these: what is stored is the same whoever was
// first. Neither is a vector's store that leaves some components as they were.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <map>
#include <vector>

namespace llvm {
class Instruction;
class Value;
} // namespace llvm

namespace libsplit {

/// Of one kernel. Not thread-safe.
class ChangesInPlace {
public:
  /// Whether `value`, which is stored into the place of `pointer`, comes from that very place, or
  /// shares what it comes from with what was compared with what stood there: `if (z < d[p]) d[p] =
  /// z`, also of other types or a little off, and where what is stored goes with the winner.
  /// `index`: the place is that of a vector builtin (vstoren) by these two; else null. `reads`:
  /// what reads there otherwise (reads_in_place.h). A value that takes thousands of others counts
  /// as if. What is kept in private memory meanwhile is followed where it gets there by a store or
  /// a copy; what went by way of local memory is not seen.
  bool isOne(const llvm::Value* value, const llvm::Value* pointer, const llvm::Value* index,
             llvm::ArrayRef<const llvm::Instruction*> reads) const;

  /// All that is stored or copied into `memory`, which is private.
  llvm::ArrayRef<const llvm::Value*> keptIn(const llvm::Value* memory) const;

private:
  mutable std::map<const llvm::Value*, std::vector<const llvm::Value*>> kept_;
};

} // namespace libsplit
