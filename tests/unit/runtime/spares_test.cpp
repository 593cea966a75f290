#include "runtime/core/spares.h"

#include <gtest/gtest.h>

#include <optional>

namespace libsplit::runtime {
namespace {

struct Note : std::enable_shared_from_this<Note> {
  int number = 7;
  std::vector<std::shared_ptr<int>> list;
  auto lists() { return std::tie(list); }
};

TEST(Spares, MakeNewOnesWhoseListsHaveMemory) {
  Spares<Note> notes;
  std::shared_ptr<Note> first = notes.take();
  const Note* const place = first.get();
  first->number = 8;
  first->list.resize(100);
  first = nullptr;
  const std::shared_ptr<Note> second = notes.take();
  EXPECT_EQ(second.get(), place);
  EXPECT_EQ(second->number, 7);
  EXPECT_TRUE(second->list.empty());
  EXPECT_GE(second->list.capacity(), 100U);
}

TEST(Spares, HoldNothingThatWasPutInThem) {
  Spares<Note> notes;
  const auto held = std::make_shared<int>(1);
  std::shared_ptr<Note> note = notes.take();
  note->list.push_back(held);
  EXPECT_EQ(held.use_count(), 2);
  note = nullptr;
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Spares, AreNotTakenForThoseBeforeThem) {
  Spares<Note> notes;
  std::shared_ptr<Note> first = notes.take();
  const std::weak_ptr<Note> known = first;
  first = nullptr;
  const std::shared_ptr<Note> second = notes.take();
  EXPECT_TRUE(known.expired());
  EXPECT_EQ(second->shared_from_this(), second);
}

TEST(Spares, AreGivenOutOnce) {
  Spares<Note> notes;
  const auto first = notes.take(), second = notes.take();
  EXPECT_NE(first, second);
}

TEST(Spares, MayHaveNoLists) {
  struct Pair {
    Pair(int from, int to) : first(from), second(to) {}
    int first, second;
  };
  Spares<Pair> pairs;
  EXPECT_EQ(pairs.take(1, 2)->second, 2);
  EXPECT_EQ(pairs.take(3, 4)->first, 3);
}

TEST(Spares, KeepPlacesWhoseObjectsAreAskedForStill) {
  Spares<Note> notes;
  std::shared_ptr<Note> first = notes.take();
  const Note* const place = first.get();
  std::weak_ptr<Note> known = first;
  first = nullptr;
  EXPECT_NE(notes.take().get(), place);
  known.reset();
  EXPECT_EQ(notes.take().get(), place);
}

TEST(Spares, KeepNoMoreThanTheyAreTold) {
  Spares<Note> notes(1);
  std::shared_ptr<Note> first = notes.take(), second = notes.take();
  first->list.resize(10);
  second->list.resize(10);
  first = second = nullptr;
  const auto kept = notes.take(), made = notes.take();
  EXPECT_GE(kept->list.capacity(), 10U);
  EXPECT_EQ(made->list.capacity(), 0U);
}

TEST(Spares, MayOutliveWhereTheyCameFrom) {
  std::optional<Spares<Note>> notes(std::in_place);
  const std::shared_ptr<Note> note = notes->take();
  notes.reset();
  note->list.resize(1);
}

} // namespace
} // namespace libsplit::runtime
