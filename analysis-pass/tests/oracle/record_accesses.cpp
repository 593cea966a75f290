#include "analysis-pass/tests/oracle/record_accesses.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <vector>

using llvm::dyn_cast;
using llvm::isa;

namespace libsplit::oracle {
namespace {

class Instrumenter {
public:
  explicit Instrumenter(llvm::Function& function)
      : module_(*function.getParent()), layout_(module_.getDataLayout()) {
    auto& context = function.getContext();
    void_ = llvm::Type::getVoidTy(context);
    pointer_ = llvm::PointerType::get(context, 0);
    long_ = llvm::Type::getInt64Ty(context);
    int_ = llvm::Type::getInt32Ty(context);
  }

  /// Once per iteration, at least, of every loop.
  void step(llvm::BasicBlock& block) {
    llvm::IRBuilder<> code(&*block.getFirstInsertionPt());
    code.CreateCall(module_.getOrInsertFunction("oracle_steps", void_));
  }

  void visit(llvm::Instruction& instruction) {
    if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
      reads(instruction, load->getPointerOperand(), sizeOf(load->getType()));
    } else if (auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
      writes(instruction, store->getPointerOperand(), sizeOf(store->getValueOperand()->getType()));
    } else if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const bool isUpdate =
          update->use_empty() && update->getOperation() != llvm::AtomicRMWInst::Xchg;
      if (isUpdate)
        llvm::IRBuilder<>(update).CreateCall(
            module_.getOrInsertFunction("oracle_begin_update", void_, int_),
            {llvm::ConstantInt::get(int_, kindOf(*update))});
      if (isUpdate)
        llvm::IRBuilder<>(update->getNextNode())
            .CreateCall(module_.getOrInsertFunction("oracle_end_update", void_));
      reads(instruction, update->getPointerOperand(), sizeOf(update->getType()));
      writes(instruction, update->getPointerOperand(), sizeOf(update->getType()));
    } else if (auto* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      llvm::Value* size = sizeOf(exchange->getCompareOperand()->getType());
      reads(instruction, exchange->getPointerOperand(), size);
      writes(instruction, exchange->getPointerOperand(), size);
    } else if (auto* memory = dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      llvm::IRBuilder<> code(&instruction);
      llvm::Value* size = code.CreateZExtOrTrunc(memory->getLength(), long_);
      if (auto* transfer = dyn_cast<llvm::MemTransferInst>(memory))
        reads(instruction, transfer->getRawSource(), size);
      writes(instruction, memory->getRawDest(), size);
    } else if (auto* operation = dyn_cast<llvm::BinaryOperator>(&instruction)) {
      compute(*operation);
    }
  }

private:
  llvm::Value* sizeOf(llvm::Type* type) const {
    return llvm::ConstantInt::get(long_, layout_.getTypeStoreSize(type).getFixedValue());
  }

  /// Two of one kind commute.
  static std::uint32_t kindOf(const llvm::AtomicRMWInst& update) {
    auto operation = update.getOperation();
    if (operation == llvm::AtomicRMWInst::Sub)
      operation = llvm::AtomicRMWInst::Add;
    return 4096 + 64 * update.getType()->getPrimitiveSizeInBits().getFixedValue() +
           static_cast<std::uint32_t>(operation);
  }

  /// Private variables and the program's constants concern nobody.
  static bool isOwn(const llvm::Value* pointer) {
    const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
    return isa<llvm::AllocaInst, llvm::GlobalVariable>(object);
  }

  void tell(llvm::IRBuilder<>& code, const char* what, llvm::Value* pointer, llvm::Value* size) {
    auto callee = module_.getOrInsertFunction(what, void_, pointer_, long_);
    code.CreateCall(callee, {code.CreateAddrSpaceCast(pointer, pointer_), size});
  }

  void reads(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Value* size) {
    if (isOwn(pointer))
      return;
    llvm::IRBuilder<> code(&instruction);
    tell(code, "oracle_reads", pointer, size);
  }

  void writes(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Value* size) {
    if (isOwn(pointer))
      return;
    llvm::IRBuilder<> before(&instruction);
    tell(before, "oracle_will_write", pointer, size);
    llvm::IRBuilder<> after(instruction.getNextNode());
    tell(after, "oracle_wrote", pointer, size);
  }

  void compute(llvm::BinaryOperator& operation) {
    if (!operation.getType()->isIntegerTy() || operation.getType()->getIntegerBitWidth() > 64)
      return;
    llvm::IRBuilder<> code(&operation);
    llvm::Value* bits = llvm::ConstantInt::get(int_, operation.getType()->getIntegerBitWidth());
    auto wide = [&](unsigned i, bool isSigned) {
      return code.CreateIntCast(operation.getOperand(i), long_, isSigned);
    };
    switch (auto opcode = operation.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::SRem: {
      if (isa<llvm::Constant>(operation.getOperand(1)))
        return;
      bool isSigned = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
      auto callee = module_.getOrInsertFunction("oracle_divides", void_, long_, long_, int_);
      code.CreateCall(callee, {wide(0, isSigned), wide(1, isSigned),
                               isSigned ? bits : llvm::ConstantInt::get(int_, 0)});
      return;
    }
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
      if (operation.hasNoSignedWrap()) {
        auto callee =
            module_.getOrInsertFunction("oracle_computes", void_, int_, long_, long_, int_);
        char symbol = opcode == llvm::Instruction::Add   ? '+'
                      : opcode == llvm::Instruction::Sub ? '-'
                                                         : '*';
        code.CreateCall(callee, {llvm::ConstantInt::get(int_, static_cast<unsigned>(symbol)),
                                 wide(0, true), wide(1, true), bits});
      }
      return;
    default:
      return;
    }
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::Type *void_, *pointer_, *long_, *int_;
};

} // namespace

llvm::PreservedAnalyses RecordAccesses::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager&) {
  std::vector<llvm::Instruction*> all;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    all.push_back(&instruction);
  std::vector<llvm::BasicBlock*> joins;
  for (llvm::BasicBlock& block : function)
    if (block.hasNPredecessorsOrMore(2))
      joins.push_back(&block);
  Instrumenter recorder(function);
  for (llvm::BasicBlock* block : joins)
    recorder.step(*block);
  for (llvm::Instruction* instruction : all)
    recorder.visit(*instruction);
  return llvm::PreservedAnalyses::none();
}

} // namespace libsplit::oracle
