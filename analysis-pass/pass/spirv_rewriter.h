// Makes SPIR-V partition-ready, as partition_rewriter.h does it with OpenCL C.
//
// In SPIR-V the work-item functions are Input variables with a BuiltIn decoration, read by OpLoad.
// Each function that loads one whose value a part gets wrong, by itself or through others, gets a
// trailing parameter of 16 ulongs (partition_argument.h), calls pass it on, and the load's result
// is computed from it.
//
// Worked example, in the assembler's language:
//
//     %k = OpFunction %void None %type        ; (a)
//     %a = OpFunctionParameter %pointer
//     %i = OpLoad %v3ulong %WorkgroupId
//
// becomes
//
//     %k = OpFunction %void None %type2       ; (a, 16 ulongs)
//     %a = OpFunctionParameter %pointer
//     %p = OpFunctionParameter %v16ulong
//     %l = OpLoad %v3ulong %WorkgroupId
//     %f = OpVectorShuffle %v3ulong %p %p 0 1 2
//     %i = OpIAdd %v3ulong %l %f
//
// SPIRV-Tools parses the module, and validates it before and after. Whatever is not of this plain
// form (an access chain into the variable, a function pointer, 32-bit addressing) makes the rewrite
// fail as a whole and say so.
#pragma once

#include "analysis-pass/pass/partition_rewriter.h"

#include <string>

namespace libsplit {

/// `module`: SPIR-V in this machine's byte order. Never throws on bad modules.
PartitionRewrite rewriteSpirv(const std::string& module);

} // namespace libsplit
