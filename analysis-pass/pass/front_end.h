// Clang, in this process: OpenCL C in, IR out, as the target device would read the program.
//
// The program is parsed for 64-bit SPIR with the macros of the device: its version, its extensions,
// what it defines besides. A program that asks the preprocessor for something that nobody has told
// us (`#ifdef __x86_64__`: set in PoCL, which compiles for the host) may be another program on the
// device, so it is refused, with the names to ask for; see macro_watch.h.
#pragma once

#include "analysis-pass/summary/build_options.h"
#include "analysis-pass/summary/kernel_summary.h"
#include "analysis-pass/summary/linked_program.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clang {
class CompilerInstance;
class FrontendAction;
} // namespace clang
namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace libsplit {

/// What the runtime says of the device that the program is built for.
struct TargetDevice {
  unsigned version = 120; ///< of OpenCL C: 100 * major + 10 * minor
  /// For programs that name no version. Not said: 1.2, or less if the device knows no better.
  std::optional<unsigned> defaultVersion;
  std::optional<std::vector<std::string>> extensions; ///< not said: those that SPIR has
  std::vector<std::string> defines;                   ///< "NAME" or "NAME=VALUE"
  std::vector<std::string> undefines;                 ///< known not to be defined
};

/// "OpenCL C 1.2 PoCL", "1.2" and "120" give 120.
std::optional<unsigned> parseDeviceVersion(std::string_view text);

struct ProgramInput {
  std::string name = "program.cl"; ///< for messages; relative includes are looked up beside it
  std::string text;
  BuildOptions options;
  /// Found beside `name`, before all files.
  std::vector<EmbeddedHeader> headers;
  TargetDevice device;
  /// Asks for what only reports use: the names of variables, which cost Clang some time.
  bool wantsNames = false;
};

struct CompiledProgram {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module; ///< null if `failure` is set
  std::vector<IncludedFile> includes;
  std::vector<std::string> unknownMacros; ///< as in ProgramSummary
  std::string failure;
};

/// The OpenCL C version that the program is compiled for, as 120: -cl-std or the device's default.
unsigned languageVersion(const ProgramInput& input);

/// Paths that begin so are no files; programs and headers in memory may have one.
inline constexpr std::string_view virtualFolder = "/libsplit/";

/// `context`: where the module shall live, or null for one of its own; it becomes the result's,
/// also on failure.
CompiledProgram compile(const ProgramInput& input,
                        std::unique_ptr<llvm::LLVMContext> context = nullptr);

/// Runs `action` over the program. The first error of Clang, or nothing if there was none.
std::optional<std::string> runClang(const ProgramInput& input, clang::FrontendAction& action);

} // namespace libsplit
