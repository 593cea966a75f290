#include "runtime/host_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace libsplit::runtime {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST(HostBlock, existsOnceItIsTouchedFromSeveralThreads) {
  constexpr std::size_t size = 300 * megabyte + 5;
  auto block = HostBlock::reserve(size, true);
  ASSERT_TRUE(block);
  double least = block->secondsToReady();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (block->touchNext()) {
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_FALSE(block->touchNext());
  EXPECT_LT(block->secondsToReady(), least);
  EXPECT_GT(block->secondsToReady(), 0) << "it is not pinned yet";
  block->address()[0] = block->address()[size - 1] = std::byte{7};
  EXPECT_EQ(std::count(block->address(), block->address() + size, std::byte{0}),
            static_cast<std::ptrdiff_t>(size - 2));
}

TEST(HostBlock, costsNothingWhereItIsNotPinned) {
  EXPECT_EQ(HostBlock::secondsToReady(300 * megabyte, false), 0);
  EXPECT_EQ(HostBlock::secondsToReady(HostBlock::smallTransfer, true), 0);
  EXPECT_GT(HostBlock::secondsToReady(HostBlock::smallTransfer + 1, true), 0);
  EXPECT_EQ(HostBlock::reserve(300 * megabyte, false)->secondsToReady(), 0);
}

TEST(HostBlock, leavesTheProgramAsMuchMemoryAsItTakes) {
  const std::size_t available = availableMemory();
  ASSERT_GT(available, 64 * megabyte);
  EXPECT_FALSE(HostBlock::reserve(available / 4 * 3, true));
  EXPECT_FALSE(HostBlock::reserve(std::numeric_limits<std::size_t>::max() / 2, false));
}

TEST(HostBlock, smallOnesAreWritable) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4095}, 2 * megabyte, 2 * megabyte + 1}) {
    auto block = HostBlock::reserve(size, true);
    ASSERT_TRUE(block);
    std::fill_n(block->address(), size, std::byte{1});
    EXPECT_EQ(block->size(), size);
  }
}

} // namespace
} // namespace libsplit::runtime
