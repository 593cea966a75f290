// What the analysis says of the program's programs, by build and device: from the disk where an
// earlier run left it, else from splitc; with what only the device's own compiler knows of macros.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/core/options.h"
#include "runtime/program/analyzer.h"
#include "runtime/program/driver_trial.h"
#include "runtime/program/macro_probe.h"
#include "runtime/program/program.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// A device, and a context that it is in.
struct Place {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

/// Slow, and so under no lock. One thread at a time, but for `cancel`.
class ProgramAnalyses {
public:
  /// Of a context: a reference, or null if the program has given it up.
  using RetainContext = std::function<Ref<cl_context>(cl_context)>;

  /// `yields`: analyses run below the program's own priority. All references must outlive this.
  ProgramAnalyses(const Dispatch& cl, const Options& options, const DiskCache& cache,
                  DriverTrial& trial, bool yields, RetainContext retain);

  /// The summary for a device with these `macros`, kept with the build; where there can't be one it
  /// says why. Null only if nothing is kept on disk and `recallOnly` is set.
  std::shared_ptr<const ProgramSummary> of(Build& build,
                                           const std::shared_ptr<const Origin>& origin,
                                           const DeviceMacros& macros, const Place& place,
                                           bool recallOnly = false);
  /// `text`, which that device builds of the program, with kernels that take windows; empty if
  /// there is none.
  std::string windowed(const Origin& origin, const Place& place, const std::string& text);
  /// What splitc tells people of the program on that device, asked with these `words`.
  std::string explain(const Origin& origin, const Place& place,
                      const std::vector<std::string>& words);
  /// Makes those that run, and all later ones, fail at once. Any thread.
  void cancel() { analyzer_.cancel(); }

private:
  std::shared_ptr<const ProgramSummary> find(const Origin& origin, DeviceMacros& macros,
                                             const Place& place, bool recallOnly);

  const Dispatch& cl_;
  const Options& options_;
  DriverTrial& trial_;
  const bool yields_;
  const RetainContext retain_;
  Analyzer analyzer_;
  MacroProbe macroProbe_;
};

} // namespace libsplit::runtime
