#include "runtime/device/accesses.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace libsplit::runtime {
namespace {

const Dispatch cl{};

CompletionPtr work() {
  return std::make_shared<Completion>(cl);
}

std::vector<CompletionPtr> before(const Accesses& accesses, NodeId node, const ByteSet& reads,
                                  const ByteSet& writes) {
  std::vector<CompletionPtr> after;
  accesses.collect(node, reads, writes, after);
  return after;
}

using Works = std::vector<CompletionPtr>;

// The essay's grids: a halo may arrive where the other grid is computed, and not where it is read.
TEST(Accesses, letAHaloArriveWhileTheInteriorIsComputed) {
  Accesses from, to;
  const CompletionPtr computing = work();
  from.add({1, ByteSet(0, 60), {}, computing});
  to.add({1, {}, ByteSet(0, 50), computing});
  EXPECT_EQ(before(to, 1, {}, ByteSet(50, 60)), Works{});
  EXPECT_EQ(before(from, 1, {}, ByteSet(50, 60)), Works{computing});
  EXPECT_EQ(before(to, 1, ByteSet(40, 50), {}), Works{computing}) << "its results are wanted";
  EXPECT_EQ(before(from, 1, ByteSet(0, 60), {}), Works{}) << "two readers";
}

TEST(Accesses, letOtherNodesWriteOnlyWhatNobodyMayHaveToReadAgain) {
  Accesses accesses;
  const CompletionPtr piece = work(), copy = work();
  accesses.add({1, ByteSet(0, 60), ByteSet(60, 80), piece});
  accesses.add({1, ByteSet(0, 100), {}, copy, false});
  EXPECT_EQ(before(accesses, 2, ByteSet(0, 100), {}), Works{});
  EXPECT_EQ(before(accesses, 2, {}, ByteSet(50, 70)), Works{piece});
  EXPECT_EQ(before(accesses, 2, {}, ByteSet(80, 100)), Works{});
}

// Bytes as they are elsewhere disturb nobody there.
TEST(Accesses, letBytesArriveThatAreReadElsewhere) {
  Accesses accesses;
  const CompletionPtr reading = work(), there = work();
  accesses.add({1, ByteSet(0, 60), {}, reading});
  accesses.add({2, ByteSet(0, 10), {}, there});
  Works after;
  accesses.collectForArrival(2, ByteSet(20, 40), after);
  EXPECT_EQ(after, Works{});
  accesses.collectForArrival(2, ByteSet(0, 40), after);
  EXPECT_EQ(after, Works{there});
  EXPECT_EQ(before(accesses, 2, {}, ByteSet(20, 40)), Works{reading}) << "who changes them waits";
}

TEST(Accesses, areForgottenOnceTheySucceeded) {
  Accesses accesses;
  const CompletionPtr first = work(), failing = work();
  accesses.add({1, {}, ByteSet(0, 10), first});
  accesses.add({1, {}, ByteSet(10, 20), failing});
  EXPECT_FALSE(accesses.isIdle(1, ByteSet(0, 5), false));
  EXPECT_TRUE(accesses.isIdle(2, ByteSet(0, 5), true));
  first->finish(CL_SUCCESS);
  failing->finish(CL_OUT_OF_RESOURCES);
  EXPECT_TRUE(accesses.isIdle(1, ByteSet(0, 5), true));
  EXPECT_FALSE(accesses.isIdle(1, ByteSet(10, 12), false)) << "others must learn of it";
  accesses.add({1, ByteSet(0, 10), {}, work()});
  EXPECT_EQ(before(accesses, 1, ByteSet(0, 20), {}), Works{failing});
  EXPECT_TRUE(accesses.isIdle(1, ByteSet(0, 10), false));
  EXPECT_FALSE(accesses.isIdle(1, ByteSet(0, 10), true)) << "somebody reads there";
  accesses.forget();
  EXPECT_EQ(before(accesses, 1, {}, ByteSet(0, 20)), Works{});
}

TEST(Accesses, standForEarlierOnesThatOnlyUseWhatTheyWrite) {
  Accesses accesses;
  const CompletionPtr old = work(), reader = work(), elsewhere = work(), first = work(),
                      second = work();
  accesses.add({1, ByteSet(0, 40), ByteSet(0, 40), old});
  accesses.add({1, ByteSet(30, 60), {}, reader});
  accesses.add({2, ByteSet(0, 40), {}, elsewhere});
  const CompletionPtr idle = work(); // has the copy as an argument, and is waited for by nobody
  accesses.add({1, {}, {}, idle});
  std::size_t earlier = accesses.count();
  // Both parts of a launch come behind what there was, and not behind each other.
  accesses.addBehind({1, {}, ByteSet(0, 40), first}, earlier);
  EXPECT_EQ(earlier, 3) << "the first one is done with";
  accesses.addBehind({1, ByteSet(10, 20), ByteSet(0, 50), second}, earlier);
  EXPECT_EQ(before(accesses, 1, ByteSet(0, 5), {}), (Works{first, second}));
  EXPECT_EQ(before(accesses, 1, {}, ByteSet(50, 60)), Works{reader}) << "it uses more";
  EXPECT_EQ(before(accesses, 2, {}, ByteSet(0, 5)), (Works{elsewhere, first, second}));
  std::vector<CompletionPtr> all;
  accesses.collectAll(1, all);
  EXPECT_EQ(all, (Works{reader, idle, first, second}));
}

} // namespace
} // namespace libsplit::runtime
