// The reader of summaries meets whatever lies on a disk. It may refuse; it must not crash, hang or
// believe a text that does not say what it seems to say.
#include "analysis-pass/summary/serialize.h"
#include "tests/property/seeds.h"

#include <cstdio>

namespace libsplit {
namespace {

using Op = Expr::Op;

Expr randomExpr(std::mt19937& random, int depth) {
  if (depth == 0 || chance(random, 20)) {
    switch (pick(random, 0, 5)) {
    case 0:
      return Expr::constant(pick(random, INT64_MIN, INT64_MAX));
    case 1:
      return Expr::argument(static_cast<unsigned>(pick(random, 0, 1)), 32, chance(random, 50), 8);
    case 2:
      return Expr::loop(static_cast<unsigned>(pick(random, 0, 1)));
    case 3:
      return Expr::unknown("why (\"not\")\\\n", 3);
    case 4:
      return Expr::workDim();
    default:
      return Expr::id(static_cast<Op>(pick(random, int(Op::GlobalId), int(Op::GlobalOffset))),
                      static_cast<unsigned>(pick(random, 0, 2)));
    }
  }
  if (chance(random, 15))
    return Expr::wrap(randomExpr(random, depth - 1), static_cast<unsigned>(pick(random, 1, 64)),
                      chance(random, 50));
  if (chance(random, 10))
    return Expr::load(static_cast<unsigned>(pick(random, 0, 1)), randomExpr(random, depth - 1),
                      8u << pick(random, 0, 3), chance(random, 50));
  static constexpr Op ops[] = {Op::Add, Op::Mul, Op::DivFloor, Op::DivTrunc, Op::RemTrunc,
                               Op::Min, Op::Max, Op::Shl,      Op::ShrArith, Op::And,
                               Op::Or,  Op::Xor, Op::Select};
  const Op op = ops[pick(random, 0, 12)];
  std::vector<Expr> operands;
  const std::int64_t count = op == Op::Select ? 4 : op == Op::Add || op == Op::Mul ? 3 : 2;
  for (std::int64_t i = 0; i < count; ++i)
    operands.push_back(randomExpr(random, depth - 1));
  return Expr::node(op, std::move(operands));
}

ProgramSummary randomSummary(std::mt19937& random) {
  KernelSummary kernel;
  kernel.name = "k";
  kernel.parameters = {{"a", "int*", ParameterKind::GlobalBuffer, 0},
                       {"n", "ulong", ParameterKind::Scalar, 8}};
  kernel.idsFromGroups = chance(random, 50);
  kernel.dependsOnGroupsIfShared = chance(random, 50);
  kernel.dependsOnOrder = chance(random, 50);
  for (auto n = pick(random, 0, 4); n > 0; --n) {
    Access access;
    access.effect = chance(random, 10)   ? Effect::Rewrite
                    : chance(random, 50) ? Effect::Read
                                         : Effect::Write;
    if (access.effect == Effect::Write)
      access.grain = std::uint32_t{1} << pick(random, 0, 4);
    else if (chance(random, 30)) {
      access.effect = Effect::Update;
      access.update = {static_cast<UpdateKind::Operation>(pick(random, 0, 6)),
                       chance(random, 50) ? 4u : 8u, chance(random, 50)};
    }
    access.certain = chance(random, 50);
    access.length = static_cast<std::uint64_t>(pick(random, 0, 64));
    access.offset = randomExpr(random, 4);
    access.guards = {{randomExpr(random, 2), Guard::Relation::LessEqual, randomExpr(random, 2),
                      chance(random, 30)}};
    access.loops = {{randomExpr(random, 1), chance(random, 50)}, {Expr::constant(3), true}};
    kernel.accesses.push_back(access);
  }
  ProgramSummary program;
  program.kernels = {kernel};
  return program;
}

/// `text` with a right checksum, so that mutations reach the grammar.
std::string signedAgain(const std::string& text) {
  const std::size_t lineEnd = text.find('\n');
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = lineEnd + 1; i < text.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return "libsplit-summary " + std::to_string(summaryFormatVersion) + ' ' + digits +
         text.substr(lineEnd);
}

TEST(ParserProperty, randomSummariesComeBackEqual) {
  forEachSeed(1000, [](std::mt19937& random) {
    const std::string text = serialize(randomSummary(random));
    std::string error;
    const auto parsed = parseProgramSummary(text, &error);
    ASSERT_TRUE(parsed) << error << '\n' << text;
    EXPECT_EQ(serialize(*parsed), text);
  });
}

TEST(ParserProperty, truncatedTextsAreRefused) {
  forEachSeed(20, [](std::mt19937& random) {
    const std::string text = serialize(randomSummary(random));
    const std::size_t head = text.find('\n') + 1;
    for (std::size_t size = head; size + 2 < text.size(); ++size)
      EXPECT_FALSE(parseProgramSummary(signedAgain(text.substr(0, size)))) << size;
  });
}

TEST(ParserProperty, mutatedTextsNeverCrash) {
  forEachSeed(3000, [](std::mt19937& random) {
    std::string text = serialize(randomSummary(random));
    const std::size_t head = text.find('\n') + 1;
    static constexpr char alphabet[] = "()\"\\ 0129GLWk-\nxaddmul\xff";
    for (auto n = pick(random, 1, 6); n > 0; --n) {
      const auto at =
          static_cast<std::size_t>(pick(random, std::int64_t(head), std::int64_t(text.size()) - 1));
      const char c = alphabet[pick(random, 0, sizeof alphabet - 2)];
      switch (pick(random, 0, 2)) {
      case 0:
        text[at] = c;
        break;
      case 1:
        text.insert(at, 1, c);
        break;
      default:
        text.insert(at, text.substr(at, static_cast<std::size_t>(pick(random, 1, 40))));
      }
    }
    // What is accepted must be stable: reading what was written again changes nothing.
    if (const auto parsed = parseProgramSummary(signedAgain(text))) {
      const std::string again = serialize(*parsed);
      const auto twice = parseProgramSummary(again);
      ASSERT_TRUE(twice) << again;
      EXPECT_EQ(serialize(*twice), again);
    }
  });
}

TEST(ParserProperty, deepNestingIsRefusedNotRecursedInto) {
  std::string text = "x\n(program (kernel \"k\" (parameter \"a\" \"int*\" global-buffer 0) "
                     "(access 0 read possible 4 ";
  for (int i = 0; i < 1000000; ++i)
    text += "(add 1 ";
  std::string error;
  EXPECT_FALSE(parseProgramSummary(signedAgain(text), &error));
  EXPECT_NE(error.find("too deep"), std::string::npos) << error;
}

} // namespace
} // namespace libsplit
