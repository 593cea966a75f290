// The compact form of traces (runtime/trace/trace_format.h) as the events of version 2, which
// runtime/trace/trace.schema.json describes.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <stdexcept>

namespace libsplit::tools {

/// The file is no trace of libsplit, or a damaged one; the text names the byte.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether a file that begins with this byte is meant to be of the compact form.
bool isCompactTrace(int firstByte);

/// Gives `use` all events, in an order in which what an event names comes before it; keeps no more
/// of them than that takes. The byte where the file ends in the middle of a record, if it does.
/// Throws TraceError, also for what `use` throws: TraceError, and errors of Json.
std::optional<std::uint64_t>
decodeTrace(std::istream& trace, const std::function<void(const nlohmann::ordered_json&)>& use);

} // namespace libsplit::tools
