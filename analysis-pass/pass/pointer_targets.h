// What a pointer of the IR may point to.
#pragma once

#include "analysis-pass/pass/expression_builder.h"

#include <llvm/ADT/SmallPtrSet.h>

#include <map>
#include <utility>
#include <vector>

namespace libsplit {

struct PointerTarget {
  enum class Kind {
    Parameter, ///< the buffer of kernel parameter `parameter`
    Private,   ///< private memory and by-value parameters
    Local,
    Constant,      ///< program-scope constant data
    ProgramGlobal, ///< program-scope variable in global memory
    Unknown        ///< loaded from memory, made from an integer, ...
  };
  Kind kind = Kind::Unknown;
  unsigned parameter = 0;
  Expr offset; ///< bytes from the target's start
  /// Of an unknown one: others may have made it, and it may lead anywhere. Else it comes from
  /// private memory, where the kernel put it.
  bool isFromElsewhere = false;
  std::string name;  ///< of anything but parameters, for messages
  unsigned line = 0; ///< where the pointer came from
  /// Conditions (i1) and what each must be for this target to be the one; empty and several
  /// targets: not known.
  std::vector<std::pair<llvm::Value*, bool>> when;
};

/// Resolves pointers through casts, arithmetic, phis, selects, and private memory where that holds
/// nothing but pointers into buffers that are only read. Not thread-safe.
class PointerResolver {
public:
  /// `readOnly`: by parameter, as readOnlyBuffers says; it must outlive the resolver.
  PointerResolver(ExpressionBuilder& builder, const std::vector<bool>& readOnly)
      : builder_(builder), readOnly_(readOnly) {}

  /// Everything that `pointer` may point to. With one target the offset holds whenever the pointer
  /// is used; with several, each offset holds whenever that target is the one.
  const std::vector<PointerTarget>& targets(llvm::Value* pointer);

private:
  std::vector<llvm::Value*> passedOn(llvm::Value* value) const;
  std::vector<PointerTarget> compute(llvm::Value* pointer);
  std::vector<PointerTarget> ofPhi(llvm::PHINode& phi);
  std::vector<PointerTarget> merge(llvm::Value* pointer, llvm::Value* condition,
                                   llvm::Value* ifTrue, llvm::Value* ifFalse);
  std::vector<PointerTarget> unknownOffsets(llvm::Value* pointer, const std::string& why);

  ExpressionBuilder& builder_;
  const std::vector<bool>& readOnly_;
  std::map<llvm::Value*, std::vector<PointerTarget>> known_;
  llvm::SmallPtrSet<llvm::Value*, 16> underway_;
};

} // namespace libsplit
