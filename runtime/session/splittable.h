// What a launch must be for it to be split at all, whatever that gains; and what a driver may
// refuse.
#pragma once

#include "runtime/core/options.h"
#include "runtime/session/command.h"
#include "runtime/session/launch.h"
#include "runtime/session/samplers.h"
#include "runtime/session/stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// Of arguments that name one.
NDRange rangeOf(const LaunchArguments& arguments);
/// Whether they do.
inline bool isRange(const LaunchArguments& arguments) {
  return arguments.dimensions >= 1 && arguments.dimensions <= 3 && arguments.global;
}

/// Whether the text may be launched in work-groups of different sizes, where the device takes such:
/// programs ask for that by a version of the language.
bool asksForUneven(const Origin& origin);

/// Why the launch of a kernel that is ready can't be split; empty: it can.
std::string whyNotSplittable(const Machine& machine, const Options& options,
                             const Samplers& samplers, const Kernel& kernel,
                             const LaunchArguments& arguments);

/// Bytes of local memory that a work-group gets by these arguments.
std::uint64_t localBytesOf(std::span<const Argument> arguments);

/// Whether there is anything about the launch that a driver answers with an error. It must get that
/// launch in the call itself, and not from a lane later. Asks the driver for its limits.
Refusal refusalOf(const Dispatch& cl, const Kernel& kernel, const Stream& stream,
                  const LaunchArguments& arguments);
/// Whether the kernel and all its arguments are of the queue's context.
bool isOfOneContext(const Stream& stream, const Kernel& kernel);

/// A second object of the kernel, for launches of libsplit's own. Where the driver alone knows all
/// arguments it is the driver's copy with these, for one launch. Null if the driver makes none.
std::shared_ptr<LaneKernel> cloneOf(const Dispatch& cl, Kernel& kernel, const Stream& stream);

/// The objects that the kernel's arguments are.
std::vector<BufferUse> usesOf(const Kernel& kernel);
/// The launch as it is now, whatever the program does next; `launch`, which is as new, is that.
std::shared_ptr<Launch> snapshot(const Dispatch& cl, const Samplers& samplers, const Kernel& kernel,
                                 const LaunchArguments& arguments,
                                 std::shared_ptr<Launch> launch = std::make_shared<Launch>());

} // namespace libsplit::runtime
