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

std::shared_ptr<PromisedMemory> promised(std::size_t bytes = 0) {
  return std::make_shared<PromisedMemory>(bytes);
}

TEST(HostBlock, existsOnceItIsTouchedFromSeveralThreads) {
  constexpr std::size_t size = 300 * megabyte + 5;
  const auto memory = promised();
  auto block = HostBlock::reserve(size, true, memory);
  ASSERT_TRUE(block);
  EXPECT_EQ(*memory, size);
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
  EXPECT_EQ(*memory, 0u);
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
  EXPECT_EQ(HostBlock::reserve(300 * megabyte, false, promised())->secondsToReady(), 0);
}

TEST(HostBlock, leavesTheProgramAsMuchMemoryAsItTakes) {
  const std::size_t available = availableMemory();
  ASSERT_GT(available, 64 * megabyte);
  EXPECT_FALSE(HostBlock::reserve(available / 4 * 3, true, promised()));
  EXPECT_FALSE(HostBlock::reserve(std::numeric_limits<std::size_t>::max() / 2, false, promised()));
  EXPECT_TRUE(HostBlock::reserve(32 * megabyte, true, promised()));
  EXPECT_FALSE(HostBlock::reserve(32 * megabyte, true, promised(available)));

  const auto memory = promised();
  HostBlock::reserve(32 * megabyte, true, memory)->touchNext();
  EXPECT_EQ(*memory, 0u) << "what a block that is gone did not touch is promised no more";
}

TEST(HostBlock, smallOnesAreWritable) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4095}, 2 * megabyte, 2 * megabyte + 1}) {
    auto block = HostBlock::reserve(size, true, promised());
    ASSERT_TRUE(block);
    std::fill_n(block->address(), size, std::byte{1});
    EXPECT_EQ(block->size(), size);
  }
}

} // namespace
} // namespace libsplit::runtime
