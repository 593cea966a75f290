#include "analysis-pass/pass/spirv_rewriter.h"

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace libsplit {
namespace {

const spvtools::SpirvTools& tools() {
  static const spvtools::SpirvTools instance(SPV_ENV_UNIVERSAL_1_0);
  return instance;
}

std::string assemble(const std::string& text) {
  std::vector<std::uint32_t> words;
  EXPECT_TRUE(tools().Assemble(text, &words));
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

std::string disassemble(const std::string& module) {
  std::vector<std::uint32_t> words(module.size() / sizeof(std::uint32_t));
  std::copy_n(module.data(), module.size(), reinterpret_cast<char*>(words.data()));
  std::string text;
  EXPECT_TRUE(tools().Disassemble(words, &text,
                                  SPV_BINARY_TO_TEXT_OPTION_NO_HEADER |
                                      SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES));
  return text;
}

/// A kernel that stores a work-item variable, read by `body` into %value, at a[value.x].
std::string kernel(const std::string& builtIn, const std::string& body,
                   const std::string& addressing = "Physical64") {
  return assemble("OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\n"
                  "OpMemoryModel " +
                  addressing +
                  " OpenCL\n"
                  "OpEntryPoint Kernel %k \"k\" %item\n"
                  "OpDecorate %item Constant\nOpDecorate %item BuiltIn " +
                  builtIn +
                  "\n%void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%ulong = OpTypeInt 64 0\n"
                  "%v3ulong = OpTypeVector %ulong 3\n%in_v3 = OpTypePointer Input %v3ulong\n"
                  "%in_ulong = OpTypePointer Input %ulong\n"
                  "%buffer = OpTypePointer CrossWorkgroup %ulong\n"
                  "%type = OpTypeFunction %void %buffer\n%zero = OpConstant %uint 0\n"
                  "%item = OpVariable %in_v3 Input\n"
                  "%k = OpFunction %void None %type\n%a = OpFunctionParameter %buffer\n"
                  "%entry = OpLabel\n" +
                  body +
                  "%place = OpInBoundsPtrAccessChain %buffer %a %value\n"
                  "OpStore %place %value Aligned 8\nOpReturn\nOpFunctionEnd\n");
}

const char* const byLoad = "%all = OpLoad %v3ulong %item\n"
                           "%value = OpCompositeExtract %ulong %all 0\n";

TEST(SpirvRewriter, GivesAKernelThatAsksForItsGroupOneMoreParameter) {
  PartitionRewrite rewrite = rewriteSpirv(kernel("WorkgroupId", byLoad));
  EXPECT_EQ(rewrite.failure, "");
  EXPECT_EQ(rewrite.kernels, std::vector<std::string>{"k"});
  std::string text = disassemble(rewrite.source);
  EXPECT_NE(text.find("OpCapability Vector16"), std::string::npos) << text;
  EXPECT_NE(text.find("OpFunctionParameter %v16ulong"), std::string::npos) << text;
  EXPECT_NE(text.find("OpIAdd %v3ulong"), std::string::npos) << text;
}

TEST(SpirvRewriter, AnswersSizesFromTheParameterAlone) {
  for (const char* builtIn : {"NumWorkgroups", "GlobalSize", "GlobalOffset"}) {
    std::string text = disassemble(rewriteSpirv(kernel(builtIn, byLoad)).source);
    EXPECT_NE(text.find("OpVectorShuffle %v3ulong"), std::string::npos) << text;
    EXPECT_EQ(text.find("OpLoad %v3ulong"), std::string::npos) << text;
  }
}

TEST(SpirvRewriter, LeavesAloneWhatAPartAnswersRight) {
  for (const char* builtIn : {"GlobalInvocationId", "LocalInvocationId", "WorkgroupSize"}) {
    PartitionRewrite rewrite = rewriteSpirv(kernel(builtIn, byLoad));
    EXPECT_EQ(rewrite.failure, "");
    EXPECT_EQ(rewrite.source, "");
    EXPECT_TRUE(rewrite.kernels.empty());
  }
}

TEST(SpirvRewriter, RefusesAWorkItemVariableThatIsReadInParts) {
  PartitionRewrite rewrite =
      rewriteSpirv(kernel("WorkgroupId", "%first = OpInBoundsAccessChain %in_ulong %item %zero\n"
                                         "%value = OpLoad %ulong %first\n"));
  EXPECT_EQ(rewrite.source, "");
  EXPECT_EQ(rewrite.failure, "a work-item variable is used other than by a load of all of it");
}

TEST(SpirvRewriter, RefusesOtherAddressSizes) {
  PartitionRewrite rewrite = rewriteSpirv(kernel("WorkgroupId", byLoad, "Physical32"));
  EXPECT_EQ(rewrite.source, "");
  EXPECT_NE(rewrite.failure, "");
}

TEST(SpirvRewriter, RefusesWhatIsDamagedAnywhere) {
  const std::string module = kernel("WorkgroupId", byLoad);
  for (std::size_t size = 0; size < module.size(); ++size) {
    PartitionRewrite rewrite = rewriteSpirv(module.substr(0, size));
    EXPECT_TRUE(rewrite.source.empty()) << size;
  }
  // Words that are not what they were: any answer but a crash.
  for (std::size_t at = 0; at < module.size(); ++at) {
    std::string damaged = module;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    rewriteSpirv(damaged);
  }
}

} // namespace
} // namespace libsplit
