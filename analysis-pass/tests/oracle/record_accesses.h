// The instrumentation: an LLVM pass that tells a recorder of every load and store before it
// happens, of every store after it happened, and of what would be undefined.
#pragma once

#include <llvm/IR/PassManager.h>

namespace libsplit::oracle {

/// Calls that the pass inserts; sizes in bytes.
///   void oracle_reads(ptr, i64 size)       before a load
///   void oracle_will_write(ptr, i64 size)  before a store
///   void oracle_wrote(ptr, i64 size)       after it
///   void oracle_steps()                    where ways join: every loop comes by
///   void oracle_divides(i64 a, i64 b, i32 bits)  bits 0: unsigned
///   void oracle_computes(i32 operation, i64 a, i64 b, i32 bits)  signed +, -, * that may not wrap
class RecordAccesses : public llvm::PassInfoMixin<RecordAccesses> {
public:
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace libsplit::oracle
