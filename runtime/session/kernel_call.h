// A kernel with its arguments and its NDRange, ready to be enqueued.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/core/small_bytes.h"
#include "runtime/plan/piece_range.h"
#include "runtime/program/program.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

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

private:
  ArgumentSetting() = default;
};

/// One kernel launch, ready to be enqueued.
struct KernelCall {
  std::shared_ptr<LaneKernel> kernel;
  std::vector<ArgumentSetting> arguments;
  unsigned dimensions = 1;
  PieceRange range;
  /// An argument that is another for the piece's rest: its index, and what it is there.
  std::optional<std::pair<std::size_t, ArgumentSetting>> ofRest;

  /// `event` gets the last command's event, and `done` the first one's if there are two.
  cl_int enqueue(const Dispatch& cl, cl_command_queue queue, cl_uint waitCount,
                 const cl_event* waitList, cl_event* event, Completion* done = nullptr) const;

private:
  cl_int set(const Dispatch& cl, std::size_t index, const ArgumentSetting& argument) const;
};

} // namespace libsplit::runtime
