#include "runtime/device/quirks.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace libsplit::runtime {

namespace {

using Bytes = std::vector<unsigned char>;
using Triple = std::array<std::size_t, 3>;

// A few rows out of the middle of a small buffer.
constexpr std::size_t devicePitch = 16, rowLength = 8, rowCount = 4, firstColumn = 4, firstRow = 1;
constexpr std::size_t bufferSize = devicePitch * (rowCount + 2);
constexpr unsigned char guard = 0xa5;

std::size_t inBuffer(std::size_t row) {
  return (firstRow + row) * devicePitch + firstColumn;
}

Bytes pattern(std::size_t size, unsigned char seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<unsigned char>(seed + 3 * i);
  return bytes;
}

/// Copies the rows from `from` to `to`, as the specification has it.
void copyRows(const Bytes& from, auto fromRow, Bytes& to, auto toRow) {
  for (std::size_t row = 0; row < rowCount; ++row)
    for (std::size_t i = 0; i < rowLength; ++i)
      to[toRow(row) + i] = from[fromRow(row) + i];
}

/// Whether rows that lie `hostPitch` apart in the host's memory are written and read, and nothing
/// else is.
bool copiesRows(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::size_t hostPitch) {
  const Triple there{firstColumn, firstRow, 0}, here{0, 0, 0}, region{rowLength, rowCount, 1};
  auto inHost = [&](std::size_t row) { return row * hostPitch; };
  const Bytes old = pattern(bufferSize, 1), rows = pattern(hostPitch * rowCount, 100);
  Bytes written(bufferSize), read(hostPitch * rowCount, guard);
  if (cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bufferSize, old.data(), 0, nullptr,
                              nullptr) != CL_SUCCESS ||
      cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, there.data(), here.data(), region.data(),
                                 devicePitch, 0, hostPitch, 0, read.data(), 0, nullptr,
                                 nullptr) != CL_SUCCESS ||
      cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, there.data(), here.data(), region.data(),
                                  devicePitch, 0, hostPitch, 0, rows.data(), 0, nullptr,
                                  nullptr) != CL_SUCCESS ||
      cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bufferSize, written.data(), 0, nullptr,
                             nullptr) != CL_SUCCESS)
    return false;
  Bytes expectedRead(read.size(), guard), expectedWritten = old;
  copyRows(old, inBuffer, expectedRead, inHost);
  copyRows(rows, inHost, expectedWritten, inBuffer);
  return read == expectedRead && written == expectedWritten;
}

} // namespace

Quirks probeQuirks(const Dispatch& cl, cl_context context, cl_command_queue queue) {
  Quirks quirks;
  cl_int error = CL_SUCCESS;
  auto buffer = Ref<cl_mem>::adopt(
      cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE, bufferSize, nullptr, &error));
  if (error != CL_SUCCESS || !queue)
    quirks.hostRows = HostRows::None;
  else if (!copiesRows(cl, queue, buffer.get(), 2 * rowLength + 1))
    quirks.hostRows =
        copiesRows(cl, queue, buffer.get(), rowLength) ? HostRows::Dense : HostRows::None;
  return quirks;
}

bool callsBackFirst(const Dispatch& cl, cl_command_queue queue) {
  static constexpr std::chrono::milliseconds moment(1);
  using IsOver = std::atomic<bool>;
  const auto isOver = std::make_shared<IsOver>(false);
  const auto callBack = [](cl_event, cl_int, void* shared) {
    const std::unique_ptr<std::shared_ptr<IsOver>> own(
        static_cast<std::shared_ptr<IsOver>*>(shared));
    std::this_thread::sleep_for(moment);
    **own = true;
  };
  cl_event marker = nullptr;
  if (!queue || cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker) != CL_SUCCESS)
    return false;
  const auto command = Ref<cl_event>::adopt(cl, marker);
  auto shared = std::make_unique<std::shared_ptr<IsOver>>(isOver);
  if (cl.clSetEventCallback(marker, CL_COMPLETE, callBack, shared.get()) != CL_SUCCESS)
    return false;
  static_cast<void>(shared.release()); // it deletes itself
  const bool isFirst = cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr) == CL_SUCCESS &&
                       cl.clFinish(queue) == CL_SUCCESS && *isOver;
  // Until then the driver keeps the event, and that its context.
  for (auto waited = moment * 0; !*isOver && waited < 100 * moment; waited += moment)
    std::this_thread::sleep_for(moment);
  return isFirst;
}

} // namespace libsplit::runtime
