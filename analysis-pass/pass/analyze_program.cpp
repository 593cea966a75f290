#include "analysis-pass/pass/analyze_program.h"

#include "analysis-pass/pass/analysis_managers.h"
#include "analysis-pass/pass/bitcode_rewriter.h"
#include "analysis-pass/pass/code_hashes.h"
#include "analysis-pass/pass/ir_program.h"
#include "analysis-pass/pass/kernel_access_analysis.h"
#include "analysis-pass/pass/linked_units.h"
#include "analysis-pass/pass/partition_rewriter.h"
#include "analysis-pass/pass/pocl_program.h"
#include "analysis-pass/pass/prepare.h"
#include "analysis-pass/pass/spirv_rewriter.h"
#include "analysis-pass/summary/program_kind.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace libsplit {
namespace {

/// With this project's own analysis beside LLVM's.
struct Managers : AnalysisManagers {
  Managers() {
    functions.registerPass([] { return KernelAccessAnalysis(); });
  }
};

/// Takes over what the rewriter did and could not do.
void applyRewrite(PartitionRewrite rewrite, ProgramSummary& program) {
  for (KernelSummary& kernel : program.kernels) {
    bool rewritten = std::ranges::find(rewrite.kernels, kernel.name) != rewrite.kernels.end();
    std::string failure = rewrite.failure;
    if (failure.empty() && kernel.needsPartitionArgument && !rewritten)
      failure = "a work-item function that the rewriter did not find";
    kernel.needsPartitionArgument |= rewritten;
    if (kernel.needsPartitionArgument && !failure.empty())
      kernel.obstacles.push_back(
          {Obstacle::Kind::Other, {"no partition-ready source: " + failure, rewrite.where}});
  }
  if (rewrite.failure.empty())
    program.partitionSource = std::move(rewrite.source);
}

CompiledProgram moduleOf(const ProgramInput& input) {
  switch (kindOf(input.text)) {
  case ProgramKind::OpenclC:
    return compile(input);
  case ProgramKind::Linked:
    return compileAndLink(unitsOf(input));
  case ProgramKind::SpirV:
  case ProgramKind::Bitcode:
  case ProgramKind::PoclBinary:
    break;
  }
  return loadIr(input.text);
}

/// The IR as the analysis reads it. What devices build, `compiled` is until then.
void prepare(llvm::Module& module, ProgramKind kind, Managers& managers) {
  if (kind == ProgramKind::PoclBinary)
    restoreSpirForm(module);
  PreparePass().run(module, managers.modules);
}

/// The text of OpenCL C with its includes, if any, in place.
PartitionRewrite rewriteSource(const ProgramInput& input, ProgramSummary& program) {
  if (program.includes.empty())
    return rewriteForPartitions(input);
  ProgramInput flat = input;
  flat.text = program.flatSource = flattenIncludes(input);
  if (!flat.text.empty())
    return rewriteForPartitions(flat);
  program.failure = "the program with its includes in place has no beginning";
  return {};
}

/// The same of each unit of a linked program.
PartitionRewrite rewriteLinked(const ProgramInput& input, ProgramSummary& program) {
  std::vector<ProgramInput> units = unitsOf(input);
  LinkedProgram flat = parseLinkedProgram(input.text).value_or(LinkedProgram{});
  if (!program.includes.empty() ||
      std::ranges::any_of(units, [](const ProgramInput& unit) { return !unit.headers.empty(); })) {
    std::vector<std::string> texts = flattened(units);
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (texts[i].empty()) {
        program.failure = "a unit of the program with its includes in place has no beginning";
        return {};
      }
      units[i].text = flat.units[i].text = texts[i];
      units[i].headers.clear();
      flat.units[i].headers.clear();
    }
    program.flatSource = serialize(flat);
  }
  return rewriteUnits(units, flat);
}

PartitionRewrite rewrite(const ProgramInput& input, ProgramSummary& program) {
  switch (kindOf(input.text)) {
  case ProgramKind::OpenclC:
    return rewriteSource(input, program);
  case ProgramKind::Linked:
    return rewriteLinked(input, program);
  case ProgramKind::SpirV:
    return rewriteSpirv(input.text);
  case ProgramKind::Bitcode:
  case ProgramKind::PoclBinary:
    return rewriteBitcode(input.text);
  }
  return {};
}

} // namespace

ProgramSummary analyzeProgram(const ProgramInput& input) {
  ProgramSummary program;
  CompiledProgram compiled = moduleOf(input);
  program.includes = std::move(compiled.includes);
  program.failure = std::move(compiled.failure);
  program.unknownMacros = std::move(compiled.unknownMacros);
  if (!compiled.module)
    return program;
  if (kindOf(input.text) == ProgramKind::PoclBinary)
    program.flatSource = bitcodeForOldReaders(*compiled.module, program.failure);
  if (!program.failure.empty())
    return program;

  Managers managers;
  prepare(*compiled.module, kindOf(input.text), managers);
  for (llvm::Function& function : *compiled.module)
    if (isKernel(function))
      program.kernels.push_back(managers.functions.getResult<KernelAccessAnalysis>(function));
  const std::map<std::string, std::uint64_t> hashes = codeHashes(*compiled.module);
  for (KernelSummary& kernel : program.kernels)
    kernel.codeHash = hashes.at(kernel.name);
  applyRewrite(rewrite(input, program), program);
  return program;
}

std::string preparedIr(const ProgramInput& input, std::string& failure) {
  CompiledProgram compiled = moduleOf(input);
  failure = compiled.failure;
  if (!compiled.module)
    return {};
  Managers managers;
  prepare(*compiled.module, kindOf(input.text), managers);
  std::string text;
  llvm::raw_string_ostream(text) << *compiled.module;
  return text;
}

} // namespace libsplit
