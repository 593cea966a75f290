#include "runtime/plan/merge_plan.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using Operation = UpdateKind::Operation;

const UpdateKind add{Operation::Add, 4, false};
const UpdateKind most{Operation::Max, 4, true};

PieceEffects piece(NodeId node, BufferEffects effects) {
  return {node, {std::move(effects)}};
}

BufferEffects updates(UpdateKind kind, ByteSet bytes) {
  BufferEffects effects;
  effects.updates = {{kind, std::move(bytes), {"", 12}}};
  return effects;
}

BufferEffects writes(ByteSet bytes) {
  BufferEffects effects;
  effects.possibleWrites = std::move(bytes);
  return effects;
}

BufferEffects reads(ByteSet bytes) {
  BufferEffects effects;
  effects.reads = std::move(bytes);
  return effects;
}

BufferTraits buffer(std::uint32_t grain = 4, std::uint64_t end = 64) {
  return {"bins", grain, end, 0};
}

std::vector<Merge> merges(std::vector<PieceEffects> pieces, BufferTraits traits = buffer()) {
  auto result = planMerges(pieces, std::span(&traits, 1));
  if (auto* reason = std::get_if<Reason>(&result))
    ADD_FAILURE() << reason->text;
  auto* found = std::get_if<std::vector<Merge>>(&result);
  return found ? *found : std::vector<Merge>();
}

Reason refusal(std::vector<PieceEffects> pieces, BufferTraits traits = buffer()) {
  auto result = planMerges(pieces, std::span(&traits, 1));
  auto* reason = std::get_if<Reason>(&result);
  return reason ? *reason : Reason{"merged", {}};
}

TEST(MergePlan, UpdatesOfSeveralNodesAreCombined) {
  auto found = merges({piece(1, updates(add, {0, 32})), piece(2, updates(add, {16, 64}))});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].update, add);
  EXPECT_EQ(found[0].bytes, ByteSet(16, 32));
  EXPECT_EQ(found[0].parts, (std::vector<Merge::Part>{{1, ByteSet(16, 32)}, {2, ByteSet(16, 32)}}));
}

TEST(MergePlan, WhatOneNodeChangesAloneIsNotMerged) {
  EXPECT_TRUE(merges({piece(1, writes({0, 32})), piece(1, writes({16, 40})),
                      piece(2, updates(add, {40, 64}))})
                  .empty());
}

TEST(MergePlan, UpdatedBytesMayNotBeReadElsewhere) {
  Reason reason = refusal({piece(1, updates(add, {0, 32})), piece(2, reads({28, 40}))});
  EXPECT_EQ(reason.text, "atomic operation on `bins`, whose bytes are read as well");
  EXPECT_EQ(reason.where.line, 12u);
}

TEST(MergePlan, MergedUpdatesMayNotBeReadByTheirOwnNodeEither) {
  BufferEffects both = updates(add, {0, 32});
  both.reads = ByteSet(0, 4);
  EXPECT_NE(refusal({piece(1, both), piece(2, updates(add, {0, 32}))}).text, "merged");
}

TEST(MergePlan, BytesThatOneNodeAloneUpdatesItMayReadToo) {
  BufferEffects both = updates(add, {0, 32});
  both.reads = ByteSet(0, 4);
  EXPECT_TRUE(merges({piece(1, both), piece(2, updates(add, {32, 64}))}).empty());
}

TEST(MergePlan, OperationsDoNotMix) {
  EXPECT_EQ(refusal({piece(1, updates(add, {0, 32})), piece(2, updates(most, {0, 32}))}).text,
            "atomic operation on `bins`, whose bytes are updated otherwise as well");
  EXPECT_EQ(refusal({piece(1, updates(add, {0, 32})), piece(2, writes({0, 4}))}).text,
            "atomic operation on `bins`, whose bytes are written as well");
}

TEST(MergePlan, UpdatesOfDifferentBytesMayDiffer) {
  BufferEffects both = updates(add, {0, 4});
  both.updates.push_back({most, ByteSet(4, 8), {}});
  EXPECT_EQ(merges({piece(1, both), piece(2, both)}).size(), 2u);
}

TEST(MergePlan, ElementsThatDoNotFitTheWidthAreRefused) {
  EXPECT_NE(refusal({piece(1, updates(add, {2, 6})), piece(2, updates(add, {2, 6}))}).text,
            "merged");
  BufferTraits shifted = buffer();
  shifted.origins = 2;
  EXPECT_NE(refusal({piece(1, updates(add, {4, 8})), piece(2, updates(add, {4, 8}))}, shifted).text,
            "merged");
}

TEST(MergePlan, ThePieceOfAnElementAtTheEndIsNone) {
  auto found =
      merges({piece(1, updates(add, {0, 63})), piece(2, updates(add, {0, 63}))}, buffer(4, 63));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, ByteSet(0, 60));
}

TEST(MergePlan, NoBoundCutsAnElementOfADifferenceMerge) {
  auto grain = [](ByteSet a, ByteSet b, BufferTraits traits) {
    return merges({piece(1, writes(std::move(a))), piece(2, writes(std::move(b)))}, traits)
        .at(0)
        .grain;
  };
  EXPECT_EQ(grain({0, 64}, {0, 64}, buffer(8)), 8u);
  EXPECT_EQ(grain({0, 64}, {4, 64}, buffer(8)), 4u);
  EXPECT_EQ(grain({0, 63}, {0, 63}, buffer(8, 63)), 8u); // the end cuts what nobody can write
  EXPECT_EQ(grain({0, 63}, {0, 63}, buffer(8)), 1u);
}

TEST(MergePlan, ThreeNodesShareInPairs) {
  auto found =
      merges({piece(0, writes({0, 16})), piece(1, writes({8, 32})), piece(2, writes({24, 40}))});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, unite(ByteSet(8, 16), ByteSet(24, 32)));
  ASSERT_EQ(found[0].parts.size(), 3u);
  EXPECT_EQ(found[0].parts[0].bytes, ByteSet(8, 16));
  EXPECT_EQ(found[0].parts[2].bytes, ByteSet(24, 32));
}

} // namespace
} // namespace libsplit::runtime
