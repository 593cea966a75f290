// Makes kernels that work on windows: memory that holds only a part of a buffer's bytes.
//
// Where a device can't hold all of a buffer, its copy holds the bytes that the device's part of a
// launch touches. The kernel still counts from the buffer's first byte. So each kernel gets a
// trailing parameter that says how far behind that byte the copy begins, for each pointer to global
// memory (WindowArgument, partition_argument.h), and begins by moving its pointers back by that
// much. They then point before the memory, but what the kernel reaches through them is in it.
//
// Worked example:
//
//     kernel void copy(global float* out, global const float* in, int n) { ... }
//
// becomes
//
//     kernel void copy(global float* out, global const float* in, int n, ulong16 libsplit_window) {
//     out = (global void*)((global char*)out - libsplit_window.s0);
//     in = (global void*)((global char*)in - libsplit_window.s1); ... }
//
// (on one line). A kernel that another one calls gets pointers that are moved already, and is told
// so by zeros. Partition-ready text (partition_rewriter.h) becomes windowed as any other does, its
// own argument then comes before. What calls a kernel of another unit is refused. Kernels without
// such a pointer, with more than sixteen, or with one that is `const` itself, stay as they are:
// they take no argument, by which the runtime knows. A program built without optimisation is
// refused: its device also makes the accesses that come to nothing, of which the analysis, and so
// the window, knows nothing.
#pragma once

#include "analysis-pass/pass/front_end.h"

#include <string>

namespace libsplit {

struct WindowRewrite {
  std::string source{};
  std::string failure{}; ///< why there is no source
};

/// `input` must include no files. OpenCL C alone, or units of it that are linked.
WindowRewrite rewriteForWindows(const ProgramInput& input);

} // namespace libsplit
