// Programs that come as IR: SPIR bitcode as it is, SPIR-V by way of the Khronos translator, PoCL's
// binaries as pocl_program.h tells.
//
// LLVM 19 reads the bitcode of all LLVMs since 3.0 and brings it up to date, typed pointers
// included. SPIR-V it can't read, so `llvm-spirv -r` is run as a child, of whatever version is
// installed: its bitcode calls OpenCL C's built-in functions by their mangled names, as Clang's
// does. The program that other devices build is never that bitcode, but the SPIR-V itself.
#pragma once

#include "analysis-pass/pass/front_end.h"

#include <string>

namespace libsplit {

/// `program` is SPIR-V, bitcode or PoCL's binary (program_kind.h). Of the first two, anything but
/// 64-bit SPIR is a failure. The third is what PoCL's devices build: for the analysis,
/// restoreSpirForm comes next.
CompiledProgram loadIr(const std::string& program);

} // namespace libsplit
