// The oracle is believed where the analysis is not: here it has to find what is known by hand.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/tests/oracle/trial.h"

#include <gtest/gtest.h>

#include <cstring>

namespace libsplit::oracle {
namespace {

struct Result {
  Observation observed;
  KernelSummary summary;
  Launch launch;
};

/// Runs kernel `k(global int* a, global int* b)` on 8 work-items in groups of 4, buffers of 64
/// ints.
class Oracle : public ::testing::Test {
protected:
  Result run(const std::string& body) {
    ProgramInput input;
    input.text = "kernel void k(global int* a, global int* b) {\n  int i = get_global_id(0);\n" +
                 body + "\n}\n";
    std::vector<std::string> missing;
    auto kernels = Kernel::compile(input, {"k"}, missing);
    EXPECT_TRUE(missing.empty()) << (missing.empty() ? "" : missing.front());
    Result result;
    if (kernels.size() != 1)
      return result;
    result.summary = analyzeProgram(input).kernels.at(0);
    result.launch.range.global[0] = 8;
    result.launch.range.local[0] = 4;
    memories.clear();
    for (unsigned i = 0; i < 2; ++i) {
      Argument& argument = result.launch.arguments.emplace_back();
      argument.kind = Argument::Kind::Buffer;
      argument.size = 256;
      argument.memory = i;
      argument.address = memories.add(256).data();
      argument.before.assign(256, std::byte{0});
    }
    result.observed = kernels[0]->run(result.launch.range, result.launch.arguments, memories);
    return result;
  }

  std::string judge(const Result& result) {
    std::mt19937 random(1);
    Tally tally;
    return compare(result.summary, result.launch, result.observed, memories, random, tally);
  }

  Memories memories;
};

TEST_F(Oracle, SeesWhatEachGroupReadsAndWrites) {
  Result r = run("a[i] = b[2 * i + 1];");
  ASSERT_EQ(r.observed.groups.size(), 2u);
  EXPECT_EQ(r.observed.groups[1][0].writes, ByteSet(16, 32));
  EXPECT_EQ(toString(r.observed.groups[1][1].reads), "[36,40) [44,48) [52,56) [60,64)");
  EXPECT_TRUE(r.observed.groups[1][1].writes.empty());
  EXPECT_FALSE(r.observed.racy);
}

TEST_F(Oracle, TellsInputsFromWhatAWorkItemWroteItself) {
  Result r = run("a[i] = 1; barrier(CLK_GLOBAL_MEM_FENCE); a[i] += 2;");
  EXPECT_EQ(r.observed.groups[0][0].reads, ByteSet(0, 16));
  EXPECT_TRUE(r.observed.groups[0][0].inputs.empty());
}

TEST_F(Oracle, RunsBarriersAndLocalMemory) {
  Result r = run("local int t[4]; int l = get_local_id(0); t[l] = i;\n"
                 "barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[3 - l];");
  EXPECT_FALSE(r.observed.racy);
  int values[8];
  std::memcpy(values, memories.at(0).data(), sizeof values);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[7], 4);
}

TEST_F(Oracle, FollowsBuiltInsThatTouchMemory) {
  Result r = run("int n; float f = frexp((float)i, a + i);\n"
                 "vstore2((int2)(i, (int)f), i, b);");
  EXPECT_EQ(r.observed.groups[0][0].writes, ByteSet(0, 16));
  EXPECT_EQ(r.observed.groups[1][1].writes, ByteSet(32, 64));
}

TEST_F(Oracle, NoticesWhatHasNoMeaning) {
  EXPECT_EQ(run("a[i + 60] = 1;").observed.undefined, "access beyond the buffer");
  EXPECT_EQ(run("a[i] = b[i - 1];").observed.undefined, "access beyond the buffer");
  EXPECT_EQ(run("a[i] = (i + 0x7ffffffe) / 2;").observed.undefined, "signed overflow");
  EXPECT_EQ(run("while (b[i] == 0) ;").observed.undefined, "endless loop");
}

TEST_F(Oracle, TakesADivisionByZeroForAnyValue) {
  for (const char* body : {"a[i] = 3 / b[i];", "int zero = 0; if (7 / zero > 2) a[i] = 1;",
                           "a[i] = 1; if (i % (i - i)) a[i] = 2;", "if (5 / 0) a[i] = 1;"}) {
    Result r = run(body);
    EXPECT_EQ(r.observed.undefined, "") << body;
    EXPECT_EQ(judge(r), "") << body;
  }
  EXPECT_TRUE(run("a[i] = 3 / b[i];").observed.unspecified);
  EXPECT_FALSE(run("a[i] = b[i] / 3;").observed.unspecified);
}

TEST_F(Oracle, NoticesWhereOrderMatters) {
  EXPECT_TRUE(run("a[0] = i;").observed.racy);
  EXPECT_FALSE(run("a[0] = 1;").observed.racy);
  EXPECT_TRUE(run("a[i] = a[7 - i] + i;").observed.racy);
  EXPECT_FALSE(run("a[i] = i; barrier(CLK_GLOBAL_MEM_FENCE); b[i] = a[i ^ 1];").observed.racy);
  EXPECT_TRUE(run("a[i] = i; barrier(CLK_GLOBAL_MEM_FENCE); b[i] = a[i ^ 4];").observed.racy);
}

TEST_F(Oracle, CatchesAWrongAnalysis) {
  Result right = run("if (i > 2) a[i] = b[i];");
  EXPECT_EQ(judge(right), "");
  for (Access& access : right.summary.accesses) {
    Result wrong = right;
    Access& changed =
        wrong.summary.accesses[static_cast<std::size_t>(&access - right.summary.accesses.data())];
    changed.offset = changed.offset + Expr::constant(4);
    EXPECT_NE(judge(wrong), "");
    wrong = right;
    wrong.summary.accesses.erase(wrong.summary.accesses.begin() +
                                 (&access - right.summary.accesses.data()));
    EXPECT_NE(judge(wrong), "");
    wrong = right;
    wrong.summary.accesses[static_cast<std::size_t>(&access - right.summary.accesses.data())]
        .guards.clear();
    EXPECT_EQ(judge(wrong).empty(), access.effect == Effect::Read);
  }
}

} // namespace
} // namespace libsplit::oracle
