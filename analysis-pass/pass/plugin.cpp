// The analysis as a plugin of opt:
//   opt -load-pass-plugin=libsplit-analysis.so
//       -passes='libsplit-prepare,print<libsplit-access>' -disable-output kernel.bc
#include "analysis-pass/pass/kernel_access_analysis.h"
#include "analysis-pass/pass/prepare.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>

using namespace libsplit;

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "libsplit-analysis", "1", [](llvm::PassBuilder& builder) {
            builder.registerAnalysisRegistrationCallback(
                [](llvm::FunctionAnalysisManager& analyses) {
                  analyses.registerPass([] { return KernelAccessAnalysis(); });
                });
            builder.registerPipelineParsingCallback(
                [](llvm::StringRef name, llvm::ModulePassManager& passes,
                   llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
                  if (name == "libsplit-prepare")
                    passes.addPass(PreparePass());
                  else if (name == "print<libsplit-access>")
                    passes.addPass(
                        llvm::createModuleToFunctionPassAdaptor(KernelAccessPrinter(llvm::outs())));
                  else
                    return false;
                  return true;
                });
          }};
}
