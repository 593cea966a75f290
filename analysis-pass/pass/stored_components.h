// Which components of a vector does a store write?
//
// Two work-items may write two components of one vector: no other byte is theirs. But Clang knows
// no store of one component; `f[i].y = x` becomes
//
//     %old = load <4 x float>, ptr %p
//     %new = insertelement <4 x float> %old, float %x, i64 1
//     store <4 x float> %new, ptr %p
//
// and so do `.lo`, `.hi` and swizzles. Here each lane of what is stored is followed back: lanes 0,
// 2 and 3 of %new are what `%p` held, and nothing has written to memory since, so the program does
// not write them. A program that says `t = f[i]; t.y = x; f[i] = t` gives the same IR. There to
// leave out what is stored back changes nothing: nobody else may write it at that time.
//
// What a loop carries from one round to the next may have been loaded by the same instruction from
// another place: it is kept only where the pointer is the same in all rounds.
//
// The device's compiler may store all of the vector nevertheless (PoCL's does). Kept lanes are
// therefore told as an effect of their own, Effect::Rewrite.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace libsplit {

enum class Component {
  Written,
  Kept,      ///< stored back as it was loaded
  Either,    ///< perhaps the one, perhaps the other
  Undefined, ///< no value: a compiler may store anything there, or nothing
};

/// One for each lane of the vector that `store` stores; empty if that is no vector of known length.
std::vector<Component> storedComponents(const llvm::StoreInst& store,
                                        const llvm::DominatorTree& dominators);

/// Which lanes of the vector that `load` loads anybody uses but to store them back; empty if that
/// is no vector of known length.
std::vector<bool> usedComponents(const llvm::LoadInst& load, const llvm::DominatorTree& dominators);

} // namespace libsplit
