// A kernel with its arguments and its NDRange, ready to be enqueued.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/core/small_bytes.h"
#include "runtime/plan/piece_range.h"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

struct Argument;

/// What a program was built from.
struct MadeOf {
  std::string text; ///< OpenCL C
  std::string options;
};

/// A kernel object for one device's lanes. Arguments are set by whoever executes their
/// instructions, and only when they differ from what it was given last.
struct LaneKernel {
  Ref<cl_kernel> kernel;
  std::mutex mutex;                     ///< of its arguments, until it is enqueued with them
  std::size_t maxGroup = 0;             ///< work-items
  std::size_t width = 0;                ///< … of which the device runs so many together
  cl_ulong localMemory = 0;             ///< bytes, beside the arguments'
  std::shared_ptr<const MadeOf> madeOf; ///< null: not OpenCL C
  std::vector<SmallBytes> last;         ///< by-value arguments as last set; empty: not yet

  /// Whether it is the first time that this is asked of such a launch: drivers compile a kernel
  /// when it is first launched, some for each local size and kind of NDRange anew. Not thread-safe.
  bool isNew(const PieceRange& range);

private:
  static constexpr std::size_t mostForms = 256;
  using Form = std::array<std::size_t, 9>;
  static Form formOf(const EnqueuedRange& range);

  std::set<Form> forms_; ///< of launches that there were
};

/// What clSetKernelArg takes: a value, or a size of local memory.
class ArgumentSetting {
public:
  static ArgumentSetting local(std::size_t size) {
    ArgumentSetting made;
    made.localSize = size;
    return made;
  }
  explicit ArgumentSetting(std::span<const std::byte> bytes, bool ofBuffer = false)
      : value(bytes), isBuffer(ofBuffer) {}

  SmallBytes value;
  std::size_t localSize = 0; ///< 0: it is a value
  bool isBuffer = false;
  bool isOfLaunch = false; ///< each launch gives its own; this is one's

private:
  ArgumentSetting() = default;
};

/// Enqueues the body of `range`, then its rests, in order, if there are any. `event` gets the last
/// one's event, and `done` is preceded by the others; both may be null. If the driver finds the
/// body too large, nothing has happened yet: `otherwise`, if not null, takes the place of all.
cl_int enqueueParts(const Dispatch& cl, cl_command_queue queue, cl_kernel kernel,
                    unsigned dimensions, const PieceRange& range, const EnqueuedRange* otherwise,
                    cl_uint waitCount, const cl_event* waitList, cl_event* event, Completion* done);

/// One kernel launch, ready to be enqueued, as often as one likes, by any thread.
struct KernelCall {
  std::shared_ptr<LaneKernel> kernel;
  std::vector<ArgumentSetting> arguments;
  unsigned dimensions = 1;
  PieceRange range;
  /// In place of `range`, if the driver does not take the local sizes that were chosen there.
  std::optional<EnqueuedRange> otherwise;
  /// An argument that is another for the piece's only rest: its index, and what it is there.
  std::optional<std::pair<std::size_t, ArgumentSetting>> ofRest;

  /// `event` gets the last command's event, and `done` is preceded by the others, if there are any;
  /// in order, if so. `given`: the launch's arguments, in place of values that each launch gives;
  /// null: as they are here.
  cl_int enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                 const cl_event* waitList, cl_event* event, Completion* done = nullptr,
                 const std::vector<Argument>* given = nullptr) const;

private:
  cl_int set(const Dispatch& cl, std::size_t index, const ArgumentSetting& argument) const;
  cl_int set(const Dispatch& cl, std::size_t index, const SmallBytes& value) const;
};

} // namespace libsplit::runtime
