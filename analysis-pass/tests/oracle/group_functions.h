// The work-group and sub-group functions of OpenCL C 2.0, for work-items that are fibers: each
// leaves its value, waits for the others, and computes the answer from what all have left.
//
// A sub-group is made of `subGroupSize` work-items whose linear local ids follow each other; the
// last one of a work-group may be smaller.
#pragma once

#include "analysis-pass/tests/oracle/fibers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libsplit::oracle {

inline constexpr std::size_t subGroupSize = 4;

/// What runs in this thread; whoever runs a work-group sets it. Fibers are numbered by linear local
/// id.
struct GroupUnderWay {
  Fibers* fibers = nullptr;
  std::array<std::size_t, 3> size{1, 1, 1};
  std::vector<std::int64_t> values; ///< by work-item
};
extern thread_local GroupUnderWay groupUnderWay;

/// Mangled as Clang mangles them for SPIR; in the order of `groupFunctions`.
inline constexpr std::array groupFunctionNames = {
    "_Z21work_group_reduce_addi",
    "_Z21work_group_reduce_addj",
    "_Z21work_group_reduce_mini",
    "_Z21work_group_reduce_minj",
    "_Z21work_group_reduce_maxi",
    "_Z21work_group_reduce_maxj",
    "_Z29work_group_scan_exclusive_addi",
    "_Z29work_group_scan_exclusive_addj",
    "_Z29work_group_scan_exclusive_mini",
    "_Z29work_group_scan_exclusive_minj",
    "_Z29work_group_scan_exclusive_maxi",
    "_Z29work_group_scan_exclusive_maxj",
    "_Z29work_group_scan_inclusive_addi",
    "_Z29work_group_scan_inclusive_addj",
    "_Z29work_group_scan_inclusive_mini",
    "_Z29work_group_scan_inclusive_minj",
    "_Z29work_group_scan_inclusive_maxi",
    "_Z29work_group_scan_inclusive_maxj",
    "_Z14work_group_alli",
    "_Z14work_group_anyi",
    "_Z20work_group_broadcastim",
    "_Z20work_group_broadcastjm",
    "_Z20sub_group_reduce_addi",
    "_Z20sub_group_reduce_mini",
    "_Z20sub_group_reduce_maxi",
    "_Z28sub_group_scan_exclusive_addi",
    "_Z28sub_group_scan_inclusive_addi",
    "_Z13sub_group_alli",
    "_Z13sub_group_anyi",
    "_Z19sub_group_broadcastij",
};
extern const std::array<void*, groupFunctionNames.size()> groupFunctions;

/// What the work-item with this linear local id in a work-group of `items` answers.
struct SubGroup {
  std::size_t item, items;
  std::uint32_t size() const {
    const std::size_t first = item / subGroupSize * subGroupSize;
    return static_cast<std::uint32_t>(first + subGroupSize > items ? items - first : subGroupSize);
  }
  std::uint32_t count() const {
    return static_cast<std::uint32_t>((items + subGroupSize - 1) / subGroupSize);
  }
  std::uint32_t id() const { return static_cast<std::uint32_t>(item / subGroupSize); }
  std::uint32_t localId() const { return static_cast<std::uint32_t>(item % subGroupSize); }
};

} // namespace libsplit::oracle
