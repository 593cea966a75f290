#pragma once

#include <llvm/IR/DiagnosticHandler.h>

namespace libsplit {

/// Lets an error that LLVM reports to its context become a failure and not the end of splitc.
class QuietDiagnostics : public llvm::DiagnosticHandler {
public:
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

} // namespace libsplit
