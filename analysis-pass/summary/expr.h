// Integer expressions over what is known only at launch: ids, sizes, scalar arguments, and elements
// of buffers that the kernel only reads.
//
// An Expr is an immutable tree with value semantics (nodes are shared). Its value is a mathematical
// integer, unbounded. Where the program computes in n bits, the analysis says so by a Wrap node
// ("this value, if it fits n bits, signed or unsigned"); evaluation proves from the ranges of the
// ids that it does fit, and answers Unknown otherwise. So soundness under overflow is decided at
// launch, with real numbers, and not by assumption.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace libsplit {

class Expr {
public:
  enum class Op {
    Unknown,    ///< `text` says why, `line` where; And, RemTrunc, Min, Max, Select may bound it
    Constant,   ///< `value`
    Argument,   ///< bits [bit, bit+width) of by-value parameter `index`, signed or unsigned
    GlobalId,   ///< get_global_id(index), includes the global offset
    LocalId,    ///< get_local_id(index)
    GroupId,    ///< get_group_id(index)
    GlobalSize, ///< get_global_size(index)
    LocalSize,  ///< get_local_size(index); in the last group of a non-uniform dimension, smaller
    EnqueuedLocalSize, ///< get_enqueued_local_size(index)
    NumGroups,         ///< get_num_groups(index)
    GlobalOffset,      ///< get_global_offset(index)
    WorkDim,           ///< get_work_dim()
    LoopVariable,      ///< variable of loop `index` of the access, in [0, count)
    Add,
    Mul,      ///< n-ary
    DivFloor, ///< floor(a / b); Unknown if b may be 0
    DivTrunc, ///< C's a / b
    RemTrunc, ///< C's a % b
    Min,
    Max, ///< n-ary
    Shl,
    ShrArith,
    And,
    Or,
    Xor,    ///< binary, on two's complement of unbounded width
    Wrap,   ///< operand 0, if it lies in the range of `width` bits (`isSigned`); else Unknown
    Select, ///< operand 0 < operand 1 ? operand 2 : operand 3
    Load,   ///< the `width`-bit integer at byte operand 0 of buffer parameter `index`
  };

  /// Larger trees (shared nodes counted each time) become Unknown: every walk stays cheap.
  static constexpr unsigned maxSize = 4096;
  static constexpr unsigned maxDepth = 256;

  Expr(); ///< Constant 0

  static Expr unknown(std::string why, unsigned line = 0);
  static Expr constant(std::int64_t value);
  static Expr argument(unsigned parameter, unsigned width, bool isSigned, unsigned bit = 0);
  static Expr id(Op op, unsigned dimension); ///< any of GlobalId .. GlobalOffset
  static Expr workDim();
  static Expr loop(unsigned depth);
  static Expr node(Op op, std::vector<Expr> operands); ///< folds constants and trivial identities
  static Expr wrap(Expr operand, unsigned width, bool isSigned);
  /// An element of a buffer that the kernel never writes through this parameter. `width` is 8, 16,
  /// 32 or 64.
  static Expr load(unsigned parameter, Expr byteOffset, unsigned width, bool isSigned);
  /// The same operation on other operands, as many as before.
  Expr over(std::vector<Expr> operands) const;

  Op op() const;
  std::int64_t value() const;      ///< of a Constant
  unsigned index() const;          ///< parameter, dimension or loop depth; of a Load, parameter
  unsigned width() const;          ///< bits: of Argument, Wrap and Load
  unsigned bit() const;            ///< of Argument
  bool isSigned() const;           ///< of Argument, Wrap and Load
  const std::string& text() const; ///< of Unknown
  unsigned line() const;           ///< of Unknown
  const std::vector<Expr>& operands() const;

  bool operator==(const Expr& other) const; ///< structural

private:
  struct Node;
  explicit Expr(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);

/// Whether some value in it is unknown, bounded or not. Two such expressions that are equal need
/// not have the same value.
bool containsUnknown(const Expr& expr);

/// Calls `visit` for each Load of the expression, those within another one's offset included.
void eachLoad(const Expr& expr, const std::function<void(const Expr& load)>& visit);

/// Marks in `loaded` the parameters that `expr` loads from; those beyond its end are left out.
void noteLoads(const Expr& expr, std::vector<bool>& loaded);

/// Compact text, e.g. "4*(G0 + arg2*L1) + 8"; parameter names where `names` gives them. G0, L0, W0:
/// global, local, work-group id of dimension 0; k0: loop variable; i32(..), u32(..): Wrap; col[..]:
/// Load, by elements where the offset is a multiple of their size, else by bytes, as col.bytes[..].
std::string toString(const Expr& expr, const std::vector<std::string>& names = {});

} // namespace libsplit
