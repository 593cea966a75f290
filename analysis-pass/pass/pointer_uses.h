// Who uses a piece of memory, by whatever pointers into it.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace libsplit {

/// Whether `user` is a pointer into what its operand points to, and surely nothing else.
inline bool isPlaceWithin(const llvm::User* user) {
  return llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst, llvm::AddrSpaceCastInst>(user);
}

/// Whether `visit(user, pointer)` holds for all that use `memory`, or a pointer that was made from
/// it by users that `isFollowed`. Ends at the first for which it does not. `Value` may be const.
template <class Value, class IsFollowed, class Visit>
bool allUses(Value* memory, IsFollowed isFollowed, Visit visit) {
  llvm::SmallPtrSet<Value*, 16> seen{memory};
  llvm::SmallVector<Value*, 16> pointers{memory};
  while (!pointers.empty()) {
    Value* pointer = pointers.pop_back_val();
    for (auto* user : pointer->users())
      if (isFollowed(user)) {
        if (seen.insert(user).second)
          pointers.push_back(user);
      } else if (!visit(user, pointer)) {
        return false;
      }
  }
  return true;
}

} // namespace libsplit
