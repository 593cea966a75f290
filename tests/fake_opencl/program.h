// Compiled programs of the fake OpenCL, and how their kernels run.
#pragma once

#include "tests/fake_opencl/objects.h"

#include <memory>
#include <string>
#include <vector>

namespace libsplit::fake {

class LoadedProgram {
public:
  /// Compiles `source`, or takes it from the cache. Null, with the compiler's message in `log`.
  static std::shared_ptr<const LoadedProgram> build(const std::string& source,
                                                    const std::string& options, std::string& log);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const std::vector<KernelInfo>& kernels() const { return kernels_; }
  const KernelInfo* find(const std::string& name) const;

private:
  LoadedProgram() = default;
  void* library_ = nullptr;
  std::vector<KernelInfo> kernels_;
};

struct Range {
  unsigned dimensions = 1;
  std::size_t offset[3] = {0, 0, 0}, global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  std::size_t groups(unsigned d) const { return (global[d] + local[d] - 1) / local[d]; }
};

/// An argument as a kernel gets it.
struct BoundArgument {
  std::vector<std::byte> bytes; ///< of a value
  std::byte* address = nullptr; ///< of a buffer
  std::size_t localSize = 0;    ///< of local memory
};

/// Runs the work-items of `range` in the calling thread; of `half`, only the first half of the
/// work-groups. The driver's lock is not held.
void run(const KernelInfo& kernel, const Range& range, const std::vector<BoundArgument>& arguments,
         bool half);

} // namespace libsplit::fake
