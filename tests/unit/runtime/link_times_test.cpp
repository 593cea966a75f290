#include "runtime/device/link_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A device behind a link on which each copy takes some time and each byte some more.
struct Link {
  double perCopy = 0, perByteIn = 0, perByteOut = 0; ///< seconds
  std::size_t room = std::size_t{1} << 26;
  std::size_t failsFrom = 0; ///< copies of so many bytes are refused; 0: none
  std::vector<std::size_t> copies{};
  double now = 0; ///< seconds
};
Link link;

cl_int copy(std::size_t bytes, double perByte) {
  if (link.failsFrom > 0 && bytes >= link.failsFrom)
    return CL_OUT_OF_RESOURCES;
  link.copies.push_back(bytes);
  link.now += link.perCopy + static_cast<double>(bytes) * perByte;
  return CL_SUCCESS;
}

Dispatch dispatch() {
  Dispatch cl{};
  cl.clCreateBuffer = [](cl_context, cl_mem_flags, std::size_t size, void*, cl_int* error) {
    *error = size <= link.room ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return reinterpret_cast<cl_mem>(&link);
  };
  cl.clReleaseMemObject = [](cl_mem) -> cl_int { return CL_SUCCESS; };
  cl.clEnqueueWriteBuffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t size,
                               const void*, cl_uint, const cl_event*,
                               cl_event*) { return copy(size, link.perByteIn); };
  cl.clEnqueueReadBuffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t size,
                              void*, cl_uint, const cl_event*,
                              cl_event*) { return copy(size, link.perByteOut); };
  return cl;
}

std::optional<LinkTimes> measured(std::size_t most) {
  static const Dispatch cl = dispatch();
  std::vector<std::byte> host(most);
  link.copies.clear();
  return linkTimes(cl, reinterpret_cast<cl_context>(&link),
                   reinterpret_cast<cl_command_queue>(&link), host, [] { return link.now; });
}

TEST(LinkTimes, areThoseOfEachDirection) {
  link = {.perCopy = 1e-4, .perByteIn = 1e-9, .perByteOut = 4e-9};
  const auto times = measured(std::size_t{1} << 22);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->in.small, 1e-4 + 4096e-9, 1e-9);
  EXPECT_NEAR(times->in.perByte, 1e-9, 1e-12);
  EXPECT_NEAR(times->out.perByte, 4e-9, 1e-12);
}

TEST(LinkTimes, delaysAreNoRates) {
  link = {.perCopy = 5e-3, .perByteIn = 1e-9, .perByteOut = 1e-9};
  const auto times = measured(std::size_t{1} << 22);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->in.perByte, 1e-9, 1e-12);
  EXPECT_GE(*std::ranges::max_element(link.copies), std::size_t{1} << 20);
}

TEST(LinkTimes, slowLinksCarryNoMoreThanItTakesToKnowThem) {
  link = {.perByteIn = 1e-6, .perByteOut = 1e-6}; // of a small copy, 4 ms
  const auto times = measured(std::size_t{1} << 23);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->in.perByte, 1e-6, 1e-9);
  EXPECT_LE(*std::ranges::max_element(link.copies), std::size_t{1} << 15);
  EXPECT_LE(link.copies.size(), 8u);
}

TEST(LinkTimes, areNotKnownWhereTheDriverRefuses) {
  link = {};
  link.room = 1000;
  EXPECT_FALSE(measured(std::size_t{1} << 20));
  EXPECT_TRUE(link.copies.empty());
  link = {};
  link.failsFrom = 1 << 18;
  EXPECT_FALSE(measured(std::size_t{1} << 20));
}

} // namespace
} // namespace libsplit::runtime
