// Random kernels as text: nested loops, guards, div and mod, casts, helper functions, structs,
// vectors, pointers that are chosen or walk, local memory and barriers, several buffers.
//
// Every kernel has the same parameters,
//
//     kernel void k<seed>(global int* a, global short* b, global const int* d, global Rec* s,
//                         global int* c, int n, int m, uint u, long w)
//
// Half of them write anywhere; the others write so that no two work-items meet, in one of many
// spellings, and can be run split and compared. Only `d`, which no kernel writes, decides branches
// and places.
#pragma once

#include <string>

namespace libsplit::oracle {

/// What generated kernels share: types, tables, helper functions.
std::string generatedPrelude();

/// The kernel `k<seed>`; the same for the same seed, everywhere.
std::string generatedKernel(unsigned seed);

inline constexpr unsigned generatedBufferSize = 1 << 16; ///< bytes, of every buffer

} // namespace libsplit::oracle
