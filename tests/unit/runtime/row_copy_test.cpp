#include "runtime/device/row_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A driver with one buffer, in which commands run at once.
struct Driver {
  static inline std::vector<std::byte> buffer;
  static inline unsigned commands = 0;

  static cl_int CL_API_CALL read(cl_command_queue, cl_mem, cl_bool, std::size_t offset,
                                 std::size_t size, void* host, cl_uint, const cl_event*,
                                 cl_event*) {
    ++commands;
    std::memcpy(host, buffer.data() + offset, size);
    return CL_SUCCESS;
  }
  static cl_int CL_API_CALL write(cl_command_queue, cl_mem, cl_bool, std::size_t offset,
                                  std::size_t size, const void* host, cl_uint, const cl_event*,
                                  cl_event*) {
    ++commands;
    std::memcpy(buffer.data() + offset, host, size);
    return CL_SUCCESS;
  }
  /// As strict as the strictest: no row reaches into the next, and none beyond the buffer.
  static bool isValid(const std::size_t* origin, const std::size_t* region, std::size_t pitch) {
    return origin[0] + region[0] <= pitch && (origin[1] + region[1]) * pitch <= buffer.size() &&
           region[2] == 1;
  }
  static cl_int CL_API_CALL readRect(cl_command_queue, cl_mem, cl_bool, const std::size_t* there,
                                     const std::size_t* here, const std::size_t* region,
                                     std::size_t pitch, std::size_t, std::size_t hostPitch,
                                     std::size_t, void* host, cl_uint, const cl_event*, cl_event*) {
    ++commands;
    if (!isValid(there, region, pitch) || here[0] != 0 || here[1] != 0 || region[0] > hostPitch)
      return CL_INVALID_VALUE;
    for (std::size_t row = 0; row < region[1]; ++row)
      std::memcpy(static_cast<std::byte*>(host) + row * hostPitch,
                  buffer.data() + (there[1] + row) * pitch + there[0], region[0]);
    return CL_SUCCESS;
  }
  static cl_int CL_API_CALL writeRect(cl_command_queue, cl_mem, cl_bool, const std::size_t* there,
                                      const std::size_t* here, const std::size_t* region,
                                      std::size_t pitch, std::size_t, std::size_t hostPitch,
                                      std::size_t, const void* host, cl_uint, const cl_event*,
                                      cl_event*) {
    ++commands;
    if (!isValid(there, region, pitch) || here[0] != 0 || here[1] != 0 || region[0] > hostPitch)
      return CL_INVALID_VALUE;
    for (std::size_t row = 0; row < region[1]; ++row)
      std::memcpy(buffer.data() + (there[1] + row) * pitch + there[0],
                  static_cast<const std::byte*>(host) + row * hostPitch, region[0]);
    return CL_SUCCESS;
  }
};

constexpr std::size_t pitch = 64, height = 16;

class RowCopyTest : public ::testing::Test {
protected:
  RowCopyTest() {
    cl.clEnqueueReadBuffer = Driver::read;
    cl.clEnqueueWriteBuffer = Driver::write;
    cl.clEnqueueReadBufferRect = Driver::readRect;
    cl.clEnqueueWriteBufferRect = Driver::writeRect;
    Driver::buffer.resize(pitch * height);
    for (std::size_t i = 0; i < Driver::buffer.size(); ++i)
      Driver::buffer[i] = static_cast<std::byte>(i % 251);
    Driver::commands = 0;
  }

  cl_int run(const Rows& rows, bool toHost, bool packed, std::vector<std::byte>& host) const {
    RowCopy copy;
    copy.toHost = toHost;
    copy.rows = {rows};
    copy.host = host.data();
    copy.packed = packed;
    cl_event last = nullptr;
    const std::vector<cl_event> none;
    return copy.enqueue(cl, {none}, nullptr, &last);
  }

  /// Reads rows to the host, changes all that is there, and writes them back.
  void goToAndFro(const Rows& rows, bool packed) {
    const std::vector<std::byte> before = Driver::buffer;
    std::vector<std::byte> host(before.size());
    ASSERT_EQ(run(rows, true, packed, host), CL_SUCCESS);
    std::vector<std::byte> expected = before;
    for (std::size_t k = 0; k < rows.count; ++k) {
      const std::size_t at = rows.first + k * rows.pitch;
      std::byte* there = host.data() + (packed ? k * rows.length : at);
      ASSERT_EQ(std::memcmp(there, before.data() + at, rows.length), 0) << "row " << k;
      for (std::size_t i = 0; i < rows.length; ++i)
        expected[at + i] = there[i] = ~there[i];
    }
    ASSERT_EQ(run(rows, false, packed, host), CL_SUCCESS);
    EXPECT_EQ(Driver::buffer, expected);
  }

  Dispatch cl{};
};

TEST_F(RowCopyTest, AColumnGoesByOneCommandAndOneForItsLastRow) {
  for (const bool packed : {false, true}) {
    Driver::commands = 0;
    goToAndFro({3, 8, pitch, height}, packed);
    EXPECT_EQ(Driver::commands, 2 * 2U);
  }
}

TEST_F(RowCopyTest, WhatWrapsAroundAGridsEdgeGoesAsTwoColumns) {
  // The last two bytes of each row and the first three of the next.
  for (const bool packed : {false, true}) {
    Driver::commands = 0;
    goToAndFro({pitch - 2, 5, pitch, height - 1}, packed);
    EXPECT_EQ(Driver::commands, 2 * 4U);
  }
}

TEST_F(RowCopyTest, TwoRowsGoByACommandEach) {
  goToAndFro({pitch - 2, 5, pitch, 2}, false);
  EXPECT_EQ(Driver::commands, 2 * 2U);
}

} // namespace
} // namespace libsplit::runtime
