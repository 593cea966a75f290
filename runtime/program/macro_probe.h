// Asks a device's compiler which macros it sets.
//
// Clang for SPIR can't know what a vendor's compiler defines: `__x86_64__` is set in PoCL, which
// compiles for the host, `__DEVICE_EMULATION__` by nobody. So the driver builds a program that has
// a kernel for each name that is defined, and the names of its kernels are the answer. A second
// program tells the values, as parts of kernels' names: for
//
//     #define LIBSPLIT_JOIN(a, b) a##b
//     #define LIBSPLIT_NAME(a, b) LIBSPLIT_JOIN(a, b)
//     __kernel void LIBSPLIT_NAME(libsplit_value_0_, __x86_64__)(__global int* p) {}
//
// it is libsplit_value_0_1. A value that is more than a word or a number stays unknown. What PoCL
// calls a built-in function, `_cl_max` for max, no other compiler knows: there it stands for
// itself.
//
// Each name is asked once per device, driver and standard options, and then kept on disk.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/core/opencl.h"
#include "runtime/program/analyzer.h"

#include <map>
#include <span>
#include <string>

namespace libsplit::runtime {

class MacroProbe {
public:
  /// Those of a program's build options on which the answers depend: not its own macros and
  /// folders.
  static std::string standardOptions(const std::string& options);

  /// Both must outlive this.
  MacroProbe(const Dispatch& cl, const DiskCache& cache) : cl_(cl), cache_(cache) {}

  /// Adds to `macros` what the compiler of `device`, which is one of `context`'s, says of `names`
  /// in a program built with `options`. False if it says nothing new. Slow; one thread at a time.
  bool ask(cl_context context, cl_device_id device, const std::string& options,
           std::span<const std::string> names, DeviceMacros& macros);

private:
  struct Answer {
    enum class Kind { Unknown, Undefined, Defined };
    Kind kind = Kind::Unknown;
    std::string value;
  };
  using Answers = std::map<std::string, Answer>; ///< by name

  Answers build(cl_context context, cl_device_id device, const std::string& options,
                std::span<const std::string> names) const;
  std::optional<std::string> kernelsOf(cl_context context, cl_device_id device,
                                       const std::string& options, const std::string& text) const;

  const Dispatch& cl_;
  const DiskCache& cache_;
  std::map<std::string, Answers> known_; ///< by device, driver and options
};

} // namespace libsplit::runtime
