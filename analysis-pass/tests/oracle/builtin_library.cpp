#include "analysis-pass/tests/oracle/builtin_library.h"

#include "analysis-pass/pass/builtins.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

namespace libsplit::oracle {
namespace {

/// "_Z10_cl_vload4mPU8CLglobalKf" of "_Z6vload4mPU3AS1Kf": PoCL renames all built-ins, and mangles
/// address spaces by name. Pointers are flat there, so a generic one is as good as a global one.
std::string nameInLibrary(llvm::StringRef name) {
  llvm::StringRef plain = builtinName(name);
  if (plain.size() == name.size())
    return name.str();
  llvm::StringRef rest(plain.end(), static_cast<std::size_t>(name.end() - plain.end()));
  std::string result = "_Z" + std::to_string(plain.size() + 4) + "_cl_" + plain.str();
  while (!rest.empty()) {
    if (rest.consume_front("PU3AS1") || rest.consume_front("PU3AS4"))
      result += "PU8CLglobal";
    else if (rest.consume_front("PU3AS2"))
      result += "PU10CLconstant";
    else if (rest.consume_front("PU3AS3"))
      result += "PU7CLlocal";
    else if (rest.starts_with("P") && !rest.starts_with("PU") && rest.consume_front("P"))
      result += "PU9CLprivate";
    else {
      result += rest.front();
      rest = rest.drop_front();
    }
  }
  return result;
}

/// `value` as `type` of another shape but the same bytes: the library was compiled for the host's
/// calling convention, which passes a char4 as an int and a float8 in memory.
llvm::Value* reshaped(llvm::IRBuilder<>& code, llvm::Value* value, llvm::Type* type) {
  if (value->getType() == type)
    return value;
  if (value->getType()->isPointerTy() && type->isPointerTy())
    return code.CreateAddrSpaceCast(value, type);
  const llvm::DataLayout& layout = code.GetInsertBlock()->getModule()->getDataLayout();
  bool larger = layout.getTypeAllocSize(value->getType()) > layout.getTypeAllocSize(type);
  auto* room = code.CreateAlloca(larger ? value->getType() : type);
  room->setAlignment(llvm::Align(128));
  code.CreateStore(value, room);
  return code.CreateLoad(type, room);
}

/// Makes `function` call `target`, which does the same but takes its arguments as a host would.
void forward(llvm::Function& function, llvm::Function& target) {
  auto& context = function.getContext();
  llvm::IRBuilder<> code(llvm::BasicBlock::Create(context, "", &function));
  std::vector<llvm::Value*> arguments;
  llvm::AllocaInst* result = nullptr;
  if (target.hasStructRetAttr()) {
    result = code.CreateAlloca(function.getReturnType());
    result->setAlignment(llvm::Align(128));
    arguments.push_back(result);
  }
  for (llvm::Argument& argument : function.args()) {
    const llvm::Argument* wanted = target.getArg(static_cast<unsigned>(arguments.size()));
    if (wanted->hasByValAttr() && !argument.getType()->isPointerTy()) {
      auto* room = code.CreateAlloca(argument.getType());
      room->setAlignment(llvm::Align(128));
      code.CreateStore(&argument, room);
      arguments.push_back(room);
    } else {
      arguments.push_back(reshaped(code, &argument, wanted->getType()));
    }
  }
  llvm::CallInst* call = code.CreateCall(&target, arguments);
  call->setAttributes(target.getAttributes());
  if (result)
    code.CreateRet(code.CreateLoad(function.getReturnType(), result));
  else if (function.getReturnType()->isVoidTy())
    code.CreateRetVoid();
  else
    code.CreateRet(reshaped(code, call, function.getReturnType()));
  function.setAttributes({});
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// The library asks for ids and sizes by variables that PoCL sets: `_local_id_x`.
void replaceWorkItemVariables(llvm::Module& module) {
  auto& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt64Ty(context),
                                       {llvm::Type::getInt32Ty(context)}, false);
  for (const auto& [prefix, function] : {std::pair{"_local_id_", "_Z12get_local_idj"},
                                         {"_group_id_", "_Z12get_group_idj"},
                                         {"_local_size_", "_Z14get_local_sizej"},
                                         {"_num_groups_", "_Z14get_num_groupsj"},
                                         {"_global_offset_", "_Z17get_global_offsetj"}})
    for (unsigned d = 0; d < 3; ++d) {
      auto* variable = module.getGlobalVariable(std::string(prefix) + "xyz"[d]);
      if (!variable)
        continue;
      for (llvm::User* user : llvm::make_early_inc_range(variable->users()))
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
          llvm::IRBuilder<> code(load);
          auto* answer =
              code.CreateCall(module.getOrInsertFunction(function, type), {code.getInt32(d)});
          load->replaceAllUsesWith(answer);
          load->eraseFromParent();
        }
    }
}

} // namespace

std::string linkBuiltins(llvm::Module& module, const std::vector<std::string>& supplied) {
  std::vector<llvm::Function*> open;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !llvm::is_contained(supplied, function.getName()))
      open.push_back(&function);
  if (open.empty())
    return {};

  auto file = llvm::MemoryBuffer::getFile(LIBSPLIT_POCL_BUILTINS);
  if (!file)
    return std::string("can't read ") + LIBSPLIT_POCL_BUILTINS;
  auto library = llvm::getLazyBitcodeModule((*file)->getMemBufferRef(), module.getContext());
  if (!library) {
    llvm::consumeError(library.takeError());
    return "PoCL's library of built-ins can't be read";
  }
  for (llvm::Function* function : open) {
    std::string name = nameInLibrary(function->getName());
    llvm::Function* found = (*library)->getFunction(name);
    if (!found)
      return "no built-in function " + function->getName().str();
    auto* target = llvm::Function::Create(found->getFunctionType(),
                                          llvm::GlobalValue::ExternalLinkage, name, module);
    target->setAttributes(found->getAttributes());
    forward(*function, *target);
  }
  // What the machine supplies is not the library's to define.
  for (const std::string& name : supplied)
    if (llvm::Function* found = (*library)->getFunction(name))
      found->setName("pocl." + name);
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return "PoCL's built-ins can't be linked";
  // One calling convention for all: how vectors are passed depends on what the processor has.
  for (llvm::Function& function : module)
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(attribute);
  replaceWorkItemVariables(module);
  return {};
}

} // namespace libsplit::oracle
