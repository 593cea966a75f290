// OpenCL C's built-in functions for kernels that run in this process: PoCL's own, taken from the
// bitcode that it installs for its CPU devices. So the oracle knows nothing of what the analysis
// believes of `vload3`, `sincos` or `async_work_group_copy`: their loads and stores are real ones.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace libsplit::oracle {

/// Gives every declared function of `module` whose name is not in `supplied` the library's body.
/// Empty, or why that can't be: which built-in is missing.
std::string linkBuiltins(llvm::Module& module, const std::vector<std::string>& supplied);

} // namespace libsplit::oracle
