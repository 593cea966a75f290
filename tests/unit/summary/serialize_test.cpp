#include "analysis-pass/summary/serialize.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

using Op = Expr::Op;

ProgramSummary sample() {
  KernelSummary kernel;
  kernel.name = "scale";
  kernel.parameters = {{"out", "float*", ParameterKind::GlobalBuffer, 0},
                       {"in", "const float*", ParameterKind::ConstantBuffer, 0},
                       {"n", "int", ParameterKind::Scalar, 4}};
  const Expr g0 = Expr::id(Op::GlobalId, 0);
  const Expr n = Expr::argument(2, 32, true, 0);
  Access write;
  write.effect = Effect::Write;
  write.certain = true;
  write.offset =
      Expr::constant(4) * Expr::wrap(g0 + Expr::node(Op::RemTrunc, {n, Expr::loop(0)}), 32, false);
  write.length = 4;
  write.guards = {{g0, Guard::Relation::Less, n},
                  {Expr::workDim(), Guard::Relation::NotEqual, Expr::constant(-3), true}};
  write.loops = {{n, true}, {Expr::constant(9), false}};
  write.where = {"a \"quoted\" \\ file.h", 7};
  Access read;
  read.parameter = 1;
  read.offset = Expr::unknown("index loaded\nfrom `col`\x01", 9);
  write.grain = 4;
  Access update;
  update.effect = Effect::Update;
  update.update = {UpdateKind::Operation::Min, 8, true};
  update.offset = Expr::constant(16);
  update.length = 8;
  kernel.accesses = {write, read, update};
  kernel.obstacles = {{Obstacle::Kind::Atomic, {"atomic_add", {"", 3}}}};
  kernel.dependsOnGroups = true;
  kernel.dependsOnGroupsIfShared = true;
  kernel.dependsOnSubGroups = true;
  kernel.dependsOnOrder = true;
  kernel.needsPartitionArgument = true;
  kernel.requiredLocal = {16, 4, 1};
  kernel.codeHash = 0xfeedbeefcafe0124u;
  ProgramSummary program;
  program.kernels = {kernel};
  program.includes = {{"/tmp/x.h", 0xfeedbeefcafe0123u}};
  program.partitionSource = "kernel void f() {\n\t// \"text\"\n}\n";
  return program;
}

TEST(Serialize, everyFieldComesBack) {
  const ProgramSummary before = sample();
  std::string error;
  const auto after = parseProgramSummary(serialize(before), &error);
  ASSERT_TRUE(after) << error;
  EXPECT_EQ(after->includes, before.includes);
  EXPECT_EQ(after->partitionSource, before.partitionSource);
  ASSERT_EQ(after->kernels.size(), 1u);
  const KernelSummary& a = after->kernels[0];
  const KernelSummary& b = before.kernels[0];
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.requiredLocal, b.requiredLocal);
  EXPECT_EQ(a.codeHash, b.codeHash);
  EXPECT_TRUE(a.dependsOnGroups && a.dependsOnGroupsIfShared && a.dependsOnSubGroups &&
              a.dependsOnOrder && a.needsPartitionArgument);
  ASSERT_EQ(a.obstacles.size(), 1u);
  EXPECT_EQ(a.obstacles[0].kind, Obstacle::Kind::Atomic);
  EXPECT_EQ(a.obstacles[0].reason, b.obstacles[0].reason);
  ASSERT_EQ(a.accesses.size(), 3u);
  EXPECT_EQ(a.accesses[0].grain, 4u);
  EXPECT_EQ(a.accesses[2].effect, Effect::Update);
  EXPECT_EQ(a.accesses[2].update, b.accesses[2].update);
  EXPECT_EQ(a.accesses[0].offset, b.accesses[0].offset);
  EXPECT_EQ(a.accesses[0].where, b.accesses[0].where);
  EXPECT_TRUE(a.accesses[0].certain);
  EXPECT_EQ(a.accesses[0].guards[1].right, Expr::constant(-3));
  EXPECT_FALSE(a.accesses[0].guards[0].isInspected);
  EXPECT_TRUE(a.accesses[0].guards[1].isInspected);
  EXPECT_FALSE(a.accesses[0].loops[1].exact);
  EXPECT_EQ(a.accesses[1].offset.text(), b.accesses[1].offset.text());
  EXPECT_EQ(serialize(*after), serialize(before));
}

TEST(Serialize, aFailureIsKept) {
  ProgramSummary failed;
  failed.failure = "does not parse";
  EXPECT_EQ(parseProgramSummary(serialize(failed))->failure, "does not parse");
}

TEST(Serialize, oneChangedByteIsRefused) {
  std::string text = serialize(sample());
  const std::size_t at = text.find("write certain 4");
  text[at + 14] = '8'; // would move bytes
  std::string error;
  EXPECT_FALSE(parseProgramSummary(text, &error));
  EXPECT_EQ(error, "checksum differs");
}

TEST(Serialize, anotherVersionIsRefusedAsSuch) {
  std::string error;
  EXPECT_FALSE(parseProgramSummary("libsplit-summary 999 0\n(program)", &error));
  EXPECT_EQ(error, "summary of another version");
  EXPECT_FALSE(parseProgramSummary("", &error));
}

} // namespace
} // namespace libsplit
