// What a trace of libsplit says, added up: by kernel, by device, and what to try.
#pragma once

#include "tools/trace_reader.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace libsplit::tools {

/// One device's part in one kernel.
struct DevicePart {
  std::string device;
  std::uint64_t pieces = 0;
  double share = 0;           ///< of the work-groups of all split launches
  double lastShare = 0;       ///< of those of the last
  double seconds = 0;         ///< running pieces
  double transferSeconds = 0; ///< moving bytes for them
  double startSeconds = 0;    ///< from their enqueuing to their start, the device doing nothing
  std::uint64_t bytesIn = 0, bytesOut = 0;
};

struct KernelSummary {
  std::string name;
  std::uint64_t split = 0;   ///< launches that ran on more than the program's own device
  std::uint64_t unsplit = 0; ///< that libsplit ran there alone, to measure or for order's sake
  std::uint64_t native = 0;  ///< that went to the driver as they came
  std::string reason;        ///< why most of those were not split that were not
  std::map<std::string, std::uint64_t> reasons; ///< … each reason, and of how many launches
  double medianSeconds = 0; ///< of a split launch, from its first transfer to its last piece's end
  double homeSeconds = 0;   ///< of one that ran at home alone, timed; the median; 0: there is none
  /// Over split launches of which others with as many work-groups ran at home: how many there are,
  /// what they took, and what they would have taken there, by the median.
  std::uint64_t compared = 0;
  double comparedSplitSeconds = 0, comparedHomeSeconds = 0;
  double idle = 0; ///< part of the devices' time lost by waiting for the slowest; last quarter
  std::vector<DevicePart> parts; ///< by device
  std::uint64_t launches() const { return split + unsplit + native; }
  /// How many times as long those compared would have taken at home; 0: there are none.
  double gain() const {
    return comparedSplitSeconds > 0 ? comparedHomeSeconds / comparedSplitSeconds : 0;
  }
};

struct DeviceSummary {
  std::string name;
  double kernelSeconds = 0;
  double transferSeconds = 0;
  double otherSeconds = 0;
  double idle = 0; ///< part of the time from the first work on any device to the last one's end
};

struct Transfer {
  std::string device;
  bool toDevice = false;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::string cause; ///< the kernel, or the call
};

struct TraceSummary {
  std::string program;
  double seconds = 0; ///< from the first work on any device to the last one's end
  std::uint64_t bytesBetweenNodes = 0;
  std::uint64_t dropped = 0;          ///< events that the trace lacks
  std::optional<std::uint64_t> cutAt; ///< as in TraceContents
  std::vector<KernelSummary> kernels; ///< the most time first
  std::vector<DeviceSummary> devices;
  std::vector<Transfer> slowest;
  std::vector<std::string> advice;
};

/// At most `transfers` of the slowest are kept. Throws TraceError.
TraceSummary summarize(const TraceContents& contents, std::size_t transfers);

std::string toText(const TraceSummary& summary);
nlohmann::ordered_json toJson(const TraceSummary& summary);

} // namespace libsplit::tools
