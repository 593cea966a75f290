// A program that was compiled in units and linked: each unit goes through Clang by itself, the
// analysis sees the linked module, and the rewriter edits each unit's text. A function that asks
// for group ids or sizes in one unit is called with the partition argument in the others, so units
// are rewritten until no more of their functions turn out to need it.
#pragma once

#include "analysis-pass/pass/partition_rewriter.h"
#include "analysis-pass/summary/linked_program.h"

#include <vector>

namespace libsplit {

/// One input for each unit of the linked program that `input` holds. Empty if it is damaged.
std::vector<ProgramInput> unitsOf(const ProgramInput& input);

/// The module of all units; `includes` are those of all units.
CompiledProgram compileAndLink(const std::vector<ProgramInput>& units);

/// The units' texts with all they include in place, headers that were given for them as well; a
/// text is empty if Clang can't give it.
std::vector<std::string> flattened(const std::vector<ProgramInput>& units);

/// `units` must include nothing. `source` is a linked program, with `options` for the linker.
PartitionRewrite rewriteUnits(const std::vector<ProgramInput>& units, const LinkedProgram& program);

} // namespace libsplit
