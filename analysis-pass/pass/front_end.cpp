#include "analysis-pass/pass/front_end.h"

#include "analysis-pass/pass/global_ids.h"
#include "analysis-pass/pass/include_watch.h"
#include "analysis-pass/pass/kernel_access_analysis.h"
#include "analysis-pass/pass/macro_watch.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <algorithm>

namespace libsplit {
namespace {

constexpr const char* baseHeaderName = "/libsplit/opencl-c-base.h";
constexpr char baseHeaderText[] = {
#include "opencl_c_base_header.inc"
};

/// Keeps the first error, as the user would want to see it.
class FirstError : public clang::DiagnosticConsumer {
public:
  explicit FirstError(std::optional<std::string>& error) : error_(error) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || error_)
      return;
    llvm::SmallString<128> message;
    info.FormatDiagnostic(message);
    error_ = std::string();
    if (info.getLocation().isValid() && info.hasSourceManager()) {
      clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (place.isValid())
        error_ = std::string(place.getFilename()) + ":" + std::to_string(place.getLine()) + ": ";
    }
    *error_ += message.str();
  }

private:
  std::optional<std::string>& error_;
};

std::string nameOf(const std::string& define) {
  return define.substr(0, define.find('='));
}

bool isFeature(const std::string& define) {
  return define.starts_with("__opencl_c_");
}

/// Clang's option for the device's extensions and features.
std::string extensionList(const TargetDevice& device, unsigned version) {
  std::string list = "-cl-ext=-all";
  for (const std::string& extension : *device.extensions) {
    list += ",+" + extension;
    // Since 3.0 these are features as well, and Clang wants both or none.
    if (version >= 300 && (extension == "cl_khr_fp64" || extension == "cl_khr_3d_image_writes"))
      list += ",+__opencl_c_" + extension.substr(sizeof("cl_khr_") - 1);
  }
  for (const std::string& define : device.defines)
    if (isFeature(define))
      list += ",+" + nameOf(define);
  return list;
}

std::vector<std::string> arguments(const ProgramInput& input) {
  std::vector<std::string> args{"-triple",
                                "spir64-unknown-unknown",
                                "-x",
                                "cl",
                                "-O1",
                                "-disable-llvm-passes",
                                "-fdeclare-opencl-builtins",
                                "-fpreserve-vec3-type",
                                "-cl-kernel-arg-info",
                                std::string("-debug-info-kind=") +
                                    (input.wantsNames ? "limited" : "line-tables-only"),
                                "-w",
                                "-include",
                                baseHeaderName};
  unsigned version = languageVersion(input);
  args.push_back("-cl-std=CL" + std::to_string(version / 100) + "." +
                 std::to_string(version / 10 % 10));
  args.insert(args.end(), input.options.floatFlags.begin(), input.options.floatFlags.end());
  args.push_back("-D__OPENCL_VERSION__=" + std::to_string(input.device.version));

  const TargetDevice& device = input.device;
  bool tellsFeatures = std::ranges::any_of(device.defines, isFeature);
  if (device.extensions && (version < 300 || tellsFeatures))
    args.push_back(extensionList(device, version));
  if (device.extensions)
    for (const std::string& extension : *device.extensions)
      args.push_back("-D" + extension + "=1");
  // Compilers define the features from OpenCL C 3.0 on only.
  for (const std::string& define : device.defines)
    if (version >= 300 || !isFeature(define))
      args.push_back("-D" + define);
  // Clang's header defines these for SPIR, unless it is asked not to.
  if (version >= 300 && tellsFeatures)
    for (const char* feature :
         {"work_group_collective_functions", "atomic_order_seq_cst", "atomic_scope_device",
          "atomic_scope_all_devices", "read_write_images"}) {
      std::string name = std::string("__opencl_c_") + feature;
      auto isIt = [&](const std::string& define) { return nameOf(define) == name; };
      if (std::ranges::none_of(device.defines, isIt))
        args.push_back("-D__undef_" + name);
    }
  for (const std::string& name : device.undefines)
    args.push_back("-U" + name);
  for (const std::string& name : input.options.undefines)
    args.push_back("-U" + name);
  for (const std::string& define : input.options.defines)
    args.push_back("-D" + define);
  if (!input.headers.empty()) {
    args.push_back("-I");
    args.push_back(llvm::sys::path::parent_path(input.name).str());
  }
  for (const std::string& path : input.options.includePaths) {
    args.push_back("-I");
    args.push_back(path);
  }
  args.push_back("-main-file-name");
  args.push_back(llvm::sys::path::filename(input.name).str());
  args.push_back(input.name);
  return args;
}

/// Emits IR and watches the preprocessor meanwhile.
class CompileAction : public clang::EmitLLVMOnlyAction {
public:
  CompileAction(llvm::LLVMContext& context, const ProgramInput& input)
      : EmitLLVMOnlyAction(&context), macros_(knownMacros(input, languageVersion(input))) {}

  std::vector<IncludedFile> includes;
  std::string doubtful; ///< a name that may stand for two files
  std::vector<std::string> unknownMacros;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<IncludeWatch>(preprocessor, includes, doubtful));
    preprocessor.addPPCallbacks(
        std::make_unique<MacroWatch>(preprocessor, macros_, baseHeaderName, unknownMacros));
    return EmitLLVMOnlyAction::CreateASTConsumer(compiler, file);
  }

private:
  KnownMacros macros_;
};

} // namespace

std::optional<unsigned> parseDeviceVersion(std::string_view text) {
  auto digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos)
    return std::nullopt;
  unsigned major = 0;
  std::size_t i = digit;
  auto isDigit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  for (; isDigit(i) && i < digit + 4; ++i)
    major = major * 10 + static_cast<unsigned>(text[i] - '0');
  if (i < text.size() && text[i] == '.' && isDigit(i + 1))
    return major * 100 + static_cast<unsigned>(text[i + 1] - '0') * 10;
  if (major >= 100 && major < 1000)
    return major;
  return std::nullopt;
}

unsigned languageVersion(const ProgramInput& input) {
  if (!input.options.standard.empty())
    if (auto version = parseDeviceVersion(input.options.standard))
      return *version;
  return input.device.defaultVersion.value_or(std::min(input.device.version, 120u));
}

std::optional<std::string> runClang(const ProgramInput& input, clang::FrontendAction& action) {
  std::optional<std::string> error;
  if (input.options.standard.starts_with("CLC++") || input.options.standard.starts_with("clc++"))
    return "C++ for OpenCL is not analysed";
  if (!input.options.unclear.empty())
    return "the build option " + input.options.unclear + " may change what the program means";

  clang::CompilerInstance compiler;
  compiler.createDiagnostics(new FirstError(error), /*ShouldOwnClient=*/true);
  auto words = arguments(input);
  std::vector<const char*> argv;
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), argv,
                                                 compiler.getDiagnostics()))
    return error.value_or("Clang refuses its options");

  compiler.getDiagnosticOpts().ShowCarets = false; // nor a count of warnings on stderr
  auto& preprocessor = compiler.getPreprocessorOpts();
  preprocessor.addRemappedFile(
      input.name, llvm::MemoryBuffer::getMemBufferCopy(input.text, input.name).release());
  preprocessor.addRemappedFile(
      baseHeaderName,
      llvm::MemoryBuffer::getMemBufferCopy({baseHeaderText, sizeof(baseHeaderText)}, baseHeaderName)
          .release());
  for (const EmbeddedHeader& header : input.headers) {
    std::string path = (llvm::sys::path::parent_path(input.name) + "/" + header.name).str();
    preprocessor.addRemappedFile(path,
                                 llvm::MemoryBuffer::getMemBufferCopy(header.text, path).release());
  }
  preprocessor.RetainRemappedFileBuffers = false;
  if (!compiler.ExecuteAction(action))
    return error.value_or("Clang failed");
  return error;
}

CompiledProgram compile(const ProgramInput& input, std::unique_ptr<llvm::LLVMContext> context) {
  CompiledProgram result;
  result.context = context ? std::move(context) : std::make_unique<llvm::LLVMContext>();
  CompileAction action(*result.context, input);
  auto error = runClang(input, action);
  result.includes = std::move(action.includes);
  result.unknownMacros = std::move(action.unknownMacros);
  if (!result.unknownMacros.empty())
    result.failure = "the source tests " + result.unknownMacros.front() +
                     ", whose value on the device is not known";
  else if (!action.doubtful.empty())
    result.failure = "there are two files that it may mean by " + action.doubtful;
  else if (error)
    result.failure = *error;
  else if (!(result.module = action.takeModule()))
    result.failure = "Clang produced no code";
  // Drivers that take OpenCL C 3.0 for the default have Clang say otherwise; but launches with
  // groups of several sizes are split only for programs that name such a version.
  if (result.module && input.options.standard.empty())
    for (llvm::Function& function : *result.module)
      if (isKernel(function))
        function.addFnAttr(uniformGroupsAttribute, "true");
  return result;
}

} // namespace libsplit
