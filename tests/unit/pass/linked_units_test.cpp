#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/summary/linked_program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace libsplit {
namespace {

ProgramSummary analyze(const LinkedProgram& program) {
  ProgramInput input;
  input.text = serialize(program);
  return analyzeProgram(input);
}

const KernelSummary& kernel(const ProgramSummary& program, const std::string& name) {
  static const KernelSummary none;
  auto found = std::ranges::find(program.kernels, name, &KernelSummary::name);
  EXPECT_NE(found, program.kernels.end()) << name << ": " << program.failure;
  return found == program.kernels.end() ? none : *found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LinkedUnits, AreAnalysedTogether) {
  ProgramSummary program =
      analyze({{{"int place(int i);\n"
                 "kernel void k(global int* a) { a[place(get_global_id(0))] = 1; }\n",
                 "",
                 {}},
                {"int place(int i) { return i + N; }\n", "-DN=3", {}}},
               ""});
  const KernelSummary& k = kernel(program, "k");
  EXPECT_TRUE(k.obstacles.empty());
  ASSERT_EQ(k.accesses.size(), 1u);
  EXPECT_TRUE(k.accesses[0].certain);
  EXPECT_TRUE(program.partitionSource.empty());
  EXPECT_TRUE(program.flatSource.empty());
}

TEST(LinkedUnits, TakeTheirHeadersFromMemoryEachItsOwn) {
  ProgramSummary program =
      analyze({{{"#include \"n.h\"\n#include <sub/m.h>\n"
                 "kernel void k(global int* a) { a[N + M] = 1; }\n",
                 "",
                 {{"n.h", "#define N 1\n"},
                  {"sub/m.h", "#include \"l.h\"\n#define M L\n"},
                  {"sub/l.h", "#define L 4\n"}}},
                {"#include \"n.h\"\nkernel void j(global int* a) { a[N] = 1; }\n",
                 "",
                 {{"n.h", "#define N 2\n"}}}},
               ""});
  EXPECT_EQ(program.failure, "");
  EXPECT_TRUE(program.includes.empty());
  EXPECT_EQ(kernel(program, "k").accesses.at(0).offset, Expr::constant(20));
  EXPECT_EQ(kernel(program, "j").accesses.at(0).offset, Expr::constant(8));
  // What goes to other devices needs no headers any more.
  auto flat = parseLinkedProgram(program.flatSource);
  ASSERT_TRUE(flat);
  EXPECT_TRUE(flat->units[0].headers.empty());
  EXPECT_TRUE(contains(flat->units[0].text, "#define L 4"));
}

TEST(LinkedUnits, PassThePartitionArgumentAcrossUnits) {
  ProgramSummary program =
      analyze({{{"int outer(void);\nint plain(void);\n"
                 "kernel void k(global int* a) { a[get_global_id(0)] = outer(); }\n"
                 "kernel void j(global int* a) { a[get_global_id(0)] = plain(); }\n",
                 "-DX",
                 {}},
                {"int inner();\nint outer(void) { return inner() + 1; }\n"
                 "int plain(void) { return 2; }\n",
                 "",
                 {}},
                {"int inner() { return get_group_id(0); }\n", "", {}}},
               "-cl-mad-enable"});
  EXPECT_TRUE(kernel(program, "k").obstacles.empty());
  EXPECT_TRUE(kernel(program, "k").needsPartitionArgument);
  EXPECT_FALSE(kernel(program, "j").needsPartitionArgument);
  auto parts = parseLinkedProgram(program.partitionSource);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->options, "-cl-mad-enable");
  EXPECT_EQ(parts->units[0].options, "-DX");
  EXPECT_TRUE(contains(parts->units[0].text, "int outer(ulong16 libsplit_part);"));
  EXPECT_TRUE(contains(parts->units[0].text, "= plain();"));
  EXPECT_TRUE(contains(parts->units[1].text, "return inner(libsplit_part) + 1;"));
  EXPECT_TRUE(contains(parts->units[2].text, "int inner(ulong16 libsplit_part)"));
}

TEST(LinkedUnits, MayHaveFunctionsOfOneNameIfTheyAreStatic) {
  ProgramSummary program =
      analyze({{{"static int f(void) { return get_group_id(0); }\n"
                 "kernel void k(global int* a) { a[get_global_id(0)] = f(); }\n",
                 "",
                 {}},
                {"static int f(void) { return 1; }\n"
                 "kernel void j(global int* a) { a[get_global_id(0)] = f(); }\n",
                 "",
                 {}}},
               ""});
  EXPECT_TRUE(kernel(program, "k").needsPartitionArgument);
  EXPECT_FALSE(kernel(program, "j").needsPartitionArgument);
  EXPECT_TRUE(kernel(program, "j").obstacles.empty());
}

TEST(LinkedUnits, AreNotAnalysedIfTheyDoNotFitTogether) {
  const SourceUnit unit{"int f(void) { return 1; }\n", "", {}};
  EXPECT_NE(analyze({{unit, unit}, ""}).failure, "");
  EXPECT_NE(analyze({{unit, {"int g(void) { return }", "", {}}}, ""}).failure, "");
  ProgramInput damaged;
  damaged.text = serialize({{unit}, ""});
  damaged.text.pop_back();
  EXPECT_NE(analyzeProgram(damaged).failure, "");
}

} // namespace
} // namespace libsplit
