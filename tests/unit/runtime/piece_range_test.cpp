#include "runtime/plan/piece_range.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace libsplit::runtime {
namespace {

constexpr GroupLimits limits{1024, {1024, 1024, 64}};

NDRange openRange(std::vector<std::uint64_t> global) {
  NDRange range;
  range.dimensions = static_cast<unsigned>(global.size());
  for (unsigned d = 0; d < range.dimensions; ++d) {
    range.global[d] = global[d];
    range.local[d] = cutUnit(d, global[d]);
  }
  return range;
}

std::uint64_t itemsOf(const EnqueuedRange& range) {
  return range.global[0] * range.global[1] * range.global[2];
}

/// The pieces of `range` for two devices, the first with `groups` of the groups in `dimension`.
std::vector<PieceRange> cut(const NDRange& range, unsigned dimension, std::uint64_t groups) {
  const std::uint64_t all = range.groups(dimension);
  return {pieceRange(range, false, slab(range, dimension, 0, groups), dimension, limits),
          pieceRange(range, false, slab(range, dimension, groups, all), dimension, limits)};
}

TEST(PieceRange, numbers_groups_as_if_the_whole_had_their_size_where_the_kernel_asks) {
  for (const auto& global : std::vector<std::vector<std::uint64_t>>{
           {1 << 20}, {100003}, {1000}, {97}, {3}, {1000, 1000}, {17, 1009}, {512, 64, 61}}) {
    NDRange range = openRange(global);
    range.offset = {3, 0, 7};
    for (unsigned dimension = 0; dimension < range.dimensions; ++dimension)
      for (std::uint64_t groups = 1; groups < range.groups(dimension); ++groups) {
        const GroupBox box = slab(range, dimension, groups, range.groups(dimension));
        const PieceRange piece = pieceRange(range, false, box, dimension, limits, true);
        std::uint64_t items = 0;
        for (const EnqueuedRange* part :
             {&piece.body, piece.rests.empty() ? nullptr : &piece.rests.front()}) {
          if (!part)
            continue;
          items += itemsOf(*part);
          ASSERT_TRUE(part->localGiven);
          const auto first = firstGroup(range, *part);
          for (unsigned d = 0; d < 3; ++d) {
            // get_group_id * get_local_size + get_local_id of the first work-item
            EXPECT_EQ(first[d] * part->local[d], part->offset[d] - range.offset[d]);
            EXPECT_EQ(part->global[d] % part->local[d], 0u);
          }
        }
        EXPECT_EQ(items, itemsOf(enqueuedRange(range, false, box)));
      }
  }
}

TEST(PieceRange, has_a_local_size_that_fits_a_box_out_of_the_middle) {
  std::mt19937 random(1);
  for (const auto& global : std::vector<std::vector<std::uint64_t>>{
           {1920, 1080}, {512, 512}, {640, 480}, {1000, 1000}, {17, 1009}, {60, 61, 64}}) {
    NDRange range = openRange(global);
    range.offset = {3, 0, 7};
    for (int i = 0; i < 200; ++i) {
      GroupBox box;
      for (unsigned d = 0; d < 3; ++d) {
        box.begin[d] = random() % range.groups(d);
        box.end[d] = box.begin[d] + 1 + random() % (range.groups(d) - box.begin[d]);
      }
      const unsigned dimension = random() % range.dimensions;
      for (const bool chosen : {false, true}) {
        const PieceRange piece = pieceRange(range, false, box, dimension, limits, chosen);
        std::uint64_t items = itemsOf(piece.body);
        for (const EnqueuedRange& rest : piece.rests)
          items += itemsOf(rest);
        EXPECT_EQ(items, itemsOf(enqueuedRange(range, false, box)));
        ASSERT_TRUE(piece.body.localGiven || !chosen);
        if (!piece.body.localGiven)
          continue;
        const auto first = firstGroup(range, piece.body);
        for (unsigned d = 0; d < 3; ++d) {
          EXPECT_EQ(piece.body.global[d] % piece.body.local[d], 0u);
          EXPECT_TRUE(!chosen ||
                      first[d] * piece.body.local[d] == piece.body.offset[d] - range.offset[d]);
        }
      }
    }
  }
}

TEST(PieceRange, gives_all_pieces_one_local_size_whatever_the_shares) {
  for (const auto& global : std::vector<std::vector<std::uint64_t>>{{1 << 20},
                                                                    {100003},
                                                                    {4096},
                                                                    {1000},
                                                                    {3},
                                                                    {1000, 1000},
                                                                    {640, 480},
                                                                    {1024, 36},
                                                                    {512, 64, 64}}) {
    const NDRange range = openRange(global);
    for (unsigned dimension = 0; dimension < range.dimensions; ++dimension) {
      std::set<std::array<std::size_t, 3>> bodies, rests;
      for (std::uint64_t groups = 1; groups < range.groups(dimension); ++groups)
        for (const PieceRange& piece : cut(range, dimension, groups)) {
          if (piece.body.localGiven)
            bodies.insert(piece.body.local);
          else
            rests.insert(piece.body.global);
          if (!piece.rests.empty())
            rests.insert(piece.rests.front().global);
        }
      EXPECT_LE(bodies.size(), 1u) << global[0] << " in dimension " << dimension;
      EXPECT_LE(rests.size(), 1u) << "what is left to the driver is not always the same";
    }
  }
}

TEST(PieceRange, covers_every_work_item_once) {
  std::mt19937_64 random(1);
  auto upTo = [&](std::uint64_t most) { return 1 + random() % most; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> global(1 + random() % 3);
    for (std::uint64_t& each : global)
      each = upTo(global.size() == 1 ? 100000 : 400);
    const NDRange range = openRange(global);
    const unsigned dimension = static_cast<unsigned>(random() % range.dimensions);
    if (range.groups(dimension) < 2)
      continue;
    std::uint64_t next = 0, items = 0;
    for (const PieceRange& piece : cut(range, dimension, upTo(range.groups(dimension) - 1))) {
      EXPECT_EQ(piece.body.offset[dimension], next);
      next += piece.body.global[dimension];
      items += itemsOf(piece.body);
      if (!piece.rests.empty()) {
        EXPECT_EQ(piece.rests.front().offset[dimension], next);
        EXPECT_FALSE(piece.rests.front().localGiven);
        next += piece.rests.front().global[dimension];
        items += itemsOf(piece.rests.front());
      }
      EXPECT_GT(itemsOf(piece.body), 0u);
    }
    EXPECT_EQ(next, range.global[dimension]);
    EXPECT_EQ(items, range.global[0] * range.global[1] * range.global[2]);
  }
}

TEST(PieceRange, gives_local_sizes_that_every_device_takes) {
  constexpr GroupLimits small{128, {128, 8, 8}};
  for (const auto& global :
       std::vector<std::vector<std::uint64_t>>{{99991}, {512, 512}, {96, 80, 72}}) {
    const NDRange range = openRange(global);
    for (unsigned dimension = 0; dimension < range.dimensions; ++dimension) {
      const PieceRange piece =
          pieceRange(range, false, slab(range, dimension, 0, 1), dimension, small);
      std::uint64_t items = 1;
      for (unsigned d = 0; d < 3; ++d) {
        EXPECT_EQ(piece.body.global[d] % piece.body.local[d], 0u);
        EXPECT_LE(piece.body.local[d], small.byDimension[d]);
        items *= piece.body.local[d];
      }
      EXPECT_LE(items, small.items);
    }
  }
}

TEST(PieceRange, leaves_the_local_size_to_the_driver_where_there_is_no_good_one) {
  const NDRange range = openRange({10007, 1 << 12}); // a prime number of columns
  const PieceRange piece = pieceRange(range, false, slab(range, 1, 0, 5), 1, limits);
  EXPECT_FALSE(piece.body.localGiven);
  EXPECT_TRUE(piece.rests.empty());
}

TEST(PieceRange, keeps_what_the_program_gave) {
  NDRange range;
  range.global = {100, 1, 1};
  range.local = {10, 1, 1};
  const PieceRange piece = pieceRange(range, true, slab(range, 0, 3, 10), 0, limits);
  EXPECT_EQ(piece.body, (EnqueuedRange{{30, 0, 0}, {70, 1, 1}, {10, 1, 1}, true}));
  EXPECT_TRUE(piece.rests.empty());
}

TEST(PieceRange, makes_many_groups_of_few_work_items) {
  for (const std::size_t items : {2, 16, 100}) {
    const NDRange range = openRange({items});
    const PieceRange piece = pieceRange(range, false, wholeBox(range), 0, limits);
    ASSERT_TRUE(piece.body.localGiven);
    EXPECT_EQ(piece.body.local[0], 1u);
    EXPECT_EQ(piece.body.global[0], items);
  }
}

TEST(PieceRange, has_groups_of_any_size_and_what_remains_as_smaller_ones) {
  NDRange range = openRange({4099, 4099});
  range.offset = {5, 0, 0};
  const PieceRange piece = shapedRange(range, wholeBox(range), {{64, 4, 1}});
  EXPECT_EQ(piece.body, (EnqueuedRange{{5, 0, 0}, {4096, 4096, 1}, {64, 4, 1}, true}));
  EXPECT_EQ(piece.rests,
            (std::vector<EnqueuedRange>{{{4101, 0, 0}, {3, 4096, 1}, {3, 4, 1}, true},
                                        {{5, 4096, 0}, {4096, 3, 1}, {64, 3, 1}, true},
                                        {{4101, 4096, 0}, {3, 3, 1}, {3, 3, 1}, true}}));
  EXPECT_EQ(toString(GroupShape{{64, 4, 1}}, 2), "64x4");
  EXPECT_EQ(toString(GroupShape{}, 2), "the driver's");
}

TEST(PieceRange, covers_every_work_item_once_by_groups_of_any_size) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> global(1 + random() % 3);
    for (std::uint64_t& each : global)
      each = 1 + random() % (global.size() == 1 ? 5000 : 40);
    const NDRange range = openRange(global);
    GroupShape shape{{1, 1, 1}};
    for (unsigned d = 0; d < range.dimensions; ++d)
      shape.local[d] = static_cast<std::uint32_t>(1 + random() % 48);
    const unsigned cut = static_cast<unsigned>(random() % range.dimensions);
    const std::uint64_t begin = random() % range.groups(cut);
    const GroupBox box =
        slab(range, cut, begin, begin + 1 + random() % (range.groups(cut) - begin));
    const PieceRange piece = shapedRange(range, box, shape);
    std::vector<EnqueuedRange> parts = piece.rests;
    parts.push_back(piece.body);
    std::map<std::array<std::uint64_t, 3>, int> met;
    for (const EnqueuedRange& part : parts) {
      EXPECT_GT(itemsOf(part), 0u);
      for (unsigned d = 0; d < 3; ++d) {
        EXPECT_EQ(part.global[d] % part.local[d], 0u);
        EXPECT_LE(part.local[d], shape.local[d]);
      }
      for (std::uint64_t x = 0; x < part.global[0]; ++x)
        for (std::uint64_t y = 0; y < part.global[1]; ++y)
          for (std::uint64_t z = 0; z < part.global[2]; ++z)
            ++met[{part.offset[0] + x, part.offset[1] + y, part.offset[2] + z}];
    }
    const EnqueuedRange all = enqueuedRange(range, false, box);
    EXPECT_EQ(met.size(), itemsOf(all));
    for (const auto& [item, times] : met) {
      EXPECT_EQ(times, 1);
      for (unsigned d = 0; d < 3; ++d)
        EXPECT_TRUE(item[d] >= all.offset[d] && item[d] < all.offset[d] + all.global[d]);
    }
  }
}

TEST(EnqueuedRange, is_what_the_program_asked_for) {
  const NDRange range = openRange({5000});
  const EnqueuedRange whole = enqueuedRange(range, false, wholeBox(range));
  EXPECT_FALSE(whole.localGiven);
  EXPECT_EQ(whole.global[0], 5000u);
}

} // namespace
} // namespace libsplit::runtime
