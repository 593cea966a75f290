// The IR in PoCL's binaries (summary/pocl_binary.h), as its devices take it and as the analysis
// reads it.
//
// PoCL's CPU devices compile OpenCL C for the host and not for SPIR, link what the program uses of
// their library of built-in functions, optimise that, and keep the result. So the IR
//
// - knows one address space; what the program said is in the kernels' metadata, and local variables
//   of `k` are variables of the module that are called `k.x`,
// - passes vectors as the host's functions pass them,
// - holds the bodies of the built-in functions that it calls, by names such as `_Z7_cl_sinf`. Those
//   of work-item functions read variables that only PoCL defines, such as `_group_id_x`.
//
// A device takes it from clCreateProgramWithBinary, as bare bitcode, and links its library again.
// Work-item functions that bring their bodies along would then read other variables than PoCL
// writes; so they become declarations (detachLibrary). For the analysis, what SPIR has besides is
// put back (restoreSpirForm): address spaces of parameters and local variables, and declarations of
// those built-in functions that the analysis knows better by their names. All others are inlined.
//
// Worked example:
//
//     define spir_kernel void @k(ptr %out) !kernel_arg_addr_space !{i32 1} {
//       %i = call i64 @_Z12get_group_idj(i32 0)            ; reads @_group_id_x
//       call void @_Z7barrierj(i32 1)                      ; calls @pocl.barrier
//       %p = getelementptr float, ptr @k.x, i64 %i
//
// becomes
//
//     define spir_kernel void @k(ptr addrspace(1) %out) {
//       %0 = addrspacecast ptr addrspace(1) %out to ptr
//       %i = call i64 @_Z12get_group_idj(i32 0)            ; declared
//       call void @_Z7barrierj(i32 1)                      ; declared
//       %p = getelementptr float, ptr addrspacecast (ptr addrspace(3) @k.x to ptr), i64 %i
//
// The IR went through LLVM's passes before, as the device's own machine code did: both compute the
// same.
#pragma once

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace libsplit {

/// Why it can't be done, or nothing: `module` is then what a PoCL device can link and build.
std::string detachLibrary(llvm::Module& module);

/// `module` comes from detachLibrary. It is the analysis' from then on, no device can build it.
void restoreSpirForm(llvm::Module& module);

} // namespace libsplit
