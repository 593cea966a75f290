#include "runtime/device/row_copy.h"

#include <algorithm>
#include <array>
#include <utility>

namespace libsplit::runtime {

HostAccess HostAccess::of(cl_mem_flags flags) {
  return {(flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)) == 0,
          (flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY)) == 0};
}

namespace {

using Triple = std::array<std::size_t, 3>;

Triple originOf(const Rows& rows) {
  return {rows.first % rows.pitch, rows.first / rows.pitch, 0};
}

/// Rows that one command takes, and where they lie in the host's memory.
struct Step {
  Rows rows; ///< counted from the copy's first byte
  std::byte* at = nullptr;
  std::uint64_t pitch = 0;
};

/// `rows`, from `at` on in the host's memory, by a command each.
void addSingly(const Rows& rows, std::byte* at, std::uint64_t pitch, std::vector<Step>& steps) {
  for (std::uint64_t k = 0; k < rows.count; ++k)
    steps.push_back({{rows.first + k * rows.pitch, rows.length, 0, 1}, at + k * pitch, 0});
}

/// The same by one command, but for the last row: those for rectangles want its whole pitch to be
/// inside the buffer, too.
void addRectangle(Rows rows, std::byte* at, std::uint64_t pitch, std::vector<Step>& steps) {
  const std::uint64_t last = --rows.count;
  steps.push_back({rows, at, pitch});
  addSingly({rows.first + last * rows.pitch, rows.length, 0, 1}, at + last * pitch, 0, steps);
}

std::vector<Step> stepsOf(const RowCopy& copy) {
  std::vector<Rows> all = copy.rows;
  if (copy.way.isRelayed(copy.toHost)) {
    all.clear();
    for (const Chunk& chunk : inChunks(copy.rows, copy.way.relaySize))
      all.insert(all.end(), chunk.rows.begin(), chunk.rows.end());
  }
  std::vector<Step> steps;
  std::byte* next = copy.host;
  for (const Rows& each : all) {
    const std::uint64_t pitch = copy.packed ? each.length : each.pitch;
    std::byte* at = copy.packed ? next : copy.host + each.first;
    next += each.length * each.count;
    if (copy.way.image) {
      steps.push_back({each, at, pitch == each.length || each.count == 1 ? 0 : pitch});
      continue;
    }
    const std::uint64_t first = each.first - copy.way.begin; // in the copy
    const std::uint64_t beforeWrap =
        each.pitch > 0 ? std::min(each.length, each.pitch - first % each.pitch) : each.length;
    const bool isDense = pitch == each.length && beforeWrap == each.length;
    const bool isTrusted = copy.way.hostRows == HostRows::AtAnyPitch ||
                           (copy.way.hostRows == HostRows::Dense && isDense);
    if (!isTrusted || each.count <= 2) {
      addSingly({first, each.length, each.pitch, each.count}, at, pitch, steps);
      continue;
    }
    // What begins in one row of a rectangle and ends in the next is two columns of it.
    addRectangle({first, beforeWrap, each.pitch, each.count}, at, pitch, steps);
    if (beforeWrap < each.length)
      addRectangle({first + beforeWrap, each.length - beforeWrap, each.pitch, each.count},
                   at + beforeWrap, pitch, steps);
  }
  return steps;
}

/// The commands of one copy.
class Commands {
public:
  Commands(const Dispatch& cl, const RowCopy& copy, WaitList waits)
      : cl_(cl), copy_(copy), waits_(waits) {}

  cl_int direct(const Step& step, cl_event* event) const {
    return copy_.way.image ? ofImage(step, *copy_.way.image, event)
                           : toOrFrom(copy_.way.memory, step.rows, step, event);
  }

  /// `between` gets the first command's event.
  cl_int relayed(const Step& step, cl_event* between, cl_event* event) const {
    const auto& [rows, at, pitch] = step;
    const Rows packed{0, rows.length, rows.count > 1 ? rows.length : 0, rows.count};
    const HostWay& way = copy_.way;
    if (copy_.toHost) {
      const cl_int status = within(way.memory, rows, way.relay, packed, between);
      return status == CL_SUCCESS ? toOrFrom(way.relay, packed, step, event) : status;
    }
    const cl_int status = toOrFrom(way.relay, packed, step, between);
    return status == CL_SUCCESS ? within(way.relay, packed, way.memory, rows, event) : status;
  }

private:
  cl_int ofImage(const Step& step, const ImageLayout& layout, cl_event* event) const {
    const std::uint64_t row = step.rows.first / layout.rowBytes;
    const Triple origin{step.rows.first % layout.rowBytes / layout.elementBytes, row % layout.rows,
                        row / layout.rows};
    const Triple region{step.rows.length / layout.elementBytes, step.rows.count, 1};
    return copy_.toHost ? cl_.clEnqueueReadImage(copy_.queue, copy_.way.memory, CL_FALSE,
                                                 origin.data(), region.data(), step.pitch, 0,
                                                 step.at, waits_.count(), waits_.data(), event)
                        : cl_.clEnqueueWriteImage(copy_.queue, copy_.way.memory, CL_FALSE,
                                                  origin.data(), region.data(), step.pitch, 0,
                                                  step.at, waits_.count(), waits_.data(), event);
  }

  cl_int toOrFrom(cl_mem memory, const Rows& rows, const Step& step, cl_event* event) const {
    const cl_command_queue queue = copy_.queue;
    if (rows.count == 1)
      return copy_.toHost
                 ? cl_.clEnqueueReadBuffer(queue, memory, CL_FALSE, rows.first, rows.length,
                                           step.at, waits_.count(), waits_.data(), event)
                 : cl_.clEnqueueWriteBuffer(queue, memory, CL_FALSE, rows.first, rows.length,
                                            step.at, waits_.count(), waits_.data(), event);
    const Triple there = originOf(rows), here{0, 0, 0}, region{rows.length, rows.count, 1};
    return copy_.toHost
               ? cl_.clEnqueueReadBufferRect(queue, memory, CL_FALSE, there.data(), here.data(),
                                             region.data(), rows.pitch, 0, step.pitch, 0, step.at,
                                             waits_.count(), waits_.data(), event)
               : cl_.clEnqueueWriteBufferRect(queue, memory, CL_FALSE, there.data(), here.data(),
                                              region.data(), rows.pitch, 0, step.pitch, 0, step.at,
                                              waits_.count(), waits_.data(), event);
  }

  cl_int within(cl_mem source, const Rows& from, cl_mem target, const Rows& to,
                cl_event* event) const {
    if (from.count == 1)
      return cl_.clEnqueueCopyBuffer(copy_.queue, source, target, from.first, to.first, from.length,
                                     waits_.count(), waits_.data(), event);
    const Triple begin = originOf(from), at = originOf(to), region{from.length, from.count, 1};
    return cl_.clEnqueueCopyBufferRect(copy_.queue, source, target, begin.data(), at.data(),
                                       region.data(), from.pitch, 0, to.pitch, 0, waits_.count(),
                                       waits_.data(), event);
  }

  const Dispatch& cl_;
  const RowCopy& copy_;
  WaitList waits_;
};

} // namespace

cl_int RowCopy::enqueue(const Dispatch& cl, WaitList waits, Completion* done,
                        cl_event* last) const {
  const std::vector<Step> steps = stepsOf(*this);
  const Commands commands(cl, *this, waits);
  cl_int status = CL_SUCCESS;
  auto note = [&](cl_event before) {
    if (!before)
      return;
    auto owned = Ref<cl_event>::adopt(cl, before);
    if (done)
      done->precede(std::move(owned));
  };
  for (std::size_t i = 0; i < steps.size() && status == CL_SUCCESS; ++i) {
    cl_event between = nullptr, before = nullptr;
    cl_event* event = i + 1 == steps.size() ? last : &before;
    status = way.isRelayed(toHost) ? commands.relayed(steps[i], &between, event)
                                   : commands.direct(steps[i], event);
    note(between);
    note(before);
  }
  return status;
}

} // namespace libsplit::runtime
