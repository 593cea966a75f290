// What a trace says launches and copies cost, by the model that libsplit's own solvers learn by
// (solver/load_model.h): for each kernel and launch key, speed and fixed cost of each device and
// where in the NDRange the work lies; for each device, what copying a byte and beginning a copy
// takes. Nothing is guessed here: what was not measured is unknown, with a reason.
#pragma once

#include "solver/share_solver.h"
#include "tools/trace_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace libsplit::tools {

/// Groups [begin, end) of a launch's dimension on a device.
struct Part {
  std::size_t device = 0;
  std::uint64_t begin = 0, end = 0;
  double seconds = 0; ///< running, nothing moved; where parts overlap, of what they took together
};

/// What a launch of the trace was and took.
struct RecordedLaunch {
  std::size_t call = 0;                ///< of TraceContents::calls
  const TraceLaunch* launch = nullptr; ///< null: the trace does not describe it
  std::optional<unsigned> dimension;   ///< that it was cut along, if it was planned
  std::vector<Part> parts;             ///< empty: home did it as without libsplit
  double homeSeconds = 0;              ///< … and took so long, moving not included
  /// By the device that took longest, each with all that it did for the launch, one after the
  /// other.
  double seconds = 0;
  bool hasMerged = false; ///< results of several memories were put together
};

std::vector<RecordedLaunch> recordedLaunches(const TraceContents& contents);

/// Seconds of all that the device did longest for a call.
double longestSeconds(const TraceContents& contents, const TraceCall& call);

class TraceCosts {
public:
  /// Launches that can be expected to cost the same: the kernel and what the runtime keys them by.
  using Key = std::tuple<std::string, std::string, std::string>; ///< kernel, range, classes
  static Key keyOf(const RecordedLaunch& launch, const TraceContents& contents);

  TraceCosts(const TraceContents& contents, const std::vector<RecordedLaunch>& launches);

  /// One launch over all groups, by device of the trace; `whole` is infinite where nothing is
  /// known.
  struct Load {
    solver::LoadProfile profile;
    std::vector<double> mostRun;  ///< by device: the largest part of a launch that it ever ran
    std::vector<bool> isInferred; ///< by device: from launches over other NDRanges
  };
  const Load* load(const Key& key) const;

  /// A copy between a device and the host's memory. Seconds are infinite where nothing is known.
  struct Link {
    double secondsEach = 0;
    double secondsPerByte = 0;
    bool isKnown = false;
    double seconds(std::uint64_t bytes) const {
      return bytes == 0 ? 0 : secondsEach + secondsPerByte * static_cast<double>(bytes);
    }
  };
  const Link& link(std::size_t device, bool toDevice) const { return links_[device][toDevice]; }

private:
  void inferOthers();

  std::map<Key, Load> loads_;
  std::map<Key, double> items_; ///< work-items of a launch
  std::vector<std::array<Link, 2>> links_;
};

} // namespace libsplit::tools
