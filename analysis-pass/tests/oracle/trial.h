// Launches of a kernel whose meaning nobody has told us, and whether the analysis was right on
// them.
#pragma once

#include "analysis-pass/summary/contents.h"
#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/kernel_summary.h"
#include "analysis-pass/tests/oracle/machine.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace libsplit::oracle {

struct Launch {
  NDRange range;
  std::vector<Argument> arguments;
};

/// Buffers with contents, numbers that often have to do with the NDRange, small structs; now and
/// then the same buffer twice. `memories` is filled anew.
Launch randomLaunch(const KernelSummary& kernel, Memories& memories, std::mt19937& random);

/// Bytes over all boxes of work-groups that were compared.
struct Tally {
  unsigned launches = 0;
  std::uint64_t read = 0, predictedReads = 0;
  std::uint64_t written = 0, possibleWrites = 0, certainWrites = 0;
  bool readsExact = true;  ///< in every box
  bool writesExact = true; ///< possible, certain and real writes were the same in every box
};

/// Holds the analysis against what was observed, for the whole NDRange, single groups, slabs and
/// random boxes. Where only some groups ran, what is certain is held against these alone. Adds to
/// `tally`; empty, or what was wrong.
std::string compare(const KernelSummary& kernel, const Launch& launch,
                    const Observation& observation, const Memories& memories, std::mt19937& random,
                    Tally& tally);

/// The launch's arguments as the runtime knows them.
std::vector<ArgumentValue> valuesOf(const Launch& launch);

/// What the runtime would look up in buffers that no other argument shares. Both must outlive it.
std::unique_ptr<Contents> contentsOf(const Launch& launch, std::span<const ArgumentValue> values);

std::string toString(const Launch& launch, const KernelSummary& kernel);

} // namespace libsplit::oracle
