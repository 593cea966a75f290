// evaluate() against brute force, on random launches of random summaries.
//
//   soundness, whatever the expressions:  reads ⊆ evaluated reads, writes ⊆ possible writes,
//                                         certain writes ⊆ writes
//   exactness, where it is promised:      affine offsets, guards on one id, exact loops, digits
#include "tests/property/brute_force.h"
#include "tests/property/seeds.h"

#include <cstring>

namespace libsplit {
namespace {

using Op = Expr::Op;

struct Launch {
  NDRange range;
  GroupBox box;
  std::int32_t scalars[2];
  std::vector<ArgumentValue> arguments;

  explicit Launch(std::mt19937& random) {
    range.dimensions = static_cast<unsigned>(pick(random, 1, 3));
    const std::int64_t largest = range.dimensions == 1 ? 40 : range.dimensions == 2 ? 12 : 6;
    for (unsigned d = 0; d < range.dimensions; ++d) {
      range.local[d] = static_cast<std::uint64_t>(pick(random, 1, 5));
      range.global[d] = static_cast<std::uint64_t>(pick(random, 1, largest));
      if (chance(random, 40))
        range.global[d] = (range.global[d] + range.local[d] - 1) / range.local[d] * range.local[d];
      if (chance(random, 30))
        range.offset[d] = static_cast<std::uint64_t>(pick(random, 0, 9));
      if (chance(random, 2)) // ids cross the limits of 31 and 32 bits
        range.offset[d] = (std::uint64_t{1} << pick(random, 31, 33)) - 4;
    }
    box = wholeBox(range);
    for (unsigned d = 0; d < range.dimensions; ++d) {
      const auto groups = static_cast<std::int64_t>(range.groups(d));
      box.begin[d] = static_cast<std::uint64_t>(pick(random, 0, groups - 1));
      box.end[d] = static_cast<std::uint64_t>(
          chance(random, 10) ? groups + 3 : pick(random, std::int64_t(box.begin[d]), groups));
    }
    scalars[0] = static_cast<std::int32_t>(pick(random, -3, 20));
    scalars[1] = static_cast<std::int32_t>(pick(random, 1, 300));
    if (chance(random, 5))
      scalars[pick(random, 0, 1)] = chance(random, 50) ? INT32_MAX : INT32_MIN;
    const auto bufferSize = static_cast<std::uint64_t>(pick(random, 1, 900));
    arguments = {{{}, bufferSize},
                 {std::as_bytes(std::span(&scalars[0], 1)), 0},
                 {std::as_bytes(std::span(&scalars[1], 1)), 0}};
  }
};

KernelSummary kernelWith(Access access) {
  KernelSummary kernel;
  kernel.name = "k";
  kernel.parameters = {{"a", "char*", ParameterKind::GlobalBuffer, 0},
                       {"n", "int", ParameterKind::Scalar, 4},
                       {"m", "int", ParameterKind::Scalar, 4}};
  kernel.accesses = {std::move(access)};
  return kernel;
}

std::string describe(const Launch& launch, const Access& access) {
  std::string text =
      "offset " + toString(access.offset) + " length " + std::to_string(access.length);
  static constexpr const char* relations[] = {" < ", " <= ", " == ", " != "};
  for (const Guard& g : access.guards)
    text += "\n  if " + toString(g.left) + relations[int(g.relation)] + toString(g.right);
  for (const Loop& l : access.loops)
    text += "\n  for " + toString(l.count) + (l.exact ? "" : " at most");
  for (unsigned d = 0; d < 3; ++d)
    text += "\n  dimension " + std::to_string(d) + ": offset " +
            std::to_string(launch.range.offset[d]) + " global " +
            std::to_string(launch.range.global[d]) + " local " +
            std::to_string(launch.range.local[d]) + " groups [" +
            std::to_string(launch.box.begin[d]) + "," + std::to_string(launch.box.end[d]) + ")";
  return text + "\n  arg1 " + std::to_string(launch.scalars[0]) + " arg2 " +
         std::to_string(launch.scalars[1]) + " buffer " +
         std::to_string(launch.arguments[0].bufferSize);
}

Expr randomLeaf(std::mt19937& random, unsigned dimensions, std::size_t loops) {
  const auto d = static_cast<unsigned>(pick(random, 0, dimensions - 1));
  if (loops > 0 && chance(random, 25))
    return Expr::loop(static_cast<unsigned>(pick(random, 0, std::int64_t(loops) - 1)));
  switch (pick(random, 0, 9)) {
  case 0:
  case 1:
  case 2:
    return Expr::id(Op::GlobalId, d);
  case 3:
    return Expr::id(Op::LocalId, d);
  case 4:
    return Expr::id(Op::GroupId, d);
  case 5:
    return Expr::id(static_cast<Op>(pick(random, int(Op::GlobalSize), int(Op::GlobalOffset))), d);
  case 6:
    return Expr::argument(1, 32, true);
  case 7:
    return chance(random, 30) ? Expr::argument(2, 8, chance(random, 50), 8)
                              : Expr::argument(2, 32, false);
  default:
    return chance(random, 3) ? Expr::constant(pick(random, INT64_MIN, INT64_MAX))
                             : Expr::constant(pick(random, -6, 20));
  }
}

Expr randomExpr(std::mt19937& random, unsigned dimensions, std::size_t loops, int depth) {
  auto sub = [&] { return randomExpr(random, dimensions, loops, depth - 1); };
  if (depth == 0 || chance(random, 15))
    return chance(random, 2) ? Expr::unknown("?") : randomLeaf(random, dimensions, loops);
  const auto small = [&] { return Expr::constant(pick(random, 1, 12)); };
  switch (pick(random, 0, 15)) {
  case 0:
  case 1:
  case 2:
    return sub() + sub();
  case 3:
  case 4:
    return sub() * Expr::constant(pick(random, -3, 24));
  case 5:
    return sub() * sub();
  case 6:
    return Expr::node(chance(random, 50) ? Op::DivTrunc : Op::DivFloor,
                      {sub(), chance(random, 80) ? small() : sub()});
  case 7:
    return Expr::node(Op::RemTrunc, {sub(), chance(random, 80) ? small() : sub()});
  case 8:
    return Expr::node(Op::Min, {sub(), sub()});
  case 9:
    return Expr::node(Op::Max, {sub(), sub()});
  case 10:
    return Expr::node(Op::Shl, {sub(), Expr::constant(pick(random, 0, 3))});
  case 11:
    return Expr::node(Op::ShrArith,
                      {sub(), chance(random, 80) ? Expr::constant(pick(random, 0, 3)) : sub()});
  case 12: {
    const Op op = static_cast<Op>(pick(random, int(Op::And), int(Op::Xor)));
    static constexpr std::int64_t masks[] = {1, 3, 7, 15, -4, -8, 12, 5, 0xf8};
    return Expr::node(
        op, {sub(), chance(random, 80) ? Expr::constant(masks[pick(random, 0, 8)]) : sub()});
  }
  case 13: {
    static constexpr unsigned widths[] = {8, 8, 16, 32};
    return Expr::wrap(sub(), widths[pick(random, 0, 3)], chance(random, 50));
  }
  case 14:
    return Expr::node(Op::Select, {sub(), sub(), sub(), sub()});
  default:
    return sub();
  }
}

Guard randomGuard(std::mt19937& random, unsigned dimensions, std::size_t loops) {
  Guard guard;
  guard.relation = static_cast<Guard::Relation>(pick(random, 0, 3));
  if (chance(random, 70) && guard.relation == Guard::Relation::NotEqual)
    guard.relation = Guard::Relation::Less;
  guard.left = randomExpr(random, dimensions, loops, chance(random, 60) ? 0 : 2);
  guard.right = randomExpr(random, dimensions, loops, chance(random, 60) ? 0 : 2);
  return guard;
}

Access randomAccess(std::mt19937& random, unsigned dimensions) {
  Access access;
  access.effect = chance(random, 50) ? Effect::Read : Effect::Write;
  access.certain = access.effect == Effect::Write && chance(random, 80);
  access.length = static_cast<std::uint64_t>(pick(random, 1, 8));
  for (auto n = pick(random, -2, 2); n > 0; --n) {
    Loop loop;
    loop.count = randomExpr(random, dimensions, access.loops.size(), chance(random, 70) ? 0 : 2);
    if (chance(random, 60))
      loop.count = Expr::constant(pick(random, 0, 6));
    loop.count = Expr::node(Op::Min, {loop.count, Expr::constant(12)}); // keeps brute force short
    loop.exact = chance(random, 80);
    access.loops.push_back(loop);
  }
  for (auto n = pick(random, -1, 2); n > 0; --n)
    access.guards.push_back(randomGuard(random, dimensions, access.loops.size()));
  access.offset =
      randomExpr(random, dimensions, access.loops.size(), static_cast<int>(pick(random, 0, 4)));
  return access;
}

TEST(EvaluateProperty, neverMissesAByteAndNeverClaimsAWriteThatDidNotHappen) {
  std::size_t informative = 0;
  forEachSeed(150000, [&](std::mt19937& random) {
    Launch launch(random);
    const Access access = randomAccess(random, launch.range.dimensions);
    const KernelSummary kernel = kernelWith(access);
    const auto real = execute(kernel, launch.range, launch.arguments, launch.box, random());
    if (!real)
      return;
    const std::size_t maxRanges =
        chance(random, 80) ? 65536 : static_cast<std::size_t>(pick(random, 1, 4));
    const unsigned maxParts = chance(random, 60) ? 4096 : static_cast<unsigned>(pick(random, 0, 3));
    const ArgumentRegions got = evaluate(kernel, launch.range, launch.arguments, launch.box,
                                         maxRanges, nullptr, {}, maxParts)[0];
    EXPECT_TRUE(got.reads.contains(toByteSet((*real)[0].reads)))
        << toString(got.reads) << " lacks some of " << toString(toByteSet((*real)[0].reads)) << '\n'
        << describe(launch, access);
    EXPECT_TRUE(got.possibleWrites.contains(toByteSet((*real)[0].writes)))
        << toString(got.possibleWrites) << " lacks some of "
        << toString(toByteSet((*real)[0].writes)) << '\n'
        << describe(launch, access);
    EXPECT_TRUE(toByteSet((*real)[0].sureWrites).contains(got.certainWrites))
        << toString(got.certainWrites) << " goes beyond "
        << toString(toByteSet((*real)[0].sureWrites)) << '\n'
        << describe(launch, access);
    EXPECT_TRUE(got.possibleWrites.contains(got.certainWrites)) << describe(launch, access);
    EXPECT_LE(got.reads.hull().end, launch.arguments[0].bufferSize);
    EXPECT_LE(got.reads.ranges().size(), maxRanges);
    informative += !got.certainWrites.empty();
  });
  // Guards against a generator, or an evaluation, that has nothing to say.
  if (!std::getenv("LIBSPLIT_TEST_FIRST_SEED")) {
    EXPECT_GT(informative, 100u);
  }
}

TEST(EvaluateProperty, updatesAreFoundWhereReadsAre) {
  forEachSeed(3000, [](std::mt19937& random) {
    Launch launch(random);
    Access access = randomAccess(random, launch.range.dimensions);
    access.effect = Effect::Read;
    auto regions = [&] {
      return evaluate(kernelWith(access), launch.range, launch.arguments, launch.box)[0];
    };
    const ByteSet reads = regions().reads;
    access.effect = Effect::Update;
    const ArgumentRegions updating = regions();
    EXPECT_EQ(updating.updates.empty() ? ByteSet() : updating.updates[0].bytes, reads)
        << describe(launch, access);
    EXPECT_TRUE(updating.reads.empty() && updating.possibleWrites.empty());
    EXPECT_FALSE(updating.unknownWrites);
  });
}

/// c0 + sum c*v, as a program would write it.
Expr randomAffine(std::mt19937& random, unsigned dimensions, std::size_t loops) {
  Expr sum = Expr::constant(pick(random, -20, 60));
  for (unsigned d = 0; d < dimensions; ++d) {
    const Expr scale = Expr::constant(pick(random, -4, 30));
    switch (pick(random, 0, 4)) {
    case 0:
    case 1:
      sum = sum + scale * Expr::id(Op::GlobalId, d);
      break;
    case 2:
      sum = sum + scale * Expr::id(Op::LocalId, d) +
            Expr::constant(pick(random, -4, 30)) * Expr::id(Op::GroupId, d);
      break;
    case 3: // a global id written out
      sum = sum + scale * (Expr::id(Op::GroupId, d) * Expr::id(Op::EnqueuedLocalSize, d) +
                           Expr::id(Op::LocalId, d));
      break;
    default:
      sum = sum + scale * Expr::id(Op::GlobalId, d) +
            Expr::constant(pick(random, -4, 30)) * Expr::id(Op::LocalId, d);
    }
  }
  for (std::size_t k = 0; k < loops; ++k)
    sum = sum + Expr::constant(pick(random, -4, 30)) * Expr::loop(static_cast<unsigned>(k));
  return Expr::wrap(sum, 64, true);
}

/// Two variables that a condition binds to each other, and an offset over both.
Access boundAccess(std::mt19937& random, unsigned dimensions) {
  Access access;
  access.effect = chance(random, 50) ? Effect::Read : Effect::Write;
  access.certain = access.effect == Effect::Write;
  access.length = static_cast<std::uint64_t>(pick(random, 1, 4));
  const Expr id = Expr::id(Op::GlobalId, static_cast<unsigned>(pick(random, 0, dimensions - 1)));
  const Expr end =
      chance(random, 50) ? Expr::constant(pick(random, 0, 12)) : Expr::argument(1, 32, true);
  Expr other = Expr::loop(0);
  if (dimensions > 1 && chance(random, 40))
    other = Expr::id(Op::GlobalId, 0);
  else
    access.loops.push_back({Expr::node(
        Op::Min, {chance(random, 50) ? end + Expr::constant(-1) * id : id + Expr::constant(1),
                  Expr::constant(12)})});
  if (access.loops.empty() || chance(random, 40)) {
    const Expr factor = Expr::constant(pick(random, 1, 2));
    const Expr sum = factor * id + Expr::constant(chance(random, 50) ? 1 : -1) * factor * other;
    access.guards.push_back(chance(random, 50) ? Guard{sum, Guard::Relation::Less, end}
                                               : Guard{end, Guard::Relation::LessEqual, sum});
  }
  access.offset = Expr::constant(pick(random, -9, 90)) +
                  Expr::constant(pick(random, -40, 40)) * id +
                  Expr::constant(pick(random, -40, 40)) * other;
  return access;
}

TEST(EvaluateProperty, whatTwoVariablesTogetherCanBeNeverTakesAByteAway) {
  forEachSeed(40000, [](std::mt19937& random) {
    Launch launch(random);
    const Access access = boundAccess(random, launch.range.dimensions);
    const KernelSummary kernel = kernelWith(access);
    const auto real = execute(kernel, launch.range, launch.arguments, launch.box, random());
    if (!real)
      return;
    const auto maxParts = static_cast<unsigned>(pick(random, 0, 4));
    const ArgumentRegions got = evaluate(kernel, launch.range, launch.arguments, launch.box, 65536,
                                         nullptr, {}, maxParts)[0];
    EXPECT_TRUE(got.reads.contains(toByteSet((*real)[0].reads))) << describe(launch, access);
    EXPECT_TRUE(got.possibleWrites.contains(toByteSet((*real)[0].writes)))
        << describe(launch, access);
    EXPECT_TRUE(toByteSet((*real)[0].sureWrites).contains(got.certainWrites))
        << describe(launch, access);
  });
}

Guard singleIdGuard(std::mt19937& random, unsigned dimensions) {
  static constexpr Op ids[] = {Op::GlobalId, Op::GlobalId, Op::LocalId, Op::GroupId};
  const Expr id =
      Expr::id(ids[pick(random, 0, 3)], static_cast<unsigned>(pick(random, 0, dimensions - 1)));
  const Expr scaled = Expr::constant(pick(random, 1, 3)) * id + Expr::constant(pick(random, -5, 5));
  const Expr bound =
      chance(random, 50) ? Expr::constant(pick(random, -2, 40)) : Expr::argument(1, 32, true);
  switch (pick(random, 0, 4)) {
  case 0:
    return {scaled, Guard::Relation::LessEqual, bound};
  case 1:
    return {bound, Guard::Relation::Less, scaled};
  case 2:
    return {id, Guard::Relation::Equal, Expr::constant(pick(random, 0, 4))};
  default:
    return {scaled, Guard::Relation::Less, bound};
  }
}

void expectExact(const Launch& launch, const Access& access) {
  const KernelSummary kernel = kernelWith(access);
  const auto real = execute(kernel, launch.range, launch.arguments, launch.box, 1);
  ASSERT_TRUE(real);
  const ArgumentRegions got = evaluate(kernel, launch.range, launch.arguments, launch.box)[0];
  const ByteSet want = toByteSet((*real)[0].writes);
  EXPECT_EQ(toString(got.possibleWrites), toString(want)) << describe(launch, access);
  EXPECT_EQ(toString(got.certainWrites), toString(want)) << describe(launch, access);
}

TEST(EvaluateProperty, affineAccessesWithGuardsOnSingleIdsAreExact) {
  forEachSeed(10000, [](std::mt19937& random) {
    Launch launch(random);
    Access access;
    access.effect = Effect::Write;
    access.certain = true;
    access.length = static_cast<std::uint64_t>(pick(random, 1, 8));
    for (auto n = pick(random, -1, 2); n > 0; --n)
      access.loops.push_back(
          {chance(random, 70) ? Expr::constant(pick(random, 0, 5)) : Expr::id(Op::NumGroups, 0)});
    for (auto n = pick(random, 0, 3); n > 0; --n)
      access.guards.push_back(singleIdGuard(random, launch.range.dimensions));
    access.offset = randomAffine(random, launch.range.dimensions, access.loops.size());
    expectExact(launch, access);
  });
}

TEST(EvaluateProperty, anIdTakenApartIntoRowsAndColumnsIsExact) {
  forEachSeed(10000, [](std::mt19937& random) {
    Launch launch(random);
    const Expr width = Expr::constant(pick(random, 2, 9));
    const Expr height = Expr::constant(pick(random, 2, 4));
    const Expr id = Expr::id(Op::GlobalId, 0) + Expr::constant(chance(random, 70) ? 0 : 3);
    const Expr x = Expr::node(Op::RemTrunc, {id, width});
    const Expr rows = Expr::node(Op::DivTrunc, {id, width});
    const Expr y = Expr::node(Op::RemTrunc, {rows, height});
    const Expr z = chance(random, 50) ? Expr::node(Op::DivTrunc, {rows, height})
                                      : Expr::node(Op::DivTrunc, {id, width * height});
    Access access;
    access.effect = Effect::Write;
    access.certain = true;
    access.length = 1;
    access.offset = Expr::constant(pick(random, 1, 90)) * x +
                    Expr::constant(pick(random, 1, 90)) * y +
                    Expr::constant(pick(random, 1, 90)) * z;
    if (chance(random, 50)) {
      access.guards.push_back({Expr::constant(0), Guard::Relation::Less, x});
      access.guards.push_back({x + Expr::constant(1), Guard::Relation::Less, width});
    }
    if (chance(random, 30))
      access.guards.push_back({y, Guard::Relation::Less, Expr::constant(pick(random, 0, 5))});
    if (chance(random, 30))
      access.guards.push_back({id, Guard::Relation::Less, Expr::argument(1, 32, true)});
    if (launch.range.dimensions > 1)
      access.offset = access.offset + Expr::constant(7) * Expr::id(Op::GlobalId, 1);
    expectExact(launch, access);
  });
}

} // namespace
} // namespace libsplit
