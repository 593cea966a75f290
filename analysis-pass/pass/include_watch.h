// Notes every file that a program includes, with the hash of its contents.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <clang/Lex/PPCallbacks.h>

#include <string>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace libsplit {

class IncludeWatch : public clang::PPCallbacks {
public:
  /// Both must outlive this.
  IncludeWatch(clang::Preprocessor& preprocessor, std::vector<IncludedFile>& includes);

  void InclusionDirective(clang::SourceLocation hash, const clang::Token& token,
                          llvm::StringRef name, bool isAngled, clang::CharSourceRange range,
                          clang::OptionalFileEntryRef file, llvm::StringRef searchPath,
                          llvm::StringRef relativePath, const clang::Module* suggested,
                          bool imported, clang::SrcMgr::CharacteristicKind kind) override;

private:
  clang::Preprocessor& preprocessor_;
  std::vector<IncludedFile>& includes_;
};

} // namespace libsplit
