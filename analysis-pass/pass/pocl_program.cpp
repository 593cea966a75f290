#include "analysis-pass/pass/pocl_program.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/kernel_access_analysis.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include <vector>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

constexpr unsigned localSpace = 3;

/// The functions that name `value`, also within constant expressions.
void findUsers(const llvm::Value& value, llvm::SetVector<llvm::Function*>& functions) {
  llvm::SmallVector<const llvm::Value*> open{&value};
  llvm::SmallPtrSet<const llvm::Value*, 8> seen;
  while (!open.empty())
    for (const llvm::User* user : open.pop_back_val()->users()) {
      if (auto* instruction = dyn_cast<llvm::Instruction>(user))
        functions.insert(const_cast<llvm::Function*>(instruction->getFunction()));
      else if (seen.insert(user).second)
        open.push_back(user);
    }
}

/// Nothing is believed of it but what its name says.
void forgetEffects(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::Memory);
  for (llvm::User* user : function.users())
    if (auto* call = dyn_cast<llvm::CallBase>(user))
      call->removeFnAttr(llvm::Attribute::Memory);
}

/// The address space that OpenCL C gives the kernel's parameter, 0 for none or a private one.
unsigned spaceOf(const llvm::Argument& parameter) {
  const llvm::MDNode* spaces = parameter.getParent()->getMetadata("kernel_arg_addr_space");
  if (!parameter.getType()->isPointerTy() || parameter.hasByValAttr() || !spaces ||
      spaces->getNumOperands() != parameter.getParent()->arg_size())
    return 0;
  auto* space =
      llvm::mdconst::dyn_extract<llvm::ConstantInt>(spaces->getOperand(parameter.getArgNo()));
  return space ? static_cast<unsigned>(space->getZExtValue()) : 0;
}

/// `call` with its pointers in the address spaces of `callee`'s parameters.
void callInstead(llvm::CallInst& call, llvm::Function& callee) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<llvm::Value*> operands;
  for (auto [operand, parameter] : llvm::zip(call.args(), callee.args()))
    operands.push_back(operand->getType() == parameter.getType()
                           ? operand.get()
                           : builder.CreateAddrSpaceCast(operand, parameter.getType()));
  llvm::CallInst* other = builder.CreateCall(callee.getFunctionType(), &callee, operands);
  other->setCallingConv(call.getCallingConv());
  other->setAttributes(call.getAttributes());
  other->copyMetadata(call);
  call.replaceAllUsesWith(other);
  call.eraseFromParent();
}

void restoreParameters(llvm::Function& kernel) {
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Argument& parameter : kernel.args()) {
    const unsigned space = spaceOf(parameter);
    types.push_back(space == 0 ? parameter.getType()
                               : llvm::PointerType::get(kernel.getContext(), space));
  }
  auto* type = llvm::FunctionType::get(kernel.getReturnType(), types, /*isVarArg=*/false);
  if (type == kernel.getFunctionType())
    return;
  auto* result = llvm::Function::Create(type, kernel.getLinkage());
  kernel.getParent()->getFunctionList().insert(kernel.getIterator(), result);
  result->copyAttributesFrom(&kernel);
  result->copyMetadata(&kernel, 0);
  result->splice(result->begin(), &kernel);
  llvm::IRBuilder<> builder(&result->getEntryBlock(), result->getEntryBlock().begin());
  for (auto [before, after] : llvm::zip(kernel.args(), result->args())) {
    after.takeName(&before);
    before.replaceAllUsesWith(before.getType() == after.getType()
                                  ? static_cast<llvm::Value*>(&after)
                                  : builder.CreateAddrSpaceCast(&after, before.getType()));
  }
  result->takeName(&kernel);
  for (llvm::User* user : llvm::make_early_inc_range(kernel.users()))
    if (auto* call = dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == &kernel)
      callInstead(*call, *result);
  kernel.replaceAllUsesWith(llvm::PoisonValue::get(kernel.getType())); // what metadata says of it
  kernel.eraseFromParent();
}

/// Clang calls them so, and PoCL knows them by nothing else.
bool isLocalVariable(const llvm::GlobalVariable& variable) {
  auto [function, name] = variable.getName().split('.');
  const llvm::Function* owner = variable.getParent()->getFunction(function);
  return variable.hasLocalLinkage() && !variable.isConstant() && !name.empty() && owner &&
         isKernel(*owner);
}

void moveToLocalSpace(llvm::GlobalVariable& variable) {
  auto* moved = new llvm::GlobalVariable(*variable.getParent(), variable.getValueType(),
                                         /*isConstant=*/false, variable.getLinkage(),
                                         llvm::UndefValue::get(variable.getValueType()), "",
                                         &variable, llvm::GlobalValue::NotThreadLocal, localSpace);
  moved->setAlignment(variable.getAlign());
  moved->takeName(&variable);
  variable.replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(moved, variable.getType()));
  variable.eraseFromParent();
}

bool takesPointer(const llvm::Function& function) {
  return llvm::any_of(function.args(), [](const llvm::Argument& argument) {
    return argument.getType()->isPointerTy();
  });
}

/// Whether a vloadN or vstoreN has its vector in the IR, and not what the host passes instead.
bool hasOwnVector(llvm::StringRef name, const llvm::Function& function) {
  const bool isLoad = name.starts_with("vload");
  llvm::Type* data =
      isLoad ? function.getReturnType() : function.getFunctionType()->getParamType(0);
  auto* vector = dyn_cast<llvm::FixedVectorType>(data);
  name = name.drop_until([](char c) { return c >= '0' && c <= '9'; });
  unsigned lanes = 0;
  return vector && function.arg_size() == (isLoad ? 2 : 3) && !name.getAsInteger(10, lanes) &&
         vector->getNumElements() == lanes;
}

/// Whether the name of a built-in function says more than its body. Programs have functions of such
/// names as well, for other arguments: a read_imagef of a buffer.
bool isKnownByName(const llvm::Function& function) {
  const llvm::StringRef name = builtinName(function.getName());
  switch (classifyBuiltin(name).kind) {
  case BuiltinKind::IntegerMath:
  case BuiltinKind::PointerResult:
  case BuiltinKind::PointerCast:
    return false;
  case BuiltinKind::VectorLoad:
  case BuiltinKind::VectorStore: // the padding of three is not theirs
    return hasOwnVector(name, function);
  case BuiltinKind::Atomic: // of all others the body is one instruction
    return name == "atomic_cmpxchg" || name == "atom_cmpxchg";
  case BuiltinKind::Unknown: // no index comes from it
    return function.doesNotAccessMemory() && !takesPointer(function) &&
           function.getReturnType()->isFPOrFPVectorTy();
  case BuiltinKind::ImageQuery:
  case BuiltinKind::ImageRead:
  case BuiltinKind::ImageWrite:
    return takesImage(function.getName());
  case BuiltinKind::AsyncCopy:
  case BuiltinKind::AsyncStrided:
    return function.getName().ends_with("9ocl_event");
  case BuiltinKind::Harmless:
  case BuiltinKind::IdQuery:
  case BuiltinKind::WorkDim:
  case BuiltinKind::GlobalLinearId:
  case BuiltinKind::LocalLinearId:
    return !takesPointer(function);
  case BuiltinKind::Barrier:
  case BuiltinKind::GroupSensitive: // with a pointer they are an obstacle
  case BuiltinKind::Printf:
  case BuiltinKind::Pipe:
  case BuiltinKind::DeviceEnqueue:
    return true;
  }
  return false;
}

} // namespace

std::string detachLibrary(llvm::Module& module) {
  std::vector<llvm::GlobalVariable*> foreign;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.isDeclaration())
      foreign.push_back(&variable);
  llvm::SetVector<llvm::Function*> readers;
  for (const llvm::GlobalVariable* variable : foreign)
    findUsers(*variable, readers);
  for (unsigned i = 0; i < readers.size(); ++i) { // grows meanwhile
    llvm::Function& function = *readers[i];
    if (isKernel(function))
      return "PoCL's own variables are used in kernel `" + function.getName().str() + "`";
    if (function.hasLocalLinkage()) // it is not in the library under that name
      findUsers(function, readers);
  }
  for (llvm::Function* function : readers) {
    function->deleteBody();
    const llvm::StringRef name = builtinName(function->getName());
    if (classifyBuiltin(name).kind == BuiltinKind::Unknown)
      forgetEffects(*function);
  }
  for (llvm::Function* function : readers)
    if (function->use_empty())
      function->eraseFromParent();
  for (llvm::GlobalVariable* variable : foreign) {
    variable->removeDeadConstantUsers();
    if (!variable->use_empty())
      return "`" + variable->getName().str() + "` is used in an unforeseen way";
    variable->eraseFromParent();
  }
  return {};
}

void restoreSpirForm(llvm::Module& module) {
  std::vector<llvm::Function*> kernels;
  for (llvm::Function& function : module)
    if (isKernel(function))
      kernels.push_back(&function);
    else if (!function.isDeclaration() && function.getName().starts_with("_Z") &&
             isKnownByName(function))
      function.deleteBody();
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals()))
    if (isLocalVariable(variable))
      moveToLocalSpace(variable);
  for (llvm::Function* kernel : kernels)
    restoreParameters(*kernel);
}

} // namespace libsplit
