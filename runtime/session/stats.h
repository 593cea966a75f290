// The counters behind LIBSPLIT_STATS, and their JSON form.
#pragma once

#include "runtime/device/machine.h"
#include "runtime/program/program.h"

#include <memory>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct Stats {
  std::vector<std::shared_ptr<KernelStats>> kernels; ///< in the order of their first creation
  std::uint64_t bytesBetweenNodes = 0;
  std::uint64_t bytesMerged = 0;
  std::uint64_t transfers = 0;        ///< commands that moved them
  std::uint64_t contentsFetched = 0;  ///< times that a launch had to wait for contents
  std::uint64_t contentsOnDevice = 0; ///< passes over buffers where they lay
  std::uint64_t inspections = 0;      ///< runs of inspectors
  std::uint64_t verifiedLaunches = 0;
  std::uint64_t differingLaunches = 0;
  std::string steppedAside; ///< why, if libsplit did
};

/// The JSON document; `machine` may be null (nothing was ever split).
std::string toJson(const Stats& stats, const Machine* machine);

/// The same for people: what was split over which devices, what that gained, and why the rest was
/// not. Lines, the first of which begins "libsplit: ". A gain is told only of NDRanges of which
/// launches were timed in both ways: seconds at home by those of a split launch, on average.
std::string toTable(const Stats& stats, const Machine* machine);

/// Replaces "%p" by the process id and writes the file; false if it can't be written.
bool writeStatsFile(const std::string& pattern, const std::string& json);

} // namespace libsplit::runtime
