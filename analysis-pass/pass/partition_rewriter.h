// Makes OpenCL C partition-ready: a kernel that runs as a part of an NDRange answers the work-item
// functions as the whole NDRange would.
//
// A part is launched by global_work_offset, so get_global_id and the local ids are right by
// themselves. get_group_id, get_num_groups, get_global_size, get_global_offset and
// get_global_linear_id would lie. Each function that calls one of them, by itself or through
// others, gets a trailing parameter of type ulong16 (partition_argument.h), calls pass it on, and a
// prelude redefines the five as macros that answer from it. Being macros they also serve where the
// program calls them from macros of its own, in its text or on the command line.
//
// Worked example:
//
//     int row() { return get_group_id(0); }
//     kernel void k(global int* a) { a[row()] = 1; }
//
// becomes, after the prelude,
//
//     int row(ulong16 libsplit_part) { return get_group_id(0); }
//     kernel void k(global int* a, ulong16 libsplit_part) { a[row(libsplit_part)] = 1; }
//
// Text is edited where it was spelled. A function or a call that comes out of a macro is edited in
// the macro's body, once; every other use of that body is then touched too, so what they define or
// call needs the parameter as well. Where text can't be edited (pasted tokens, a macro from the
// command line), the rewrite fails as a whole and says so.
#pragma once

#include "analysis-pass/pass/front_end.h"

#include <set>
#include <string>
#include <vector>

namespace libsplit {

struct PartitionRewrite {
  std::string source{};               ///< empty if no kernel needs the argument
  std::vector<std::string> kernels{}; ///< those that take the trailing argument
  /// Of a unit: functions with the trailing argument that other units may call.
  std::vector<std::string> functions{};
  std::string failure{}; ///< why there is no source though `kernels` need one
  SourceLine where{};    ///< of the failure
};

/// "libsplit_", or with a number where the program uses that prefix itself.
std::string freePrefix(const std::string& text);

/// The program's text with all included files in place of their #include lines; empty if Clang
/// can't give it.
std::string flattenIncludes(const ProgramInput& input);

/// `input` must include no files.
PartitionRewrite rewriteForPartitions(const ProgramInput& input);
/// The same for one of several units that will be linked, where `askingElsewhere` names functions
/// that take the trailing argument because of what other units do. Also gives a source where no
/// kernel, but another function needs the argument.
PartitionRewrite rewriteUnitForPartitions(const ProgramInput& input,
                                          const std::set<std::string>& askingElsewhere);

} // namespace libsplit
