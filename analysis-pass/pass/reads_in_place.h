// Which reads are of the place that a store goes to.
//
//     float4 v = vload4(a, out);          // reads bytes [16*a, +16)
//     out[4 * a + 1] = v.y * q;           // writes bytes [16*a + 4, +4): of that place
//
//     float old = y[index[i]];
//     x[i] = old;                         // who knows whether that is a part of `index`
//     y[index[i]] = old + 1;              // another load of the index: the same expression
//
// Places are compared as sums of terms, each with a factor, whatever these wrap around at; two are
// the same if their terms are, and the constants that remain lie no further apart than the
// accesses are long. Loops' variables of one depth count as the same. So some that differ are taken
// for the same, and none of a kind that is known for different ones. Where nothing is known of an
// index, places are the same only by the same pointer (changed_in_place.h).
#pragma once

#include "analysis-pass/pass/expression_builder.h"
#include "analysis-pass/pass/pointer_targets.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libsplit {

/// Of one kernel. Not thread-safe.
class ReadsInPlace {
public:
  /// `readOnly`: by parameter, as readOnlyBuffers says. All must outlive this.
  ReadsInPlace(llvm::Function& function, ExpressionBuilder& builder, PointerResolver& pointers,
               const std::vector<bool>& readOnly)
      : function_(function), builder_(builder), pointers_(pointers), readOnly_(readOnly) {}

  /// What reads bytes of [pointer + displacement, + length).
  std::vector<const llvm::Instruction*> of(llvm::Value* pointer, const Expr& displacement,
                                           std::uint64_t length);

private:
  /// The terms as text, with their factors.
  using Terms = std::map<std::string, std::int64_t>;
  struct Place {
    Terms terms;
    std::int64_t constant = 0;
  };
  struct Read {
    const llvm::Instruction* by = nullptr;
    std::int64_t constant = 0;
    std::uint64_t length = 0;
  };
  using Places = std::vector<std::pair<unsigned, Place>>; ///< with their parameters

  static std::optional<Place> placeOf(const Expr& offset);
  Places placesOf(llvm::Value* pointer, const Expr& displacement);
  void collect();

  llvm::Function& function_;
  ExpressionBuilder& builder_;
  PointerResolver& pointers_;
  const std::vector<bool>& readOnly_;
  bool isCollected_ = false;
  std::map<std::pair<unsigned, Terms>, std::vector<Read>> reads_; ///< by parameter and terms
};

} // namespace libsplit
