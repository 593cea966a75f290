#include "analysis-pass/pass/window_rewriter.h"

#include "analysis-pass/pass/linked_units.h"
#include "analysis-pass/pass/macro_names.h"
#include "analysis-pass/pass/partition_rewriter.h"
#include "analysis-pass/summary/partition_argument.h"
#include "analysis-pass/summary/program_kind.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Rewrite/Core/Rewriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

using clang::FunctionDecl;
using clang::SourceLocation;

namespace libsplit {
namespace {

bool isGlobalPointer(const clang::ParmVarDecl& parameter) {
  const clang::QualType type = parameter.getType();
  return type->isPointerType() &&
         type->getPointeeType().getAddressSpace() == clang::LangAS::opencl_global;
}

/// Whether some copy of the kernel's arguments may be a window.
bool takesWindows(const FunctionDecl& function) {
  const FunctionDecl* definition = function.getDefinition();
  if (!definition || !definition->hasAttr<clang::OpenCLKernelAttr>())
    return false;
  const auto isPointer = [](const clang::ParmVarDecl* each) { return isGlobalPointer(*each); };
  const auto pointers = std::ranges::count_if(definition->parameters(), isPointer);
  return pointers > 0 && static_cast<std::size_t>(pointers) <= WindowArgument::most &&
         std::ranges::none_of(definition->parameters(), [](const clang::ParmVarDecl* each) {
           return isGlobalPointer(*each) && each->getType().isConstQualified();
         });
}

/// The edits of one translation unit.
class Editor : public clang::RecursiveASTVisitor<Editor> {
public:
  Editor(clang::ASTContext& context, std::string parameter)
      : sources_(context.getSourceManager()), parameter_(std::move(parameter)),
        rewriter_(sources_, context.getLangOpts()) {}

  bool VisitFunctionDecl(FunctionDecl* declaration) { // NOLINT: Clang calls it by this name
    if (!takesWindows(*declaration))
      return true;
    const clang::FunctionTypeLoc type = declaration->getFunctionTypeLoc();
    if (!type) {
      refuse("`" + declaration->getNameAsString() + "` is declared through a typedef");
      return true;
    }
    insert(type.getRParenLoc(), ", ulong16 " + parameter_, /*isBehind=*/false);
    if (const auto* body = declaration->isThisDeclarationADefinition()
                               ? clang::dyn_cast<clang::CompoundStmt>(declaration->getBody())
                               : nullptr)
      insert(body->getLBracLoc(), moves(*declaration), /*isBehind=*/true);
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) { // NOLINT
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee && callee->hasAttr<clang::OpenCLKernelAttr>() && !callee->getDefinition())
      refuse("`" + callee->getNameAsString() + "` is a kernel of another unit"); // as it is there
    else if (callee && takesWindows(*callee))
      insert(call->getRParenLoc(), ", (ulong16)(0)", /*isBehind=*/false);
    return true;
  }

  WindowRewrite result() {
    if (!failure_.empty())
      return {.failure = failure_};
    const clang::FileID main = sources_.getMainFileID();
    if (const auto* edited = rewriter_.getRewriteBufferFor(main))
      return {.source = std::string(edited->begin(), edited->end())};
    return {.source = sources_.getBufferData(main).str()};
  }

private:
  /// What the kernel begins with.
  std::string moves(const FunctionDecl& kernel) const {
    std::string text;
    unsigned word = 0;
    for (const clang::ParmVarDecl* each : kernel.parameters()) {
      if (!isGlobalPointer(*each))
        continue;
      const char digit = "0123456789abcdef"[word++];
      const std::string name = each->getNameAsString();
      if (!name.empty())
        text += " " + name + " = (global void*)((global char*)" + name + " - " + parameter_ + ".s" +
                digit + ");";
    }
    return text;
  }

  /// Once at each place where the text was spelled: a macro's body may be used several times.
  void insert(SourceLocation at, const std::string& text, bool isBehind) {
    const SourceLocation place = sources_.getSpellingLoc(at);
    if (place.isInvalid() || sources_.getFileID(place) != sources_.getMainFileID())
      return refuse("text that comes from pasted tokens or from a macro on the command line");
    const auto [found, isNew] = inserted_.try_emplace(place, text);
    if (found->second != text)
      return refuse("a macro that stands for different kernels");
    if (isNew && isBehind)
      rewriter_.InsertTextAfterToken(place, text);
    else if (isNew)
      rewriter_.InsertTextBefore(place, text);
  }

  void refuse(const std::string& why) {
    if (failure_.empty())
      failure_ = why;
  }

  clang::SourceManager& sources_;
  const std::string parameter_;
  clang::Rewriter rewriter_;
  std::map<SourceLocation, std::string> inserted_;
  std::string failure_;
};

class RewriteAction : public clang::ASTFrontendAction {
public:
  explicit RewriteAction(std::string parameter) : parameter_(std::move(parameter)) {}
  WindowRewrite result;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<MacroNames>(macros_));
    class Consumer : public clang::ASTConsumer {
    public:
      explicit Consumer(RewriteAction& action) : action_(action) {}
      void HandleTranslationUnit(clang::ASTContext& context) override {
        Editor editor(context, action_.parameter_);
        editor.TraverseDecl(context.getTranslationUnitDecl());
        action_.result = editor.result();
        if (const auto component = componentIn(action_.macros_))
          action_.result = {.failure = ownMacro(*component)};
      }

    private:
      RewriteAction& action_;
    };
    return std::make_unique<Consumer>(*this);
  }

private:
  const std::string parameter_;
  Macros macros_;
};

WindowRewrite rewriteUnit(const ProgramInput& input) {
  // What the analysis sees is optimised: a load whose value nobody uses is gone.
  if (input.options.isUnoptimised)
    return {.failure = "it is built without optimisation, so devices may touch bytes in vain"};
  // Macros that nobody knows may make it another program.
  if (CompiledProgram compiled = compile(input); !compiled.module)
    return {.failure = std::move(compiled.failure)};
  RewriteAction rewrite(freePrefix(input.text) + "window");
  if (const auto error = runClang(input, rewrite))
    return {.failure = "the program does not compile twice: " + *error};
  if (!rewrite.result.failure.empty())
    return rewrite.result;
  ProgramInput rewritten = input;
  rewritten.text = rewrite.result.source;
  clang::SyntaxOnlyAction check;
  if (const auto error = runClang(rewritten, check))
    return {.failure = "the windowed source does not compile: " + *error};
  return rewrite.result;
}

WindowRewrite rewriteLinked(const ProgramInput& input) {
  auto program = parseLinkedProgram(input.text);
  if (!program)
    return {.failure = "the linked program is damaged"};
  const std::vector<ProgramInput> units = unitsOf(input);
  for (std::size_t i = 0; i < units.size(); ++i) {
    WindowRewrite rewrite = rewriteUnit(units[i]);
    if (!rewrite.failure.empty())
      return rewrite;
    program->units[i].text = std::move(rewrite.source);
  }
  return {.source = serialize(*program)};
}

} // namespace

WindowRewrite rewriteForWindows(const ProgramInput& input) {
  switch (kindOf(input.text)) {
  case ProgramKind::OpenclC:
    return rewriteUnit(input);
  case ProgramKind::Linked:
    return rewriteLinked(input);
  case ProgramKind::SpirV:
  case ProgramKind::Bitcode:
  case ProgramKind::PoclBinary:
    break;
  }
  return {.failure = "the program is no OpenCL C"};
}

} // namespace libsplit
