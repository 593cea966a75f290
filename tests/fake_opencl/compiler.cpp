// fake_cc: the compiler of the fake OpenCL. OpenCL C in, a shared object out.
//
//   fake_cc OUTPUT.so "BUILD OPTIONS" < program.cl
//
// The front end is splitc's, the built-in functions are PoCL's; kernels run on the host. The shared
// object holds, for each kernel, `fake_entry_NAME(void** arguments)`, and a text `fake_kernels`
// that tells the driver about them:
//
//   kernel NAME 16 1 1 4096 1 0   required local size (or 0 0 0), bytes of local memory, barriers,
//                                 whether the last work-groups may be smaller
//   arg global 0 8 x float*       address space, is const, size in bytes, name, type
//
// A kernel that the host can't run (images, pipes) is left out. Exit status: 0, or 1 with Clang's
// message on stderr.
#include "analysis-pass/pass/front_end.h"
#include "analysis-pass/tests/oracle/builtin_library.h"
#include "analysis-pass/tests/oracle/host_module.h"
#include "tests/fake_opencl/host_functions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <filesystem>
#include <iostream>
#include <iterator>

namespace {

using namespace libsplit;

/// Defines the functions of the driver as calls through its table.
void callThroughTable(llvm::Module& module) {
  auto& context = module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::ArrayType::get(pointer, fake::hostFunctionNames.size());
  auto* table = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage,
                                         nullptr, fake::tableSymbol);
  for (std::size_t i = 0; i < fake::hostFunctionNames.size(); ++i) {
    llvm::Function* function = module.getFunction(fake::hostFunctionNames[i]);
    if (!function || !function->isDeclaration())
      continue;
    llvm::IRBuilder<> code(llvm::BasicBlock::Create(context, "", function));
    auto* target = code.CreateLoad(pointer, code.CreateConstGEP2_64(type, table, 0, i));
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function->args())
      arguments.push_back(&argument);
    llvm::CallInst* call = code.CreateCall(function->getFunctionType(), target, arguments);
    if (call->getType()->isVoidTy())
      code.CreateRetVoid();
    else
      code.CreateRet(call);
    // What the front end promised of a built-in does not hold of a call that may wait.
    function->removeFnAttr(llvm::Attribute::Memory);
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// A division by zero gives anything, and must not end the process.
void makeDivisionsHarmless(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const unsigned opcode = instruction.getOpcode();
      const bool isSigned = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
      if (!isSigned && opcode != llvm::Instruction::UDiv && opcode != llvm::Instruction::URem)
        continue;
      llvm::IRBuilder<> code(&instruction);
      llvm::Value* divisor = instruction.getOperand(1);
      llvm::Type* type = divisor->getType();
      auto isOneOf = [&](llvm::Constant* value) { return code.CreateICmpEQ(divisor, value); };
      llvm::Value* harmful = isOneOf(llvm::Constant::getNullValue(type));
      if (isSigned)
        harmful = code.CreateOr(harmful, isOneOf(llvm::Constant::getAllOnesValue(type)));
      // By -1: the negative, which for the least number is itself.
      llvm::Value* tame = code.CreateSelect(harmful, llvm::ConstantInt::get(type, 1), divisor);
      if (opcode == llvm::Instruction::SDiv) {
        llvm::Value* dividend = instruction.getOperand(0);
        instruction.setOperand(0, code.CreateSelect(isOneOf(llvm::Constant::getAllOnesValue(type)),
                                                    code.CreateNeg(dividend), dividend));
      }
      instruction.setOperand(1, tame);
    }
}

bool usesBarriers(const llvm::Module& module) {
  for (std::size_t i = 0; i < fake::hostFunctionNames.size(); ++i)
    if (const llvm::Function* function = module.getFunction(fake::hostFunctionNames[i]))
      if (fake::isBarrier(i) && !function->use_empty())
        return true;
  return false;
}

std::string textOf(const llvm::Function& kernel, const char* kind, unsigned i) {
  const llvm::MDNode* node = kernel.getMetadata(kind);
  if (!node || i >= node->getNumOperands())
    return {};
  if (auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(i)))
    return text->getString().str();
  return {};
}

std::uint64_t numberOf(const llvm::Function& kernel, const char* kind, unsigned i) {
  const llvm::MDNode* node = kernel.getMetadata(kind);
  if (!node || i >= node->getNumOperands())
    return 0;
  return llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i))->getZExtValue();
}

/// What the driver is told of a kernel. `module` still holds it alone, in SPIR's address spaces.
std::string describe(const llvm::Function& kernel, const llvm::Module& module, bool mayBeUneven) {
  const llvm::DataLayout& layout = module.getDataLayout();
  std::uint64_t local = 0;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == 3)
      local += layout.getTypeAllocSize(variable.getValueType());
  std::string text = "kernel " + kernel.getName().str();
  for (unsigned d = 0; d < 3; ++d)
    text += " " + std::to_string(numberOf(kernel, "reqd_work_group_size", d));
  text += " " + std::to_string(local) + (usesBarriers(module) ? " 1" : " 0") +
          (mayBeUneven ? " 1\n" : " 0\n");
  for (const llvm::Argument& argument : kernel.args()) {
    const unsigned i = argument.getArgNo();
    static constexpr const char* spaces[] = {"private", "global", "constant", "local"};
    const std::uint64_t space = numberOf(kernel, "kernel_arg_addr_space", i);
    llvm::Type* type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    const bool isConst =
        textOf(kernel, "kernel_arg_type_qual", i).find("const") != std::string::npos;
    text += std::string("arg ") + spaces[space < 4 ? space : 1] + (isConst ? " 1 " : " 0 ") +
            std::to_string(layout.getTypeAllocSize(type)) + " " + argument.getName().str() + " " +
            textOf(kernel, "kernel_arg_type", i) + "\n";
  }
  return text;
}

void emit(llvm::Module& module, llvm::TargetMachine& machine, const std::string& path) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, modules);

  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  llvm::legacy::PassManager passes;
  if (error ||
      machine.addPassesToEmitFile(passes, file, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("can't write " + path);
  passes.run(module);
}

/// A module that is nothing but the table and the text about the kernels.
std::unique_ptr<llvm::Module> driverFace(llvm::LLVMContext& context, const std::string& kernels) {
  auto module = std::make_unique<llvm::Module>("face", context);
  auto* type =
      llvm::ArrayType::get(llvm::PointerType::get(context, 0), fake::hostFunctionNames.size());
  new llvm::GlobalVariable(*module, type, false, llvm::GlobalValue::ExternalLinkage,
                           llvm::Constant::getNullValue(type), fake::tableSymbol);
  auto* text = llvm::ConstantDataArray::getString(context, kernels);
  new llvm::GlobalVariable(*module, text->getType(), true, llvm::GlobalValue::ExternalLinkage, text,
                           fake::kernelsSymbol);
  return module;
}

int compileProgram(const std::string& output, const std::string& options) {
  ProgramInput input;
  input.text.assign(std::istreambuf_iterator<char>(std::cin), {});
  input.options = parseBuildOptions(splitOptions(options));
  input.device.defines = {"__ENDIAN_LITTLE__=1"};
  CompiledProgram compiled = compile(input);
  while (!compiled.unknownMacros.empty()) { // there are none but those that it was given
    auto& undefines = input.device.undefines;
    undefines.insert(undefines.end(), compiled.unknownMacros.begin(), compiled.unknownMacros.end());
    compiled = compile(input);
  }
  if (!compiled.module) {
    std::cerr << compiled.failure << "\n";
    return 1;
  }

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string why;
  const std::string triple = llvm::sys::getDefaultTargetTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  std::unique_ptr<llvm::TargetMachine> machine(
      target ? target->createTargetMachine(triple, "x86-64-v2", "", {}, llvm::Reloc::PIC_)
             : nullptr);
  if (!machine)
    throw std::runtime_error("no code generator: " + why);

  std::string kernels;
  std::vector<std::string> objects;
  auto add = [&](llvm::Module& module) {
    module.setTargetTriple(triple);
    module.setDataLayout(machine->createDataLayout());
    objects.push_back(output + "." + std::to_string(objects.size()) + ".o");
    emit(module, *machine, objects.back());
  };
  const std::vector<std::string> supplied(fake::hostFunctionNames.begin(),
                                          fake::hostFunctionNames.end());
  for (const llvm::Function& function : *compiled.module) {
    if (function.isDeclaration() || function.getCallingConv() != llvm::CallingConv::SPIR_KERNEL)
      continue;
    const std::string name = function.getName().str();
    auto module = oracle::extractKernel(*compiled.module, name);
    if (!module)
      continue;
    const std::string description =
        describe(*module->getFunction(name), *module, languageVersion(input) >= 200);
    module->setTargetTriple(triple);
    module->setDataLayout(machine->createDataLayout());
    oracle::useHostConventions(*module);
    if (std::string missing = oracle::linkBuiltins(*module, supplied); !missing.empty()) {
      std::cerr << name << ": " << missing << "\n";
      continue;
    }
    oracle::useHostConventions(*module);
    for (llvm::Function& each : *module)
      if (!each.isDeclaration()) {
        each.setComdat(nullptr);
        each.setLinkage(llvm::GlobalValue::InternalLinkage);
      }
    makeDivisionsHarmless(*module);
    callThroughTable(*module);
    oracle::addEntry(*module->getFunction(name), fake::entryPrefix + name);
    kernels += description;
    add(*module);
  }
  add(*driverFace(*compiled.context, kernels));
  compiled.module.reset(); // before its context

  auto linker = llvm::sys::findProgramByName("cc");
  if (!linker)
    throw std::runtime_error("no linker");
  std::vector<llvm::StringRef> arguments = {*linker, "-shared", "-o", output};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  arguments.push_back("-lm");
  const int status = llvm::sys::ExecuteAndWait(*linker, arguments);
  for (const std::string& object : objects)
    std::filesystem::remove(object);
  return status == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: fake_cc OUTPUT.so \"BUILD OPTIONS\" < program.cl\n";
    return 1;
  }
  try {
    return compileProgram(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "fake_cc: " << error.what() << "\n";
    return 1;
  }
}
