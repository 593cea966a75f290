// The oracle is believed where the analysis is not: here it has to find what is known by hand.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/tests/oracle/plan_trial.h"
#include "analysis-pass/tests/oracle/template_text.h"
#include "analysis-pass/tests/oracle/trial.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

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
    input.options = parseBuildOptions(options);
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
  std::vector<std::string> options;
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

TEST_F(Oracle, SeesARaceBehindReadsOfOtherGroups) {
  // Item 7 reads what it writes itself, but item 0 reads it too.
  EXPECT_TRUE(run("if (i == 0) b[0] = a[5]; if (i == 7) a[5] = a[5] + 1;").observed.racy);
  EXPECT_TRUE(run("if (i < 2) b[i] = a[5]; if (i == 7) a[5] += 3;").observed.racy);
}

TEST_F(Oracle, TakesAtomicsOfOneKindForNoRace) {
  EXPECT_FALSE(run("atomic_add(a, i); atomic_sub(a, 1); atomic_inc(a);").observed.racy);
  EXPECT_FALSE(run("atomic_max(a, i);").observed.racy);
  EXPECT_TRUE(run("atomic_add(a, i + 1); atomic_xor(a, i);").observed.racy);
  EXPECT_TRUE(run("atomic_max(a, i); atomic_max((global uint*)a, (uint)i + 9);").observed.racy);
  EXPECT_TRUE(run("b[i] = atomic_add(a, i + 1);").observed.racy);
  EXPECT_TRUE(run("atomic_inc(a); b[i] = *a;").observed.racy);
  EXPECT_TRUE(run("atomic_inc(a); if (i == 3) *a = 100;").observed.racy);
}

TEST_F(Oracle, AnswersWorkGroupAndSubGroupFunctions) {
  options = {"-cl-std=CL2.0"};
  Result r = run("a[i] = work_group_scan_inclusive_add(i) + 100 * work_group_any(i == 6);\n"
                 "b[i] = sub_group_reduce_max(i) + 10 * (int)get_sub_group_local_id();");
  EXPECT_FALSE(r.observed.racy);
  int sums[8], maxima[8];
  std::memcpy(sums, memories.at(0).data(), sizeof sums);
  std::memcpy(maxima, memories.at(1).data(), sizeof maxima);
  EXPECT_EQ(sums[3], 0 + 1 + 2 + 3);
  EXPECT_EQ(sums[5], 4 + 5 + 100);
  EXPECT_EQ(maxima[2], 3 + 20);
  EXPECT_EQ(maxima[4], 7);
}

TEST_F(Oracle, PassesVectorsOfThreeLongs) {
  Result r = run("vstore3(vload3(i, (global long*)b) + (long3)(1), i, (global long*)a);");
  long values[24];
  std::memcpy(values, memories.at(0).data(), sizeof values);
  for (long value : values)
    EXPECT_EQ(value, 1);
}

TEST_F(Oracle, RunsSomeGroupsOfAnNDRangeBeyondMemory) {
  ProgramInput input;
  input.text = "kernel void k(global int* a) {\n  size_t i = get_global_id(0);\n"
               "  a[(i >> 30) & 15] = 1; if (i > 0x100000000ul) a[32 + (i & 7)] = 2;\n}\n";
  std::vector<std::string> missing;
  auto kernels = Kernel::compile(input, {"k"}, missing);
  ASSERT_EQ(kernels.size(), 1u);
  Launch launch;
  launch.range.local[0] = 4;
  launch.range.global[0] = std::uint64_t{1} << 34;
  memories.clear();
  Argument& argument = launch.arguments.emplace_back();
  argument.kind = Argument::Kind::Buffer;
  argument.size = 256;
  argument.address = memories.add(256).data();
  argument.before.assign(256, std::byte{0});
  const std::uint64_t last = launch.range.groups(0) - 1;
  const std::vector<GroupBox> boxes = {{{0, 0, 0}, {1, 1, 1}}, {{last, 0, 0}, {last + 1, 1, 1}}};
  const Observation seen = kernels[0]->run(launch.range, launch.arguments, memories, 1000, boxes);
  ASSERT_EQ(seen.groups.size(), 2u);
  EXPECT_EQ(seen.groups[0][0].writes, ByteSet(0, 4));
  EXPECT_EQ(toString(seen.groups[1][0].writes), "[60,64) [144,160)");
  KernelSummary summary = analyzeProgram(input).kernels.at(0);
  std::mt19937 random(1);
  Tally tally;
  EXPECT_EQ(compare(summary, launch, seen, memories, random, tally), "");
  std::erase_if(summary.accesses, [](const Access& access) { return !access.guards.empty(); });
  EXPECT_NE(compare(summary, launch, seen, memories, random, tally), "");
}

TEST_F(Oracle, NoticesPlansThatLeaveSomethingElse) {
  ProgramInput input;
  input.text = "kernel void k(global int* a, global int* b) {\n"
               "  int i = get_global_id(0);\n  if (i & 1) a[i] = b[i + 1] + 5;\n}\n";
  std::vector<std::string> missing;
  auto kernels = Kernel::compile(input, {"k"}, missing);
  ASSERT_EQ(kernels.size(), 1u);
  const KernelSummary right = analyzeProgram(input).kernels.at(0);
  // How often a plan is wrong by a summary, of 40.
  auto wrong = [&](const KernelSummary& summary) {
    unsigned count = 0;
    PlanTally tally;
    for (unsigned seed = 0; seed < 40; ++seed) {
      Launch launch;
      launch.range.global[0] = 32;
      launch.range.local[0] = 4;
      memories.clear();
      for (unsigned i = 0; i < 2; ++i) {
        Argument& argument = launch.arguments.emplace_back();
        argument.kind = Argument::Kind::Buffer;
        argument.size = 256;
        argument.memory = i;
        argument.address = memories.add(256).data();
        argument.before.assign(256, std::byte{0});
      }
      std::mt19937 random(seed);
      count += !tryPlan(*kernels[0], summary, launch, memories, 1000, random, tally).empty();
    }
    EXPECT_GT(tally.plans, 20u);
    return count;
  };
  EXPECT_EQ(wrong(right), 0u);
  for (std::size_t i = 0; i < right.accesses.size(); ++i) {
    KernelSummary changed = right;
    changed.accesses.erase(changed.accesses.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_GT(wrong(changed), 5u) << "without access " << i;
  }
}

TEST(Templates, ChangeOnePlaceOfAnIndexOrACondition) {
  const std::string kernel = "  t[l] = 1;\n  if (i < n) a[i + 2] = t[l + 1];\n";
  std::set<std::string> seen;
  Random random(1);
  for (unsigned i = 0; i < 200; ++i)
    seen.insert(mutate(kernel, {"a"}, random));
  for (const std::string& each : seen) {
    EXPECT_TRUE(each.starts_with("  t[l] = 1;")) << each;
    EXPECT_TRUE(each.ends_with(" = t[l + 1];\n")) << each;
  }
  EXPECT_EQ(seen.size(), 5u); // <=, -, 3, 1, 4
}

TEST(Templates, AreTheSameForTheSameSeed) {
  const Names names = {{"I", "$(i##j)"}};
  std::set<std::string> seen;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random one(seed), other(seed);
    const std::string text = expand("a[$(@I##~(@I + $(3..4)))]", names, one);
    EXPECT_EQ(text, expand("a[$(@I##~(@I + $(3..4)))]", names, other));
    seen.insert(text);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a[i]", "a[j]", "a[(i + 3)]", "a[(i + 4)]", "a[(j + 3)]",
                                         "a[(j + 4)]"}));
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
