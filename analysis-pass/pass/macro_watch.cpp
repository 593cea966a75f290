#include "analysis-pass/pass/macro_watch.h"

#include "analysis-pass/pass/front_end.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>

#include <algorithm>
#include <cctype>

namespace libsplit {
namespace {

/// Defined alike, or undefined, by every OpenCL C compiler for little-endian Linux.
constexpr const char* sameEverywhere[] = {"__OPENCL_C_VERSION__",
                                          "__ENDIAN_LITTLE__",
                                          "__LINE__",
                                          "__FILE__",
                                          "__FAST_RELAXED_MATH__",
                                          "__COUNTER__",
                                          "__cplusplus",
                                          "__STDC__",
                                          "__OPENCL_CPP_VERSION__",
                                          "__CUDACC__",
                                          "__HIPCC__",
                                          "__HIP__",
                                          "__METAL_VERSION__",
                                          "__METAL_MACOS__",
                                          "__APPLE__",
                                          "__MACOSX__",
                                          "_WIN32",
                                          "_WIN64",
                                          "__WIN32__",
                                          "_MSC_VER",
                                          "__MINGW32__",
                                          "__CYGWIN__",
                                          "__EMBEDDED_PROFILE__",
#ifndef __powerpc__ // hosts of other kinds
                                          "__powerpc__",
                                          "__powerpc64__",
                                          "__PPC__",
                                          "__PPC64__",
                                          "__ppc__",
#endif
                                          "__sparc__",
                                          "__mips__",
                                          "__ia64__",
                                          "__alpha__",
                                          "__CLANG_REWRITTEN_INCLUDES", // stands in flat text
                                          "__VA_ARGS__"};

bool isHeaderGuard(llvm::StringRef name) {
  llvm::StringRef trimmed = name.rtrim('_');
  return trimmed.ends_with("_H") || trimmed.ends_with("_HPP") || trimmed.ends_with("_CL") ||
         trimmed.ends_with("_CLH");
}

bool isReserved(llvm::StringRef name) {
  if (isHeaderGuard(name)) // of the program's own headers, unless it is one of Clang's
    return name == "_OPENCL_H_" || name == "_OPENCL_BASE_H_";
  if (name.starts_with("__") || name.starts_with("cl_") || name.starts_with("CL_") ||
      name.starts_with("FP_FAST_FMA"))
    return true;
  return name.size() > 1 && name[0] == '_' &&
         std::isupper(static_cast<unsigned char>(name[1])) != 0;
}

/// Whether compilers may define it though it is not reserved: in place of a function, as systems
/// are called, or for use of their own.
bool isCompilersWord(llvm::StringRef name) {
  return llvm::none_of(name, [](unsigned char c) { return std::isupper(c) != 0; }) ||
         name.starts_with("HALF_") || name.starts_with("POCL_") || name.starts_with("CLANG_") ||
         name.starts_with("LLVM_");
}

bool looksLikeIncludeGuard(llvm::StringRef name, const clang::MacroInfo& macro) {
  if (!macro.isObjectLike())
    return false;
  if (macro.tokens_empty() && !isReserved(name))
    return true;
  return isHeaderGuard(name) || name.contains("INCLUDE") || name.contains("GUARD");
}

} // namespace

KnownMacros knownMacros(const ProgramInput& input, unsigned languageVersion) {
  KnownMacros known;
  known.languageVersion = languageVersion;
  for (const char* name : sameEverywhere)
    known.names.insert(name);
  auto insertName = [&](const std::string& define) {
    known.names.insert(llvm::StringRef(define).split('=').first.split('(').first);
  };
  for (const std::string& define : input.options.defines)
    insertName(define);
  for (const std::string& name : input.options.undefines)
    insertName(name);
  for (const std::string& define : input.device.defines) {
    if (define.starts_with("__opencl_c_")) {
      known.tellsFeatures = true;
      known.features.insert(llvm::StringRef(define).split('=').first);
    } else {
      insertName(define);
    }
  }
  for (const std::string& name : input.device.undefines)
    insertName(name);
  if (input.device.extensions) {
    known.extensions.emplace();
    for (const std::string& extension : *input.device.extensions)
      known.extensions->insert(extension);
  }
  return known;
}

MacroWatch::MacroWatch(clang::Preprocessor& preprocessor, const KnownMacros& known,
                       std::string ownHeader, std::vector<std::string>& unknown)
    : preprocessor_(preprocessor), known_(known), ownHeader_(std::move(ownHeader)),
      unknown_(unknown) {}

bool MacroWatch::isOwn(clang::SourceLocation where) const {
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  clang::SourceLocation file = sources.getFileLoc(where);
  if (file.isInvalid() || sources.isWrittenInBuiltinFile(file) ||
      sources.isWrittenInCommandLineFile(file))
    return true;
  return sources.getFilename(file) == ownHeader_;
}

bool MacroWatch::isKnown(llvm::StringRef name, bool isAsked) const {
  const bool isCompilers = isReserved(name) || (isAsked && isCompilersWord(name));
  if (!isCompilers || known_.names.contains(name) || undefined_.contains(name))
    return true;
  const clang::MacroInfo* macro = preprocessor_.getMacroInfo(preprocessor_.getIdentifierInfo(name));
  if (macro && !isOwn(macro->getDefinitionLoc()))
    return true; // the program's own
  if (name.starts_with("CL_VERSION_"))
    return true;
  if (name.starts_with("cl_"))
    return !known_.extensions || known_.extensions->contains(name) == (macro != nullptr);
  // Clang's own header defines for SPIR what a device need not have.
  if (name.starts_with("__opencl_c_"))
    return known_.languageVersion < 300
               ? !macro
               : known_.tellsFeatures && known_.features.contains(name) == (macro != nullptr);
  return false;
}

void MacroWatch::note(llvm::StringRef name) {
  if (std::ranges::find(unknown_, name) == unknown_.end())
    unknown_.push_back(name.str());
}

void MacroWatch::test(llvm::StringRef name, clang::SourceLocation where, bool isAsked) {
  if (!isOwn(where) && !isKnown(name, isAsked))
    note(name);
}

/// Every identifier written in a condition, and in the macros that it expands.
void MacroWatch::testTokens(clang::SourceRange range) {
  const clang::SourceManager& sources = preprocessor_.getSourceManager();
  if (range.isInvalid() || isOwn(range.getBegin()))
    return;
  auto [file, begin] = sources.getDecomposedLoc(sources.getFileLoc(range.getBegin()));
  auto [endFile, end] = sources.getDecomposedLoc(sources.getFileLoc(range.getEnd()));
  if (file != endFile)
    return;
  llvm::StringRef text = sources.getBufferData(file);
  clang::Lexer lexer(sources.getLocForStartOfFile(file), preprocessor_.getLangOpts(), text.begin(),
                     text.begin() + begin, text.end());
  llvm::StringSet<> seen;
  std::vector<std::string> open;
  clang::Token token;
  while (!lexer.LexFromRawLexer(token) && sources.getFileOffset(token.getLocation()) <= end)
    if (token.is(clang::tok::raw_identifier) && token.getRawIdentifier() != "defined")
      open.push_back(token.getRawIdentifier().str());
  while (!open.empty()) {
    std::string name = std::move(open.back());
    open.pop_back();
    if (!seen.insert(name).second)
      continue;
    test(name, range.getBegin());
    if (auto* macro = preprocessor_.getMacroInfo(preprocessor_.getIdentifierInfo(name)))
      for (const clang::Token& inner : macro->tokens())
        if (const clang::IdentifierInfo* identifier = inner.getIdentifierInfo();
            identifier && macro->getParameterNum(identifier) < 0 &&
            identifier->getName() != "defined")
          open.push_back(identifier->getName().str());
  }
}

/// The #ifndef just seen was no include guard: a test like any other.
void MacroWatch::settleGuard() {
  std::string name = std::exchange(pendingGuard_, {});
  if (!name.empty() && !isKnown(name, true))
    note(name);
}

void MacroWatch::MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition,
                              clang::SourceRange range, const clang::MacroArgs*) {
  settleGuard();
  const clang::MacroInfo* macro = definition.getMacroInfo();
  if (macro && isOwn(macro->getDefinitionLoc()))
    test(name.getIdentifierInfo()->getName(), range.getBegin(), false);
}

void MacroWatch::MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) {
  llvm::StringRef text = name.getIdentifierInfo()->getName();
  if (text == pendingGuard_ && looksLikeIncludeGuard(text, *directive->getMacroInfo()))
    pendingGuard_.clear();
  // From here on the name is the program's own; it must not hide the test before.
  else if (text == pendingGuard_)
    note(std::exchange(pendingGuard_, {}));
  settleGuard();
}

void MacroWatch::MacroUndefined(const clang::Token& name, const clang::MacroDefinition&,
                                const clang::MacroDirective*) {
  settleGuard();
  if (!isOwn(name.getLocation()))
    undefined_.insert(name.getIdentifierInfo()->getName());
}

void MacroWatch::Defined(const clang::Token& name, const clang::MacroDefinition&,
                         clang::SourceRange range) {
  settleGuard();
  test(name.getIdentifierInfo()->getName(), range.getBegin());
}

void MacroWatch::If(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind) {
  settleGuard();
  testTokens(condition);
}

void MacroWatch::Elif(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind value,
                      clang::SourceLocation) {
  settleGuard();
  if (value != CVK_NotEvaluated)
    testTokens(condition);
}

void MacroWatch::Ifdef(clang::SourceLocation where, const clang::Token& name,
                       const clang::MacroDefinition&) {
  settleGuard();
  test(name.getIdentifierInfo()->getName(), where);
}

void MacroWatch::Ifndef(clang::SourceLocation where, const clang::Token& name,
                        const clang::MacroDefinition&) {
  settleGuard();
  llvm::StringRef text = name.getIdentifierInfo()->getName();
  if (!isOwn(where) && !isKnown(text, true))
    pendingGuard_ = text.str();
}

void MacroWatch::Elifdef(clang::SourceLocation where, const clang::Token& name,
                         const clang::MacroDefinition&) {
  settleGuard();
  test(name.getIdentifierInfo()->getName(), where);
}

void MacroWatch::Elifndef(clang::SourceLocation where, const clang::Token& name,
                          const clang::MacroDefinition&) {
  settleGuard();
  test(name.getIdentifierInfo()->getName(), where);
}

void MacroWatch::Endif(clang::SourceLocation, clang::SourceLocation) {
  settleGuard();
}

void MacroWatch::EndOfMainFile() {
  settleGuard();
}

} // namespace libsplit
