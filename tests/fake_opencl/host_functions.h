// The functions that a fake device's kernels call in the process that runs them: a table that the
// compiler (fake_cc) refers to by index and the driver fills when it loads the kernel.
#pragma once

#include <array>
#include <cstddef>

namespace libsplit::fake {

/// Mangled as Clang mangles OpenCL C's built-ins for SPIR. Each module holds a table
/// `fake_host_functions` of as many pointers.
inline constexpr std::array hostFunctionNames = {
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
};

/// The first and the last of those that let work-items wait for each other.
inline constexpr std::size_t firstBarrier = 11, lastBarrier = 15;

/// Symbols of a compiled program.
inline constexpr const char* tableSymbol = "fake_host_functions";
inline constexpr const char* kernelsSymbol = "fake_kernels";
inline constexpr const char* entryPrefix = "fake_entry_";

} // namespace libsplit::fake
