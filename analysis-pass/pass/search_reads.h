// Reads by which a search finds out that it need not go on.
//
//     if (i >= *best)          // somebody has found something earlier
//       return;
//     if (matches(i))
//       atomic_min(best, i);
//
// What `*best` holds at that moment depends on the order of work-items, yet the answer does not: it
// is never less than the final one, x >= final; so all that is left out, an update with i >= x,
// would have changed nothing. Where each device has a `best` of its own, which starts at what was
// there before and is merged at the end, the same holds. So such a read is none.
//
// A read belongs to a search if nothing looks at it but comparisons of it with some i, and nothing
// at these but branches that skip where i is no better than what was read (conditions in between,
// `i < *best && ...`, may skip more). And for each such branch, up to where its two ways meet
// again:
//
//   * all that is done is to update the same element, by `min` with i, or by `max` where the search
//     is for the largest; the way that skips does nothing;
//   * nothing that is computed there is used after that;
//   * where the branch leaves a loop, what is left out are also the later rounds: in each loop
//     around it i does not change, or always gets worse, the element stays the same, and the loop
//     ends whatever others find: who waits for them is no search.
#pragma once

#include <llvm/ADT/DenseMap.h>

namespace llvm {
class Function;
class Instruction;
class LoopInfo;
class PostDominatorTree;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace libsplit {

/// Loads, and atomics that change nothing, with their addresses.
using SearchReads = llvm::DenseMap<const llvm::Instruction*, llvm::Value*>;

/// Those by which the searches of `function` read.
SearchReads searchReads(llvm::Function& function, const llvm::LoopInfo& loops,
                        llvm::ScalarEvolution& evolution,
                        const llvm::PostDominatorTree& postDominators);

} // namespace libsplit
