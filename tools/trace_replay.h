// Goes through a trace once more: each launch is decided about, cut and moved for, by the runtime's
// own controllers, planner and directories, at the costs that the trace shows (trace_costs.h).
#pragma once

#include "runtime/core/options.h"
#include "runtime/plan/directory.h"
#include "tools/trace_costs.h"
#include "tools/trace_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace libsplit::tools {

/// A device that takes part, or the program's own beside it.
struct Member {
  std::size_t source = 0; ///< the trace's device that it is, or is like
  std::string label;
  runtime::NodeId node = runtime::hostNode;
  bool participates = true;
  std::array<TraceCosts::Link, 2> links; ///< from it, to it
};

struct Setting {
  std::vector<Member> members;
  std::size_t home = 0;
  std::size_t nodes = 1;

  std::size_t memberOf(runtime::NodeId node) const {
    const auto found = std::ranges::find(members, node, &Member::node);
    return static_cast<std::size_t>(found - members.begin());
  }
};

/// What became of one launch.
struct Outcome {
  double seconds = 0; ///< of the device that took longest
  std::uint64_t bytes = 0;
  std::vector<double> shares; ///< by member
  std::string unknown;        ///< why nothing can be said of it
};

struct Replayed {
  std::vector<Outcome> launches;  ///< in the order of those given
  double commandSeconds = 0;      ///< moving for other commands
  std::string unknownCommand;     ///< why that is not known
  std::vector<std::string> notes; ///< what the answer rests on
  std::set<std::string> extended; ///< members that were given more of a launch than they ever ran
};

/// Without a `policy` launches are cut as they were, for which `setting` must be the trace's.
Replayed replay(const TraceContents& contents, const std::vector<RecordedLaunch>& launches,
                const TraceCosts& costs, const Setting& setting,
                const std::optional<runtime::Policy>& policy);

} // namespace libsplit::tools
