// Runs splitc as a child process and keeps its answers on disk.
//
// The answer is a function of the program's text, its build options and the device's macros, so
// those, with the format version and splitc itself, make the key. Files that the text may include
// are part of the key as they were when the driver built it; an answer that may have come from
// others does not count (header_snapshot.h). A crash, a hang or a refusal is an answer too ("not
// split, because …"), but is not kept.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"
#include "runtime/core/disk_cache.h"
#include "runtime/device/device_macros.h"
#include "runtime/program/header_snapshot.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace libsplit::runtime {

class Analyzer {
public:
  /// `splitc`: path of the program. `cache` must outlive the analyzer.
  Analyzer(std::string splitc, const DiskCache& cache, double timeoutSeconds);

  /// The summary of a program; on any failure one whose `failure` says why. Blocks for as long as
  /// splitc takes. `headers`: what the driver could read beside the text; null: nothing.
  /// Thread-safe; never throws for reasons of the environment.
  std::shared_ptr<const ProgramSummary> analyze(const std::string& source,
                                                const std::string& buildOptions,
                                                const DeviceMacros& macros,
                                                const HeaderSnapshot* headers) const;
  /// The same if it is kept from an earlier analysis; null if it is not. Takes a few milliseconds.
  std::shared_ptr<const ProgramSummary> recall(const std::string& source,
                                               const std::string& buildOptions,
                                               const DeviceMacros& macros,
                                               const HeaderSnapshot* headers) const;
  /// The program, which includes nothing, with kernels that take windows; empty, and `failure` says
  /// why, if there is no such text. Blocks, and is thread-safe, as `analyze`.
  std::string windowed(const std::string& source, const std::string& buildOptions,
                       const DeviceMacros& macros, std::string& failure) const;
  /// What splitc tells people of the program, asked with these `words` more of its command line;
  /// a line that says why not on any failure. Blocks, and is thread-safe, as `analyze`.
  std::string explain(const std::string& source, const std::string& buildOptions,
                      const DeviceMacros& macros, const HeaderSnapshot* headers,
                      const std::vector<std::string>& words) const;
  /// Makes analyses that run, and all later ones, fail at once.
  void cancel() { cancelled_ = true; }

private:
  std::string run(const std::vector<std::string>& words, const std::string& source,
                  const std::string& buildOptions, const DeviceMacros& macros,
                  const HeaderSnapshot* headers, std::string& failure) const;

  std::string splitc_;
  const DiskCache& cache_;
  double timeoutSeconds_;
  std::atomic<bool> cancelled_{false};
};

/// The splitc that belongs to this libsplit.so: ../bin/splitc, or splitc beside the library.
std::string defaultSplitc();

} // namespace libsplit::runtime
