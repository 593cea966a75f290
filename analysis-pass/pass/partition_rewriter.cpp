#include "analysis-pass/pass/partition_rewriter.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/macro_names.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Lex/Lexer.h>
#include <clang/Rewrite/Core/Rewriter.h>
#include <clang/Rewrite/Frontend/Rewriters.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

using clang::FunctionDecl;
using clang::SourceLocation;

namespace libsplit {
namespace {

/// `text` with all included files in place of their #include lines.
class FlattenAction : public clang::PreprocessorFrontendAction {
public:
  std::string text;

protected:
  void ExecuteAction() override {
    clang::PreprocessorOutputOptions options;
    options.UseLineDirectives = true; // the lines, which __LINE__ tells, stay what they were
    llvm::raw_string_ostream out(text);
    clang::RewriteIncludesInInput(getCompilerInstance().getPreprocessor(), &out, options);
  }
};

struct Call {
  const clang::CallExpr* expr = nullptr;
  const FunctionDecl* caller = nullptr;
  const FunctionDecl* callee = nullptr;
};

/// Every function with its declarations, and every call between functions.
class CallCollector : public clang::RecursiveASTVisitor<CallCollector> {
public:
  std::set<const FunctionDecl*> functions; ///< canonical declarations of the program's own
  std::vector<Call> calls;
  std::set<std::string> misleading; ///< names of called work-item functions that a part gets wrong
  std::set<const FunctionDecl*> misled; ///< functions that call them
  struct Literal {
    std::string text;
    SourceLocation where;
  };
  std::vector<Literal> literals; ///< strings, in their order

  bool TraverseFunctionDecl(FunctionDecl* function) { // NOLINT: Clang calls it by this name
    const FunctionDecl* before = std::exchange(current_, function->getCanonicalDecl());
    if (function->getLocation().isValid())
      functions.insert(current_);
    bool goOn = RecursiveASTVisitor::TraverseFunctionDecl(function);
    current_ = before;
    return goOn;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (!callee || !current_)
      return true;
    std::string name = callee->getNameAsString();
    if (!callee->isDefined() && classifyBuiltin(name).needsPartitionArgument) {
      misleading.insert(name);
      misled.insert(current_);
    }
    calls.push_back({call, current_, callee->getCanonicalDecl()});
    return true;
  }

  bool VisitStringLiteral(clang::StringLiteral* literal) {
    literals.push_back({literal->getBytes().str(), literal->getExprLoc()});
    return true;
  }

private:
  const FunctionDecl* current_ = nullptr;
};

/// 0 if it is not known.
unsigned lineOf(const clang::SourceManager& sources, SourceLocation location) {
  const clang::PresumedLoc place = sources.getPresumedLoc(location);
  return place.isValid() ? place.getLine() : 0;
}

/// The edits of one translation unit.
class Editor {
public:
  Editor(clang::ASTContext& context, const CallCollector& program, const Macros& macros,
         std::string prefix, const std::set<std::string>& askingElsewhere)
      : sources_(context.getSourceManager()), language_(context.getLangOpts()), program_(program),
        macros_(macros), askingElsewhere_(askingElsewhere), prefix_(std::move(prefix)),
        parameter_(prefix_ + "part"), rewriter_(sources_, language_) {}

  PartitionRewrite run();

private:
  struct Refusal {
    std::string why;
    SourceLocation where;
  };

  void findNeedy();
  void editDeclaration(const FunctionDecl& declaration);
  void editCall(const Call& call);
  void insert(SourceLocation end, bool isFirst, const std::string& text);
  void refuse(std::string why, SourceLocation where);
  std::string prelude() const;

  /// Where the text at `location` was spelled, so that equal places compare equal.
  SourceLocation spelled(SourceLocation location) const {
    return sources_.getSpellingLoc(location);
  }
  static SourceLocation closingParen(const FunctionDecl& declaration) {
    clang::FunctionTypeLoc type = declaration.getFunctionTypeLoc();
    return type ? type.getRParenLoc() : SourceLocation();
  }

  clang::SourceManager& sources_;
  const clang::LangOptions& language_;
  const CallCollector& program_;
  const Macros& macros_;
  const std::set<std::string>& askingElsewhere_;
  std::string prefix_;
  std::string parameter_;
  clang::Rewriter rewriter_;
  std::set<const FunctionDecl*> needy_;   ///< take the parameter
  std::map<SourceLocation, bool> edited_; ///< places, and whether the list there was empty
  std::optional<Refusal> refusal_;
};

void Editor::refuse(std::string why, SourceLocation where) {
  if (!refusal_)
    refusal_ = {std::move(why), where};
}

/// Closes the set of functions that take the parameter: over calls, and over shared macro text.
void Editor::findNeedy() {
  std::map<SourceLocation, std::vector<const FunctionDecl*>> declaredAt;
  for (const FunctionDecl* function : program_.functions)
    for (const FunctionDecl* declaration : function->redecls())
      if (SourceLocation end = closingParen(*declaration); end.isValid())
        declaredAt[spelled(end)].push_back(function);
  std::map<SourceLocation, std::vector<const Call*>> calledAt;
  for (const Call& call : program_.calls)
    calledAt[spelled(call.expr->getRParenLoc())].push_back(&call);

  std::vector<const FunctionDecl*> open(program_.misled.begin(), program_.misled.end());
  for (const FunctionDecl* function : program_.functions)
    if (function->hasExternalFormalLinkage() &&
        askingElsewhere_.contains(function->getNameAsString()))
      open.push_back(function);
  while (!open.empty()) {
    const FunctionDecl* function = open.back();
    open.pop_back();
    if (!needy_.insert(function).second)
      continue;
    for (const FunctionDecl* declaration : function->redecls())
      if (SourceLocation end = closingParen(*declaration); end.isValid())
        for (const FunctionDecl* twin : declaredAt[spelled(end)])
          open.push_back(twin);
    for (const Call& call : program_.calls) {
      if (call.callee != function)
        continue;
      for (const Call* twin : calledAt[spelled(call.expr->getRParenLoc())]) {
        open.push_back(twin->caller);
        if (program_.functions.contains(twin->callee))
          open.push_back(twin->callee);
        else
          refuse("a macro calls both `" + function->getNameAsString() + "` and the built-in `" +
                     twin->callee->getNameAsString() + "`",
                 twin->expr->getExprLoc());
      }
    }
  }
}

void Editor::insert(SourceLocation end, bool isFirst, const std::string& text) {
  SourceLocation place = spelled(end);
  if (place.isInvalid() || sources_.getFileID(place) != sources_.getMainFileID())
    return refuse("text that comes from pasted tokens or from a macro on the command line", end);
  auto [found, isNew] = edited_.try_emplace(place, isFirst);
  if (!isNew) {
    if (found->second != isFirst)
      refuse("a macro that stands for lists with and without elements", end);
    return;
  }
  rewriter_.InsertTextBefore(place, (isFirst ? "" : ", ") + text);
}

void Editor::editDeclaration(const FunctionDecl& declaration) {
  clang::FunctionTypeLoc type = declaration.getFunctionTypeLoc();
  if (!type)
    return refuse("`" + declaration.getNameAsString() + "` is declared through a typedef",
                  declaration.getLocation());
  bool isFirst = declaration.getNumParams() == 0;
  if (isFirst) {
    // `(void)`: the word has to go.
    SourceLocation begin = spelled(type.getLParenLoc()).getLocWithOffset(1);
    SourceLocation end = spelled(type.getRParenLoc());
    bool sameFile = sources_.getFileID(begin) == sources_.getFileID(end) && !(end < begin);
    if (!sameFile)
      return refuse("a parameter list that a macro puts together", declaration.getLocation());
    auto range = clang::CharSourceRange::getCharRange(begin, end);
    llvm::StringRef between = clang::Lexer::getSourceText(range, sources_, language_);
    if (between.contains("void") && !edited_.contains(end))
      rewriter_.RemoveText(range);
    else if (!between.trim().empty())
      return refuse("a parameter list that a macro puts together", declaration.getLocation());
  }
  insert(type.getRParenLoc(), isFirst, "ulong16 " + parameter_);
}

void Editor::editCall(const Call& call) {
  insert(call.expr->getRParenLoc(), call.expr->getNumArgs() == 0, parameter_);
}

std::string Editor::prelude() const {
  auto uses = [&](const char* name) { return program_.misleading.contains(name); };
  // Not a name that the program may have given to a macro.
  const std::string part = prefix_ + "part", dimension = prefix_ + "dimension";
  // One word of the argument by a dimension that may be computed. Beyond the third, the device's
  // own answer doesn't depend on the part (and is not everywhere what the specification says).
  auto pick = [&](const char* words, const std::string& beyond) {
    std::string text;
    for (unsigned d = 0; d < 3; ++d)
      text += dimension + " == " + std::to_string(d) + " ? " + part + ".s" + words[d] + " : ";
    return text + beyond;
  };
  // OpenCL C 1.1 knows no `static`.
  const std::string head = language_.OpenCLVersion < 120 ? "size_t " : "static inline size_t ";
  std::string functions;
  std::string macros;
  auto answer = [&](const char* name, const std::string& value) {
    if (!uses(name))
      return;
    functions += head + prefix_ + name + "(ulong16 " + part + ", uint " + dimension +
                 ") { return (size_t)(" + value + "); }\n";
    macros +=
        std::string("#define ") + name + "(d) " + prefix_ + name + "(" + parameter_ + ", d)\n";
  };
  const std::string own = "(" + dimension + ")";
  answer("get_group_id", "get_group_id" + own + " + (" + pick("012", "0ul") + ")");
  answer("get_num_groups", pick("345", "get_num_groups" + own));
  answer("get_global_size", pick("678", "get_global_size" + own));
  answer("get_global_offset", pick("9ab", "get_global_offset" + own));
  if (uses("get_global_linear_id")) {
    functions += head + prefix_ + "get_global_linear_id(ulong16 " + part + ") { return " +
                 "(size_t)(((get_global_id(2) - " + part + ".sb) * " + part +
                 ".s7 + get_global_id(1) - " + part + ".sa) * " + part + ".s6 + " +
                 "get_global_id(0) - " + part + ".s9); }\n";
    macros +=
        "#define get_global_linear_id() " + prefix_ + "get_global_linear_id(" + parameter_ + ")\n";
  }
  return functions + macros + "#line 1\n";
}

PartitionRewrite Editor::run() {
  PartitionRewrite result;
  findNeedy();
  for (const FunctionDecl* function : needy_) {
    if (function->hasExternalFormalLinkage())
      result.functions.push_back(function->getNameAsString());
    if (function->hasAttr<clang::OpenCLKernelAttr>() ||
        (function->getDefinition() &&
         function->getDefinition()->hasAttr<clang::OpenCLKernelAttr>()))
      result.kernels.push_back(function->getNameAsString());
  }
  if (needy_.empty())
    return result;
  std::ranges::sort(result.kernels);

  for (const FunctionDecl* function : needy_)
    for (const FunctionDecl* declaration : function->redecls())
      editDeclaration(*declaration);
  for (const Call& call : program_.calls)
    if (needy_.contains(call.callee))
      editCall(call);
  for (const std::string& name : program_.misleading)
    if (macros_.named.contains(name))
      refuse(ownMacro(name), {});
  if (const auto component = componentIn(macros_))
    refuse(ownMacro(*component), {});
  if (refusal_) {
    result.failure = refusal_->why;
    result.where.line = lineOf(sources_, refusal_->where);
    return result;
  }
  clang::FileID main = sources_.getMainFileID();
  const auto* edited = rewriter_.getRewriteBufferFor(main);
  result.source = prelude();
  if (edited)
    result.source.append(edited->begin(), edited->end());
  else
    result.source += sources_.getBufferData(main);
  return result;
}

class RewriteAction : public clang::ASTFrontendAction {
public:
  RewriteAction(std::string prefix, const std::set<std::string>& askingElsewhere)
      : prefix_(std::move(prefix)), askingElsewhere_(askingElsewhere) {}
  PartitionRewrite result;
  std::vector<CallCollector::Literal> literals; ///< of the source as it is

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<MacroNames>(macros_));
    class Consumer : public clang::ASTConsumer {
    public:
      explicit Consumer(RewriteAction& action) : action_(action) {}
      void HandleTranslationUnit(clang::ASTContext& context) override {
        CallCollector program;
        program.TraverseDecl(context.getTranslationUnitDecl());
        action_.result =
            Editor(context, program, action_.macros_, action_.prefix_, action_.askingElsewhere_)
                .run();
        action_.literals = std::move(program.literals);
      }

    private:
      RewriteAction& action_;
    };
    return std::make_unique<Consumer>(*this);
  }

private:
  std::string prefix_;
  const std::set<std::string>& askingElsewhere_;
  Macros macros_;
};

/// Of the rewritten source: where the program still asks the device itself, and where it says
/// something else than before. A macro that puts the parentheses after the name hides the name from
/// the prelude's macros; one that makes a string of its argument (`#x`) sees what these make of it.
class CheckAction : public clang::ASTFrontendAction {
public:
  /// `literals`: the strings of the source as it was.
  CheckAction(std::string prefix, std::vector<CallCollector::Literal> literals)
      : prefix_(std::move(prefix)), literals_(std::move(literals)) {}
  std::optional<PartitionRewrite> refused;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    class Consumer : public clang::ASTConsumer {
    public:
      explicit Consumer(CheckAction& action) : action_(action) {}
      void HandleTranslationUnit(clang::ASTContext& context) override {
        CallCollector program;
        program.TraverseDecl(context.getTranslationUnitDecl());
        for (const Call& call : program.calls) {
          const std::string name = call.callee->getNameAsString();
          if (!program.misleading.contains(name) ||
              call.caller->getNameAsString().starts_with(action_.prefix_))
            continue;
          return refuse("`" + name + "` and its parentheses come from different places", context,
                        call.expr->getExprLoc());
        }
        const auto other =
            std::ranges::mismatch(program.literals, action_.literals_, {},
                                  &CallCollector::Literal::text, &CallCollector::Literal::text);
        if (other.in1 != program.literals.end() || other.in2 != action_.literals_.end())
          refuse("a string is made of what asks for work-groups", context,
                 other.in1 != program.literals.end() ? other.in1->where : SourceLocation());
      }

    private:
      void refuse(std::string why, const clang::ASTContext& context, SourceLocation where) {
        action_.refused.emplace();
        action_.refused->failure = std::move(why);
        action_.refused->where.line = lineOf(context.getSourceManager(), where);
      }

      CheckAction& action_;
    };
    return std::make_unique<Consumer>(*this);
  }

private:
  std::string prefix_;
  std::vector<CallCollector::Literal> literals_;
};

} // namespace

std::string freePrefix(const std::string& text) {
  std::string prefix = "libsplit_";
  for (unsigned i = 1; text.find(prefix) != std::string::npos; ++i)
    prefix = "libsplit" + std::to_string(i) + "_";
  return prefix;
}

std::string flattenIncludes(const ProgramInput& input) {
  FlattenAction flattened;
  runClang(input, flattened);
  // Before the program's own first line stand the declarations that Clang was given for it.
  std::string firstLine = "#line 1 \"" + input.name + "\"\n";
  std::size_t begin = flattened.text.find(firstLine);
  return begin == std::string::npos ? std::string() : flattened.text.substr(begin);
}

PartitionRewrite rewriteForPartitions(const ProgramInput& input) {
  PartitionRewrite result = rewriteUnitForPartitions(input, {});
  if (result.kernels.empty() && result.failure.empty())
    result.source.clear();
  return result;
}

PartitionRewrite rewriteUnitForPartitions(const ProgramInput& input,
                                          const std::set<std::string>& askingElsewhere) {
  ProgramInput program = input;
  const std::string prefix = freePrefix(program.text);
  RewriteAction rewrite(prefix, askingElsewhere);
  if (auto error = runClang(program, rewrite))
    return {.failure = "the program does not compile twice: " + *error};
  PartitionRewrite result = std::move(rewrite.result);
  if (result.source.empty())
    return result;
  program.text = result.source;
  CheckAction check(prefix, std::move(rewrite.literals));
  if (auto error = runClang(program, check)) {
    result.source.clear();
    result.failure = "the rewritten source does not compile: " + *error;
  }
  return check.refused ? *check.refused : result;
}

} // namespace libsplit
