// Buffers that a kernel only reads: what it loads from them is the same at any time of the launch.
#pragma once

#include <vector>

namespace llvm {
class Argument;
class Function;
class LoadInst;
class Value;
} // namespace llvm

namespace libsplit {

/// By parameter: true for pointers through which no instruction of `kernel` may write. Whether two
/// parameters get the same buffer is for the launch to see.
std::vector<bool> readOnlyBuffers(const llvm::Function& kernel);

/// Whether every buffer that `pointer` may point into is among `readOnly`.
bool pointsIntoReadOnly(const llvm::Value* pointer, const std::vector<bool>& readOnly);

/// What a load may find in private memory where the kernel keeps pointers into such buffers and
/// nothing else: all that it puts there. Empty: it is no such load.
std::vector<llvm::Value*> keptPointers(llvm::LoadInst& load, const std::vector<bool>& readOnly);

} // namespace libsplit
