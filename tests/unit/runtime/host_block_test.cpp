#include "runtime/device/host_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace libsplit::runtime {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST(HostBlock, isZeroUntilItIsUsed) {
  constexpr std::size_t size = 300 * megabyte + 5;
  if (availableMemory() < 3 * size)
    GTEST_SKIP() << "this machine has no memory to spare";
  auto block = HostBlock::reserve(size);
  ASSERT_TRUE(block);
  block->address()[0] = block->address()[size - 1] = std::byte{7};
  EXPECT_EQ(std::count(block->address(), block->address() + size, std::byte{0}),
            static_cast<std::ptrdiff_t>(size - 2));
}

TEST(HostBlock, isUsedAsItIsWhereADriverDoesNotPinIt) {
  Dispatch cl{};
  cl.clCreateBuffer = [](cl_context, cl_mem_flags, std::size_t, void*, cl_int* error) -> cl_mem {
    *error = CL_OUT_OF_RESOURCES;
    return nullptr;
  };
  auto block = HostBlock::reserve(3 * megabyte);
  ASSERT_TRUE(block);
  EXPECT_FALSE(block->pin(cl, nullptr));
  block->address()[3 * megabyte - 1] = std::byte{1};
}

TEST(HostBlock, leavesTheProgramAsMuchMemoryAsItTakes) {
  const std::size_t available = availableMemory();
  ASSERT_GT(available, 64 * megabyte);
  EXPECT_FALSE(HostBlock::reserve(available / 4 * 3));
  EXPECT_FALSE(HostBlock::reserve(std::numeric_limits<std::size_t>::max() / 2));
  EXPECT_TRUE(HostBlock::reserve(32 * megabyte));
}

TEST(HostBlock, smallOnesAreWritable) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4095}, 2 * megabyte, 2 * megabyte + 1}) {
    auto block = HostBlock::reserve(size);
    ASSERT_TRUE(block);
    std::fill_n(block->address(), size, std::byte{1});
    EXPECT_EQ(block->size(), size);
  }
}

} // namespace
} // namespace libsplit::runtime
