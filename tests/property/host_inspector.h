// The reference for inspectors: an access followed on the host, one work-item and iteration after
// the other, with the same idea of what has no value.
#pragma once

#include "analysis-pass/summary/evaluate.h"
#include "tests/property/brute_force.h"

#include <span>

namespace libsplit {

/// The first and the last byte at which the work-items of `box` perform `access`; an empty interval
/// if they don't; `everything` where an address or a condition that matters has no value, or a loop
/// takes more than `maxSteps` iterations. `buffers` by parameter, those that are loaded from.
Interval inspectOnHost(const Access& access, const NDRange& range,
                       std::span<const ArgumentValue> arguments, const GroupBox& box,
                       BufferBytes buffers, std::uint64_t maxSteps = 1 << 22);

} // namespace libsplit
