// The program's samplers, which live as long as launches that use them.
#pragma once

#include "runtime/core/opencl.h"
#include "runtime/program/program.h"

#include <mutex>
#include <unordered_map>

namespace libsplit::runtime {

/// Thread-safe, with a lock of its own.
class Samplers {
public:
  void created(cl_sampler sampler);
  void retained(cl_sampler sampler);
  void released(cl_sampler sampler);
  /// The known sampler that the argument is, or null.
  cl_sampler of(const Argument& argument) const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<cl_sampler, int> references_; ///< the program's
};

/// The same sampler in another context. Null if there can be none such.
Ref<cl_sampler> samplerIn(const Dispatch& cl, cl_context context, cl_sampler sampler);

} // namespace libsplit::runtime
