#include "runtime/plan/readers.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using Parts = std::map<NodeId, ByteSet>;
constexpr NodeId home = 1;

ByteSet bytes(std::uint64_t begin, std::uint64_t end) {
  return {begin, end};
}

TEST(Readers, GetWhatTheyReadOfTheLastWrite) {
  Readers readers;
  readers.wanted(1, bytes(0, 5));
  readers.wanted(2, bytes(3, 8));
  readers.programWrites();
  EXPECT_EQ(readers.shareOut(bytes(0, 8), home), (Parts{{1, bytes(0, 5)}, {2, bytes(3, 8)}}));
  EXPECT_EQ(readers.shareOut(bytes(4, 6), home), (Parts{{1, bytes(4, 5)}, {2, bytes(4, 6)}}));
}

TEST(Readers, LeaveToHomeWhatNobodyReads) {
  Readers readers;
  EXPECT_EQ(readers.shareOut(bytes(0, 8), home), (Parts{{home, bytes(0, 8)}}));
  readers.wanted(2, bytes(4, 6));
  readers.programWrites();
  EXPECT_EQ(readers.shareOut(bytes(2, 8), home),
            (Parts{{home, unite(bytes(2, 4), bytes(6, 8))}, {2, bytes(4, 6)}}));
}

TEST(Readers, AreThoseOfTheLastWriteAlone) {
  Readers readers;
  readers.wanted(2, bytes(0, 8));
  readers.programWrites();
  readers.programWrites(); // in several parts
  EXPECT_EQ(readers.shareOut(bytes(0, 8), home), (Parts{{2, bytes(0, 8)}}));
  readers.wanted(1, bytes(0, 8));
  readers.programWrites();
  EXPECT_EQ(readers.shareOut(bytes(0, 8), home), (Parts{{1, bytes(0, 8)}}));
}

TEST(Readers, OfWhatIsWrittenOnceAreNotFollowedForLong) {
  Readers readers;
  for (unsigned i = 0; i < 10000; ++i)
    readers.wanted(2, bytes(i, i + 1));
  readers.programWrites();
  EXPECT_EQ(readers.shareOut(bytes(0, 8), home), (Parts{{home, bytes(0, 8)}}));
}

} // namespace
} // namespace libsplit::runtime
