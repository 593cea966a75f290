// Notes every file that a program includes, with the hash of its contents.
//
// Drivers agree that a header's own folder comes first, and disagree about the one that the program
// runs in: PoCL looks there before it looks into the folders of `-I`. So where a file is found in
// one of those, and one of that name with other contents lies in the program's folder as well, it
// is not known what the driver reads.
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
  /// `doubt` gets the first name that may stand for two files. All must outlive this.
  IncludeWatch(clang::Preprocessor& preprocessor, std::vector<IncludedFile>& includes,
               std::string& doubt);

  void InclusionDirective(clang::SourceLocation hash, const clang::Token& token,
                          llvm::StringRef name, bool isAngled, clang::CharSourceRange range,
                          clang::OptionalFileEntryRef file, llvm::StringRef searchPath,
                          llvm::StringRef relativePath, const clang::Module* suggested,
                          bool imported, clang::SrcMgr::CharacteristicKind kind) override;

private:
  bool isHidden(llvm::StringRef name, clang::FileEntryRef file) const;

  clang::Preprocessor& preprocessor_;
  std::vector<IncludedFile>& includes_;
  std::string& doubt_;
};

} // namespace libsplit
