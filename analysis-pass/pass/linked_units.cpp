#include "analysis-pass/pass/linked_units.h"

#include "analysis-pass/pass/quiet_diagnostics.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include <algorithm>
#include <set>

namespace libsplit {

std::vector<ProgramInput> unitsOf(const ProgramInput& input) {
  std::vector<ProgramInput> units;
  auto program = parseLinkedProgram(input.text);
  if (!program)
    return units;
  for (SourceUnit& unit : program->units) {
    ProgramInput& compiled = units.emplace_back(input);
    // A folder for each, where nothing but its headers is found beside it.
    const std::string number = std::to_string(units.size());
    compiled.name = std::string(virtualFolder) + number + "/unit" + number + ".cl";
    compiled.text = std::move(unit.text);
    compiled.options = parseBuildOptions(splitOptions(unit.options));
    compiled.headers = std::move(unit.headers);
  }
  return units;
}

CompiledProgram compileAndLink(const std::vector<ProgramInput>& units) {
  CompiledProgram result;
  if (units.empty())
    result.failure = "the linked program is damaged";
  for (const ProgramInput& unit : units) {
    const bool isFirst = &unit == units.data();
    CompiledProgram compiled = compile(unit, std::move(result.context));
    result.context = std::move(compiled.context);
    for (IncludedFile& file : compiled.includes)
      if (std::ranges::find(result.includes, file) == result.includes.end())
        result.includes.push_back(std::move(file));
    result.failure = std::move(compiled.failure);
    result.unknownMacros = std::move(compiled.unknownMacros);
    if (!compiled.module) {
      result.module.reset();
      return result;
    }
    if (isFirst) {
      result.context->setDiagnosticHandler(std::make_unique<QuietDiagnostics>());
      result.module = std::move(compiled.module);
    } else if (llvm::Linker::linkModules(*result.module, std::move(compiled.module))) {
      result.failure = "the program's units can't be linked";
      result.module.reset();
      return result;
    }
  }
  return result;
}

std::vector<std::string> flattened(const std::vector<ProgramInput>& units) {
  std::vector<std::string> texts;
  for (const ProgramInput& unit : units)
    texts.push_back(flattenIncludes(unit));
  return texts;
}

PartitionRewrite rewriteUnits(const std::vector<ProgramInput>& units,
                              const LinkedProgram& program) {
  std::set<std::string> asking; // names of functions that take the parameter
  PartitionRewrite all;
  LinkedProgram parts;
  for (bool grows = true; grows;) {
    grows = false;
    parts = program;
    all = {};
    for (std::size_t i = 0; i < units.size(); ++i) {
      PartitionRewrite rewrite = rewriteUnitForPartitions(units[i], asking);
      for (const std::string& function : rewrite.functions)
        grows |= asking.insert(function).second;
      all.kernels.insert(all.kernels.end(), rewrite.kernels.begin(), rewrite.kernels.end());
      if (all.failure.empty() && !rewrite.failure.empty()) {
        all.failure = rewrite.failure;
        all.where = rewrite.where;
      }
      parts.units[i].text = rewrite.source.empty() ? units[i].text : rewrite.source;
      parts.units[i].headers.clear();
    }
  }
  if (!all.kernels.empty() && all.failure.empty())
    all.source = serialize(parts);
  return all;
}

} // namespace libsplit
