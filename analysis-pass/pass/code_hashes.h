// Tells whether two devices run the same kernel.
//
// One text may be two programs: `#ifdef __x86_64__` picks another branch where PoCL compiles for
// the host than on a GPU, and `rank[i] = VERSION` stores what each device's compiler defines. A
// device that would compute something else than the program's own must not take part in a launch.
// Comparing texts after preprocessing would do, but one kernel's branch would keep all others of
// the program at home. So what is compared is a kernel's code: prepared, with all that it calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace libsplit {

/// By kernel of the prepared `module`: a hash (XXH3 64) of its instructions, and of the functions,
/// constants and types behind these, in which names, lines and attributes do not count. Takes debug
/// information, metadata and attributes out of the module, so nothing can be analysed any more.
std::map<std::string, std::uint64_t> codeHashes(llvm::Module& module);

} // namespace libsplit
