// Brings accesses into the form that a summary holds: one per alternative of their condition, with
// only the loops that matter, each once.
#pragma once

#include "analysis-pass/pass/path_condition.h"
#include "analysis-pass/summary/kernel_summary.h"

#include <map>
#include <string>
#include <vector>

namespace libsplit {

class AccessCollector {
public:
  /// Adds `access`, which happens on `path`. Its offset and the path's guards name loops by depth.
  /// `access.certain` says whether the instruction itself is certain to touch its bytes.
  void add(Access access, const PathOfBlock& path);

  /// All accesses; beyond some thousands only which buffers are touched, anywhere.
  std::vector<Access> take();

private:
  void add(Access access, std::vector<LoopRuns> loops);

  std::vector<Access> accesses_;
  std::map<std::string, std::vector<std::size_t>> known_; ///< positions by the offset's text
};

} // namespace libsplit
