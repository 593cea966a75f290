// Regions that depend on what buffers hold, against brute force: sparse rows, permutations, block
// lists, and arbitrary expressions over loaded elements.
#include "tests/property/brute_force.h"
#include "tests/property/buffer_contents.h"
#include "tests/property/seeds.h"

#include <numeric>

namespace libsplit {
namespace {

using Op = Expr::Op;

Expr c(std::int64_t value) {
  return Expr::constant(value);
}
Expr minus(const Expr& a, const Expr& b) {
  return a + c(-1) * b;
}
Expr intAt(unsigned parameter, const Expr& element) {
  return Expr::load(parameter, Expr::wrap(c(4) * element, 64, true), 32, true);
}

/// Buffers 0 and 1 are touched, the others are loaded from.
struct Program {
  KernelSummary kernel;
  std::vector<std::vector<std::byte>> buffers{{}, {}};
  NDRange range;
  GroupBox box;

  explicit Program(std::mt19937& random) {
    kernel.parameters.resize(2, {"a", "int*", ParameterKind::GlobalBuffer, 0});
    range.local[0] = static_cast<std::uint64_t>(pick(random, 1, 4));
    range.global[0] = range.local[0] * static_cast<std::uint64_t>(pick(random, 1, 8));
    range.offset[0] = chance(random, 20) ? 2 : 0;
    const auto groups = static_cast<std::int64_t>(range.groups(0));
    box = wholeBox(range);
    box.begin[0] = static_cast<std::uint64_t>(pick(random, 0, groups - 1));
    box.end[0] = static_cast<std::uint64_t>(pick(random, std::int64_t(box.begin[0]) + 1, groups));
  }
  std::size_t items() const { return range.offset[0] + range.global[0]; }

  unsigned holds(const std::vector<std::int32_t>& elements) {
    buffers.push_back(bufferOf(elements));
    kernel.parameters.push_back({"b", "int*", ParameterKind::GlobalBuffer, 0});
    return static_cast<unsigned>(buffers.size() - 1);
  }
  Access& touches(unsigned parameter, Effect effect, const Expr& offset,
                  std::vector<Loop> loops = {}) {
    Access access;
    access.parameter = parameter;
    access.effect = effect;
    access.certain = effect == Effect::Write;
    access.offset = Expr::wrap(offset, 64, true);
    access.length = 4;
    access.loops = std::move(loops);
    kernel.accesses.push_back(std::move(access));
    return kernel.accesses.back();
  }

  std::vector<ArgumentValue> arguments() const {
    std::vector<ArgumentValue> values{{{}, 400}, {{}, 400}};
    for (std::size_t i = 2; i < buffers.size(); ++i)
      values.push_back({{}, buffers[i].size()});
    return values;
  }

  /// Checks the three inclusions. The regions; nothing if no launch of this kind is defined.
  std::optional<std::vector<ArgumentRegions>> check(std::uint64_t salt) {
    const auto values = arguments();
    const auto real = execute(kernel, range, values, box, salt, buffers);
    if (!real)
      return std::nullopt;
    BufferContents contents(buffers);
    auto got = evaluate(kernel, range, values, box, 65536, &contents);
    for (std::size_t p = 0; p < got.size(); ++p) {
      const TouchedBytes& touched = (*real)[p];
      EXPECT_TRUE(got[p].reads.contains(toByteSet(touched.reads)))
          << toString(got[p].reads) << " lacks some of " << toString(toByteSet(touched.reads))
          << '\n'
          << describe();
      EXPECT_TRUE(got[p].possibleWrites.contains(toByteSet(touched.writes)))
          << toString(got[p].possibleWrites) << " lacks some of "
          << toString(toByteSet(touched.writes)) << '\n'
          << describe();
      EXPECT_TRUE(toByteSet(touched.sureWrites).contains(got[p].certainWrites))
          << toString(got[p].certainWrites) << " goes beyond "
          << toString(toByteSet(touched.sureWrites)) << '\n'
          << describe();
    }
    return got;
  }

  std::string describe() const {
    static constexpr const char* relations[] = {" < ", " <= ", " == ", " != "};
    std::string text;
    for (const Access& access : kernel.accesses) {
      text += "\noffset " + toString(access.offset);
      for (const Guard& g : access.guards)
        text += "\n  if " + toString(g.left) + relations[int(g.relation)] + toString(g.right);
      for (const Loop& l : access.loops)
        text += "\n  for " + toString(l.count);
    }
    text += "\n  offset " + std::to_string(range.offset[0]) + " global " +
            std::to_string(range.global[0]) + " local " + std::to_string(range.local[0]) +
            " groups [" + std::to_string(box.begin[0]) + "," + std::to_string(box.end[0]) + ")";
    for (std::size_t p = 2; p < buffers.size(); ++p) {
      text += "\n  buffer " + std::to_string(p) + ":";
      for (std::size_t i = 0; i + 4 <= buffers[p].size(); i += 4) {
        std::int32_t value;
        std::memcpy(&value, buffers[p].data() + i, 4);
        text += ' ' + std::to_string(value);
      }
    }
    return text;
  }
};

std::vector<std::int32_t> randomInts(std::mt19937& random, std::size_t count, std::int64_t low,
                                     std::int64_t high) {
  std::vector<std::int32_t> ints(count);
  for (std::int32_t& each : ints)
    each = static_cast<std::int32_t>(pick(random, low, high));
  return ints;
}

const Expr g0 = Expr::id(Op::GlobalId, 0);

TEST(ContentsProperty, sparseRowsReadNoMoreThanTheSlabsElements) {
  forEachSeed(4000, [](std::mt19937& random) {
    Program program(random);
    // Long rows, empty rows; sometimes not in order.
    std::vector<std::int32_t> rows{0};
    for (std::size_t i = 0; i < program.items(); ++i)
      rows.push_back(rows.back() + static_cast<std::int32_t>(pick(random, 0, 4)));
    const auto elements = static_cast<std::size_t>(std::max(rows.back(), 1));
    const bool monotone = chance(random, 80);
    if (!monotone)
      std::shuffle(rows.begin(), rows.end(), random);
    const unsigned row = program.holds(rows);
    const unsigned col = program.holds(randomInts(random, elements, 0, 99));
    const bool strided = chance(random, 40);
    const Expr begin = strided ? intAt(row, g0) + Expr::id(Op::LocalId, 0) : intAt(row, g0);
    const Expr step = strided ? Expr::id(Op::EnqueuedLocalSize, 0) : c(1);
    const Expr distance = minus(intAt(row, g0 + c(1)) + step + c(-1), begin);
    const Loop loop{Expr::node(Op::Max, {Expr::node(Op::DivFloor, {distance, step}), c(0)})};
    const Expr j = Expr::wrap(begin + step * Expr::loop(0), 32, true);
    program.touches(0, Effect::Read, c(4) * j, {loop});
    program.touches(1, Effect::Read, c(4) * intAt(col, j), {loop});
    const auto got = program.check(random());
    ASSERT_TRUE(got);
    const auto first = program.range.offset[0] + program.box.begin[0] * program.range.local[0];
    const auto last = program.range.offset[0] + program.box.end[0] * program.range.local[0];
    if (monotone) {
      EXPECT_TRUE(ByteSet(4 * rows[first], 4 * rows[last]).contains((*got)[0].reads))
          << toString((*got)[0].reads) << program.describe();
    }
  });
}

TEST(ContentsProperty, permutationsWithinBlocksWriteOnlyTheirBlocks) {
  forEachSeed(2000, [](std::mt19937& random) {
    Program program(random);
    std::vector<std::int32_t> to(program.items());
    std::iota(to.begin(), to.end(), 0);
    const std::size_t block = program.range.local[0];
    for (std::size_t at = program.range.offset[0]; at + block <= to.size(); at += block)
      std::shuffle(to.begin() + static_cast<std::ptrdiff_t>(at),
                   to.begin() + static_cast<std::ptrdiff_t>(at + block), random);
    const unsigned target = program.holds(to);
    program.touches(0, Effect::Write, c(4) * intAt(target, g0));
    const auto got = program.check(random());
    ASSERT_TRUE(got);
    const auto first = program.range.offset[0] + program.box.begin[0] * block;
    const auto last = program.range.offset[0] + program.box.end[0] * block;
    EXPECT_EQ((*got)[0].possibleWrites, ByteSet(4 * first, 4 * last)) << program.describe();
    EXPECT_EQ((*got)[0].certainWrites.empty(), last - first > 1) << program.describe();
  });
}

TEST(ContentsProperty, blockListsWriteBetweenTheLeastAndTheGreatestBlock) {
  forEachSeed(2000, [](std::mt19937& random) {
    Program program(random);
    const auto groups = program.range.groups(0);
    std::vector<std::int32_t> order(groups);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::int32_t> starts;
    for (std::size_t i = 0; i < groups; ++i)
      starts.push_back(static_cast<std::int32_t>(5 * i));
    const unsigned block = program.holds(order);
    const unsigned base = program.holds(starts);
    // out[base[block[group]] + lane]
    program.touches(
        0, Effect::Write,
        c(4) * (intAt(base, intAt(block, Expr::id(Op::GroupId, 0))) + Expr::id(Op::LocalId, 0)));
    const auto got = program.check(random());
    ASSERT_TRUE(got);
    const auto [least, greatest] =
        std::minmax_element(order.begin() + static_cast<std::ptrdiff_t>(program.box.begin[0]),
                            order.begin() + static_cast<std::ptrdiff_t>(program.box.end[0]));
    EXPECT_EQ((*got)[0].possibleWrites.hull(),
              (ByteRange{20 * static_cast<std::uint64_t>(*least),
                         20 * static_cast<std::uint64_t>(*greatest) + 4 * program.range.local[0]}))
        << program.describe();
  });
}

/// Mostly within the buffers; what goes outside makes the launch undefined and the test void.
Expr randomExpr(std::mt19937& random, std::size_t loops, int depth) {
  auto sub = [&] { return randomExpr(random, loops, depth - 1); };
  if (depth == 0 || chance(random, 15)) {
    if (loops > 0 && chance(random, 40))
      return Expr::loop(static_cast<unsigned>(pick(random, 0, std::int64_t(loops) - 1)));
    return chance(random, 25) ? c(pick(random, -2, 12))
                              : Expr::id(chance(random, 70)   ? Op::GlobalId
                                         : chance(random, 50) ? Op::LocalId
                                                              : Op::GroupId,
                                         0);
  }
  switch (pick(random, 0, 11)) {
  case 0:
  case 1:
    return sub() + sub();
  case 2:
    return sub() * c(pick(random, -2, 4));
  case 3:
    return minus(sub(), sub());
  case 4:
    return Expr::node(chance(random, 50) ? Op::Min : Op::Max, {sub(), sub()});
  case 5:
    return Expr::node(Op::RemTrunc, {sub(), c(pick(random, 1, 9))});
  case 6:
    return Expr::node(Op::DivFloor, {sub(), c(pick(random, 1, 5))});
  case 7:
    return Expr::node(Op::Select, {sub(), sub(), sub(), sub()});
  case 8:
    return Expr::wrap(sub(), chance(random, 50) ? 8 : 32, true);
  default: {
    const Expr element = Expr::node(Op::Min, {Expr::node(Op::Max, {sub(), c(0)}), c(15)});
    const auto parameter = static_cast<unsigned>(pick(random, 2, 3));
    switch (pick(random, 0, 4)) {
    case 0:
      return Expr::load(parameter, element, 8, chance(random, 50));
    case 1:
      return Expr::load(parameter, c(2) * element + c(1), 16, chance(random, 50));
    case 2:
      return Expr::load(parameter, c(4) * sub(), 32, true);
    default:
      return Expr::load(parameter, c(4) * element, 32, true);
    }
  }
  }
}

TEST(ContentsProperty, noExpressionOverLoadedElementsMissesAByte) {
  std::size_t defined = 0, certain = 0;
  forEachSeed(60000, [&](std::mt19937& random) {
    Program program(random);
    program.holds(randomInts(random, 64, -2, chance(random, 50) ? 20 : 200));
    std::vector<std::int32_t> rising = randomInts(random, 64, 0, 40);
    std::sort(rising.begin(), rising.end());
    program.holds(rising);
    const bool isRead = chance(random, 50);
    std::vector<Loop> loops;
    for (auto n = pick(random, -1, 2); n > 0; --n) {
      const Expr begin = randomExpr(random, loops.size(), 2);
      Expr count =
          chance(random, 50)
              ? Expr::node(Op::Max, {minus(begin, randomExpr(random, loops.size(), 2)), c(0)})
              : randomExpr(random, loops.size(), 2);
      loops.push_back({Expr::node(Op::Min, {count, c(10)}), chance(random, 80)});
      if (chance(random, 60) && isRead)
        loops.back().count = count; // brute force ends early: no more than reads can be compared
    }
    Access& access = program.touches(
        static_cast<unsigned>(pick(random, 0, 1)), isRead ? Effect::Read : Effect::Write,
        randomExpr(random, loops.size(), static_cast<int>(pick(random, 1, 4))), loops);
    for (auto n = pick(random, -1, 2); n > 0; --n)
      access.guards.push_back({randomExpr(random, loops.size(), 2),
                               static_cast<Guard::Relation>(pick(random, 0, 3)),
                               randomExpr(random, loops.size(), 2)});
    if (const auto got = program.check(random())) {
      ++defined;
      certain += !(*got)[0].certainWrites.empty();
    }
  });
  if (!std::getenv("LIBSPLIT_TEST_FIRST_SEED")) {
    EXPECT_GT(defined, 1000u);
    EXPECT_GT(certain, 50u);
  }
}

} // namespace
} // namespace libsplit
