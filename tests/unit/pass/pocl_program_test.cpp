#include "analysis-pass/pass/pocl_program.h"

#include <gtest/gtest.h>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>

namespace libsplit {
namespace {

/// As PoCL's binaries have it: a kernel, a local variable of it, and built-in functions.
const std::string kernel =
    "@k.x = internal global [64 x float] undef\n"
    "@_group_id_x = external global i64\n"
    "define i64 @_Z12get_group_idj(i32 %d) {\n"
    "  %i = load i64, ptr @_group_id_x\n  ret i64 %i\n}\n"
    "declare void @pocl.barrier()\n"
    "define void @_Z7barrierj(i32 %f) {\n  call void @pocl.barrier()\n  ret void\n}\n"
    "define float @_Z7_cl_sinf(float %x) memory(none) {\n  ret float %x\n}\n"
    "define i32 @_Z7_cl_maxii(i32 %a, i32 %b) memory(none) {\n"
    "  %c = icmp sgt i32 %a, %b\n  %m = select i1 %c, i32 %a, i32 %b\n  ret i32 %m\n}\n"
    "define spir_kernel void @k(ptr %out, ptr %l, float %f, i32 %n) !kernel_arg_addr_space !0 {\n"
    "  %i = call i64 @_Z12get_group_idj(i32 0)\n"
    "  call void @_Z7barrierj(i32 1)\n"
    "  %s = call float @_Z7_cl_sinf(float %f)\n"
    "  %m = call i32 @_Z7_cl_maxii(i32 %n, i32 3)\n"
    "  store float %s, ptr @k.x\n"
    "  %p = getelementptr float, ptr %out, i64 %i\n"
    "  store float %s, ptr %p\n  ret void\n}\n"
    "!0 = !{i32 1, i32 3, i32 0, i32 0}\n";

struct Case {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;

  explicit Case(const std::string& assembly) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(assembly, error, context);
    EXPECT_TRUE(module) << error.getMessage().str();
  }
  bool isDeclared(const std::string& name) const {
    const llvm::Function* function = module->getFunction(name);
    return function && function->isDeclaration();
  }
  bool isValid() const { return !llvm::verifyModule(*module, &llvm::errs()); }
};

TEST(PoclProgram, LosesWhatReadsTheDevicesOwnVariables) {
  Case program(kernel);
  EXPECT_EQ(detachLibrary(*program.module), "");
  EXPECT_TRUE(program.isValid());
  EXPECT_TRUE(program.isDeclared("_Z12get_group_idj"));
  EXPECT_EQ(program.module->getNamedGlobal("_group_id_x"), nullptr);
  EXPECT_FALSE(program.isDeclared("_Z7_cl_sinf")); // what is whole stays so
  EXPECT_FALSE(program.isDeclared("_Z7barrierj"));
}

TEST(PoclProgram, GetsItsAddressSpacesBack) {
  Case program(kernel);
  EXPECT_EQ(detachLibrary(*program.module), "");
  restoreSpirForm(*program.module);
  EXPECT_TRUE(program.isValid());
  const llvm::Function* k = program.module->getFunction("k");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->getCallingConv(), llvm::CallingConv::SPIR_KERNEL);
  EXPECT_EQ(k->getArg(0)->getType()->getPointerAddressSpace(), 1u);
  EXPECT_EQ(k->getArg(1)->getType()->getPointerAddressSpace(), 3u);
  EXPECT_TRUE(k->getArg(2)->getType()->isFloatTy());
  const llvm::GlobalVariable* x = program.module->getNamedGlobal("k.x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->getAddressSpace(), 3u);
  EXPECT_TRUE(program.isDeclared("_Z7barrierj"));
  EXPECT_TRUE(program.isDeclared("_Z7_cl_sinf"));
  EXPECT_FALSE(program.isDeclared("_Z7_cl_maxii")); // an index may come from it
}

// Who gives a function of his own a built-in's name knows better what it does.
TEST(PoclProgram, KeepsTheProgramsOwnFunctions) {
  Case program("define float @_Z15get_image_pixelPU8CLglobalKfi(ptr %p, i32 %i) {\n"
               "  %f = load float, ptr %p\n  ret float %f\n}\n"
               "define float @_Z15_cl_read_imagefPU8CLglobalKfi(ptr %p, i32 %i) {\n"
               "  %f = load float, ptr %p\n  ret float %f\n}\n"
               "define void @_Z8prefetchPU8CLglobali(ptr %p) {\n"
               "  store i32 1, ptr %p\n  ret void\n}\n"
               "define i32 @_Z15get_image_width14ocl_image2d_ro(ptr %p) {\n"
               "  %w = load i32, ptr %p\n  ret i32 %w\n}\n"
               "define spir_kernel void @k(ptr %out) !kernel_arg_addr_space !0 {\n"
               "  ret void\n}\n"
               "!0 = !{i32 1}\n");
  restoreSpirForm(*program.module);
  EXPECT_FALSE(program.isDeclared("_Z15get_image_pixelPU8CLglobalKfi"));
  EXPECT_FALSE(program.isDeclared("_Z15_cl_read_imagefPU8CLglobalKfi"));
  EXPECT_FALSE(program.isDeclared("_Z8prefetchPU8CLglobali"));
  EXPECT_TRUE(program.isDeclared("_Z15get_image_width14ocl_image2d_ro"));
}

TEST(PoclProgram, IsRefusedIfAKernelReadsTheDevicesVariablesItself) {
  Case program("@_group_id_x = external global i64\n"
               "define internal i64 @group() {\n"
               "  %i = load i64, ptr @_group_id_x\n  ret i64 %i\n}\n"
               "define spir_kernel void @k(ptr %out) !kernel_arg_addr_space !0 {\n"
               "  %i = call i64 @group()\n  store i64 %i, ptr %out\n  ret void\n}\n"
               "!0 = !{i32 1}\n");
  EXPECT_NE(detachLibrary(*program.module).find("in kernel `k`"), std::string::npos);
}

// Nobody has told what it does; that the compiler says it touches no memory may rest on its body.
TEST(PoclProgram, BelievesNothingOfAFunctionThatItDoesNotKnow) {
  Case program("@_group_id_x = external constant i64\n"
               "define i64 @_Z7strangev() memory(none) {\n"
               "  %i = load i64, ptr @_group_id_x\n  ret i64 %i\n}\n"
               "define spir_kernel void @k(ptr %out) !kernel_arg_addr_space !0 {\n"
               "  %i = call i64 @_Z7strangev() memory(none)\n"
               "  store i64 %i, ptr %out\n  ret void\n}\n"
               "!0 = !{i32 1}\n");
  EXPECT_EQ(detachLibrary(*program.module), "");
  const llvm::Function* strange = program.module->getFunction("_Z7strangev");
  ASSERT_NE(strange, nullptr);
  EXPECT_FALSE(strange->doesNotAccessMemory());
  for (const llvm::User* user : strange->users())
    EXPECT_FALSE(llvm::cast<llvm::CallBase>(user)->doesNotAccessMemory());
}

} // namespace
} // namespace libsplit
