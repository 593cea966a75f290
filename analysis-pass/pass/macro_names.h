// Macros of a program that text put into it could be taken for.
#pragma once

#include <clang/Basic/IdentifierTable.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Token.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace libsplit {

struct Macros {
  std::set<std::string> named;   ///< that the program defines, undefines or asks for
  std::set<std::string> objects; ///< defined, without parameters: they stand for something anywhere
};

/// Notes all of them.
class MacroNames : public clang::PPCallbacks {
public:
  explicit MacroNames(Macros& macros) : macros_(macros) {}

  void MacroDefined(const clang::Token& name, const clang::MacroDirective* macro) override {
    note(name);
    if (macro->getMacroInfo()->isObjectLike())
      macros_.objects.insert(textOf(name));
  }
  void MacroUndefined(const clang::Token& name, const clang::MacroDefinition&,
                      const clang::MacroDirective*) override {
    note(name);
  }
  void Defined(const clang::Token& name, const clang::MacroDefinition&,
               clang::SourceRange) override {
    note(name);
  }
  void Ifdef(clang::SourceLocation, const clang::Token& name,
             const clang::MacroDefinition&) override {
    note(name);
  }
  void Ifndef(clang::SourceLocation, const clang::Token& name,
              const clang::MacroDefinition&) override {
    note(name);
  }

private:
  static std::string textOf(const clang::Token& name) {
    return name.getIdentifierInfo()->getName().str();
  }
  void note(const clang::Token& name) { macros_.named.insert(textOf(name)); }
  Macros& macros_;
};

/// One of them by which a component of a vector (`s0` to `sf`) becomes something else: words of the
/// partition and window arguments would.
inline std::optional<std::string> componentIn(const Macros& macros) {
  const auto isComponent = [](const std::string& name) {
    return name.size() == 2 && name[0] == 's' &&
           std::string("0123456789abcdefABCDEF").find(name[1]) != std::string::npos;
  };
  const auto found = std::ranges::find_if(macros.objects, isComponent);
  return found == macros.objects.end() ? std::nullopt : std::optional(*found);
}
inline std::string ownMacro(const std::string& name) {
  return "the program has a macro of its own named `" + name + "`";
}

} // namespace libsplit
