#include "analysis-pass/pass/bitcode_rewriter.h"

#include <gtest/gtest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

namespace libsplit {
namespace {

std::string assemble(const std::string& functions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString("target triple = \"spir64-unknown-unknown\"\n"
                                          "declare spir_func i64 @_Z12get_group_idj(i32)\n"
                                          "declare spir_func i64 @_Z13get_global_idj(i32)\n" +
                                              functions,
                                          error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  if (module)
    llvm::WriteBitcodeToFile(*module, out);
  return bitcode;
}

std::string disassemble(const std::string& bitcode) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile({bitcode, "rewritten"}, context);
  EXPECT_TRUE(static_cast<bool>(module));
  std::string text;
  llvm::raw_string_ostream out(text);
  if (module)
    out << **module;
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BitcodeRewriter, LeavesAKernelThatAsksForItsGlobalIdAlone) {
  PartitionRewrite rewrite =
      rewriteBitcode(assemble("define spir_kernel void @k(ptr addrspace(1) %a) {\n"
                              "  %i = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
                              "  store i64 %i, ptr addrspace(1) %a\n  ret void\n}\n"));
  EXPECT_EQ(rewrite.failure, "");
  EXPECT_TRUE(rewrite.kernels.empty());
  EXPECT_TRUE(rewrite.source.empty());
}

TEST(BitcodeRewriter, AsksTheDeviceForDimensionsBeyondTheThird) {
  PartitionRewrite rewrite =
      rewriteBitcode(assemble("define spir_kernel void @k(ptr addrspace(1) %a, i32 %d) {\n"
                              "  %i = call spir_func i64 @_Z12get_group_idj(i32 %d)\n"
                              "  %j = call spir_func i64 @_Z12get_group_idj(i32 3)\n"
                              "  %s = add i64 %i, %j\n"
                              "  store i64 %s, ptr addrspace(1) %a\n  ret void\n}\n"));
  EXPECT_EQ(rewrite.kernels, std::vector<std::string>{"k"});
  std::string text = disassemble(rewrite.source);
  EXPECT_TRUE(contains(text, "icmp ult i32 %d, 3")) << text;
  EXPECT_TRUE(contains(text, "%j = call spir_func i64 @_Z12get_group_idj(i32 3)")) << text;
}

TEST(BitcodeRewriter, PassesTheParameterOnToFunctionsThatCallFunctionsThatAsk) {
  PartitionRewrite rewrite = rewriteBitcode(
      assemble("define spir_func i64 @inner() {\n"
               "  %i = call spir_func i64 @_Z12get_group_idj(i32 1)\n  ret i64 %i\n}\n"
               "define spir_func i64 @outer(i64 %x) {\n"
               "  %i = call spir_func i64 @inner()\n  ret i64 %i\n}\n"
               "define spir_func i64 @other(i64 %x) {\n  ret i64 %x\n}\n"
               "define spir_kernel void @k(ptr addrspace(1) %a) {\n"
               "  %i = call spir_func i64 @outer(i64 1)\n"
               "  %j = call spir_func i64 @other(i64 %i)\n"
               "  store i64 %j, ptr addrspace(1) %a\n  ret void\n}\n"));
  ASSERT_EQ(rewrite.failure, "");
  std::string text = disassemble(rewrite.source);
  EXPECT_TRUE(contains(text, "@outer(i64 1, <16 x i64>")) << text;
  EXPECT_TRUE(contains(text, "@inner(<16 x i64>")) << text;
  EXPECT_TRUE(contains(text, "@other(i64 %i)")) << text;
}

// Else the back end passes the argument otherwise than PoCL's caller does.
TEST(BitcodeRewriter, SaysThatFunctionsTakeAWideVector) {
  PartitionRewrite rewrite = rewriteBitcode(
      assemble("define spir_func i64 @f() \"min-legal-vector-width\"=\"0\" {\n"
               "  %i = call spir_func i64 @_Z12get_group_idj(i32 1)\n  ret i64 %i\n}\n"
               "define spir_kernel void @k(ptr addrspace(1) %a) {\n"
               "  %i = call spir_func i64 @f()\n"
               "  store i64 %i, ptr addrspace(1) %a\n  ret void\n}\n"));
  std::string text = disassemble(rewrite.source);
  EXPECT_TRUE(contains(text, "\"min-legal-vector-width\"=\"1024\"")) << text;
  EXPECT_FALSE(contains(text, "\"min-legal-vector-width\"=\"0\"")) << text;
}

TEST(BitcodeRewriter, RefusesAFunctionPointerToWhatAsks) {
  PartitionRewrite rewrite =
      rewriteBitcode(assemble("define spir_kernel void @k(ptr addrspace(1) %a) {\n"
                              "  store ptr @_Z12get_group_idj, ptr addrspace(1) %a\n"
                              "  ret void\n}\n"));
  EXPECT_TRUE(contains(rewrite.failure, "used other than by a call")) << rewrite.failure;
  EXPECT_TRUE(rewrite.source.empty());
}

TEST(BitcodeRewriter, RefusesBitcodeThatCanNotBeRead) {
  std::string whole = assemble("define spir_kernel void @k() {\n  ret void\n}\n");
  EXPECT_NE(rewriteBitcode(whole.substr(0, whole.size() / 2)).failure, "");
  EXPECT_NE(rewriteBitcode("").failure, "");
}

// LLVM 15 reads `getelementptr` among LLVM 19's constants as undefined, and says nothing.
TEST(BitcodeRewriter, LetsInstructionsCalculateConstantAddresses) {
  const std::string tile = "@k.tile = internal addrspace(3) global [64 x i64] undef\n";
  PartitionRewrite rewrite =
      rewriteBitcode(assemble(tile + "define spir_kernel void @k(ptr addrspace(1) %a) {\n"
                                     "  %i = call spir_func i64 @_Z12get_group_idj(i32 0)\n"
                                     "  store i64 %i, ptr addrspace(3) getelementptr ([64 x i64], "
                                     "ptr addrspace(3) @k.tile, i64 0, i64 63)\n  ret void\n}\n"));
  EXPECT_EQ(rewrite.failure, "");
  const std::string text = disassemble(rewrite.source);
  EXPECT_TRUE(contains(text, "= getelementptr")) << text;
  EXPECT_FALSE(contains(text, "getelementptr (")) << text;
}

TEST(BitcodeRewriter, RefusesAVariableThatHoldsAnAddress) {
  PartitionRewrite rewrite = rewriteBitcode(
      assemble("@t = internal addrspace(2) constant [64 x i64] zeroinitializer\n"
               "@p = addrspace(2) constant { ptr addrspace(2) } { ptr addrspace(2) getelementptr "
               "([64 x i64], ptr addrspace(2) @t, i64 0, i64 63) }\n"
               "define spir_kernel void @k(ptr addrspace(1) %a) {\n"
               "  %i = call spir_func i64 @_Z12get_group_idj(i32 0)\n"
               "  store i64 %i, ptr addrspace(1) %a\n  ret void\n}\n"));
  EXPECT_TRUE(contains(rewrite.failure, "`p` holds an address")) << rewrite.failure;
  EXPECT_TRUE(rewrite.source.empty());
}

} // namespace
} // namespace libsplit
