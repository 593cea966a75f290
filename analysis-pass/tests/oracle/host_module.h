// A kernel of SPIR, made ready for the host's code generator.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace libsplit::oracle {

/// Only the kernel `name` and what it needs. Null if that holds images, pipes or the like, of which
/// the host's code generator knows nothing; events it takes for pointers, as PoCL passes them.
std::unique_ptr<llvm::Module> extractKernel(const llvm::Module& whole, const std::string& name);

/// SPIR's calling conventions mean nothing to the host; its built-ins have none.
void useHostConventions(llvm::Module& module);

/// void entry(ptr arguments): each points to the argument's value, a buffer's or the struct itself.
void addEntry(llvm::Function& kernel, const std::string& name);

} // namespace libsplit::oracle
