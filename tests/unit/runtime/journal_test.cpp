#include "runtime/device/journal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace libsplit::runtime {
namespace {

constexpr NodeId home = 1, helper = 2;
using Effect = Journal::Effect;

class JournalTest : public testing::Test {
protected:
  CompletionPtr over(cl_int status, Outcome outcome) {
    auto done = std::make_shared<Completion>(cl);
    done->finish(status, outcome);
    return done;
  }
  CompletionPtr succeeded() { return over(CL_SUCCESS, Outcome::Succeeded); }
  CompletionPtr skipped() { return over(CL_OUT_OF_RESOURCES, Outcome::Skipped); }
  CompletionPtr refused() { return over(CL_OUT_OF_RESOURCES, Outcome::Refused); }
  CompletionPtr failed() { return over(CL_OUT_OF_RESOURCES, Outcome::Failed); }

  void write(NodeId node, const ByteSet& bytes, const CompletionPtr& done) {
    journal.note(directory.state(), Effect::Writes, node, bytes, {done});
    directory.wrote(node, bytes);
  }
  void spoil(NodeId node, const ByteSet& bytes, const CompletionPtr& done) {
    journal.note(directory.state(), Effect::Spoils, node, bytes, {done});
    directory.spoiled(node, bytes);
  }
  void bring(NodeId node, const ByteSet& bytes, const CompletionPtr& done) {
    const Directory::State before = directory.state();
    for (const Move& move : directory.bring(node, bytes))
      journal.note(before, Effect::Arrives, move.to, move.bytes, {done});
  }

  Dispatch cl{};
  Directory directory{3, home, 8};
  Journal journal;
};

TEST_F(JournalTest, WhatSucceededStaysAsTheDirectoryHasIt) {
  write(helper, ByteSet(4, 8), succeeded());
  const std::uint64_t version = directory.version();
  EXPECT_FALSE(journal.settle(directory));
  EXPECT_EQ(directory.version(), version);
  EXPECT_EQ(directory.valid(helper), ByteSet(4, 8));
}

TEST_F(JournalTest, WhatARefusedPieceShouldHaveWrittenIsStillWhereItWas) {
  write(home, ByteSet(0, 4), succeeded());
  write(helper, ByteSet(4, 8), refused());
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 8));
  EXPECT_TRUE(directory.valid(helper).empty());
}

TEST_F(JournalTest, WhatTheProgramWroteNativelyOutlastsWhatFailsBesideIt) {
  write(helper, ByteSet(4, 8), succeeded());
  const auto underWay = std::make_shared<Completion>(cl);
  write(helper, ByteSet(0, 4), underWay);
  journal.note(directory.state(), Effect::Overwrites, home, ByteSet(4, 8), {});
  directory.wrote(home, ByteSet(4, 8));
  underWay->finish(CL_OUT_OF_RESOURCES, Outcome::Refused);
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 8));
  EXPECT_TRUE(directory.valid(helper).empty());
}

// The example that journal.h opens with.
TEST_F(JournalTest, WhatWasSkippedForItChangedNothingEither) {
  directory.wrote(helper, ByteSet(4, 8)); // each owns a half
  write(home, ByteSet(0, 4), succeeded());
  write(helper, ByteSet(4, 8), refused());
  bring(home, ByteSet(4, 8), skipped());
  write(home, ByteSet(0, 8), skipped());
  EXPECT_EQ(directory.valid(home), ByteSet(0, 8));
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 4));
  EXPECT_EQ(directory.valid(helper), ByteSet(4, 8));
}

TEST_F(JournalTest, BytesThatFailedHalfwayOnTheOnlyNodeThatHadThemAreLost) {
  directory.wrote(helper, ByteSet(4, 8));
  write(helper, ByteSet(4, 8), failed());
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.lost(ByteSet(0, 8)), ByteSet(4, 8));
  directory.wrote(home, ByteSet(4, 6));
  EXPECT_EQ(directory.lost(ByteSet(0, 8)), ByteSet(6, 8));
}

TEST_F(JournalTest, BytesThatAnotherNodeHadAsWellAreNot) {
  bring(helper, ByteSet(4, 8), succeeded());
  write(helper, ByteSet(4, 8), failed());
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_TRUE(directory.lost(ByteSet(0, 8)).empty());
  EXPECT_TRUE(directory.isValid(home, ByteSet(4, 8)));
  EXPECT_TRUE(directory.valid(helper).empty());
}

TEST_F(JournalTest, WhatTheProgramsOwnCallWroteIsThereWhateverTheDriverSays) {
  directory.wrote(helper, ByteSet(0, 8));
  journal.note(directory.state(), Effect::Overwrites, home, ByteSet(0, 4), {failed()});
  directory.wrote(home, ByteSet(0, 4));
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 4));
  journal.note(directory.state(), Effect::Overwrites, home, ByteSet(4, 8), {refused()});
  directory.wrote(home, ByteSet(4, 8));
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(helper), ByteSet(4, 8));
}

TEST_F(JournalTest, AMergeThatDidNotComeLeavesNoValidBytesWherePiecesWorked) {
  bring(hostNode, ByteSet(0, 8), succeeded()); // the old bytes
  spoil(home, ByteSet(0, 8), succeeded());
  spoil(helper, ByteSet(0, 8), refused());
  journal.note(directory.state(), Effect::Writes, hostNode, ByteSet(0, 8),
               {succeeded(), skipped()});
  directory.wrote(hostNode, ByteSet(0, 8));
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_TRUE(directory.valid(home).empty());
  EXPECT_TRUE(directory.valid(hostNode).empty()); // one slice was merged, another not
}

TEST_F(JournalTest, TransfersThatWereCountedAtOnceAreForgottenTogether) {
  directory.wrote(helper, ByteSet(4, 8));
  const Directory::State before = directory.state();
  const std::vector<Move> moves = directory.bring(hostNode, ByteSet(0, 8));
  ASSERT_EQ(moves.size(), 2U);
  auto second = std::make_shared<Completion>(cl);
  journal.note(before, Effect::Arrives, hostNode, moves[0].bytes, {succeeded()});
  journal.note(before, Effect::Arrives, hostNode, moves[1].bytes, {second});
  spoil(home, ByteSet(0, 4), succeeded()); // by the piece of a launch that is merged
  second->finish(CL_OUT_OF_RESOURCES);
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(hostNode), ByteSet(0, 4)); // the old bytes are there
  EXPECT_TRUE(directory.lost(ByteSet(0, 8)).empty());
}

TEST_F(JournalTest, ForgetsWhatIsOverAlsoWhereTheDirectorySaysTheSameEachTime) {
  for (int i = 0; i < 1000; ++i) {
    journal.note(directory.state(), Effect::Overwrites, home, ByteSet(0, 8), {succeeded()});
    directory.wrote(home, ByteSet(0, 8));
  }
  std::vector<CompletionPtr> waited;
  journal.collect(waited);
  EXPECT_LE(waited.size(), 1U);
}

TEST_F(JournalTest, WaitsForAllThatIsNotKnownToHaveSucceeded) {
  auto pending = std::make_shared<Completion>(cl);
  write(home, ByteSet(0, 1), succeeded());
  write(home, ByteSet(1, 2), pending);
  write(home, ByteSet(2, 3), succeeded());
  std::vector<CompletionPtr> waited;
  journal.collect(waited);
  EXPECT_EQ(std::count(waited.begin(), waited.end(), pending), 1);
  pending->finish(CL_SUCCESS);
  EXPECT_FALSE(journal.settle(directory));
}

TEST_F(JournalTest, PutsALaunchThatRepeatsRightByItsOwnEnds) {
  directory.wrote(helper, ByteSet(4, 8));
  const auto changes = std::make_shared<const Journal::Changes>(Journal::Changes{
      directory.state(),
      {{Effect::Writes, home, ByteSet(0, 4), 0}, {Effect::Writes, helper, ByteSet(4, 8), 1}}});
  auto launch = [&](CompletionPtr first, CompletionPtr second) {
    journal.note(changes, std::make_shared<const Journal::Ends>(
                              Journal::Ends{{std::move(first), std::move(second)}, {}}));
  };
  launch(succeeded(), succeeded());
  launch(succeeded(), failed());
  std::vector<CompletionPtr> pending;
  journal.collect(pending);
  EXPECT_EQ(pending.size(), 2) << "the first one is over, and known to be";
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 4));
  EXPECT_EQ(directory.lost(ByteSet(0, 8)), ByteSet(4, 8));
}

/// Of the counts beside it, say: the part that lost them is done again from what was there.
TEST_F(JournalTest, WhatAKernelWroteCountsOnceWhatIsMergedOfItHasArrived) {
  const auto changes = std::make_shared<const Journal::Changes>(Journal::Changes{
      directory.state(),
      {{Effect::Writes, home, ByteSet(0, 4), 0}, {Effect::Writes, helper, ByteSet(4, 8), 1}}});
  const auto ends = std::make_shared<Journal::Ends>(Journal::Ends{{succeeded(), succeeded()}, {}});
  journal.note(changes, ends);
  directory.wrote(home, ByteSet(0, 4));
  directory.wrote(helper, ByteSet(4, 8));
  const auto arrival = std::make_shared<Completion>(cl);
  ends->arrivals.emplace_back(1, arrival);
  std::vector<CompletionPtr> pending;
  journal.collect(pending);
  EXPECT_EQ(std::ranges::count(pending, arrival), 1);
  arrival->finish(CL_OUT_OF_RESOURCES);
  EXPECT_TRUE(journal.settle(directory));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 8)) << "the old bytes, and what home wrote";
  EXPECT_TRUE(directory.valid(helper).empty());
}

} // namespace
} // namespace libsplit::runtime
