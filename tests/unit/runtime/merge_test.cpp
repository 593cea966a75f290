#include "runtime/plan/merge.h"
#include "tests/property/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace libsplit::runtime {
namespace {

using Bytes = std::vector<std::byte>;
using Operation = UpdateKind::Operation;

Bytes bytes(std::initializer_list<int> values) {
  Bytes made;
  for (int value : values)
    made.push_back(static_cast<std::byte>(value));
  return made;
}

template <class T> Bytes elements(std::initializer_list<T> values) {
  Bytes made(values.size() * sizeof(T));
  std::memcpy(made.data(), std::data(values), made.size());
  return made;
}

TEST(MergeByDifference, TakesFromEachWhatItChanged) {
  const Bytes old = bytes({7, 7, 7, 7}), one = bytes({7, 5, 7, 9}), two = bytes({7, 7, 3, 4});
  const ByteSet all(0, 4);
  Bytes merged = old;
  const MergeCopy copies[] = {{one.data(), &all}, {two.data(), &all}};
  mergeDifferences({0, 4}, 1, copies, merged.data(), merged.data());
  EXPECT_EQ(merged, bytes({7, 5, 3, 4}));
}

TEST(MergeByDifference, NeverMixesTheBytesOfTwoValues) {
  const Bytes old = bytes({0, 0, 0, 0}), one = bytes({1, 1, 1, 1}), two = bytes({2, 0, 0, 2});
  const ByteSet all(0, 4);
  Bytes merged = old;
  const MergeCopy copies[] = {{one.data(), &all}, {two.data(), &all}};
  mergeDifferences({0, 4}, 4, copies, old.data(), merged.data());
  EXPECT_EQ(merged, two);
}

TEST(MergeByDifference, KeepsWhatTheHostItselfChanged) {
  const Bytes old = bytes({0, 0, 0}), other = bytes({0, 0, 8});
  const ByteSet all(0, 3);
  Bytes host = bytes({9, 0, 0});
  const MergeCopy copies[] = {{other.data(), &all}};
  mergeDifferences({0, 3}, 1, copies, old.data(), host.data());
  EXPECT_EQ(host, bytes({9, 0, 8}));
}

TEST(MergeByDifference, LooksAtNoByteOutsideOfASet) {
  const Bytes old = bytes({0, 0, 0, 0}), garbage = bytes({5, 6, 7, 8});
  const ByteSet middle(1, 3);
  Bytes merged = old;
  const MergeCopy copies[] = {{garbage.data(), &middle}};
  mergeDifferences({0, 4}, 1, copies, merged.data(), merged.data());
  EXPECT_EQ(merged, bytes({0, 6, 7, 0}));
}

/// What the essay promises, element by element.
Bytes mergedByHand(const Bytes& old, std::uint32_t grain, const std::vector<Bytes>& data,
                   const std::vector<ByteSet>& sets, Bytes into) {
  for (std::uint64_t element = 0; element < old.size(); element += grain)
    for (std::size_t c = 0; c < data.size(); ++c) {
      const std::uint64_t end = std::min<std::uint64_t>(element + grain, old.size());
      if (!sets[c].contains(ByteSet(element, end)))
        continue;
      if (!std::equal(data[c].begin() + static_cast<long>(element),
                      data[c].begin() + static_cast<long>(end),
                      old.begin() + static_cast<long>(element)))
        std::copy(data[c].begin() + static_cast<long>(element),
                  data[c].begin() + static_cast<long>(end),
                  into.begin() + static_cast<long>(element));
    }
  return into;
}

TEST(MergeByDifference, AgreesWithBruteForce) {
  forEachSeed(400, [](std::mt19937& random) {
    const auto grain = std::uint32_t{1} << pick(random, 0, 4);
    const auto count = static_cast<std::uint64_t>(pick(random, 1, chance(random, 20) ? 2000 : 60));
    Bytes old(count * grain);
    for (std::byte& byte : old)
      byte = static_cast<std::byte>(pick(random, 0, 255));
    std::vector<Bytes> data;
    std::vector<ByteSet> sets;
    const int percent = static_cast<int>(pick(random, 0, 30));
    for (auto copies = pick(random, 1, 4); copies > 0; --copies) {
      data.push_back(old);
      for (std::byte& byte : data.back())
        if (chance(random, percent))
          byte = static_cast<std::byte>(pick(random, 0, 255));
      ByteSet set;
      for (auto ranges = pick(random, 1, 5); ranges > 0; --ranges) {
        auto begin = static_cast<std::uint64_t>(pick(random, 0, static_cast<std::int64_t>(count)));
        auto end = static_cast<std::uint64_t>(
            pick(random, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(count)));
        set.add({begin * grain, end * grain});
      }
      sets.push_back(set);
    }
    std::vector<MergeCopy> copies;
    for (std::size_t c = 0; c < data.size(); ++c)
      copies.push_back({data[c].data(), &sets[c]});

    const bool inPlace = chance(random, 50);
    Bytes into = old;
    if (!inPlace)
      for (std::byte& byte : into)
        if (chance(random, 10))
          byte = static_cast<std::byte>(pick(random, 0, 255));
    const Bytes expected = mergedByHand(old, grain, data, sets, into);
    // In slices, as several threads do it.
    const std::uint64_t cut = static_cast<std::uint64_t>(pick(random, 0, count)) * grain;
    for (ByteRange slice : {ByteRange{0, cut}, ByteRange{cut, old.size()}})
      mergeDifferences(slice, grain, copies, inPlace ? into.data() : old.data(), into.data());
    EXPECT_EQ(into, expected);
  });
}

template <class T>
Bytes updated(UpdateKind kind, std::initializer_list<T> host, const Bytes& more) {
  Bytes into = elements(host);
  const ByteSet all(0, into.size());
  mergeUpdates({0, into.size()}, kind, {more.data(), &all}, into.data());
  return into;
}

TEST(MergeByOperation, CombinesAtTheWidthAndSignOfTheAtomics) {
  EXPECT_EQ(
      updated<std::uint32_t>({Operation::Add, 4, false}, {~0u, 3}, elements<std::uint32_t>({2, 4})),
      elements<std::uint32_t>({1, 7}));
  EXPECT_EQ(
      updated<std::int64_t>({Operation::Min, 8, true}, {-1, 5}, elements<std::int64_t>({3, -9})),
      elements<std::int64_t>({-1, -9}));
  EXPECT_EQ(updated<std::uint64_t>({Operation::Min, 8, false}, {~0ull, 5},
                                   elements<std::uint64_t>({3, 9})),
            elements<std::uint64_t>({3, 5}));
  EXPECT_EQ(updated<std::uint32_t>({Operation::Xor, 4, false}, {6}, elements<std::uint32_t>({3})),
            elements<std::uint32_t>({5}));
  EXPECT_EQ(updated<float>({Operation::FloatAdd, 4, false}, {1.5f}, elements<float>({2.25f})),
            elements<float>({3.75f}));
}

/// One update, as the device would do it.
template <class T> void update(T& element, const UpdateKind& kind, T value) {
  switch (kind.operation) {
  case Operation::And:
    element &= value;
    break;
  case Operation::Or:
    element |= value;
    break;
  case Operation::Xor:
    element ^= value;
    break;
  case Operation::Min:
    element = std::min(element, value);
    break;
  case Operation::Max:
    element = std::max(element, value);
    break;
  default:
    element = static_cast<T>(static_cast<std::make_unsigned_t<T>>(element) +
                             static_cast<std::make_unsigned_t<T>>(value));
  }
}

template <class T> void updatesDealtOutToNodesGiveTheSame(std::mt19937& random) {
  UpdateKind kind{static_cast<Operation>(pick(random, 0, 5)), sizeof(T), std::is_signed_v<T>};
  constexpr std::size_t count = 16;
  std::vector<T> alone(count);
  for (T& element : alone)
    element = static_cast<T>(random() * 0x9e3779b97f4a7c15u);
  std::vector<std::vector<T>> nodes(static_cast<std::size_t>(pick(random, 1, 4)));
  nodes[0] = alone; // the host goes on from the old values
  const std::uint64_t neutral = neutralElement(kind);
  for (std::size_t n = 1; n < nodes.size(); ++n) {
    nodes[n].resize(count);
    for (T& element : nodes[n])
      std::memcpy(&element, &neutral, sizeof(T));
  }
  for (auto updates = pick(random, 0, 200); updates > 0; --updates) {
    const auto at = static_cast<std::size_t>(pick(random, 0, count - 1));
    const auto node =
        static_cast<std::size_t>(pick(random, 0, static_cast<long>(nodes.size()) - 1));
    const auto value = static_cast<T>(random() * 0x9e3779b97f4a7c15u);
    update(alone[at], kind, value);
    update(nodes[node][at], kind, value);
  }
  const ByteSet all(0, count * sizeof(T));
  for (std::size_t n = 1; n < nodes.size(); ++n)
    mergeUpdates({0, count * sizeof(T)}, kind,
                 {reinterpret_cast<const std::byte*>(nodes[n].data()), &all},
                 reinterpret_cast<std::byte*>(nodes[0].data()));
  EXPECT_EQ(nodes[0], alone) << nameOf(kind.operation);
}

TEST(MergeByOperation, GivesWhatOneMemoryWouldHold) {
  forEachSeed(300, [](std::mt19937& random) {
    updatesDealtOutToNodesGiveTheSame<std::int32_t>(random);
    updatesDealtOutToNodesGiveTheSame<std::uint32_t>(random);
    updatesDealtOutToNodesGiveTheSame<std::int64_t>(random);
    updatesDealtOutToNodesGiveTheSame<std::uint64_t>(random);
  });
}

TEST(MergeByOperation, NeutralElementsKeepEveryFloat) {
  const UpdateKind kind{Operation::FloatAdd, 4, false};
  const std::uint64_t neutral = neutralElement(kind);
  Bytes more(4);
  std::memcpy(more.data(), &neutral, 4);
  for (float value : {0.0f, -0.0f, 1.0f, -std::numeric_limits<float>::infinity(), 1e-45f})
    EXPECT_EQ(updated<float>(kind, {value}, more), elements<float>({value}));
  // What lies beside the floats is covered, too, and may be anything: here a signalling NaN.
  EXPECT_EQ(updated<std::int32_t>(kind, {-5000000}, more), elements<std::int32_t>({-5000000}));
}

} // namespace
} // namespace libsplit::runtime
