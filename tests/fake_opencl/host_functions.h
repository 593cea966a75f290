// The functions that a fake device's kernels call in the process that runs them: a table that the
// compiler (fake_cc) refers to by index and the driver fills when it loads the kernel.
#pragma once

#include "analysis-pass/tests/oracle/group_functions.h"

#include <array>
#include <cstddef>

namespace libsplit::fake {

/// Mangled as Clang mangles OpenCL C's built-ins for SPIR. Each module holds a table
/// `fake_host_functions` of as many pointers.
inline constexpr std::array workItemFunctionNames = {
    "_Z13get_global_idj",
    "_Z12get_local_idj",
    "_Z12get_group_idj",
    "_Z15get_global_sizej",
    "_Z14get_local_sizej",
    "_Z23get_enqueued_local_sizej",
    "_Z14get_num_groupsj",
    "_Z17get_global_offsetj",
    "_Z12get_work_dimv",
    "_Z20get_global_linear_idv",
    "_Z19get_local_linear_idv",
    "_Z7barrierj",
    "_Z18work_group_barrierj",
    "_Z18work_group_barrierj12memory_scope",
    // What async copies copy is there when they return; the group must wait for all of them.
    "_Z17wait_group_eventsiPU3AS49ocl_event",
    "_Z17wait_group_eventsiP9ocl_event",
    "_Z9mem_fencej",
    "_Z14read_mem_fencej",
    "_Z15write_mem_fencej",
    "_Z18get_sub_group_sizev",
    "_Z22get_max_sub_group_sizev",
    "_Z18get_num_sub_groupsv",
    "_Z27get_enqueued_num_sub_groupsv",
    "_Z16get_sub_group_idv",
    "_Z22get_sub_group_local_idv",
};

/// These, and behind them the work-group and sub-group functions.
inline constexpr auto hostFunctionNames = [] {
  std::array<const char*, workItemFunctionNames.size() + oracle::groupFunctionNames.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i < workItemFunctionNames.size()
                 ? workItemFunctionNames[i]
                 : oracle::groupFunctionNames[i - workItemFunctionNames.size()];
  return all;
}();

/// Whether work-items wait for each other in function `i`.
constexpr bool isBarrier(std::size_t i) {
  return (i >= 11 && i <= 15) || i >= workItemFunctionNames.size();
}

/// Symbols of a compiled program.
inline constexpr const char* tableSymbol = "fake_host_functions";
inline constexpr const char* kernelsSymbol = "fake_kernels";
inline constexpr const char* entryPrefix = "fake_entry_";

} // namespace libsplit::fake
