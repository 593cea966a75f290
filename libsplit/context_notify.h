// The program's callbacks for what goes wrong in its contexts.
//
// A driver may call one within any call, also within one that libsplit makes under the session's
// lock, which the callback would wait for as soon as it calls OpenCL. So then a thread of its own
// calls it, unless the program has given the context up by then: what the callback's data points to
// may be gone.
#pragma once

#include "runtime/core/opencl.h"

#include <cstddef>

namespace libsplit {

/// A callback and its data, as given for any number of contexts. There is one for each such pair,
/// which stays for good: whatever is left of a context may have the driver call it. Any thread.
class ContextNotify {
public:
  using Function = void(CL_CALLBACK*)(const char* text, const void* info, std::size_t size,
                                      void* data);

  static ContextNotify& of(Function function, void* data);
  /// For the driver, with a ContextNotify.
  static void CL_CALLBACK call(const char* text, const void* info, std::size_t size, void* self);
  /// The context has it as its callback.
  void given(cl_context context);
  /// The program gave up its last reference. Waits a moment for messages that a thread of ours has
  /// to tell.
  static void released(cl_context context);

private:
  struct All;
  struct Untold;

  ContextNotify(Function function, void* data) : function_(function), data_(data) {}
  static All& all();

  const Function function_;
  void* const data_;
  std::size_t contexts_ = 0; ///< of the program's; with the lock of all, as the next
  std::size_t untold_ = 0;   ///< messages that a thread of ours has to tell, or is at
};

} // namespace libsplit
