#include "analysis-pass/summary/linked_program.h"
#include "analysis-pass/summary/program_kind.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

LinkedProgram example() {
  LinkedProgram program;
  program.options = "-cl-fast-relaxed-math";
  program.units.push_back({"kernel void k() {}\n", "-DA=1", {{"a.h", "12 x\n"}, {"b/c.h", ""}}});
  program.units.push_back({std::string("nul \0 inside", 12), "", {}});
  return program;
}

TEST(LinkedProgram, ComesBackAsItWas) {
  std::string text = serialize(example());
  EXPECT_EQ(kindOf(text), ProgramKind::Linked);
  EXPECT_EQ(parseLinkedProgram(text), example());
}

TEST(LinkedProgram, IsRefusedWhenCutAnywhere) {
  std::string text = serialize(example());
  const std::string firstUnit =
      serialize({{example().units[0]}, example().options}); // whole, but shorter
  for (std::size_t size = 0; size < text.size(); ++size) {
    if (size == firstUnit.size())
      continue;
    EXPECT_EQ(parseLinkedProgram(text.substr(0, size)), std::nullopt) << size;
  }
}

TEST(LinkedProgram, IsNotTakenForOpenclC) {
  EXPECT_EQ(parseLinkedProgram("kernel void k() {}"), std::nullopt);
  EXPECT_EQ(kindOf("kernel void k() {}"), ProgramKind::OpenclC);
}

} // namespace
} // namespace libsplit
