// Makes bitcode partition-ready, SPIR's and PoCL's, as partition_rewriter.h does it with OpenCL C.
//
// Each function that calls a work-item function which a part gets wrong, by itself or through
// others, gets a trailing parameter of 16 i64 (partition_argument.h), calls pass it on, and the
// work-item function is answered from it.
//
// Worked example:
//
//     define spir_kernel void @k(ptr addrspace(1) %a) {
//       %i = call spir_func i64 @_Z12get_group_idj(i32 0)
//
// becomes
//
//     define spir_kernel void @k(ptr addrspace(1) %a, <16 x i64> %part) {
//       %own = call spir_func i64 @_Z12get_group_idj(i32 0)
//       %first = extractelement <16 x i64> %part, i64 0
//       %i = add i64 %own, %first
//
// Nothing else of the module changes but what older readers of bitcode would stumble over: the
// driver's LLVM may be older than the one in this process. LLVM writes what a module holds, and a
// module that came from an older version holds nothing newer, save for two things. Reading it
// brings attributes about memory up to date; they are dropped. And constants that calculate an
// address, such as `getelementptr (@k.tile, 0, 63)`, are written in a new form, which older readers
// silently take for an undefined value; instructions calculate them instead. So an LLVM of version
// 15 or newer reads the result; one before that knows typed pointers only and refuses it, and the
// kernel stays unsplit. Translating to SPIR-V and back would give older bitcode too, but other
// code: it makes a mad() of a multiply-add, and an fmin() of a min().
#pragma once

#include "analysis-pass/pass/partition_rewriter.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace libsplit {

/// `bitcode`: what loadIr takes, and is no SPIR-V.
PartitionRewrite rewriteBitcode(const std::string& bitcode);

/// As it is, but for what older readers of bitcode would stumble over. Empty if that can't be, and
/// `failure` says why.
std::string bitcodeForOldReaders(const llvm::Module& module, std::string& failure);

} // namespace libsplit
