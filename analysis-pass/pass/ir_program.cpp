#include "analysis-pass/pass/ir_program.h"

#include "analysis-pass/pass/pocl_program.h"
#include "analysis-pass/pass/quiet_diagnostics.h"
#include "analysis-pass/summary/program_kind.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <optional>

namespace libsplit {
namespace {

constexpr unsigned translationSeconds = 20;

/// Any version will do; the newest knows most.
std::optional<std::string> findTranslator() {
  std::vector<std::string> names{"llvm-spirv"};
  for (unsigned version = 19; version >= 14; --version)
    names.push_back("llvm-spirv-" + std::to_string(version));
  for (const std::string& name : names)
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return std::nullopt;
}

/// The bitcode of a SPIR-V module; on failure empty, and `failure` says why.
std::string translate(const std::string& spirv, std::string& failure) {
  auto translator = findTranslator();
  if (!translator) {
    failure = "SPIR-V needs the program llvm-spirv to be analysed, and it is not installed";
    return {};
  }
  llvm::SmallString<64> in, out;
  llvm::FileRemover removeIn, removeOut;
  int inFile = -1;
  if (llvm::sys::fs::createTemporaryFile("libsplit", "spv", inFile, in) ||
      llvm::sys::fs::createTemporaryFile("libsplit", "bc", out)) {
    failure = "no temporary file can be made";
    return {};
  }
  removeIn.setFile(in);
  removeOut.setFile(out);
  llvm::raw_fd_ostream file(inFile, /*shouldClose=*/true);
  file << spirv;
  file.close();
  // Its messages are not the application's, and its crashes neither.
  std::optional<llvm::StringRef> nowhere[] = {"", "", ""};
  int status = llvm::sys::ExecuteAndWait(*translator, {*translator, "-r", "-o", out, in},
                                         std::nullopt, nowhere, translationSeconds);
  auto bitcode = llvm::MemoryBuffer::getFile(out);
  if (file.has_error() || status != 0 || !bitcode || (*bitcode)->getBufferSize() == 0) {
    file.clear_error();
    failure = "llvm-spirv can't translate the SPIR-V";
    return {};
  }
  return (*bitcode)->getBuffer().str();
}

/// One address space, of 64 bits.
bool isForHost(const llvm::Triple& target, const llvm::Module& module) {
  return (target.isX86() || target.isAArch64() || target.isRISCV() || target.isPPC64()) &&
         module.getDataLayout().getPointerSizeInBits() == 64;
}

} // namespace

CompiledProgram loadIr(const std::string& program) {
  CompiledProgram result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.context->setDiagnosticHandler(std::make_unique<QuietDiagnostics>());
  const bool isPocl = kindOf(program) == ProgramKind::PoclBinary;
  std::string translated;
  std::string_view bitcode = program;
  if (kindOf(program) == ProgramKind::SpirV) {
    bitcode = translated = translate(program, result.failure);
  } else if (isPocl) {
    if (const auto binary = readPoclBinary(program))
      bitcode = binary->bitcode;
    else
      result.failure = "the binary of PoCL is of an unknown version, or holds no bitcode";
  }
  if (!result.failure.empty())
    return result;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "program"), *result.context);
  if (!module) {
    result.failure = "the bitcode can't be read: " + llvm::toString(module.takeError());
    return result;
  }
  std::string broken;
  llvm::raw_string_ostream messages(broken);
  const llvm::Triple target((*module)->getTargetTriple());
  if (llvm::verifyModule(**module, &messages))
    result.failure = "the IR is not valid: " + broken.substr(0, broken.find('\n'));
  else if (isPocl && !isForHost(target, **module))
    result.failure = "PoCL's IR is for " + target.str() + ", not for a 64-bit processor";
  else if (!isPocl && target.getArch() != llvm::Triple::spir64)
    result.failure = "the IR is for " + target.str() + ", not for 64-bit SPIR";
  else if (isPocl)
    result.failure = detachLibrary(**module);
  if (result.failure.empty())
    result.module = std::move(*module);
  return result;
}

} // namespace libsplit
