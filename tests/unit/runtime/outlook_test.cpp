#include "runtime/cost/outlook.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t rows = 64, width = 4096; // of a grid of bytes, a work-group for each row

Access rowsOf(unsigned parameter, Effect effect, const Expr& row, std::uint64_t count = 1) {
  Access access;
  access.parameter = parameter;
  access.effect = effect;
  access.offset = Expr::constant(static_cast<std::int64_t>(width)) * row;
  access.length = width * count;
  access.certain = effect == Effect::Write;
  return access;
}

/// Two devices alike with memories of their own, device 0 at home; 1 ms a launch there.
struct TwoDevices {
  /// in -> out: row r from rows r - 1 .. r + 1.
  KernelSummary stencil;
  /// in -> out, row by row.
  KernelSummary copy;
  /// in -> out, of which all work-groups read all.
  KernelSummary gather;
  std::array<char, 2> buffers{};
  OutlookMachine machine{.nodes = 3,
                         .home = 0,
                         .homeNode = 1,
                         .secondsPerByte = 1e-9,
                         .secondsPerHomeByte = 1e-9,
                         .secondsPerMove = 1e-5,
                         .secondsPerSplit = 1e-5};

  TwoDevices() {
    const Expr row = Expr::id(Expr::Op::GlobalId, 0);
    for (KernelSummary* kernel : {&stencil, &copy, &gather})
      kernel->parameters = {{"in", "char*", ParameterKind::GlobalBuffer, 0},
                            {"out", "char*", ParameterKind::GlobalBuffer, 0}};
    stencil.accesses = {rowsOf(0, Effect::Read, row + Expr::constant(-1), 3),
                        rowsOf(1, Effect::Write, row)};
    copy.accesses = {rowsOf(0, Effect::Read, row), rowsOf(1, Effect::Write, row)};
    gather.accesses = {rowsOf(0, Effect::Read, Expr::constant(0), rows),
                       rowsOf(1, Effect::Write, row)};
  }

  OutlookStep step(const KernelSummary& kernel, std::size_t in, std::size_t out) const {
    OutlookStep step;
    step.request.range.global[0] = rows;
    step.request.arguments.resize(2);
    step.request.arguments[0].bufferSize = step.request.arguments[1].bufferSize = rows * width;
    step.request.buffers = {{0, 0, 0}, {1, 1, 0}};
    step.request.bufferCount = 2;
    step.devices = {{1, &kernel}, {2, &kernel}};
    step.speeds = {1, 1};
    step.homeSeconds = 1e-3;
    step.buffers = {&buffers[in], &buffers[out]};
    step.sizes = {rows * width, rows * width};
    return step;
  }
  Outlook of(const std::vector<OutlookStep>& steps) const {
    return *lookAhead(steps, machine, [] { return true; });
  }
};

TEST(Outlook, PromisesHalvesAndTheHaloOfAStencilBesideACopy) {
  const TwoDevices two;
  const Outlook outlook = two.of({two.step(two.stencil, 0, 1), two.step(two.copy, 1, 0)});
  EXPECT_DOUBLE_EQ(outlook.homeSeconds, 2e-3);
  // Halves, being split twice, and a row each way.
  EXPECT_NEAR(outlook.seconds, 1e-3 + 3e-5 + 1e-9 * width, 2e-6);
  EXPECT_GT(outlook.gain(), 0.9e-3);
  for (const Outlook::Step& step : outlook.steps) {
    EXPECT_EQ(step.shares, (std::vector<double>{0.5, 0.5}));
    ASSERT_TRUE(step.plan);
    EXPECT_EQ(step.plan->pieces.size(), 2u);
  }
}

TEST(Outlook, TellsWhatBringingTheDataTakesOnce) {
  const TwoDevices two;
  const Outlook outlook = two.of({two.step(two.stencil, 0, 1), two.step(two.copy, 1, 0)});
  EXPECT_NEAR(outlook.onceSeconds, 1e-9 * rows / 2 * width, 1e-5); // half of the first input
}

/// The first input is only read: it can be sent before anything is split.
TEST(Outlook, TellsWhatGettingThereTakesWithoutWhatNobodyWrites) {
  const TwoDevices two;
  const Outlook outlook = two.of({two.step(two.gather, 0, 1)});
  EXPECT_NEAR(outlook.onceSeconds, 1e-9 * rows * width, 1e-4);
  EXPECT_NEAR(outlook.restSeconds, 0, 1e-9);
  EXPECT_EQ(outlook.steps[0].isConstant, (std::vector<bool>{true, false}));

  const Outlook swapping = two.of({two.step(two.stencil, 0, 1), two.step(two.copy, 1, 0)});
  EXPECT_DOUBLE_EQ(swapping.restSeconds, swapping.onceSeconds);
  for (const Outlook::Step& step : swapping.steps)
    EXPECT_EQ(step.isConstant, (std::vector<bool>{false, false}));
}

TEST(Outlook, TakesForWrittenWhatTheProgramWritesBetweenLaunches) {
  const TwoDevices two;
  OutlookStep step = two.step(two.gather, 0, 1);
  step.before = {{step.buffers[0], ProgramCommand::Kind::Write, ByteSet(0, 100)}};
  EXPECT_EQ(two.of({step}).steps[0].isConstant, (std::vector<bool>{false, false}));
}

TEST(Outlook, WhereNobodyWaitsTheHostIsBusyBesideTheDevices) {
  TwoDevices two;
  two.machine.secondsPerSplit = two.machine.secondsBehind = 0.3e-3;
  const auto seconds = [&](double atHome, bool isWaitedFor) {
    OutlookStep step = two.step(two.copy, 0, 1);
    step.homeSeconds = atHome;
    step.isWaitedFor = isWaitedFor;
    return two.of({step}).seconds;
  };
  EXPECT_NEAR(seconds(1e-3, true), 0.8e-3, 1e-6);
  EXPECT_NEAR(seconds(1e-3, false), 0.5e-3, 1e-6) << "while they are, it prepares the next";
  EXPECT_NEAR(seconds(0.4e-3, false), 0.3e-3, 1e-6) << "and they wait for it";
}

/// The step of an elimination: rows below `row` change by what is in it.
KernelSummary elimination(std::int64_t row) {
  KernelSummary kernel;
  kernel.parameters = {{"a", "char*", ParameterKind::GlobalBuffer, 0},
                       {"unused", "char*", ParameterKind::GlobalBuffer, 0}};
  const Expr below = Expr::id(Expr::Op::GlobalId, 0) + Expr::constant(row + 1);
  kernel.accesses = {rowsOf(0, Effect::Read, Expr::constant(row)), rowsOf(0, Effect::Read, below),
                     rowsOf(0, Effect::Write, below)};
  return kernel;
}

/// Planning launches that drift is counted by the clock: what is asked for here is far longer.
TEST(Outlook, SeesWhatLaunchesThatDriftHaveToMove) {
  TwoDevices two;
  two.machine.secondsPerMove = 20;
  const KernelSummary first = elimination(0), second = elimination(1);
  const auto step = [&](const KernelSummary& kernel) {
    OutlookStep made = two.step(kernel, 0, 1);
    made.request.range.global[0] = rows - 2;
    made.homeSeconds = 100;
    return made;
  };
  OutlookStep drifting = step(first);
  const double alike = two.of({drifting}).seconds; // the row is there for ever
  EXPECT_NEAR(alike, 50, 1e-3);
  drifting.later = std::make_shared<const OutlookStep>(step(second));
  const Outlook outlook = two.of({drifting});
  ASSERT_TRUE(outlook.steps[0].plan);
  // The next row, which one device has just written.
  EXPECT_GE(outlook.seconds, alike + two.machine.secondsPerMove);
}

TEST(Outlook, StaysAtHomeWhereNeighboursAreNotSplit) {
  const TwoDevices two;
  OutlookStep native = two.step(two.copy, 1, 0);
  native.devices.clear();
  native.writes = {false, true};
  OutlookStep shortStencil = two.step(two.stencil, 0, 1);
  shortStencil.homeSeconds = 2e-4; // and half of the grid would travel twice, for 0.26 ms
  const Outlook outlook = two.of({shortStencil, native});
  EXPECT_EQ(outlook.gain(), 0);
  EXPECT_FALSE(outlook.steps[0].plan);
  EXPECT_TRUE(outlook.steps[1].shares.empty());
}

TEST(Outlook, StaysAtHomeWhereAllIsReadAndWrittenAgain) {
  TwoDevices two;
  two.machine.secondsPerByte = 1e-8; // 1.3 ms for half of a buffer
  const Outlook outlook = two.of({two.step(two.gather, 0, 1), two.step(two.gather, 1, 0)});
  EXPECT_EQ(outlook.gain(), 0);
}

/// Of all of a buffer.
ProgramCommand command(const void* buffer, ProgramCommand::Kind kind) {
  return {buffer, kind, ByteSet(0, rows * width)};
}

TEST(Outlook, StaysAtHomeWhereTheProgramsOwnDeviceWritesAnewWhatAllRead) {
  TwoDevices two;
  two.machine.secondsPerByte = 4e-9; // 1 ms for a buffer
  OutlookStep step = two.step(two.gather, 0, 1);
  EXPECT_GT(two.of({step}).gain(), 0);
  step.before = {command(step.buffers[0], ProgramCommand::Kind::HomeWrites)};
  EXPECT_EQ(two.of({step}).gain(), 0);
}

TEST(Outlook, DoesNotChargeHomeForAnothersLink) {
  TwoDevices two;
  two.machine.secondsPerHomeByte = 1e-10;
  OutlookStep step = two.step(two.copy, 0, 1);
  step.before = {command(step.buffers[1], ProgramCommand::Kind::Read),
                 command(step.buffers[0], ProgramCommand::Kind::Write)};
  const double bytes = static_cast<double>(rows) * width;
  EXPECT_NEAR(two.of({step}).homeSeconds, 1e-3 + 2 * (1e-5 + 1e-10 * bytes), 1e-6);
  two.machine.secondsPerByte = 4e-9; // over 1 ms for a buffer
  EXPECT_EQ(two.of({step}).gain(), 0);
}

TEST(Outlook, BringsHomeWhatACommandThereReads) {
  const TwoDevices two;
  OutlookStep step = two.step(two.copy, 0, 1);
  const double without = two.of({step}).seconds;
  step.before = {command(step.buffers[1], ProgramCommand::Kind::HomeReads)};
  EXPECT_NEAR(two.of({step}).seconds, without + 1e-5 + 1e-9 * rows / 2 * width, 1e-6);
}

TEST(Outlook, TakesTheSameWritesAndReadsForGrantedAtHome) {
  const TwoDevices two;
  OutlookStep step = two.step(two.copy, 0, 1);
  step.before = {command(step.buffers[1], ProgramCommand::Kind::Read),
                 command(step.buffers[0], ProgramCommand::Kind::Write)};
  const Outlook outlook = two.of({step});
  const double whole = 1e-5 + 1e-9 * rows * width, half = 1e-5 + 1e-9 * rows / 2 * width;
  EXPECT_DOUBLE_EQ(outlook.launchSeconds, 1e-3);
  EXPECT_NEAR(outlook.homeSeconds, 1e-3 + 2 * whole, 3e-6);
  EXPECT_NEAR(outlook.seconds, 0.5e-3 + 1e-5 + 2 * half, 3e-6); // on two ways at once
}

TEST(Outlook, MakesNothingOfWhatNoLaunchUses) {
  const TwoDevices two;
  OutlookStep step = two.step(two.copy, 0, 0);
  const double without = two.of({step}).seconds;
  step.before = {command(&two.buffers[1], ProgramCommand::Kind::Read)};
  EXPECT_EQ(two.of({step}).seconds, without);
}

TEST(Outlook, SplitsWhatPaysBesideWhatDoesNot) {
  const TwoDevices two;
  OutlookStep tiny = two.step(two.copy, 1, 0);
  tiny.homeSeconds = 1e-6;
  OutlookStep apart = two.step(two.stencil, 0, 1);
  std::array<char, 2> others{};
  apart.buffers = {others.data(), &others[1]};
  const Outlook outlook = two.of({apart, tiny});
  EXPECT_TRUE(outlook.steps[0].plan);
  EXPECT_FALSE(outlook.steps[1].plan);
  EXPECT_EQ(outlook.steps[1].shares, (std::vector<double>{1, 0}));
}

TEST(Outlook, DecidesAboutLongCyclesKernelByKernel) {
  // A hundred sweeps, and after each a launch that is too short to be split, of other buffers.
  const TwoDevices two;
  std::array<char, 2> others{};
  OutlookStep tiny = two.step(two.copy, 0, 1);
  tiny.homeSeconds = 1e-6;
  tiny.buffers = {others.data(), &others[1]};
  std::vector<OutlookStep> steps;
  for (std::size_t i = 0; i < 100; ++i) {
    steps.push_back(two.step(two.stencil, i % 2, 1 - i % 2));
    steps.push_back(tiny);
  }
  const Outlook outlook = two.of(steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(outlook.steps[i].plan != nullptr, i % 2 == 0) << i;
  EXPECT_GT(outlook.gain(), 0.4 * outlook.homeSeconds);
}

TEST(Outlook, LeavesAPartOfALongCycleAtHome) {
  // Of one kernel: sixty launches that gain, then sixty that are too short.
  const TwoDevices two;
  std::array<char, 2> others{};
  std::vector<OutlookStep> steps;
  for (std::size_t i = 0; i < 120; ++i) {
    steps.push_back(two.step(two.copy, i % 2, 1 - i % 2));
    if (i >= 60) {
      steps.back().homeSeconds = 1e-6;
      steps.back().buffers = {others.data(), &others[1]};
    }
  }
  const Outlook outlook = two.of(steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(outlook.steps[i].plan != nullptr, i < 60) << i;
}

TEST(Outlook, LeavesTheCoarseLevelsOfAMultigridCycleAtHome) {
  // Down and up again, with four sweeps on each level. One has half as many rows as that above it,
  // and launches take a quarter of the time.
  TwoDevices two;
  const Expr row = Expr::id(Expr::Op::GlobalId, 0), finer = Expr::constant(2) * row;
  KernelSummary coarsen = two.copy, refine = two.copy;
  coarsen.accesses = {rowsOf(0, Effect::Read, finer, 2), rowsOf(1, Effect::Write, row)};
  refine.accesses = {rowsOf(0, Effect::Read, row), rowsOf(1, Effect::Write, finer, 2)};
  struct Grid {
    std::size_t level;
    char of[2]{};
  };
  constexpr std::size_t depth = 6;
  std::array<Grid, depth + 1> grids{{{0}, {1}, {2}, {3}, {4}, {5}, {6}}};
  std::vector<OutlookStep> steps;
  std::vector<std::size_t> levels;
  const auto launch = [&](const KernelSummary& kernel, Grid& in, Grid& out,
                          bool isSwapped = false) {
    OutlookStep step = two.step(kernel, 0, 1);
    const std::size_t level = std::max(in.level, out.level);
    step.homeSeconds = 1e-3 / static_cast<double>(1U << (2 * level));
    step.request.range.global[0] = rows >> level;
    step.buffers = {&in.of[isSwapped], &out.of[&in == &out && !isSwapped]};
    step.sizes = {(rows >> in.level) * width, (rows >> out.level) * width};
    for (const std::size_t i : {0, 1})
      step.request.arguments[i].bufferSize = step.sizes[i];
    steps.push_back(step);
    levels.push_back(level);
  };
  const auto sweep = [&](Grid& grid) {
    for (const bool isSwapped : {false, true, false, true})
      launch(two.stencil, grid, grid, isSwapped);
  };
  for (std::size_t level = 0; level < depth; ++level) {
    sweep(grids[level]);
    launch(coarsen, grids[level], grids[level + 1]);
  }
  for (std::size_t level = depth; level-- > 0;) {
    launch(refine, grids[level + 1], grids[level]);
    sweep(grids[level]);
  }
  const Outlook outlook = two.of(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (levels[i] == 0) {
      EXPECT_TRUE(outlook.steps[i].plan) << i;
    } else if (levels[i] >= 4) {
      EXPECT_FALSE(outlook.steps[i].plan) << i;
    }
  }
  EXPECT_GT(outlook.gain(), 0.4 * outlook.homeSeconds);
}

TEST(Outlook, GivesNoWorkToWhoTakesNoPart) {
  const TwoDevices two;
  OutlookStep step = two.step(two.copy, 0, 1);
  step.speeds = {1, 0};
  const Outlook outlook = two.of({step});
  EXPECT_FALSE(outlook.steps[0].plan);
  EXPECT_EQ(outlook.gain(), 0);
}

TEST(Outlook, LeavesOutADeviceThatIsNotWorthItsSplitting) {
  const TwoDevices two;
  OutlookStep step = two.step(two.copy, 0, 1);
  step.devices.push_back({hostNode, &two.copy});
  step.speeds = {1, 1, 0.03}; // a group takes it longer than half of all the others
  step.request.range.global[0] = rows;
  const Outlook outlook = two.of({step});
  ASSERT_TRUE(outlook.steps[0].plan);
  EXPECT_EQ(outlook.steps[0].shares[2], 0);
}

TEST(Outlook, IsNothingOnceItWasEnded) {
  const TwoDevices two;
  EXPECT_FALSE(lookAhead(std::vector{two.step(two.copy, 0, 1)}, two.machine, [] { return false; }));
}

TEST(Outlook, AgreesOnTheDimensionThatSuitsAll) {
  // Each kernel goes through a square of blocks; the second is cut by columns only.
  TwoDevices two;
  KernelSummary blocks = two.copy;
  const Expr block =
      Expr::id(Expr::Op::GlobalId, 1) * Expr::constant(8) + Expr::id(Expr::Op::GlobalId, 0);
  blocks.accesses = {rowsOf(0, Effect::Read, block), rowsOf(1, Effect::Write, block)};
  OutlookStep first = two.step(blocks, 0, 1), second = two.step(blocks, 1, 0);
  for (OutlookStep* step : {&first, &second}) {
    step->request.range.dimensions = 2;
    step->request.range.global = {8, 8, 1};
  }
  EXPECT_EQ(two.of({first, second}).steps[0].dimension, 1u);
  second.dimension = 0;
  const Outlook outlook = two.of({first, second});
  EXPECT_EQ(outlook.steps[0].dimension, 0u);
  EXPECT_GT(outlook.gain(), 0.9e-3);
}

} // namespace
} // namespace libsplit::runtime
