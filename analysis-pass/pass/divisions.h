// Integer division as OpenCL C means it: by zero, or out of the type's range (INT_MIN / -1), it
// gives an unspecified value and nothing else happens (OpenCL C 3.0, 6.3 "Operators"). LLVM's
// `udiv` and its kin, to which Clang translates it, are undefined there, so that passes fold
// `x / x` to 1 and drop the branch that leads to a division by 0, with all that it writes.
//
// Before any pass runs, a division that LLVM may take for undefined becomes a call to a function
// that no pass knows,
//
//     %q = sdiv i32 %x, %w        ->    %q = call i32 @libsplit.sdiv.i32(i32 %x, i32 %w)
//
// and ExpressionBuilder reads the call as the division that it was; evaluation answers Unknown
// where the divisor may be 0. When a pass finds the divisor to be a harmless number, the call
// becomes a plain division again.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/PassManager.h>

#include <optional>

namespace libsplit {

/// Replaces the divisions of `module`, and what the front end has folded of them already.
void makeDivisionsTotal(llvm::Module& module);

/// Which division of its two operands a call from `makeDivisionsTotal` stands for: UDiv, SDiv, URem
/// or SRem. Nothing for other calls.
std::optional<llvm::Instruction::BinaryOps> totalDivision(const llvm::Value& value);

/// Makes those calls plain divisions whose divisor has turned out to be a number other than 0
/// (and -1, where it is signed).
class PlainDivisionsPass : public llvm::PassInfoMixin<PlainDivisionsPass> {
public:
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

} // namespace libsplit
