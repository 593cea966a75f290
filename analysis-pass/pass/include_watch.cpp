#include "analysis-pass/pass/include_watch.h"

#include "analysis-pass/pass/front_end.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace libsplit {

IncludeWatch::IncludeWatch(clang::Preprocessor& preprocessor, std::vector<IncludedFile>& includes)
    : preprocessor_(preprocessor), includes_(includes) {}

void IncludeWatch::InclusionDirective(clang::SourceLocation, const clang::Token&, llvm::StringRef,
                                      bool, clang::CharSourceRange,
                                      clang::OptionalFileEntryRef file, llvm::StringRef,
                                      llvm::StringRef, const clang::Module*, bool,
                                      clang::SrcMgr::CharacteristicKind) {
  if (!file || file->getName().starts_with(virtualFolder))
    return;
  std::string path = file->getName().str();
  if (std::ranges::any_of(includes_, [&](const IncludedFile& known) { return known.path == path; }))
    return;
  auto contents = preprocessor_.getSourceManager().getMemoryBufferForFileOrNone(*file);
  if (contents)
    includes_.push_back({path, XXH3_64bits(contents->getBufferStart(), contents->getBufferSize())});
}

} // namespace libsplit
