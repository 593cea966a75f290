#include "runtime/plan/directory.h"

#include "tests/unit/runtime/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace libsplit::runtime {
namespace {

constexpr NodeId home = 1, other = 2;

TEST(Directory, StartsValidAtHomeAlone) {
  Directory directory(3, home, 100);
  EXPECT_EQ(directory.valid(home), ByteSet(0, 100));
  EXPECT_TRUE(directory.valid(hostNode).empty());
  EXPECT_TRUE(directory.valid(other).empty());
}

TEST(Directory, MovesOnlyWhatIsMissing) {
  Directory directory(3, home, 100);
  EXPECT_EQ(directory.bring(other, ByteSet(40, 60)),
            (std::vector<Move>{{home, other, ByteSet(40, 60)}}));
  EXPECT_EQ(directory.bring(other, ByteSet(30, 60)),
            (std::vector<Move>{{home, other, ByteSet(30, 40)}}));
  EXPECT_TRUE(directory.bring(other, ByteSet(30, 60)).empty());
  EXPECT_TRUE(directory.bring(home, ByteSet(0, 100)).empty());
}

TEST(Directory, NamesHomeFirstAndTheHostLastWhereTheProgramReads) {
  Directory directory(3, home, 100);
  directory.bring(other, ByteSet(0, 100));
  directory.bring(hostNode, ByteSet(0, 100));
  directory.wrote(other, ByteSet(50, 80));
  directory.wrote(hostNode, ByteSet(80, 90));
  EXPECT_EQ(directory.sources(home, ByteSet(40, 100)),
            (std::vector<Directory::Part>{{other, ByteSet(50, 80)},
                                          {home, unite(ByteSet(40, 50), ByteSet(90, 100))},
                                          {hostNode, ByteSet(80, 90)}}));
  EXPECT_EQ(directory.sources(hostNode, ByteSet(0, 85)),
            (std::vector<Directory::Part>{{other, ByteSet(50, 80)},
                                          {hostNode, unite(ByteSet(0, 50), ByteSet(80, 85))}}));
}

TEST(Directory, AReadIsNotCutIntoRowsWhereADeviceHasWhatLiesBetweenThem) {
  // The inner cells of the latter half's rows were written elsewhere; their ends are valid on both.
  Directory directory(3, home, 800);
  directory.bring(other, ByteSet(400, 800));
  directory.wrote(other, interior(4, 8, 100));
  EXPECT_EQ(directory.sources(home, ByteSet(0, 800)),
            (std::vector<Directory::Part>{{other, ByteSet(401, 799)},
                                          {home, unite(ByteSet(0, 401), ByteSet(799, 800))}}));
}

TEST(Directory, AWriteInvalidatesAllOtherCopies) {
  Directory directory(3, home, 100);
  directory.bring(other, ByteSet(0, 100));
  directory.wrote(other, ByteSet(50, 100));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 50));
  EXPECT_EQ(directory.valid(other), ByteSet(0, 100));
  EXPECT_EQ(directory.bring(home, ByteSet(0, 100)),
            (std::vector<Move>{{other, home, ByteSet(50, 100)}}));
}

TEST(Directory, TakesFromTheHostWhatLiesThere) {
  Directory directory(3, home, 100);
  directory.bring(hostNode, ByteSet(20, 60));
  EXPECT_EQ(directory.bring(other, ByteSet(0, 100)),
            (std::vector<Move>{{hostNode, other, ByteSet(20, 60)},
                               {home, other, unite(ByteSet(0, 20), ByteSet(60, 100))}}));
}

TEST(Directory, GathersFromSeveralNodes) {
  Directory directory(4, home, 90);
  directory.wrote(2, ByteSet(30, 60));
  directory.wrote(3, ByteSet(60, 90));
  EXPECT_EQ(directory.bring(hostNode, ByteSet(0, 90)),
            (std::vector<Move>{{home, hostNode, ByteSet(0, 30)},
                               {2, hostNode, ByteSet(30, 60)},
                               {3, hostNode, ByteSet(60, 90)}}));
}

TEST(Directory, TakesBackWhatANodeStillHolds) {
  Directory directory(3, home, 80);
  directory.bring(other, ByteSet(0, 80));
  directory.wrote(hostNode, ByteSet(0, 80));
  const std::uint64_t writes = directory.version();
  directory.confirm(other, ByteSet(0, 40));
  EXPECT_EQ(directory.version(), writes);
  EXPECT_EQ(directory.missing(other, ByteSet(0, 80)), ByteSet(40, 80));
  EXPECT_TRUE(directory.isValid(hostNode, ByteSet(0, 80)));
}

// The essay's stencil: 8 rows of 10 bytes in two buffers that change places, split 4:4.
TEST(Directory, APingPongStencilMovesTheHaloAlone) {
  Directory a(3, home, 80), b(3, home, 80);
  Directory *in = &a, *out = &b;
  for (int step = 0; step < 4; ++step) {
    auto toHome = in->bring(home, ByteSet(0, 50));
    auto toOther = in->bring(other, ByteSet(30, 80));
    if (step == 0) {
      EXPECT_TRUE(toHome.empty());
      EXPECT_EQ(toOther, (std::vector<Move>{{home, other, ByteSet(30, 80)}}));
    } else {
      EXPECT_EQ(toHome, (std::vector<Move>{{other, home, ByteSet(40, 50)}}));
      EXPECT_EQ(toOther, (std::vector<Move>{{home, other, ByteSet(30, 40)}}));
    }
    out->wrote(home, ByteSet(0, 40));
    out->wrote(other, ByteSet(40, 80));
    std::swap(in, out);
  }
}

/// Memories as the moves of a Directory leave them: a byte holds the number of the write that gave
/// it, or 0 where a node never got it.
class Memories {
public:
  Memories(std::size_t nodes, NodeId first)
      : bytes_(nodes, std::vector<int>(size)), directory_(nodes, first, size) {
    std::fill(bytes_[first].begin(), bytes_[first].end(), 1);
    truth_ = bytes_[first];
  }

  void write(NodeId node, const ByteSet& bytes) {
    directory_.wrote(node, bytes);
    ++writes_;
    for (const ByteRange& range : bytes.ranges())
      for (std::uint64_t i = range.begin; i < range.end; ++i)
        truth_[i] = bytes_[node][i] = writes_;
  }

  /// Whether everybody has what is valid there, if everything leaves before anything arrives.
  ::testing::AssertionResult bringAll(std::span<const Directory::Need> needs) {
    const auto before = bytes_;
    for (const auto& [need, move] : directory_.bringAll(needs))
      for (const ByteRange& range : move.bytes.ranges())
        for (std::uint64_t i = range.begin; i < range.end; ++i)
          bytes_[move.to][i] = before[move.from][i];
    for (NodeId node = 0; node < bytes_.size(); ++node)
      for (std::uint64_t i = 0; i < size; ++i)
        if (directory_.isValid(node, ByteSet(i, i + 1)) && bytes_[node][i] != truth_[i])
          return ::testing::AssertionFailure() << "byte " << i << " on node " << node;
    for (const Directory::Need& need : needs)
      if (!directory_.isValid(need.node, *need.bytes))
        return ::testing::AssertionFailure() << "node " << need.node << " lacks bytes";
    return ::testing::AssertionSuccess();
  }

  static constexpr std::uint64_t size = 1024;

private:
  std::vector<std::vector<int>> bytes_;
  Directory directory_;
  std::vector<int> truth_;
  int writes_ = 1;
};

TEST(Directory, whatLeavesADeviceHasBeenThereBefore) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](std::uint64_t n) { return random() % n; };
    Memories memories(4, static_cast<NodeId>(below(4)));
    for (int launch = 0; launch < 12; ++launch) {
      std::array<ByteSet, 4> sets;
      std::vector<Directory::Need> needs;
      std::array<std::uint64_t, 5> cuts{0, below(17), below(17), below(17), 16};
      std::sort(cuts.begin(), cuts.end());
      for (NodeId node = 0; node < 4; ++node) {
        const std::uint64_t halo = below(3);
        // Whole rows are read, and all but their ends written.
        sets[node] = ByteSet(64 * (cuts[node] - std::min(cuts[node], halo)),
                             64 * std::min<std::uint64_t>(16, cuts[node + 1] + halo));
        needs.push_back({node, &sets[node]});
      }
      std::shuffle(needs.begin(), needs.end(), random);
      ASSERT_TRUE(memories.bringAll(needs)) << "seed " << seed << ", launch " << launch;
      // Not only what a node has read: an output's ends of rows it never needs.
      for (NodeId node = 0; node < 4; ++node)
        memories.write(node, interior(below(16), below(17), 64));
    }
  }
}

TEST(Directory, whatIsLeftToOthersComesFromThem) {
  constexpr NodeId third = 3;
  Directory directory(4, home, 80);
  directory.wrote(other, ByteSet(0, 40));
  directory.bring(third, ByteSet(0, 16));
  directory.leaveToOthers(other);
  EXPECT_EQ(directory.sources(home, ByteSet(0, 20)),
            (std::vector<Directory::Part>{{other, ByteSet(16, 20)}, {third, ByteSet(0, 16)}}));
  EXPECT_EQ(directory.bring(home, ByteSet(0, 16)),
            (std::vector<Move>{{third, home, ByteSet(0, 16)}}));
  EXPECT_EQ(directory.bring(home, ByteSet(0, 40)),
            (std::vector<Move>{{other, home, ByteSet(16, 40)}}))
      << "nobody else has it";
}

TEST(Directory, everyWriteGivesAVersionThatNobodyHadBefore) {
  Directory a(2, home, 80), b(2, home, 80);
  EXPECT_NE(a.version(), b.version());
  const std::uint64_t before = a.version();
  a.bring(hostNode, ByteSet(0, 80));
  EXPECT_EQ(a.version(), before);
  a.wrote(home, ByteSet(0, 4));
  EXPECT_NE(a.version(), before);
  EXPECT_NE(a.version(), b.version());
}

TEST(Directory, fillsSmallGapsThatTheSourceHolds) {
  // Rows of 100 bytes whose first and last byte node 2 never writes.
  ByteSet interior;
  for (std::uint64_t row = 0; row < 4; ++row)
    interior.add({100 * row + 1, 100 * row + 99});
  Directory directory(3, 1, 400);
  directory.bring(2, ByteSet(0, 400));
  directory.wrote(2, interior);
  const std::vector<Move> expected = {{2, 1, ByteSet(1, 399)}};
  EXPECT_EQ(directory.bring(1, interior), expected);
}

/// Every second float of a row of 128.
ByteSet ofOneColour() {
  ByteSet points;
  for (std::uint64_t i = 0; i < 128; i += 2)
    points.add({4 * i, 4 * i + 4});
  return points;
}

TEST(Directory, movesPointsWithThoseBetween) {
  Directory directory(3, 1, 512);
  directory.bring(2, ByteSet(0, 512));
  directory.wrote(2, ofOneColour());
  EXPECT_EQ(directory.bring(1, ofOneColour()), (std::vector<Move>{{2, 1, ByteSet(0, 508)}}));
}

TEST(Directory, movesPointsWithThoseBetweenOnlyIfTheseAreWanted) {
  Directory directory(3, 1, 512);
  directory.bring(2, ByteSet(0, 512));
  directory.wrote(2, ofOneColour());
  const ByteSet half(0, 256), points = ofOneColour();
  const Directory::Need row{1, &half}, colour{1, &points};
  Directory another = directory;
  const auto moves = directory.bringAll({&row, 1}, Directory::Gaps::Wanted);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].move, (Move{2, 1, ByteSet(0, 252)}));
  const auto exact = another.bringAll({&colour, 1}, Directory::Gaps::Wanted);
  ASSERT_EQ(exact.size(), 1U);
  EXPECT_EQ(exact[0].move, (Move{2, 1, ofOneColour()}));
}

TEST(Directory, leavesGapsThatTheSourceLacks) {
  ByteSet interior;
  for (std::uint64_t row = 0; row < 4; ++row)
    interior.add({100 * row + 1, 100 * row + 99});
  Directory directory(3, 1, 400);
  directory.wrote(2, interior);
  const std::vector<Move> expected = {{2, 1, interior}};
  EXPECT_EQ(directory.bring(1, interior), expected);
}

} // namespace
} // namespace libsplit::runtime
