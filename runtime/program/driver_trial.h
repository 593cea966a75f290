// Tries out in another process whether this one may have a driver build something.
//
// Some drivers compile inside of the process that asks, and end it where they can't go on: LLVM
// exits where the disk is full, and PoCL aborts where it finds no linker. A program that uses
// another device would be gone for a helper that it never asked for. So what is built for such a
// device for the first time is built by `splitrun --compile-ahead` before. The driver keeps it on
// disk, where the build in this process finds it. That is noted in libsplit's cache, and later runs
// build at once.
//
// PoCL starts a linker and waits for it, and ends the process if it can't. So where the program
// ignores the ends of its children, or has a handler for these, PoCL is not asked either.
//
// Not tried are devices that are part of another, which that process does not find, what is no
// OpenCL C, and all of it with LIBSPLIT_WAIT_ANALYSIS=1, which wants launches split at once.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/core/opencl.h"
#include "runtime/core/options.h"

#include <atomic>
#include <map>
#include <optional>
#include <string>

namespace libsplit::runtime {

/// Beside splitc; empty if it is not there.
std::string splitrunOf(const Options& options);

/// One thread at a time.
class DriverTrial {
public:
  /// Given up as soon as `ending` is set. All must outlive this.
  DriverTrial(const Dispatch& cl, const Options& options, const DiskCache& cache,
              const std::atomic<bool>& ending);

  /// Whether the driver of `device` may be asked to build anything: tried once in each run. Blocks
  /// for as long as that takes. Where it would end the process, that is said on stderr. Nothing is
  /// to be built either once this process ends.
  bool allows(cl_device_id device);
  /// The same of `text`, also if the driver refuses it.
  bool allows(cl_device_id device, const std::string& text, const std::string& options);

private:
  enum class Outcome { Survived, Died, GaveUp };
  /// As the loader and the platform count them.
  struct Address {
    unsigned platform = 0, device = 0;
    std::string driver;             ///< which, and of what version
    std::optional<bool> isUsable{}; ///< as far as it was tried in this run
  };
  Address* addressOf(cl_device_id device);
  Outcome tryOut(const Address& address, const std::string& text, const std::string& options) const;
  bool giveUp(Address& address) const;

  const Dispatch& cl_;
  const DiskCache& cache_;
  const std::atomic<bool>& ending_;
  const std::string splitrun_;                               ///< empty: nothing is tried
  std::map<cl_device_id, std::optional<Address>> addresses_; ///< nothing: it is not to be tried
};

} // namespace libsplit::runtime
