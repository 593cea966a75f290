// What the program calls the values of an analysis, as far as its debug information tells: for
// reports only. Whether there is any changes no other part of an answer.
#pragma once

#include "analysis-pass/pass/path_condition.h"
#include "analysis-pass/summary/kernel_summary.h"

#include <llvm/ADT/MapVector.h>

#include <map>
#include <string>
#include <vector>

namespace llvm {
class DILocalVariable;
class Function;
class Loop;
class Value;
} // namespace llvm

namespace libsplit {

class SourceNames {
public:
  /// Both must outlive this.
  SourceNames(llvm::Function& kernel, ExpressionBuilder& builder);

  /// The variable that counts `loop`; without a name if there is none.
  const LoopVariable& of(const llvm::Loop* loop);

  /// Variables of the kernel itself that hold one value throughout, an id or something that is
  /// computed from ids.
  std::vector<NamedValue> variables();

  /// Of a struct that parameter `index` is: ".size.x" and the like, by first bit.
  std::map<unsigned, std::string> membersOf(unsigned index) const;

private:
  LoopVariable find(const llvm::Loop& loop);

  const llvm::Function& kernel_;
  ExpressionBuilder& builder_;
  llvm::MapVector<const llvm::DILocalVariable*, std::vector<llvm::Value*>> values_;
  std::map<const llvm::Value*, std::string> names_;
  std::map<const llvm::Loop*, LoopVariable> loops_;
};

} // namespace libsplit
