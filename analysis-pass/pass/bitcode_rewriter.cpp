#include "analysis-pass/pass/bitcode_rewriter.h"

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/ir_program.h"
#include "analysis-pass/pass/kernel_access_analysis.h"
#include "analysis-pass/summary/partition_argument.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <memory>
#include <stdexcept>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using namespace partition_word;

bool holdsAddress(const llvm::Constant& constant, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  if (isa<llvm::GEPOperator>(constant))
    return true;
  return seen.insert(&constant).second && !isa<llvm::GlobalValue>(constant) &&
         llvm::any_of(constant.operands(), [&](const llvm::Use& operand) {
           return holdsAddress(*cast<llvm::Constant>(operand), seen);
         });
}

/// Calculated addresses among the constants become instructions: LLVM 19 writes them in a form for
/// which older readers put an undefined value, and don't say so.
void calculateAddresses(llvm::Module& module) {
  llvm::SmallVector<llvm::Constant*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.hasInitializer() && holdsAddress(*variable.getInitializer(), seen))
      throw Refusal("`" + variable.getName().str() +
                    "` holds an address, which an older LLVM can't read");
}

void dropWhatOldReadersDontKnow(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  calculateAddresses(module);
  for (llvm::Function& function : module) {
    if (function.isIntrinsic())
      function.setAttributes({}); // each reader gives an intrinsic its own
    function.removeFnAttr(llvm::Attribute::Memory);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = dyn_cast<llvm::CallBase>(&instruction))
        call->removeFnAttr(llvm::Attribute::Memory);
  }
}

std::string written(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  return bitcode;
}

class Rewriter {
public:
  explicit Rewriter(llvm::Module& module)
      : module_(module),
        part_(llvm::FixedVectorType::get(llvm::Type::getInt64Ty(module.getContext()), 16)) {}

  PartitionRewrite run();

private:
  void findNeedy();
  void noteCallers(const llvm::Function& callee);
  llvm::Function* withParameter(llvm::Function& function);
  void extendArgumentLists(llvm::Function& kernel);
  void passOn(llvm::CallInst& call, llvm::Function& callee);
  void answer(llvm::CallInst& call);
  llvm::Value* linearId(llvm::CallInst& call, llvm::IRBuilder<>& builder, llvm::Value* part);

  llvm::Module& module_;
  llvm::FixedVectorType* part_;
  llvm::SetVector<llvm::Function*> misleading_; ///< declarations of work-item functions
  llvm::SetVector<llvm::Function*> needy_;
};

/// The functions that call `callee` are needy. It must not be used otherwise.
void Rewriter::noteCallers(const llvm::Function& callee) {
  for (const llvm::Use& use : callee.uses()) {
    auto* call = dyn_cast<llvm::CallInst>(use.getUser());
    if (!call || !call->isCallee(&use) || call->getFunctionType() != callee.getFunctionType())
      throw Refusal("`" + callee.getName().str() + "` is used other than by a call");
    needy_.insert(call->getFunction());
  }
}

void Rewriter::findNeedy() {
  for (llvm::Function& function : module_)
    if (function.isDeclaration() &&
        classifyBuiltin(builtinName(function.getName())).needsPartitionArgument)
      misleading_.insert(&function);
  for (llvm::Function* function : misleading_)
    noteCallers(*function);
  for (unsigned i = 0; i < needy_.size(); ++i) // grows meanwhile
    noteCallers(*needy_[i]);
}

/// Clang notes the width of the widest vector that a function takes or hands on. Back ends pass
/// wider ones otherwise, and caller and callee then disagree unless one is inlined.
void allowWideVector(llvm::Function& function) {
  constexpr llvm::StringLiteral name = "min-legal-vector-width";
  constexpr unsigned width = 16 * 64;
  unsigned known = 0;
  if (llvm::Attribute attribute = function.getFnAttribute(name);
      attribute.isValid() && !attribute.getValueAsString().getAsInteger(10, known) && known < width)
    function.addFnAttr(name, std::to_string(width));
}

/// `function` with the trailing parameter, in its place.
llvm::Function* Rewriter::withParameter(llvm::Function& function) {
  if (function.isVarArg())
    throw Refusal("a function of variable arguments asks for group ids or sizes");
  llvm::SmallVector<llvm::Type*> types(function.getFunctionType()->params());
  types.push_back(part_);
  auto* type = llvm::FunctionType::get(function.getReturnType(), types, /*isVarArg=*/false);
  auto* result = llvm::Function::Create(type, function.getLinkage(), function.getAddressSpace());
  module_.getFunctionList().insert(function.getIterator(), result);
  result->copyAttributesFrom(&function);
  result->setComdat(function.getComdat());
  result->copyMetadata(&function, 0);
  result->splice(result->begin(), &function);
  for (auto [before, after] : llvm::zip(function.args(), result->args())) {
    before.replaceAllUsesWith(&after);
    after.takeName(&before);
  }
  result->takeName(&function);
  allowWideVector(*result);
  if (isKernel(*result))
    extendArgumentLists(*result);
  return result;
}

/// What clGetKernelArgInfo tells, and what drivers read of the arguments.
void Rewriter::extendArgumentLists(llvm::Function& kernel) {
  llvm::LLVMContext& context = module_.getContext();
  auto text = [&](const char* word) -> llvm::Metadata* {
    return llvm::MDString::get(context, word);
  };
  auto* space =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 0));
  const std::pair<const char*, llvm::Metadata*> lists[] = {
      {"kernel_arg_addr_space", space},     {"kernel_arg_access_qual", text("none")},
      {"kernel_arg_type", text("ulong16")}, {"kernel_arg_base_type", text("ulong16")},
      {"kernel_arg_type_qual", text("")},   {"kernel_arg_name", text("libsplit_part")}};
  for (auto [name, entry] : lists)
    if (const llvm::MDNode* list = kernel.getMetadata(name)) {
      llvm::SmallVector<llvm::Metadata*> entries(list->operands());
      entries.push_back(entry);
      kernel.setMetadata(name, llvm::MDNode::get(context, entries));
    }
}

/// The trailing parameter of the function that `instruction` stands in.
llvm::Argument* partIn(const llvm::Instruction& instruction) {
  const llvm::Function* function = instruction.getFunction();
  return function->getArg(static_cast<unsigned>(function->arg_size()) - 1);
}

void Rewriter::passOn(llvm::CallInst& call, llvm::Function& callee) {
  llvm::SmallVector<llvm::Value*> operands(call.args());
  operands.push_back(partIn(call));
  llvm::SmallVector<llvm::OperandBundleDef> bundles;
  call.getOperandBundlesAsDefs(bundles);
  auto* longer = llvm::CallInst::Create(callee.getFunctionType(), &callee, operands, bundles, "",
                                        call.getIterator());
  longer->takeName(&call);
  longer->setCallingConv(call.getCallingConv());
  longer->setAttributes(call.getAttributes());
  longer->setTailCallKind(call.getTailCallKind());
  if (isa<llvm::FPMathOperator>(call))
    longer->copyFastMathFlags(&call);
  longer->copyMetadata(call);
  call.replaceAllUsesWith(longer);
  call.eraseFromParent();
}

/// The id without the offset, as one number: ((z * sizeY) + y) * sizeX + x.
llvm::Value* Rewriter::linearId(llvm::CallInst& call, llvm::IRBuilder<>& builder,
                                llvm::Value* part) {
  auto* type = llvm::FunctionType::get(builder.getInt64Ty(), {builder.getInt32Ty()}, false);
  const llvm::Function* linear = call.getCalledFunction();
  auto* globalId =
      dyn_cast<llvm::Function>(module_.getOrInsertFunction("_Z13get_global_idj", type).getCallee());
  if (!globalId || globalId->getFunctionType() != type)
    throw Refusal("get_global_id is declared otherwise than OpenCL C has it");
  if (globalId->use_empty()) {
    globalId->setCallingConv(linear->getCallingConv());
    globalId->setAttributes(linear->getAttributes());
  }
  auto word = [&](unsigned at) { return builder.CreateExtractElement(part, at); };
  auto from0 = [&](unsigned d) {
    llvm::CallInst* id = builder.CreateCall(globalId, {builder.getInt32(d)});
    id->setCallingConv(globalId->getCallingConv());
    return builder.CreateSub(id, word(GlobalOffset + d));
  };
  llvm::Value* rows = builder.CreateMul(from0(2), word(GlobalSize + 1));
  llvm::Value* row = builder.CreateAdd(rows, from0(1));
  return builder.CreateAdd(builder.CreateMul(row, word(GlobalSize)), from0(0));
}

/// Puts the whole NDRange's answer in the place of a work-item function's.
void Rewriter::answer(llvm::CallInst& call) {
  llvm::Argument* part = partIn(call);
  llvm::StringRef name = builtinName(call.getCalledFunction()->getName());
  const bool isLinear = name == "get_global_linear_id";
  if (!call.getType()->isIntegerTy(64) || call.arg_size() != (isLinear ? 0 : 1) ||
      (!isLinear && !call.getArgOperand(0)->getType()->isIntegerTy(32)))
    throw Refusal("`" + name.str() + "` is declared otherwise than OpenCL C has it");

  llvm::IRBuilder<> builder(&call);
  if (isLinear) {
    call.replaceAllUsesWith(linearId(call, builder, part));
    call.eraseFromParent();
    return;
  }
  const bool isGroup = name == "get_group_id";
  unsigned first = isGroup                     ? FirstGroup
                   : name == "get_num_groups"  ? NumGroups
                   : name == "get_global_size" ? GlobalSize
                                               : GlobalOffset;
  if (!isGroup && name != "get_num_groups" && name != "get_global_size" &&
      name != "get_global_offset")
    throw Refusal("`" + name.str() + "` has no answer for the whole NDRange");

  // What is said of a dimension beyond the third is the device's to say, and the same in all parts.
  llvm::Value* dimension = call.getArgOperand(0);
  auto* known = dyn_cast<llvm::ConstantInt>(dimension);
  if (known && known->getValue().uge(3))
    return;
  llvm::Value* exists = builder.CreateICmpULT(dimension, builder.getInt32(3));
  llvm::Value* place = known ? known : builder.CreateSelect(exists, dimension, builder.getInt32(0));
  llvm::Value* told =
      builder.CreateExtractElement(part, builder.CreateAdd(place, builder.getInt32(first)));
  auto* own = cast<llvm::CallInst>(call.clone());
  if (isGroup || !known)
    builder.Insert(own);
  if (isGroup)
    told = builder.CreateAdd(own, told);
  call.replaceAllUsesWith(known ? told : builder.CreateSelect(exists, told, own));
  call.eraseFromParent();
  if (!own->getParent())
    own->deleteValue();
}

PartitionRewrite Rewriter::run() {
  PartitionRewrite result;
  findNeedy();
  for (llvm::Function* function : needy_)
    if (isKernel(*function))
      result.kernels.push_back(function->getName().str());
  if (needy_.empty())
    return result;
  if (module_.getNamedMetadata("opencl.kernels"))
    throw Refusal("the bitcode lists its kernels' arguments in the form of SPIR 1.2's first LLVM");

  dropWhatOldReadersDontKnow(module_);
  std::map<llvm::Function*, llvm::Function*> longer;
  for (llvm::Function* function : needy_)
    longer[function] = withParameter(*function);
  for (auto [before, after] : longer) {
    while (!before->use_empty())
      passOn(*cast<llvm::CallInst>(*before->user_begin()), *after);
    before->replaceAllUsesWith(after); // what metadata says of it
    before->eraseFromParent();
  }
  for (llvm::Function* function : misleading_)
    for (llvm::User* user : llvm::make_early_inc_range(function->users()))
      answer(*cast<llvm::CallInst>(user));

  std::string broken;
  llvm::raw_string_ostream messages(broken);
  if (llvm::verifyModule(module_, &messages))
    throw Refusal("the rewritten bitcode is not valid: " + broken.substr(0, broken.find('\n')));
  result.source = written(module_);
  return result;
}

} // namespace

std::string bitcodeForOldReaders(const llvm::Module& module, std::string& failure) {
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  try {
    dropWhatOldReadersDontKnow(*copy);
  } catch (const Refusal& refusal) {
    failure = refusal.what();
    return {};
  }
  return written(*copy);
}

PartitionRewrite rewriteBitcode(const std::string& bitcode) {
  CompiledProgram program = loadIr(bitcode);
  if (!program.module)
    return {.failure = program.failure};
  try {
    return Rewriter(*program.module).run();
  } catch (const Refusal& refusal) {
    return {.failure = refusal.what()};
  }
}

} // namespace libsplit
