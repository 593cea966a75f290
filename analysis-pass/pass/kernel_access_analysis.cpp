#include "analysis-pass/pass/kernel_access_analysis.h"

#include "analysis-pass/pass/access_collector.h"
#include "analysis-pass/pass/address_flow.h"
#include "analysis-pass/pass/atomic_updates.h"
#include "analysis-pass/pass/barriers.h"
#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/changed_in_place.h"
#include "analysis-pass/pass/expression_builder.h"
#include "analysis-pass/pass/global_ids.h"
#include "analysis-pass/pass/kept_pointers.h"
#include "analysis-pass/pass/path_condition.h"
#include "analysis-pass/pass/pointer_targets.h"
#include "analysis-pass/pass/prepare.h"
#include "analysis-pass/pass/read_only_buffers.h"
#include "analysis-pass/pass/reads_in_place.h"
#include "analysis-pass/pass/report.h"
#include "analysis-pass/pass/search_reads.h"
#include "analysis-pass/pass/source_names.h"
#include "analysis-pass/pass/stored_components.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <optional>

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace libsplit {
namespace {

using Kind = Obstacle::Kind;

std::string metadataText(const llvm::Function& function, llvm::StringRef key, unsigned i) {
  const llvm::MDNode* node = function.getMetadata(key);
  if (!node || node->getNumOperands() != function.arg_size())
    return {};
  auto* text = dyn_cast<llvm::MDString>(node->getOperand(i));
  return text ? text->getString().str() : std::string();
}

ParameterKind kindOf(const llvm::Argument& argument, llvm::StringRef baseType,
                     llvm::StringRef qualifiers) {
  llvm::Type* type = argument.getType();
  llvm::StringRef opaque;
  if (auto* target = dyn_cast<llvm::TargetExtType>(type))
    opaque = target->getName();
  if (opaque == "spirv.Image" || (baseType.starts_with("image") && baseType.ends_with("_t")))
    return ParameterKind::Image;
  if (opaque == "spirv.Sampler" || baseType == "sampler_t")
    return ParameterKind::Sampler;
  if (!opaque.empty() || qualifiers.contains("pipe") || baseType == "queue_t")
    return ParameterKind::Other;
  if (argument.hasByValAttr())
    return ParameterKind::Scalar;
  if (!type->isPointerTy())
    return ParameterKind::Scalar;
  switch (type->getPointerAddressSpace()) {
  case 1:
    return ParameterKind::GlobalBuffer;
  case 2:
    return ParameterKind::ConstantBuffer;
  case 3:
    return ParameterKind::LocalBuffer;
  default:
    return ParameterKind::Other;
  }
}

template <typename Node> std::string fullPath(const Node& node) {
  llvm::SmallString<128> path(node.getFilename());
  llvm::sys::fs::make_absolute(node.getDirectory(), path);
  return std::string(path);
}

/// The size of the blocks that a write of `length` bytes touches as wholes.
std::uint64_t wholeBlock(std::uint64_t length, std::uint64_t alignment) {
  constexpr std::uint64_t largest = 16;
  return length == 0 ? 1 : std::min({length & -length, alignment & -alignment, largest});
}

/// What a vloadN loads.
KeptPointers::Bytes bytesOf(const llvm::CallBase& call, const VectorAccess& access) {
  KeptPointers::Bytes bytes{call.getArgOperand(access.pointerOperand), access.length};
  if (auto* index = dyn_cast<llvm::ConstantInt>(call.getArgOperand(access.indexOperand)))
    bytes.offset = index->getSExtValue() * static_cast<std::int64_t>(access.stride);
  else
    bytes.every = access.stride;
  return bytes;
}

/// Walks over the instructions of one kernel and fills its summary.
class KernelWalk {
public:
  KernelWalk(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : function_(function), layout_(function.getDataLayout()),
        builder_(function, analyses.getResult<llvm::LoopAnalysis>(function),
                 analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                 analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        paths_(function, builder_, analyses.getResult<llvm::PostDominatorTreeAnalysis>(function)),
        readOnly_(readOnlyBuffers(function)), pointers_(builder_, readOnly_), addresses_(pointers_),
        keptPointers_(layout_), readsInPlace_(function, builder_, pointers_, readOnly_),
        updates_(function), names_(function, builder_),
        searchReads_(searchReads(function, analyses.getResult<llvm::LoopAnalysis>(function),
                                 analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                                 analyses.getResult<llvm::PostDominatorTreeAnalysis>(function))) {
    builder_.setReadOnlyPlaces([this](llvm::Value* pointer) { return readOnlyPlace(pointer); });
  }

  KernelSummary run() {
    readSignature();
    addresses_.follow(function_);
    keptPointers_.follow(function_, addresses_);
    for (llvm::BasicBlock& block : function_)
      if (builder_.dominators().isReachableFromEntry(&block))
        for (llvm::Instruction& instruction : block)
          visit(instruction);
    summary_.accesses = accesses_.take();
    summary_.accesses.insert(summary_.accesses.end(), imageReads_.begin(), imageReads_.end());
    summary_.variables = names_.variables();
    checkUpdates();
    checkBarriers();
    return std::move(summary_);
  }

private:
  void readSignature();
  std::optional<BufferPlace> readOnlyPlace(llvm::Value* pointer);
  void visit(llvm::Instruction& instruction);
  void visitCall(llvm::CallBase& call);
  void visitIntrinsic(llvm::IntrinsicInst& call);
  void asyncCopy(llvm::CallBase& call, bool strided);
  void writeImage(llvm::CallBase& call);
  std::vector<Expr> components(llvm::Value* value, unsigned count, View view);
  bool isSelfContained(llvm::CallBase& call);
  void noteQueries(const llvm::Function& function,
                   llvm::SmallPtrSetImpl<const llvm::Function*>& seen);

  /// What an instruction does at `pointer` + `displacement`.
  struct Touch {
    llvm::Value* pointer = nullptr;
    Effect effect = Effect::Read;
    Expr displacement{};
    std::uint64_t length = 0;
    bool certain = true;               ///< touches all of these bytes whenever it runs
    std::optional<Expr> repetitions{}; ///< runs for each value of an innermost loop of its own
    std::uint64_t grain = 1;           ///< of a write
    bool changes = false;              ///< … what stood there
    std::optional<UpdateKind> update{};
    const char* doubt = "compilers may leave out padding"; ///< why a write is not certain
  };
  void touch(llvm::Instruction& instruction, const Touch& touch);
  void load(llvm::LoadInst& load);
  void store(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type,
             std::uint64_t alignment);
  bool changesInPlace(llvm::StoreInst& store);
  bool storeComponents(llvm::StoreInst& store);
  void touchPadding(llvm::Instruction& instruction, Touch vector, std::uint64_t padding);
  void atomic(llvm::Instruction& instruction, llvm::Value* pointer);
  std::string nameOf(unsigned parameter) const;
  bool isPrivate(llvm::Value* pointer);
  void checkDecisions(llvm::Instruction& instruction);
  void checkStored(llvm::Instruction& instruction, llvm::Value* value, llvm::Value* pointer);
  void checkTakenOut(llvm::Instruction& instruction, const KeptPointers::Bytes& bytes);
  void checkTakenOut(llvm::LoadInst& load);
  void checkHandedOver(llvm::CallBase& call);
  bool isSearchRead(const llvm::Instruction& instruction);
  void checkUpdates();
  void checkBarriers();

  PathOfBlock pathOf(llvm::Instruction& instruction);
  SourceLine where(const llvm::Instruction& instruction) const;
  void obstacle(Kind kind, const llvm::Instruction& instruction, std::string text);

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  ExpressionBuilder builder_;
  PathConditions paths_;
  std::vector<bool> readOnly_; ///< by parameter
  PointerResolver pointers_;
  AddressFlow addresses_;
  KeptPointers keptPointers_;
  ReadsInPlace readsInPlace_;
  ChangesInPlace changesInPlace_;
  AtomicUpdates updates_;
  SourceNames names_;
  SearchReads searchReads_;
  Barriers barriers_;
  AccessCollector accesses_;
  std::vector<Access> imageReads_;
  KernelSummary summary_;
};

void KernelWalk::readSignature() {
  summary_.name = function_.getName().str();
  summary_.idsFromGroups = function_.hasFnAttribute(idsFromGroupsAttribute);
  std::vector<std::string> names;
  for (const llvm::Argument& argument : function_.args()) {
    unsigned i = argument.getArgNo();
    Parameter parameter;
    parameter.name = metadataText(function_, "kernel_arg_name", i);
    if (parameter.name.empty())
      parameter.name = argument.hasName() ? argument.getName().str() : "arg" + std::to_string(i);
    parameter.type = metadataText(function_, "kernel_arg_type", i);
    parameter.kind = kindOf(argument, metadataText(function_, "kernel_arg_base_type", i),
                            metadataText(function_, "kernel_arg_type_qual", i));
    if (parameter.kind == ParameterKind::Scalar) {
      llvm::Type* type =
          argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
      parameter.size = static_cast<std::uint32_t>(layout_.getTypeAllocSize(type).getFixedValue());
      if (argument.hasByValAttr())
        parameter.members = names_.membersOf(i);
    }
    SourceLine line{{}, function_.getSubprogram() ? function_.getSubprogram()->getLine() : 0};
    if (parameter.kind == ParameterKind::Image) {
      // Where in an image a kernel reads is not asked: each device gets all of it.
      const std::string qualifier = metadataText(function_, "kernel_arg_access_qual", i);
      parameter.members = {{0, ".pixel"}, {64, ".width"}, {128, ".height"}, {192, ".depth"}};
      if (qualifier == "read_only") {
        Access whole;
        whole.parameter = i;
        whole.offset = Expr::unknown("it is an image", line.line);
        whole.length = 1;
        whole.where = line;
        imageReads_.push_back(std::move(whole));
      } else if (qualifier != "write_only") {
        summary_.obstacles.push_back(
            {Kind::Image, {"image parameter `" + parameter.name + "` is read and written", line}});
      }
    }
    if (parameter.kind == ParameterKind::Other)
      summary_.obstacles.push_back(
          {Kind::Other, {"parameter `" + parameter.name + "` of type " + parameter.type, line}});
    if (parameter.kind == ParameterKind::LocalBuffer)
      summary_.dependsOnGroups = true;
    names.push_back(parameter.name);
    summary_.parameters.push_back(std::move(parameter));
  }
  builder_.setParameterNames(std::move(names));
  if (const llvm::MDNode* spaces = function_.getMetadata("kernel_arg_addr_space");
      spaces && spaces->getNumOperands() != function_.arg_size())
    summary_.obstacles.push_back(
        {Kind::Other, {"parameters that the IR passes otherwise than the source", {}}});

  if (const llvm::MDNode* required = function_.getMetadata("reqd_work_group_size"))
    for (unsigned d = 0; d < 3 && d < required->getNumOperands(); ++d)
      if (auto* size = llvm::mdconst::dyn_extract<llvm::ConstantInt>(required->getOperand(d)))
        summary_.requiredLocal[d] = size->getZExtValue();
}

std::optional<BufferPlace> KernelWalk::readOnlyPlace(llvm::Value* pointer) {
  const std::vector<PointerTarget>& targets = pointers_.targets(pointer);
  if (targets.size() != 1 || targets[0].kind != PointerTarget::Kind::Parameter ||
      !readOnly_[targets[0].parameter] || findUnknown(targets[0].offset))
    return std::nullopt;
  return BufferPlace{targets[0].parameter, targets[0].offset};
}

/// Its loops with the program's names of their variables.
PathOfBlock KernelWalk::pathOf(llvm::Instruction& instruction) {
  PathOfBlock path = paths_.of(instruction.getParent());
  for (LoopRuns& loop : path.loops)
    loop.variable = names_.of(loop.loop);
  return path;
}

SourceLine KernelWalk::where(const llvm::Instruction& instruction) const {
  const llvm::DILocation* location = instruction.getDebugLoc();
  if (!location)
    return {};
  SourceLine result{{}, location->getLine()};
  const llvm::DISubprogram* kernel = function_.getSubprogram();
  if (kernel && kernel->getUnit() && fullPath(*location) != fullPath(*kernel->getUnit()))
    result.file = location->getFilename().str();
  return result;
}

void KernelWalk::obstacle(Kind kind, const llvm::Instruction& instruction, std::string text) {
  Reason reason{std::move(text), where(instruction)};
  for (const Obstacle& known : summary_.obstacles)
    if (known.kind == kind && known.reason == reason)
      return;
  summary_.obstacles.push_back({kind, std::move(reason)});
}

/// Whether it reads a buffer as a search does, whose answer does not depend on it.
bool KernelWalk::isSearchRead(const llvm::Instruction& instruction) {
  const auto read = searchReads_.find(&instruction);
  return read != searchReads_.end() &&
         llvm::all_of(pointers_.targets(read->second), [](const PointerTarget& target) {
           return target.kind == PointerTarget::Kind::Parameter;
         });
}

bool isAssumption(const llvm::CallInst& call) {
  auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(&call);
  return intrinsic && intrinsic->isAssumeLikeIntrinsic();
}

/// In words, also where it is not known which.
std::string KernelWalk::nameOf(unsigned parameter) const {
  return parameter == AddressFlow::anyBuffer ? "a buffer"
                                             : "`" + summary_.parameters[parameter].name + "`";
}

/// What work-items do must not depend on where buffers lie.
void KernelWalk::checkDecisions(llvm::Instruction& instruction) {
  llvm::SmallVector<llvm::Value*, 4> decides;
  if (auto* branch = dyn_cast<llvm::BranchInst>(&instruction); branch && branch->isConditional())
    decides.push_back(branch->getCondition());
  else if (auto* cases = dyn_cast<llvm::SwitchInst>(&instruction))
    decides.push_back(cases->getCondition());
  else if (auto* choice = dyn_cast<llvm::SelectInst>(&instruction))
    decides.push_back(choice->getCondition());
  else if (auto* place = dyn_cast<llvm::GetElementPtrInst>(&instruction))
    decides.append(place->idx_begin(), place->idx_end());
  else if (auto* call = dyn_cast<llvm::CallInst>(&instruction); call && !isAssumption(*call))
    decides.append(call->arg_begin(), call->arg_end());
  auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction);
  const bool isByPointer = intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::ptrmask;
  for (llvm::Value* value : decides)
    if (const auto parameter =
            value->getType()->isPointerTy() && !isByPointer ? std::nullopt : addresses_.in(value))
      obstacle(Kind::Other, instruction,
               "what it does depends on the address of " + nameOf(*parameter));
}

/// Whether it surely points into private memory.
bool KernelWalk::isPrivate(llvm::Value* pointer) {
  return llvm::all_of(pointers_.targets(pointer), [](const PointerTarget& target) {
    return target.kind == PointerTarget::Kind::Private;
  });
}

/// The same of what they store.
void KernelWalk::checkStored(llvm::Instruction& instruction, llvm::Value* value,
                             llvm::Value* pointer) {
  // A pointer into a buffer may be kept in private memory meanwhile.
  const bool mayBeKept = value->getType()->isPointerTy() && isPrivate(pointer);
  if (const auto parameter = mayBeKept ? std::nullopt : addresses_.in(value))
    obstacle(Kind::Other, instruction, "stores the address of " + nameOf(*parameter));
}

/// Pointers into buffers that are kept in private memory must come out of it as what they are, not
/// as the numbers that a union makes of them.
void KernelWalk::checkTakenOut(llvm::Instruction& instruction, const KeptPointers::Bytes& bytes) {
  if (const auto parameter = keptPointers_.in(bytes))
    obstacle(Kind::Other, instruction,
             "takes what may be part of the address of " + nameOf(*parameter) + " for a number");
}

/// What a load takes of them.
void KernelWalk::checkTakenOut(llvm::LoadInst& load) {
  llvm::Value* pointer = load.getPointerOperand();
  if (!load.getType()->isPointerTy())
    checkTakenOut(load, {pointer, layout_.getTypeStoreSize(load.getType()).getFixedValue()});
  else if (const auto parameter = keptPointers_.inPartOf(pointer))
    obstacle(Kind::Other, load,
             "takes what may be part of the address of " + nameOf(*parameter) + " for another");
}

/// Nor by what is called, which may look at all of a memory.
void KernelWalk::checkHandedOver(llvm::CallBase& call) {
  for (llvm::Value* argument : call.args())
    if (argument->getType()->isPointerTy())
      checkTakenOut(call, {.pointer = argument, .length = 1, .every = 1});
}

void KernelWalk::visit(llvm::Instruction& instruction) {
  if (isSearchRead(instruction))
    return;
  checkDecisions(instruction);
  if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
    if (updates_.isPartOfUpdate(*load))
      return;
    checkTakenOut(*load);
    if (load->isAtomic())
      return atomic(*load, load->getPointerOperand());
    this->load(*load);
  } else if (auto* stored = dyn_cast<llvm::StoreInst>(&instruction)) {
    checkStored(*stored, stored->getValueOperand(), stored->getPointerOperand());
    if (stored->isAtomic())
      return atomic(*stored, stored->getPointerOperand());
    if (!storeComponents(*stored))
      store(*stored, stored->getPointerOperand(), stored->getValueOperand()->getType(),
            stored->getAlign().value());
  } else if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    checkStored(*update, update->getValOperand(), update->getPointerOperand());
    checkTakenOut(*update, {update->getPointerOperand(), sizeof(std::uint64_t)});
    atomic(*update, update->getPointerOperand());
  } else if (auto* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    checkStored(*exchange, exchange->getNewValOperand(), exchange->getPointerOperand());
    checkStored(*exchange, exchange->getCompareOperand(), exchange->getPointerOperand());
    checkTakenOut(*exchange, {exchange->getPointerOperand(), sizeof(std::uint64_t)});
    atomic(*exchange, exchange->getPointerOperand());
  } else if (auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    visitIntrinsic(*intrinsic);
  } else if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
    visitCall(*call);
  } else if (instruction.mayReadOrWriteMemory() && !isa<llvm::FenceInst>(instruction)) {
    obstacle(Kind::Other, instruction,
             std::string("instruction `") + instruction.getOpcodeName() + "`");
  }
}

void KernelWalk::visitIntrinsic(llvm::IntrinsicInst& call) {
  if (auto* memory = dyn_cast<llvm::MemIntrinsic>(&call)) {
    // Copies of structs may leave out their padding: never certain.
    auto* length = dyn_cast<llvm::ConstantInt>(memory->getLength());
    Expr displacement = length ? Expr() : Expr::unknown("copy of a computed size", lineOf(&call));
    std::uint64_t bytes = length ? length->getZExtValue() : 0;
    const bool changes = changesInPlace_.isOne(&call, memory->getRawDest(), nullptr,
                                               readsInPlace_.of(memory->getRawDest(), {}, bytes));
    touch(call, {.pointer = memory->getRawDest(),
                 .effect = Effect::Write,
                 .displacement = displacement,
                 .length = bytes,
                 .certain = false,
                 .grain = wholeBlock(bytes, memory->getDestAlign().valueOrOne().value()),
                 .changes = changes});
    if (auto* transfer = dyn_cast<llvm::MemTransferInst>(memory)) {
      if (const auto parameter = isPrivate(memory->getRawDest())
                                     ? std::nullopt
                                     : keptPointers_.in({transfer->getRawSource(),
                                                         length ? bytes : KeptPointers::toTheEnd}))
        obstacle(Kind::Other, call, "stores the address of " + nameOf(*parameter));
      touch(call, {.pointer = transfer->getRawSource(),
                   .effect = Effect::Read,
                   .displacement = displacement,
                   .length = bytes,
                   .certain = false});
    }
    return;
  }
  if (!call.isAssumeLikeIntrinsic() && !call.doesNotAccessMemory())
    obstacle(Kind::UnknownCall, call,
             "call to `" + call.getCalledFunction()->getName().str() + "`");
}

void KernelWalk::visitCall(llvm::CallBase& call) {
  if (call.isInlineAsm())
    return obstacle(Kind::Other, call, "inline assembly");
  const Builtin builtin = classifyCall(call);
  if (builtin.kind != BuiltinKind::VectorLoad && builtin.kind != BuiltinKind::VectorStore &&
      builtin.kind != BuiltinKind::PointerCast)
    checkHandedOver(call);
  if (call.getCalledFunction() && isSelfContained(call)) {
    llvm::SmallPtrSet<const llvm::Function*, 8> seen;
    return noteQueries(*call.getCalledFunction(), seen);
  }
  llvm::StringRef symbol =
      call.getCalledFunction() ? call.getCalledFunction()->getName() : llvm::StringRef();
  std::string name = builtinName(symbol).str();
  summary_.needsPartitionArgument |= builtin.needsPartitionArgument;
  summary_.dependsOnSubGroups |= builtin.asksSubGroups;

  switch (builtin.kind) {
  case BuiltinKind::Harmless:
  case BuiltinKind::WorkDim:
  case BuiltinKind::GlobalLinearId:
  case BuiltinKind::IntegerMath:
  case BuiltinKind::PointerCast:
    return;
  case BuiltinKind::IdQuery:
    summary_.dependsOnGroups |= builtin.query != Expr::Op::GlobalId &&
                                builtin.query != Expr::Op::GlobalSize &&
                                builtin.query != Expr::Op::GlobalOffset;
    return;
  case BuiltinKind::LocalLinearId:
  case BuiltinKind::GroupSensitive:
    summary_.dependsOnGroups = true;
    return;
  case BuiltinKind::Barrier:
    return barriers_.add(call);
  case BuiltinKind::VectorLoad:
  case BuiltinKind::VectorStore: {
    VectorAccess access = vectorAccess(call, layout_);
    Touch vector{.pointer = call.getArgOperand(access.pointerOperand),
                 .effect = builtin.kind == BuiltinKind::VectorLoad ? Effect::Read : Effect::Write,
                 .displacement = builder_.offsetOf(call, access),
                 .length = access.length,
                 .grain = access.element};
    if (builtin.kind == BuiltinKind::VectorLoad)
      checkTakenOut(call, bytesOf(call, access));
    else
      vector.changes = changesInPlace_.isOne(
          call.getArgOperand(0), vector.pointer, call.getArgOperand(access.indexOperand),
          readsInPlace_.of(vector.pointer, vector.displacement, vector.length));
    touch(call, vector);
    return touchPadding(call, std::move(vector), access.padding);
  }
  case BuiltinKind::PointerResult: {
    llvm::Type* type = call.getType();
    if (name == "frexp" || name == "remquo" || name == "lgamma_r")
      type = type->getWithNewType(llvm::Type::getInt32Ty(type->getContext()));
    store(call, call.getArgOperand(call.arg_size() - 1), type,
          layout_.getTypeStoreSize(type->getScalarType()).getFixedValue());
    return;
  }
  case BuiltinKind::AsyncCopy:
    return asyncCopy(call, false);
  case BuiltinKind::AsyncStrided:
    return asyncCopy(call, true);
  case BuiltinKind::Atomic:
    for (llvm::Value* operand : call.args())
      if (operand->getType()->isPointerTy())
        atomic(call, operand);
    return;
  case BuiltinKind::Printf:
    return obstacle(Kind::Printf, call, "printf");
  case BuiltinKind::ImageQuery:
  case BuiltinKind::ImageRead:
    return;
  case BuiltinKind::ImageWrite:
    return writeImage(call);
  case BuiltinKind::Pipe:
    return obstacle(Kind::Pipe, call, "pipe access by `" + name + "`");
  case BuiltinKind::DeviceEnqueue:
    return obstacle(Kind::DeviceEnqueue, call, "device-side enqueue by `" + name + "`");
  case BuiltinKind::Unknown:
    return obstacle(Kind::UnknownCall, call,
                    name.empty() ? "indirect call" : "call to `" + name + "`");
  }
}

/// A function that was too big to inline, but touches no memory besides private memory and
/// constants.
bool KernelWalk::isSelfContained(llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee->isDeclaration() ||
      !(callee->doesNotAccessMemory() || callee->onlyAccessesArgMemory()))
    return false;
  return llvm::all_of(call.args(), [&](llvm::Value* operand) {
    return !operand->getType()->isPointerTy() ||
           llvm::all_of(pointers_.targets(operand), [](const PointerTarget& target) {
             return target.kind == PointerTarget::Kind::Private ||
                    target.kind == PointerTarget::Kind::Constant;
           });
  });
}

/// Takes over from a function that stays a call what it asks about ids and sizes.
void KernelWalk::noteQueries(const llvm::Function& function,
                             llvm::SmallPtrSetImpl<const llvm::Function*>& seen) {
  if (!seen.insert(&function).second)
    return;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = dyn_cast<llvm::CallBase>(&instruction)) {
      Builtin builtin = classifyCall(*call);
      summary_.dependsOnGroups |=
          builtin.kind == BuiltinKind::IdQuery || builtin.kind == BuiltinKind::LocalLinearId ||
          builtin.kind == BuiltinKind::Barrier || builtin.kind == BuiltinKind::GroupSensitive;
      summary_.needsPartitionArgument |= builtin.needsPartitionArgument;
      summary_.dependsOnSubGroups |= builtin.asksSubGroups;
      if (const llvm::Function* callee = call->getCalledFunction())
        noteQueries(*callee, seen);
    }
}

void KernelWalk::asyncCopy(llvm::CallBase& call, bool strided) {
  summary_.dependsOnGroups = true;
  // Every work-item of the group names the same bytes, so each may be taken to copy them all.
  auto element = mangledPointeeSize(call.getCalledFunction()->getName(), 0);
  Expr count = builder_.build(call.getArgOperand(2), View::Unsigned);
  Expr known = element ? Expr() : Expr::unknown("element type of an async copy", lineOf(&call));
  if (findUnknown(count))
    known = count;
  for (unsigned operand : {0u, 1u}) {
    const auto [size, padding] = element.value_or(ElementSize{});
    Expr step = Expr::constant(static_cast<std::int64_t>(size));
    bool isLocal = call.getArgOperand(operand)->getType()->getPointerAddressSpace() == 3;
    if (strided && !isLocal)
      step = combine(Expr::Op::Mul, {step, builder_.build(call.getArgOperand(3), View::Unsigned)});
    auto depth = static_cast<unsigned>(paths_.of(call.getParent()).loops.size());
    Expr moved = combine(Expr::Op::Mul, {step, Expr::loop(depth)});
    const std::uint64_t used = size - padding;
    Touch copy{.pointer = call.getArgOperand(operand),
               .effect = operand == 0 ? Effect::Write : Effect::Read,
               .displacement = combine(Expr::Op::Add, {known, moved}),
               .length = used,
               .repetitions = count,
               .grain = wholeBlock(used, size)};
    touch(call, copy);
    touchPadding(call, std::move(copy), padding);
  }
}

/// Of a vector, or the number itself.
std::vector<Expr> KernelWalk::components(llvm::Value* value, unsigned count, View view) {
  std::vector<Expr> all;
  if (count == 1 && value->getType()->isIntegerTy())
    return {builder_.build(value, view)};
  for (unsigned lane = 0; lane < count; ++lane) {
    llvm::Value* scalar = llvm::findScalarElement(value, lane);
    all.push_back(scalar ? builder_.build(scalar, view)
                         : Expr::unknown("component of a computed vector", lineOf(value)));
  }
  return all;
}

/// A pixel of an image that the kernel only writes. Drivers do nothing where there is none, though
/// OpenCL lets them do anything, and programs count on that.
void KernelWalk::writeImage(llvm::CallBase& call) {
  auto* image = dyn_cast<llvm::Argument>(call.getArgOperand(0));
  llvm::Type* type = call.getArgOperand(1)->getType();
  auto* vector = dyn_cast<llvm::FixedVectorType>(type);
  const bool isKnown = image && call.arg_size() == 3 && type->isIntOrIntVectorTy(32) &&
                       summary_.parameters[image->getArgNo()].kind == ParameterKind::Image;
  if (!isKnown) // a mip level, or an image from elsewhere
    return obstacle(Kind::Image, call,
                    "image access by `" + builtinName(call.getCalledFunction()->getName()).str() +
                        "`");
  // One, two or four: of a volume and of an array of pictures the last does not count.
  const unsigned dimensions = vector ? std::min(vector->getNumElements(), 3u) : 1;
  const unsigned parameter = image->getArgNo();
  const std::vector<Expr> at = components(call.getArgOperand(1), dimensions, View::Signed);
  PathOfBlock path = pathOf(call);
  Access access;
  access.parameter = parameter;
  access.effect = Effect::Write;
  access.certain = true;
  access.length = 1;
  access.where = where(call);
  std::vector<bool> loaded(function_.arg_size());
  std::vector<Guard> inside;
  Expr pixel;
  for (unsigned d = dimensions; d-- > 0;) {
    const Expr size = ImageNumbers::sizeOf(parameter, d);
    noteLoads(at[d], loaded);
    if (at[d].op() != Expr::Op::Constant || at[d].value() < 0)
      inside.push_back({Expr::constant(0), Guard::Relation::LessEqual, at[d]});
    inside.push_back({at[d], Guard::Relation::Less, size});
    pixel = combine(Expr::Op::Add, {combine(Expr::Op::Mul, {pixel, size}), at[d]});
  }
  // By what buffers hold no rows are found that are anybody's own.
  if (llvm::is_contained(loaded, true))
    pixel = Expr::unknown("coordinates of `" + summary_.parameters[parameter].name +
                              "` that are read from a buffer",
                          access.where.line);
  if (findUnknown(pixel)) {
    access.offset = pixel;
  } else {
    const auto depth = static_cast<unsigned>(path.loops.size());
    const Expr bytes = ImageNumbers::pixelOf(parameter);
    access.offset =
        combine(Expr::Op::Add, {combine(Expr::Op::Mul, {bytes, pixel}), Expr::loop(depth)});
    path.condition = both(path.condition, {{std::move(inside)}, true, {}});
    path.loops.push_back({nullptr, bytes, true, true, {}});
  }
  barriers_.write(call, parameter);
  accesses_.add(std::move(access), path);
}

/// Components that are loaded only because others of their vector are, the program does not read;
/// neither the padding of a vector of three. Devices do.
void KernelWalk::load(llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  const std::uint64_t allocated = layout_.getTypeAllocSize(type).getFixedValue();
  std::uint64_t size = layout_.getTypeStoreSize(type->getScalarType()).getFixedValue();
  std::vector<bool> used = usedComponents(load, builder_.dominators());
  if (used.empty()) {
    used.push_back(!load.use_empty() && size == allocated);
    size = allocated;
  }
  used.resize(allocated / size, false);
  if (load.hasMetadata(hoistedLoad))
    used.assign(used.size(), false);
  auto mayBeWritten = [&](const PointerTarget& target) {
    return target.kind == PointerTarget::Kind::Parameter && !readOnly_[target.parameter];
  };
  if (llvm::none_of(pointers_.targets(load.getPointerOperand()), mayBeWritten)) {
    used.assign(1, llvm::all_of(used, [](bool each) { return each; }));
    size = allocated;
  }
  for (std::size_t i = 0, end = 0; i < used.size(); i = end) {
    while (end < used.size() && used[end] == used[i])
      ++end;
    touch(load, {.pointer = load.getPointerOperand(),
                 .effect = Effect::Read,
                 .displacement = Expr::constant(static_cast<std::int64_t>(size * i)),
                 .length = size * (end - i),
                 .certain = used[i]});
  }
}

/// Whether what it stores comes from what stood there.
bool KernelWalk::changesInPlace(llvm::StoreInst& store) {
  llvm::Value* pointer = store.getPointerOperand();
  const std::uint64_t length =
      layout_.getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue();
  return changesInPlace_.isOne(store.getValueOperand(), pointer, nullptr,
                               readsInPlace_.of(pointer, {}, length));
}

/// A vector's store by runs of components of one kind. False if all of it is written.
bool KernelWalk::storeComponents(llvm::StoreInst& store) {
  const std::vector<Component> components = storedComponents(store, builder_.dominators());
  llvm::Type* type = store.getValueOperand()->getType();
  if (llvm::all_of(components, [](Component each) { return each == Component::Written; }) ||
      layout_.getTypeSizeInBits(type->getScalarType()) % 8 != 0)
    return false;
  const std::uint64_t size = layout_.getTypeStoreSize(type->getScalarType()).getFixedValue();
  const std::uint64_t alignment = store.getAlign().value();
  const bool changes = changesInPlace(store);
  for (std::size_t i = 0, end = 0; i < components.size(); i = end) {
    while (end < components.size() && components[end] == components[i])
      ++end;
    const std::uint64_t first = size * i, length = size * (end - i);
    // Which components of several are written need not be the same for all.
    const std::uint64_t together = components[i] == Component::Either ? size : length;
    Touch run{.pointer = store.getPointerOperand(),
              .effect = Effect::Write,
              .displacement = Expr::constant(static_cast<std::int64_t>(first)),
              .length = length,
              .certain = components[i] == Component::Written,
              .grain = wholeBlock(together, alignment | first),
              .changes = changes};
    if (components[i] == Component::Either)
      run.doubt = "it may store back what was there";
    if (components[i] != Component::Kept)
      touch(store, run);
    if (components[i] == Component::Kept || components[i] == Component::Either) {
      run.effect = Effect::Rewrite;
      run.certain = false;
      touch(store, run);
    }
  }
  const std::uint64_t written = layout_.getTypeStoreSize(type).getFixedValue();
  const std::uint64_t allocated = layout_.getTypeAllocSize(type).getFixedValue();
  touchPadding(store,
               {.pointer = store.getPointerOperand(), .effect = Effect::Write, .length = written},
               allocated - written);
  return true;
}

/// The padding of a vector of three, behind the bytes that `vector` tells of, is touched by some
/// compilers and not by others.
void KernelWalk::touchPadding(llvm::Instruction& instruction, Touch vector, std::uint64_t padding) {
  if (padding == 0)
    return;
  const Expr behind = Expr::constant(static_cast<std::int64_t>(vector.length));
  vector.displacement = combine(Expr::Op::Add, {vector.displacement, behind});
  vector.length = padding;
  vector.certain = false;
  vector.changes = false;
  vector.grain = 1;
  touch(instruction, vector);
}

void KernelWalk::store(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type,
                       std::uint64_t alignment) {
  std::uint64_t written = layout_.getTypeStoreSize(type).getFixedValue();
  std::uint64_t allocated = layout_.getTypeAllocSize(type).getFixedValue();
  Touch whole{.pointer = pointer,
              .effect = Effect::Write,
              .length = written,
              .certain = !type->isAggregateType(),
              .grain = wholeBlock(written, alignment)};
  if (auto* stored = dyn_cast<llvm::StoreInst>(&instruction))
    whole.changes = changesInPlace(*stored);
  touch(instruction, whole);
  touchPadding(instruction, std::move(whole), allocated - written);
}

void KernelWalk::atomic(llvm::Instruction& instruction, llvm::Value* pointer) {
  const std::optional<UpdateKind> update = updates_.find(instruction);
  for (const PointerTarget& target : pointers_.targets(pointer)) {
    switch (target.kind) {
    case PointerTarget::Kind::Private:
    case PointerTarget::Kind::Constant:
      break;
    case PointerTarget::Kind::Local:
      summary_.dependsOnGroups = summary_.dependsOnOrder = true;
      break;
    case PointerTarget::Kind::Parameter:
      if (!update)
        obstacle(Kind::Atomic, instruction,
                 "atomic operation on `" + summary_.parameters[target.parameter].name + "`" +
                     (AtomicUpdates::commutingKind(instruction) ? " whose result is used" : ""));
      break;
    case PointerTarget::Kind::ProgramGlobal:
      obstacle(Kind::Atomic, instruction, "atomic operation on " + target.name);
      break;
    case PointerTarget::Kind::Unknown:
      obstacle(target.isFromElsewhere ? Kind::UnknownPointer : Kind::Other, instruction,
               "atomic operation through " + target.name);
      break;
    }
  }
  if (update)
    touch(instruction, {.pointer = pointer,
                        .effect = Effect::Update,
                        .length = update->width,
                        .certain = false,
                        .update = update});
}

/// An update is none if the kernel does something else to the same bytes. Where that depends on the
/// numbers of a launch, the launch decides.
void KernelWalk::checkUpdates() {
  auto surelyMeet = [](const Access& a, const Access& b) {
    return a.offset.op() == Expr::Op::Unknown || b.offset.op() == Expr::Op::Unknown ||
           a.offset == b.offset;
  };
  for (const Access& update : summary_.accesses) {
    if (update.effect != Effect::Update)
      continue;
    for (const Access& other : summary_.accesses) {
      if (other.parameter != update.parameter || !surelyMeet(update, other) ||
          (other.effect == Effect::Update && other.update == update.update))
        continue;
      std::string does = other.effect == Effect::Read      ? "read"
                         : other.effect == Effect::Write   ? "written"
                         : other.effect == Effect::Rewrite ? "stored back"
                                                           : "updated otherwise";
      summary_.obstacles.push_back(
          {Kind::Atomic,
           {"atomic operation on `" + summary_.parameters[update.parameter].name +
                "`, whose bytes are " + does + " in line " + std::to_string(other.where.line),
            update.where}});
      break;
    }
  }
}

/// What else the kernel does that may be a matter of order is an obstacle, or a search, whose reads
/// are not among the accesses.
void KernelWalk::checkBarriers() {
  if (!barriers_.any() || summary_.dependsOnGroups)
    return;
  summary_.dependsOnGroups =
      !summary_.obstacles.empty() || !searchReads_.empty() ||
      barriers_.tellGroups(summary_.accesses, paths_, builder_.dominators(), builder_.loops());
  summary_.dependsOnGroupsIfShared = !summary_.dependsOnGroups;
}

void KernelWalk::touch(llvm::Instruction& instruction, const Touch& touch) {
  bool isVolatile = instruction.isVolatile();
  const auto& targets = pointers_.targets(touch.pointer);
  for (const PointerTarget& target : targets) {
    switch (target.kind) {
    case PointerTarget::Kind::Private:
    case PointerTarget::Kind::Constant:
      continue;
    case PointerTarget::Kind::Local:
      summary_.dependsOnGroups = true;
      continue;
    case PointerTarget::Kind::ProgramGlobal:
      obstacle(Kind::Other, instruction, "program-scope variable " + target.name);
      continue;
    case PointerTarget::Kind::Unknown:
      obstacle(target.isFromElsewhere ? Kind::UnknownPointer : Kind::Other, instruction,
               "access through " + target.name);
      continue;
    case PointerTarget::Kind::Parameter:
      if (summary_.parameters[target.parameter].kind != ParameterKind::Image)
        break;
      obstacle(Kind::Image, instruction,
               "access to image `" + summary_.parameters[target.parameter].name + "` as memory");
      continue;
    }
    // Who looks for what others store must read it so, or the compiler need not look again.
    if (isVolatile && touch.effect == Effect::Read)
      obstacle(Kind::Other, instruction,
               "volatile read of `" + summary_.parameters[target.parameter].name +
                   "`: work-groups may communicate");
    PathOfBlock path = pathOf(instruction);
    if (touch.repetitions)
      path.loops.push_back({nullptr, *touch.repetitions, true, false, {}});
    for (const auto& [condition, wanted] : target.when)
      path.condition = both(path.condition, paths_.condition(condition, wanted));
    Access access;
    access.parameter = target.parameter;
    access.effect = touch.effect;
    access.offset = combine(Expr::Op::Add, {target.offset, touch.displacement});
    access.length = touch.length;
    if (touch.effect == Effect::Write) {
      access.grain = static_cast<std::uint32_t>(touch.grain);
      access.changes = touch.changes;
    }
    if (touch.update)
      access.update = *touch.update;
    if (touch.effect != Effect::Read)
      barriers_.write(instruction, target.parameter);
    const bool isOnlyTarget = targets.size() == 1 || !target.when.empty();
    const bool isPlain = touch.effect == Effect::Read || touch.effect == Effect::Write;
    access.certain = isPlain && touch.certain && isOnlyTarget;
    if (touch.effect == Effect::Write && !access.certain)
      access.doubt.text = isOnlyTarget ? touch.doubt : "the pointer may point into another buffer";
    access.where = where(instruction);
    accesses_.add(std::move(access), path);
  }
}

} // namespace

bool isKernel(const llvm::Function& function) {
  return !function.isDeclaration() &&
         (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL ||
          function.hasMetadata("kernel_arg_addr_space"));
}

llvm::AnalysisKey KernelAccessAnalysis::Key;

KernelSummary KernelAccessAnalysis::run(llvm::Function& function,
                                        llvm::FunctionAnalysisManager& analyses) {
  return KernelWalk(function, analyses).run();
}

llvm::PreservedAnalyses KernelAccessPrinter::run(llvm::Function& function,
                                                 llvm::FunctionAnalysisManager& analyses) {
  if (isKernel(function))
    out_ << describe(analyses.getResult<KernelAccessAnalysis>(function));
  return llvm::PreservedAnalyses::all();
}

} // namespace libsplit
