// Programs that were measured on real machines, as worlds.
#pragma once

#include "tests/simulator/world.h"

namespace libsplit::simulator {

/// SpMV on two equal GPUs, rows whose length grows sevenfold, 1.9 ms on one, not waited for.
World spmv();
/// A 5-point stencil of 235 µs on a GPU that exchanges a row in 45 µs, buffers changing places.
World shortStencil();
/// An in-place lattice-Boltzmann code: 3.65 ms on one GPU, 7 GB.
World latticeBoltzmann();
/// Two GPUs and a CPU that is 500 times slower than its driver makes one think; one launch of 250
/// ms.
World slowHelper(std::uint64_t launches);
/// N-body of 36 ms a launch on two equal cores, cold.
World nBody(std::uint64_t seed);
/// The same while another program takes a core for 0.3 s now and then.
World disturbedNBody(std::uint64_t seed);
/// Two GPUs and a CPU whose driver compiles for long.
World lateDevice();
/// 8 work-groups of 1.5 s each on two equal devices.
World fewGroups();
/// Compute-bound launches of so many seconds on two GPUs.
World computeBound(double seconds, bool waits);

} // namespace libsplit::simulator
