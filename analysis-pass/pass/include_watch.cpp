#include "analysis-pass/pass/include_watch.h"

#include "analysis-pass/pass/front_end.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace libsplit {

IncludeWatch::IncludeWatch(clang::Preprocessor& preprocessor, std::vector<IncludedFile>& includes,
                           std::string& doubt)
    : preprocessor_(preprocessor), includes_(includes), doubt_(doubt) {}

/// By a file of that name in the current folder, for who looks there first.
bool IncludeWatch::isHidden(llvm::StringRef name, clang::FileEntryRef file) const {
  clang::SourceManager& sources = preprocessor_.getSourceManager();
  const auto other = sources.getFileManager().getOptionalFileRef(name);
  if (!other || &other->getFileEntry() == &file.getFileEntry())
    return false;
  const auto here = sources.getMemoryBufferForFileOrNone(*other);
  const auto there = sources.getMemoryBufferForFileOrNone(file);
  return !here || !there || here->getBuffer() != there->getBuffer();
}

void IncludeWatch::InclusionDirective(clang::SourceLocation hash, const clang::Token&,
                                      llvm::StringRef name, bool isAngled, clang::CharSourceRange,
                                      clang::OptionalFileEntryRef file, llvm::StringRef searchPath,
                                      llvm::StringRef, const clang::Module*, bool,
                                      clang::SrcMgr::CharacteristicKind) {
  if (!file || file->getName().starts_with(virtualFolder))
    return;
  const auto from = preprocessor_.getSourceManager().getFileEntryRefForID(
      preprocessor_.getSourceManager().getFileID(hash));
  const bool isBeside = !isAngled && from && from->getDir().getName() == searchPath;
  if (!isBeside && doubt_.empty() && isHidden(name, *file))
    doubt_ = name.str();
  std::string path = file->getName().str();
  if (std::ranges::any_of(includes_, [&](const IncludedFile& known) { return known.path == path; }))
    return;
  auto contents = preprocessor_.getSourceManager().getMemoryBufferForFileOrNone(*file);
  if (contents)
    includes_.push_back({path, XXH3_64bits(contents->getBufferStart(), contents->getBufferSize())});
}

} // namespace libsplit
