// The analysis of one kernel: every byte of every buffer that it may touch, as a KernelSummary.
//
// Runs on IR as `prepareForAnalysis` (prepare.h) leaves it: everything inlined into the kernel,
// scalars out of memory, loops in simplified form. On other IR it is as sound, but knows less.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <llvm/IR/PassManager.h>

namespace llvm {
class raw_ostream;
}

namespace libsplit {

/// True for functions that a program can launch.
bool isKernel(const llvm::Function& function);

class KernelAccessAnalysis : public llvm::AnalysisInfoMixin<KernelAccessAnalysis> {
public:
  using Result = KernelSummary;
  Result run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

private:
  friend llvm::AnalysisInfoMixin<KernelAccessAnalysis>;
  static llvm::AnalysisKey Key; // NOLINT(readability-identifier-naming): LLVM looks for this name
};

/// Prints the report (report.h) of every kernel.
class KernelAccessPrinter : public llvm::PassInfoMixin<KernelAccessPrinter> {
public:
  explicit KernelAccessPrinter(llvm::raw_ostream& out) : out_(out) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }

private:
  llvm::raw_ostream& out_;
};

} // namespace libsplit
