#include "runtime/session/copy_room.h"

#include "runtime/session/launch.h"
#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t page = 4096;

/// A launch on one buffer of five pages, and a helper that has room for three.
struct RoomWorld : World {
  CopyRoom room{shared, mover, nothingIsBuilt};
  KernelSummary summary;
  Launch launch;
  std::shared_ptr<Buffer> data = buffer(someBytes(5 * page));

  RoomWorld() {
    summary.parameters = {{"a", "float*", ParameterKind::GlobalBuffer, 0}};
    launch.code = std::make_shared<KernelCode>();
    launch.code->summaries = {&summary, &summary};
    launch.request.buffers = {{0, 0, 0}};
    launch.buffers = {data};
    data->drop(*shared.machine, 1);
    shared.machine->devices()[1].memory = 3 * page;
  }
  /// For a piece that reads these bytes. Why not, if there is no room.
  std::string reserve(const ByteRange& touched) {
    std::vector<PieceUse> uses(1);
    uses[0].needs = ByteSet(touched);
    const auto task = std::make_shared<Task>();
    for (;;) {
      Provisions pending;
      std::string why = room.reserve(*task, launch, 1, uses, pending);
      if (!why.empty() || pending.empty())
        return why;
      for (const auto& each : pending)
        if (each->claim())
          each->make();
    }
  }
  ByteRange held() const { return data->holds(*shared.machine, 1); }
};

TEST(CopyRoom, IsForWhatIsTouchedWhereTheWholeDoesNotFit) {
  RoomWorld world;
  EXPECT_EQ(world.reserve({0, page}), "");
  EXPECT_EQ(world.held(), (ByteRange{0, 2 * page}));
  EXPECT_EQ(*world.shared.machine->devices()[1].copied, 2 * page);
  EXPECT_EQ(world.launch.lacksRoom, std::nullopt);
}

TEST(CopyRoom, IsForTheWholeWhereThatFits) {
  RoomWorld world;
  world.shared.machine->devices()[1].memory = 5 * page;
  EXPECT_EQ(world.reserve({0, page}), "");
  EXPECT_EQ(world.held(), (ByteRange{0, 5 * page}));
}

TEST(CopyRoom, IsMadeAnewOnceItsBytesAreHome) {
  RoomWorld world;
  ASSERT_EQ(world.reserve({0, page}), "");
  const Bytes changed = someBytes(page, 1);
  world.write(*world.data, 1, 0, changed);
  world.data->wrote(world.nodeOf(1), ByteSet(0, page));
  EXPECT_EQ(world.reserve({0, 3 * page}), "");
  EXPECT_EQ(world.held(), (ByteRange{0, 3 * page}));
  EXPECT_TRUE(world.data->directory().valid(world.nodeOf(1)).empty());
  EXPECT_TRUE(world.data->directory().isValid(world.nodeOf(0), ByteSet(0, 5 * page)));
  Bytes home = world.read(*world.data, 0);
  home.resize(page);
  EXPECT_EQ(home, changed);
}

TEST(CopyRoom, StaysWhileAKernelHasItAsAnArgument) {
  RoomWorld world;
  ASSERT_EQ(world.reserve({0, page}), "");
  const auto kernel = std::make_shared<Completion>(world.shared.cl);
  world.data->accesses().add({world.nodeOf(1), {}, {}, kernel}); // which uses none of its bytes
  std::vector<PieceUse> uses(1);
  uses[0].needs = ByteSet(0, 3 * page);
  Provisions pending;
  const auto task = std::make_shared<Task>();
  EXPECT_EQ(world.room.reserve(*task, world.launch, 1, uses, pending), "");
  EXPECT_FALSE(pending.empty());
  EXPECT_EQ(world.held(), (ByteRange{0, 2 * page}));
  kernel->finish(CL_SUCCESS);
  EXPECT_EQ(world.reserve({0, 3 * page}), "");
  EXPECT_EQ(world.held(), (ByteRange{0, 3 * page}));
}

TEST(CopyRoom, IsNotForAKernelThatTakesNoWindows) {
  RoomWorld world;
  EXPECT_NE(world.reserve({3 * page, 4 * page}), "");
  EXPECT_TRUE(world.held().empty());
}

TEST(CopyRoom, IsNoneForWhatIsTouchedEverywhere) {
  RoomWorld world;
  EXPECT_NE(world.reserve({0, 4 * page}), "");
  EXPECT_EQ(world.launch.lacksRoom, std::optional<std::size_t>(1));
  EXPECT_TRUE(world.held().empty());
}

} // namespace
} // namespace libsplit::runtime
