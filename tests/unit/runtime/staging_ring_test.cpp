#include "runtime/device/staging_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace libsplit::runtime {
namespace {

const Dispatch cl{};
constexpr std::size_t chunk = 8 << 10;

CompletionPtr work() {
  return std::make_shared<Completion>(cl);
}

// The essay's 64 in chunks of 8, through 24.
TEST(StagingRing, theFourthChunkWaitsForTheFirst) {
  StagingRing ring(HostBlock::reserve(3 * chunk));
  ASSERT_EQ(ring.chunk(), chunk);
  std::vector<CompletionPtr> users;
  for (int i = 0; i < 8; ++i) {
    const CompletionPtr user = work();
    const StagingRing::Part part = ring.take(chunk, {user});
    EXPECT_EQ(part.address, ring.block()->address() + i % 3 * chunk);
    if (i < 3)
      EXPECT_TRUE(part.after.empty());
    else
      EXPECT_EQ(part.after, std::vector{users[static_cast<std::size_t>(i - 3)]});
    users.push_back(user);
  }
}

TEST(StagingRing, saysWhenTheNextChunkWouldWaitForWhatIsNotIssued) {
  StagingRing ring(HostBlock::reserve(3 * chunk));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ring.waitsForNew(chunk));
    ring.take(chunk, {work()});
  }
  EXPECT_TRUE(ring.waitsForNew(chunk));
  ring.noteIssued();
  EXPECT_FALSE(ring.waitsForNew(chunk));
  ring.take(chunk, {work()});
  EXPECT_FALSE(ring.waitsForNew(chunk)) << "the second chunk's users are issued";
}

TEST(StagingRing, noByteIsEverAnothersToo) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    StagingRing ring(HostBlock::reserve(1024 + random() % 5000));
    std::map<std::size_t, CompletionPtr> last; // by byte
    for (int i = 0; i < 200; ++i) {
      const std::size_t size = 1 + random() % ring.chunk();
      const CompletionPtr user = work();
      const StagingRing::Part part = ring.take(size, {user});
      const auto begin = static_cast<std::size_t>(part.address - ring.block()->address());
      ASSERT_LE(begin + size, ring.block()->size());
      for (std::size_t byte = begin; byte < begin + size; ++byte) {
        if (last.contains(byte)) {
          ASSERT_TRUE(std::ranges::count(part.after, last[byte])) << "seed " << seed;
        }
        last[byte] = user;
      }
    }
  }
}

} // namespace
} // namespace libsplit::runtime
