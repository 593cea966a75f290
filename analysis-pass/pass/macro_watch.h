// Finds out whether a program asks the preprocessor for something that only the device knows.
//
// Vendors' compilers define macros of their own (__NV_CL_C_VERSION, __x86_64__, __AMDGCN__, ...). A
// program that tests one may be other code on the device than what Clang for SPIR sees, so nothing
// may be said of it. Names that are reserved to implementations and are neither the program's own,
// nor told by the device, nor the same everywhere count as unknown when a conditional directive
// looks at them or when they are expanded. So do, for a directive, names in lower case: what is a
// function in one compiler is a macro in another (PoCL renames `max` so), as are old names of
// systems (`linux`). The runtime asks the device's compiler for these, and comes again.
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <llvm/ADT/StringSet.h>

#include <optional>
#include <string>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace libsplit {

struct ProgramInput;

/// The names whose value is as on the device.
struct KnownMacros {
  llvm::StringSet<> names;                     ///< defined or not: as the preprocessor has it
  std::optional<llvm::StringSet<>> extensions; ///< all that the device has
  bool tellsFeatures = false;                  ///< the device named its __opencl_c_ features
  llvm::StringSet<> features;                  ///< those, of OpenCL C 3.0
  unsigned languageVersion = 120;
};

KnownMacros knownMacros(const ProgramInput& input, unsigned languageVersion);

class MacroWatch : public clang::PPCallbacks {
public:
  /// Puts unknown names into `unknown`, each once. References must outlive the preprocessor.
  MacroWatch(clang::Preprocessor& preprocessor, const KnownMacros& known, std::string ownHeader,
             std::vector<std::string>& unknown);

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& definition,
                    clang::SourceRange range, const clang::MacroArgs* arguments) override;
  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override;
  void MacroUndefined(const clang::Token& name, const clang::MacroDefinition& definition,
                      const clang::MacroDirective* directive) override;
  void Defined(const clang::Token& name, const clang::MacroDefinition& definition,
               clang::SourceRange range) override;
  void If(clang::SourceLocation where, clang::SourceRange condition,
          ConditionValueKind value) override;
  void Elif(clang::SourceLocation where, clang::SourceRange condition, ConditionValueKind value,
            clang::SourceLocation ifWhere) override;
  void Ifdef(clang::SourceLocation where, const clang::Token& name,
             const clang::MacroDefinition& definition) override;
  void Ifndef(clang::SourceLocation where, const clang::Token& name,
              const clang::MacroDefinition& definition) override;
  void Elifdef(clang::SourceLocation where, const clang::Token& name,
               const clang::MacroDefinition& definition) override;
  void Elifndef(clang::SourceLocation where, const clang::Token& name,
                const clang::MacroDefinition& definition) override;
  void Endif(clang::SourceLocation where, clang::SourceLocation ifWhere) override;
  void EndOfMainFile() override;

private:
  bool isOwn(clang::SourceLocation where) const; ///< in the built-in header
  /// `isAsked`: a directive asks whether it is defined, or for its value.
  bool isKnown(llvm::StringRef name, bool isAsked) const;
  void note(llvm::StringRef name);
  void test(llvm::StringRef name, clang::SourceLocation where, bool isAsked = true);
  void testTokens(clang::SourceRange range);
  void settleGuard();

  clang::Preprocessor& preprocessor_;
  const KnownMacros& known_;
  std::string ownHeader_;
  std::vector<std::string>& unknown_;
  llvm::StringSet<> undefined_; ///< by the program itself
  std::string pendingGuard_;    ///< tested by the #ifndef just seen; it may be an include guard
};

} // namespace libsplit
