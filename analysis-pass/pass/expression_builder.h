// Turns integer values of the IR into Exprs: what a launch can evaluate.
//
// The IR computes modulo 2^n, an Expr is a mathematical integer. Sums and products of n-bit values
// are the same modulo 2^n whatever integers stand for their operands, so a polynomial is carried
// over the integers as it stands (view Modular), and only where the program looks at an n-bit value
// as a number (an extension, a comparison, a division, an address) the whole polynomial is wrapped
// once (views Signed and Unsigned): "this integer, if it lies in the n-bit range". The launch
// proves that it does, or answers Unknown. No overflow flag of the IR has to be believed.
//
// Worked example. `x[(uint)get_global_id(0) - 1u + k]` is the 32-bit polynomial G0 - 1 + k, seen
// unsigned by the extension to 64 bits: offset 4 * wrap(G0 - 1 + k, 32, unsigned). For G0 = 0 and
// k = 1 that is 0, though the intermediate result wrapped around.
//
// Loops: a header phi that is an affine recurrence for scalar evolution becomes
// start + step * loop(d), d the loop's depth in the function counted from 0. An expression is thus
// meaningful only inside the loops that its block lies in; values that leave a loop are closed over
// it by scalar evolution, or Unknown.
#pragma once

#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/summary/expr.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instruction.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace llvm {
class Argument;
class BasicBlock;
class DominatorTree;
class ExtractElementInst;
class Function;
class GEPOperator;
class Instruction;
class LoadInst;
class Loop;
class LoopInfo;
class PHINode;
class SCEV;
class ScalarEvolution;
class SelectInst;
class Value;
} // namespace llvm

namespace libsplit {

/// The integer that stands for an n-bit value.
enum class View {
  Modular, ///< any that is congruent modulo 2^n
  Signed,
  Unsigned
};

/// The Unknown in `expr` that makes it unknown, if any; one that is bounded doesn't: `? & 255`.
std::optional<Expr> findUnknown(const Expr& expr);
/// The element of a buffer in `expr`, if any, that differs between work-items or iterations.
std::optional<Expr> elementThatVaries(const Expr& expr);
/// One more than the largest loop depth that `expr` names; 0 if it names none.
unsigned loopDepthUsed(const Expr& expr);
bool usesLoop(const Expr& expr, unsigned depth);
/// Expr::node, except that an Unknown operand makes the result that Unknown.
Expr combine(Expr::Op op, std::vector<Expr> operands);
Expr minus(const Expr& a, const Expr& b);

/// Source line of an instruction, 0 if none is known.
unsigned lineOf(const llvm::Value* value);

/// True for by-value parameters in memory (structs) that the kernel only reads.
bool isReadOnlyByValue(const llvm::Argument& argument);

/// Two ways into a block from one two-way branch: the phi is `condition ? ifTrue : ifFalse`.
struct GatedPhi {
  llvm::BasicBlock* branch = nullptr; ///< the block that ends in the branch
  llvm::Value* condition = nullptr;
  llvm::Value* ifTrue = nullptr;
  llvm::Value* ifFalse = nullptr;
};
std::optional<GatedPhi> gate(llvm::PHINode& phi, const llvm::DominatorTree& dominators);

/// A place in a buffer parameter.
struct BufferPlace {
  unsigned parameter = 0;
  Expr offset; ///< bytes
};

/// Holds references to the analyses of one function, which must stay valid. Not thread-safe.
class ExpressionBuilder {
public:
  ExpressionBuilder(llvm::Function& function, llvm::LoopInfo& loops,
                    llvm::ScalarEvolution& evolution, llvm::DominatorTree& dominators);

  /// `value`, an integer; Unknown with a reason and line where it can't be said.
  Expr build(llvm::Value* value, View view);

  /// A scalar evolution as seen by code directly inside `scope` (null: outside of all loops).
  Expr build(const llvm::SCEV* evolution, View view, const llvm::Loop* scope);

  /// Bytes that `gep` adds to its base, modulo 2^64.
  Expr offsetOf(const llvm::GEPOperator& gep);
  /// … that `call`, a vloadN or vstoreN, adds to its pointer.
  Expr offsetOf(const llvm::CallBase& call, const VectorAccess& access);

  /// How far `phi`, in the header of a loop, has moved from its start: step * loop(d), modulo 2^n.
  /// Bytes, for a pointer.
  Expr movement(llvm::PHINode& phi);

  /// `condition ? ifTrue : ifFalse`.
  Expr select(llvm::Value* condition, const Expr& ifTrue, const Expr& ifFalse);

  /// The name of what `pointer` points into, for messages: "`col`", "local memory".
  std::string nameOf(const llvm::Value* pointer) const;
  std::string nameOf(unsigned parameter) const;
  /// How to find the buffer that a load reads, if the kernel only reads that buffer: such a load is
  /// a value of the launch. Without it, loads from buffers are Unknown.
  void setReadOnlyPlaces(std::function<std::optional<BufferPlace>(llvm::Value*)> placeOf) {
    placeOf_ = std::move(placeOf);
  }
  void setParameterNames(std::vector<std::string> names) { names_ = std::move(names); }

  llvm::LoopInfo& loops() { return loops_; }
  llvm::ScalarEvolution& evolution() { return evolution_; }
  llvm::DominatorTree& dominators() { return dominators_; }

private:
  Expr compute(llvm::Value* value, View view);
  Expr binary(llvm::Instruction& instruction, View view);
  Expr division(llvm::Instruction& instruction, llvm::Instruction::BinaryOps opcode, View view);
  Expr call(llvm::Instruction& instruction, View view);
  Expr integerMath(llvm::CallBase& call, View view);
  Expr component(llvm::ExtractElementInst& extract, View view);
  Expr load(llvm::LoadInst& load, unsigned width, unsigned bit, View view);
  Expr phi(llvm::PHINode& phi, View view);
  Expr minMaxOrSelect(llvm::SelectInst& select, View view);
  Expr closedOverLoops(llvm::Value* inner, llvm::PHINode& outside, View view);

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::DominatorTree& dominators_;
  std::vector<std::string> names_;
  std::function<std::optional<BufferPlace>(llvm::Value*)> placeOf_;
  std::map<std::pair<llvm::Value*, View>, Expr> known_;
  llvm::SmallPtrSet<llvm::Value*, 16> underway_;
};

/// `expr`, congruent to an n-bit value, as `view` asks. Exprs that are known to lie in the range
/// already are not wrapped again.
Expr viewed(const Expr& expr, unsigned width, View view);

} // namespace libsplit
