// Global ids that a program puts together itself.
//
//     get_group_id(0) * get_local_size(0) + get_local_id(0)
//
// is get_global_id(0) - get_global_offset(0) wherever all work-groups have the same size: in OpenCL
// C before 2.0, and later with -cl-uniform-work-group-size. It then does not depend on how the
// NDRange is cut into work-groups, and a launch may leave the local size open. Programs keep the
// parts in `int`s: they fit, as the launch has to see to (KernelSummary::idsFromGroups).
#pragma once

#include <llvm/IR/PassManager.h>

namespace libsplit {

/// Clang's: "true" on a kernel all of whose work-groups have one size.
inline constexpr const char* uniformGroupsAttribute = "uniform-work-group-size";

/// On a kernel that the pass has changed.
inline constexpr const char* idsFromGroupsAttribute = "libsplit-ids-from-groups";

/// Replaces such sums in kernels whose work-groups are of one size. Wants calls inlined and scalars
/// in registers.
class GlobalIdsPass : public llvm::PassInfoMixin<GlobalIdsPass> {
public:
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

} // namespace libsplit
