// When does a block run? Guards, loop counts, and whether both together say it exactly.
//
// The answer for a block is read off the chain of its immediate dominators, from the block up to
// the kernel's entry. Let B be a block on that chain and I its immediate dominator:
//
//   * B post-dominates I: whoever reaches I reaches B. Nothing to record.
//   * One edge of the branch at the end of I dominates B: then that edge leads to B directly (a
//     block between them would be B's immediate dominator), so B runs exactly if I runs and the
//     branch goes that way. The condition becomes guards.
//   * Otherwise several ways lead from I to B and some miss it (a `return` in one arm of an `if`
//     above B): B runs if one of its predecessors runs and branches to it. Where they are not all
//     in B's own loop, no condition is recorded, and the answer is no longer exact.
//   * I lies in a loop that B is outside of: whether B runs is decided where the loop is entered,
//     provided B post-dominates that place; the walk goes on at the loop's preheader.
//
// Branches that leave a loop whose exit count is known are not guards: the loop's count says the
// same. With several counted exits, a block runs min over the exits of (count + 1 if the block
// comes before the exit, count if after). Post-dominance speaks of whole runs, not of single
// iterations; both agree as long as every exit dominates the loop's latch, and where one does not,
// the answer is not exact. Kernels are taken to end: OpenCL has no other meaning for them.
//
// Conditions are kept in disjunctive form, so `if (x == 0 || y == 0)` gives two exact alternatives,
// each of which becomes an access of its own. What is not a comparison of expressible integers is
// `true`, inexactly.
//
// Worked example:
//
//     int i = get_global_id(0);
//     if (i >= n || mask[i]) return;       // alternatives {i < n}, not exact (mask is data)
//     for (int j = 0; j <= i; ++j)         // loop 0, count max(0, i + 1), exact
//       out[i * n + j] = 0;                // runs if i < n ... and perhaps not even then
#pragma once

#include "analysis-pass/pass/expression_builder.h"
#include "analysis-pass/summary/kernel_summary.h"

#include <llvm/ADT/DenseMap.h>

#include <map>
#include <utility>
#include <vector>

namespace llvm {
class ICmpInst;
class PostDominatorTree;
class SwitchInst;
} // namespace llvm

namespace libsplit {

/// A condition in disjunctive form. No alternative: never. One without guards: always.
struct Condition {
  std::vector<std::vector<Guard>> anyOf;
  bool exact = true; ///< false: `anyOf` is implied by the condition, but doesn't imply it
  /// If not exact: why, for people.
  struct Doubt {
    std::string text;
    unsigned line = 0;
  } doubt{};

  static Condition always() { return {{{}}, true}; }
  static Condition undecided(std::string why, unsigned line) {
    return {{{}}, false, {std::move(why), line}};
  }
  static Condition never() { return {{}, true}; }
};

Condition both(const Condition& a, const Condition& b);
Condition either(const Condition& a, const Condition& b);

/// first + step * (the loop's number of iterations so far) has a name in the program.
struct LoopVariable {
  std::string name;
  Expr first;
  Expr step;
};

/// How often a block runs per entry of a loop around it.
struct LoopRuns {
  llvm::Loop* loop = nullptr;
  Expr count;               ///< Unknown if no bound is known
  bool exact = true;        ///< false: `count` is an upper bound
  bool atLeastOnce = false; ///< known from the loop's shape
  LoopVariable variable{};  ///< the program's own, if its name is known
};

struct PathOfBlock {
  Condition condition;
  std::vector<LoopRuns> loops; ///< outermost first
};

class PathConditions {
public:
  PathConditions(llvm::Function& function, ExpressionBuilder& builder,
                 llvm::PostDominatorTree& postDominators);

  const PathOfBlock& of(llvm::BasicBlock* block);

  /// `value`, an i1, as a condition.
  const Condition& condition(llvm::Value* value, bool wanted);

private:
  struct Exit {
    llvm::BasicBlock* from = nullptr;
    llvm::BasicBlock* stays = nullptr; ///< the successor inside the loop; null if unclear
    Expr count;                        ///< completed iterations before leaving here
    bool atMost = false;               ///< data may end the loop here before
    bool counted() const { return count.op() != Expr::Op::Unknown; }
  };
  struct LoopExits {
    std::vector<Exit> exits;
    bool regular = true; ///< every exit dominates the latch
  };

  PathOfBlock compute(llvm::BasicBlock* block);
  Condition findCondition(llvm::Value* value, bool wanted);
  Condition compare(llvm::ICmpInst& compare, bool wanted);
  Condition single(const Expr& left, Guard::Relation relation, const Expr& right,
                   const llvm::Value& condition) const;
  const Condition& ofJoin(llvm::BasicBlock* block, llvm::BasicBlock* above);
  Condition since(llvm::BasicBlock* block, llvm::BasicBlock* top);
  Condition ofSwitch(llvm::SwitchInst& choice, llvm::BasicBlock* to);
  Condition ofBranch(llvm::BasicBlock* from, llvm::BasicBlock* to);
  Condition ofEdge(llvm::BasicBlock* from, llvm::BasicBlock* to, bool& edgeFound);
  const LoopExits& exitsOf(llvm::Loop* loop);
  Expr exitCount(llvm::Loop* loop, llvm::BasicBlock* exiting, llvm::BasicBlock* stays,
                 bool& atMost);
  std::optional<Expr> countByCondition(llvm::Loop* loop, llvm::Value* condition, bool staysIf,
                                       bool endsLoop, bool proven, bool& atMost);
  std::optional<Expr> countByComparison(llvm::Loop* loop, llvm::ICmpInst& comparison, bool staysIf,
                                        bool endsLoop, bool proven);
  LoopRuns runs(llvm::Loop* loop, llvm::BasicBlock* block);
  bool isCountedExit(llvm::BasicBlock* block, llvm::BasicBlock* successor);

  ExpressionBuilder& builder_;
  llvm::PostDominatorTree& postDominators_;
  unsigned nesting_ = 0;     ///< joins within joins
  bool irreducible_ = false; ///< jumps into the middle of a cycle: nothing is exact
  llvm::DenseMap<llvm::BasicBlock*, PathOfBlock> paths_;
  std::map<std::pair<llvm::Value*, bool>, Condition> conditions_;
  std::map<std::pair<llvm::BasicBlock*, unsigned>, Condition> joins_; ///< by block and nesting
  llvm::DenseMap<llvm::Loop*, LoopExits> exits_;
};

} // namespace libsplit
