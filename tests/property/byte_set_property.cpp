#include "analysis-pass/summary/byte_set.h"
#include "tests/property/seeds.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace libsplit {
namespace {

using Model = std::set<std::uint64_t>;

Model bytes(const ByteSet& set) {
  Model model;
  for (const ByteRange& r : set.ranges())
    for (std::uint64_t b = r.begin; b < r.end; ++b)
      model.insert(b);
  return model;
}

std::pair<ByteSet, Model> randomSet(std::mt19937& random) {
  std::pair<ByteSet, Model> result;
  for (auto n = pick(random, 0, 8); n > 0; --n) {
    const auto begin = static_cast<std::uint64_t>(pick(random, 0, 60));
    const auto end = begin + static_cast<std::uint64_t>(pick(random, 0, 12));
    result.first.add({begin, end});
    for (std::uint64_t b = begin; b < end; ++b)
      result.second.insert(b);
  }
  return result;
}

void expectCanonical(const ByteSet& set) {
  for (std::size_t i = 0; i < set.ranges().size(); ++i) {
    EXPECT_LT(set.ranges()[i].begin, set.ranges()[i].end);
    if (i > 0) {
      EXPECT_LT(set.ranges()[i - 1].end, set.ranges()[i].begin) << toString(set);
    }
  }
}

TEST(ByteSetProperty, everyOperationAgreesWithASetOfBytes) {
  forEachSeed(3000, [](std::mt19937& random) {
    const auto [a, modelA] = randomSet(random);
    const auto [b, modelB] = randomSet(random);
    Model both, common, rest;
    std::set_union(modelA.begin(), modelA.end(), modelB.begin(), modelB.end(),
                   std::inserter(both, both.end()));
    std::set_intersection(modelA.begin(), modelA.end(), modelB.begin(), modelB.end(),
                          std::inserter(common, common.end()));
    std::set_difference(modelA.begin(), modelA.end(), modelB.begin(), modelB.end(),
                        std::inserter(rest, rest.end()));
    EXPECT_EQ(bytes(a), modelA);
    EXPECT_EQ(bytes(unite(a, b)), both);
    EXPECT_EQ(bytes(intersect(a, b)), common);
    EXPECT_EQ(bytes(subtract(a, b)), rest);
    EXPECT_EQ(a.size(), modelA.size());
    EXPECT_EQ(a.intersects(b), !common.empty());
    EXPECT_EQ(a.contains(b), common == modelB);
    EXPECT_EQ(a == b, modelA == modelB);
    for (const ByteSet& set : {a, unite(a, b), intersect(a, b), subtract(a, b), shift(a, 5)})
      expectCanonical(set);
  });
}

TEST(ByteSetProperty, unitingInPlaceAgreesAndLeavesCopiesAlone) {
  forEachSeed(3000, [](std::mt19937& random) {
    const auto a = randomSet(random).first;
    const auto up = static_cast<std::uint64_t>(pick(random, 0, 80)); // 73: all of it comes behind
    const auto b = shift(randomSet(random).first, up);
    ByteSet own = shift(a, 0);
    own.uniteWith(b);
    EXPECT_EQ(own, unite(a, b));
    expectCanonical(own);
    ByteSet shared = own;
    shared.uniteWith(shift(b, 80));
    EXPECT_EQ(shared, unite(own, shift(b, 80)));
    EXPECT_EQ(own, unite(a, b));
  });
}

TEST(ByteSetProperty, changesLeaveCopiesAndOneRangeIsHeldInPlace) {
  forEachSeed(1000, [](std::mt19937& random) {
    ByteSet set;
    for (int step = 0; step < 12; ++step) {
      const ByteSet copy = set;
      const Model before = bytes(set);
      const auto [other, added] = randomSet(random);
      Model after = before;
      if (pick(random, 0, 1) == 0) {
        set.uniteWith(other);
        after.insert(added.begin(), added.end());
      } else {
        set = subtract(set, other);
        std::erase_if(after, [&](std::uint64_t each) { return added.contains(each); });
      }
      ByteSet again; // by another way
      for (auto each = after.rbegin(); each != after.rend(); ++each)
        again.add({*each, *each + 1});
      EXPECT_EQ(bytes(set), after);
      EXPECT_EQ(set, again);
      EXPECT_EQ(set.isSame(again), set.ranges().size() <= 1);
      EXPECT_EQ(bytes(copy), before);
      expectCanonical(set);
    }
  });
}

} // namespace
} // namespace libsplit
