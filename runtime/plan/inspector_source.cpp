#include "runtime/plan/inspector_source.h"

#include "analysis-pass/summary/expr_value.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace libsplit::runtime {

namespace {

using Op = Expr::Op;

constexpr std::size_t maxLanes = 64;
/// Iterations that a lane may make for one cell. More, and nothing is known of the cell.
constexpr std::uint64_t maxSteps = 1 << 22;
/// Of an inspector of claims, which says the same of all: enough to keep a device busy.
constexpr std::uint64_t maxClaimingCells = 4096;
/// Of each number of an NDRange: sums and products of a few with places stay within 64 bits.
constexpr Int mostItems = Int{1} << 40;
constexpr Interval longs{INT64_MIN, INT64_MAX};

/// Where in `n` things stand; the buffers' sizes, the scalars and, where there are claims, the size
/// of what is claimed follow.
enum Number : std::size_t {
  Offset = 0,
  Global = 3,
  Local = 6,
  Groups = 9,
  Run = 12,
  Cells = 15,
  Dimensions = 18,
  Sizes = 19
};

std::string at(std::size_t number) {
  return "n[" + std::to_string(number) + "]";
}

std::string literal(std::int64_t value) {
  // The least number has no literal of its own.
  return value == INT64_MIN ? "LONG_MIN" : std::to_string(value) + "L";
}

bool isLoop(const Expr& leaf, unsigned k) {
  return leaf.op() == Op::LoopVariable && leaf.index() == k;
}

/// What tells the work-groups of a dimension apart.
bool isOfGroup(const Expr& leaf, unsigned d) {
  return (leaf.op() == Op::LocalId || leaf.op() == Op::GroupId || leaf.op() == Op::LocalSize) &&
         leaf.index() == d;
}

/// What tells the work-items of one group apart.
bool isId(const Expr& leaf, unsigned d) {
  return (leaf.op() == Op::GlobalId || leaf.op() == Op::LocalId) && leaf.index() == d;
}

/// Loops that must be around a value: one more than the innermost whose variable it names.
unsigned depthOf(const Expr& e) {
  unsigned depth = e.op() == Op::LoopVariable ? e.index() + 1 : 0;
  for (const Expr& operand : e.operands())
    depth = std::max(depth, depthOf(operand));
  return depth;
}

using Corners = InspectorSource::Corners;
using Inputs = InspectorSource::Inputs;

/// Writes what a cell does about one access. Statements are collected by how many loops are around
/// them, and each distinct value is computed once, as far out as it can be.
class Writer {
public:
  /// `unit`: of claims; 0: it makes none.
  Writer(const Access& access, Inputs& inputs, std::uint64_t unit)
      : access_(access), inputs_(inputs), unit_(unit), scopes_(access.loops.size() + 1) {}

  std::string write() {
    writeConditions();
    return body(valueOf(access_.offset));
  }

  Corners cornersOf(unsigned d) const {
    if (!endsTell([&](const Expr& leaf) { return isId(leaf, d); }))
      return Corners::Never;
    return mentionsGroups(d) ? Corners::OfGroups : Corners::Always;
  }

private:
  /// Whether the address at the ends of a variable tells all between.
  template <class IsVariable> bool endsTell(IsVariable isVariable) const {
    return isAffineIn(access_.offset, isVariable) && !decides(isVariable);
  }

  bool mentionsGroups(unsigned d) const {
    return isUsed([&](const Expr& leaf) { return isOfGroup(leaf, d); });
  }

  template <class IsVariable> bool isUsed(IsVariable isVariable) const {
    return usesVariable(access_.offset, isVariable) || decides(isVariable);
  }

  /// Whether loops' counts or conditions use the variable.
  template <class IsVariable> bool decides(IsVariable isVariable) const {
    auto uses = [&](const Expr& e) { return usesVariable(e, isVariable); };
    return std::ranges::any_of(access_.loops, [&](const Loop& l) { return uses(l.count); }) ||
           std::ranges::any_of(access_.guards,
                               [&](const Guard& g) { return uses(g.left) || uses(g.right); });
  }

  /// Conditions first, each as far out as it can be: what they rule out needs no more.
  void writeConditions() {
    static constexpr const char* relations[] = {"less", "lessEqual", "equal", "notEqual"};
    for (unsigned depth = 0; depth < scopes_.size(); ++depth) {
      for (const Guard& guard : access_.guards) {
        if (std::max(depthOf(guard.left), depthOf(guard.right)) != depth)
          continue;
        const std::string left = valueOf(guard.left), right = valueOf(guard.right);
        const std::string holds = define(depth, relations[static_cast<int>(guard.relation)] +
                                                    ("(" + left + ", " + right + ")"));
        scopes_[depth] += "if (" + holds + ".ok && !" + holds + ".v) continue;\n";
        conditions_.push_back(holds);
      }
      if (depth < access_.loops.size())
        counts_.push_back(valueOf(access_.loops[depth].count));
    }
  }

  std::string define(unsigned depth, const std::string& value) {
    std::string name = "t" + std::to_string(values_++);
    scopes_[depth] += "const N " + name + " = " + value + ";\n";
    return name;
  }

  /// The name of the variable that holds `e`.
  std::string valueOf(const Expr& e) { return named(textOf(e), depthOf(e)); }

  std::string named(const std::string& text, unsigned depth) {
    const auto known = names_.find(text);
    if (known != names_.end())
      return known->second;
    return names_[text] = define(depth, text);
  }

  /// All values that `e` may take, as far as types tell; needs no check where that is within 64
  /// bits.
  Interval rangeOf(const Expr& e) const {
    const std::vector<Expr>& operands = e.operands();
    auto typed = [&] {
      const Int limit = Int{1} << (e.isSigned() ? e.width() - 1 : e.width());
      return intersection({e.isSigned() ? -limit : 0, limit - 1}, longs);
    };
    Interval range = longs;
    switch (e.op()) {
    case Op::Constant:
      return {e.value(), e.value()};
    case Op::Argument:
    case Op::Load:
      return typed();
    case Op::Wrap:
      return intersection(typed(), rangeOf(operands[0]));
    case Op::GlobalId:
    case Op::LocalId:
    case Op::GroupId:
    case Op::GlobalSize:
    case Op::LocalSize:
    case Op::EnqueuedLocalSize:
    case Op::NumGroups:
    case Op::GlobalOffset:
    case Op::WorkDim:
      return {0, 2 * mostItems};
    case Op::LoopVariable:
      return {0, longs.high};
    case Op::Add:
    case Op::Mul:
      range = rangeOf(operands[0]);
      for (std::size_t i = 1; i < operands.size(); ++i)
        range = e.op() == Op::Add ? range + rangeOf(operands[i]) : range * rangeOf(operands[i]);
      return intersection(range, longs);
    case Op::Min:
    case Op::Max:
      range = rangeOf(operands[0]);
      for (std::size_t i = 1; i < operands.size(); ++i) {
        const Interval other = rangeOf(operands[i]);
        range = e.op() == Op::Min
                    ? Interval{std::min(range.low, other.low), std::min(range.high, other.high)}
                    : Interval{std::max(range.low, other.low), std::max(range.high, other.high)};
      }
      return range;
    case Op::Select:
      return hull(rangeOf(operands[2]), rangeOf(operands[3]));
    default:
      return longs;
    }
  }

  static bool fits(Interval range) { return range.low >= longs.low && range.high <= longs.high; }

  template <class Element>
  static std::size_t position(std::vector<Element>& list, const Element& element) {
    const auto found = std::ranges::find(list, element);
    const auto at = static_cast<std::size_t>(found - list.begin());
    if (found == list.end())
      list.push_back(element);
    return at;
  }

  std::string textOf(const Expr& e) {
    const unsigned d = e.index();
    const std::string dimension = std::to_string(d);
    switch (e.op()) {
    case Op::Unknown:
      return "nothing()";
    case Op::Constant:
      return "value(" + literal(e.value()) + ")";
    case Op::Argument:
      return "value(scalar" + std::to_string(position(inputs_.scalars, e)) + ")";
    case Op::GlobalId:
      return "value(" + at(Offset + d) + " + at" + dimension + ")";
    case Op::LocalId:
      return "value(at" + dimension + " % " + at(Local + d) + ")";
    case Op::GroupId:
      return "value(at" + dimension + " / " + at(Local + d) + ")";
    case Op::LocalSize: // the last group may be smaller
      return "value(min(" + at(Local + d) + ", " + at(Global + d) + " - at" + dimension + " + at" +
             dimension + " % " + at(Local + d) + "))";
    case Op::GlobalSize:
      return "value(" + at(Global + d) + ")";
    case Op::EnqueuedLocalSize:
      return "value(" + at(Local + d) + ")";
    case Op::NumGroups:
      return "value(" + at(Groups + d) + ")";
    case Op::GlobalOffset:
      return "value(" + at(Offset + d) + ")";
    case Op::WorkDim:
      return "value(" + at(Dimensions) + ")";
    case Op::LoopVariable:
      return "value(k" + dimension + ")";
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
      return chained(e);
    case Op::DivFloor:
      return call("floorQuotient", e);
    case Op::DivTrunc:
      return call("quotient", e);
    case Op::RemTrunc:
      return call("remainder_", e);
    case Op::Shl:
      return call("shiftedLeft", e);
    case Op::ShrArith:
      return call("shiftedRight", e);
    case Op::And:
      return call("and_", e);
    case Op::Or:
      return call("or_", e);
    case Op::Xor:
      return call("xor_", e);
    case Op::Select:
      return call("select_", e);
    case Op::Wrap:
      if (const Interval range = rangeOf(e.operands()[0]); range == rangeOf(e))
        return textOf(e.operands()[0]);
      return std::string(e.isSigned() ? "signed_" : "unsigned_") + "(" + valueOf(e.operands()[0]) +
             ", " + std::to_string(e.width()) + ")";
    case Op::Load: {
      position(inputs_.buffers, d);
      const std::string parameter = std::to_string(d);
      return std::string("load") + (e.isSigned() ? "S" : "U") + std::to_string(e.width()) + "(b" +
             parameter + ", size" + parameter + ", " + valueOf(e.operands()[0]) + ")";
    }
    }
    return "nothing()";
  }

  std::string call(const std::string& function, const Expr& e) {
    std::string text = function + "(";
    for (std::size_t i = 0; i < e.operands().size(); ++i)
      text += (i ? ", " : "") + valueOf(e.operands()[i]);
    return text + ")";
  }

  /// Operands that stay the same come first, so that these sums are computed outside of loops.
  std::string chained(const Expr& e) {
    std::vector<Expr> operands = e.operands();
    std::ranges::stable_sort(operands, {}, depthOf);
    std::string so = valueOf(operands[0]);
    Interval range = rangeOf(operands[0]);
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const Interval other = rangeOf(operands[i]);
      std::string function = e.op() == Op::Min ? "least" : "greatest";
      if (e.op() == Op::Add || e.op() == Op::Mul) {
        range = e.op() == Op::Add ? range + other : range * other;
        function = e.op() == Op::Add ? "plus" : "times";
        if (!fits(range))
          function = "checked_" + function;
        range = intersection(range, longs);
      }
      const std::string text = function + "(" + so + ", " + valueOf(operands[i]) + ")";
      if (i + 1 == operands.size())
        return text;
      so = named(text, depthOf(operands[i])); // the deepest so far
    }
    return so;
  }

  std::string body(const std::string& offset) {
    std::string text =
        "for (uint item = lane; item < count0 * count1 * count2; item += get_local_size(0)) {\n"
        "if (bad || steps-- == 0) { bad = true; break; }\n"
        "const uint place0 = item % count0, place1 = item / count0 % count1, "
        "place2 = item / count0 / count1;\n";
    for (unsigned d = 0; d < 3; ++d) {
      const std::string own = std::to_string(d);
      text += "const long at" + own + " = first" + own + " + (corners" + own + " && place" + own +
              " ? size_" + own + " - 1 : place" + own + ");\n";
    }
    for (unsigned k = 0; k < access_.loops.size(); ++k) {
      const std::string own = std::to_string(k);
      const auto isOfLoop = [&](const Expr& leaf) { return isLoop(leaf, k); };
      const bool ends = unit_ == 0 && endsTell(isOfLoop);
      // What it claims in each iteration it claims once.
      const bool once = unit_ > 0 && !isUsed(isOfLoop);
      text += scopes_[k];
      text += "if (!" + counts_[k] + ".ok) { bad = true; continue; }\n";
      text += "const long trips" + own + " = " +
              (ends   ? "min(" + counts_[k] + ".v, 2L)"
               : once ? "min(" + counts_[k] + ".v, 1L)"
                      : counts_[k] + ".v") +
              ";\n";
      text += "for (long trip" + own + " = 0; trip" + own + " < trips" + own + "; ++trip" + own +
              ") {\n"
              "if (bad || steps-- == 0) { bad = true; break; }\n"
              "const long k" +
              own + " = " +
              (ends ? "trip" + own + " ? " + counts_[k] + ".v - 1 : 0" : "trip" + own) + ";\n";
    }
    text += scopes_.back();
    std::string known = offset + ".ok";
    for (const std::string& condition : conditions_)
      known += " && " + condition + ".ok";
    text += unit_ ? claim(offset, known) : extend(offset, known);
    for (std::size_t k = 0; k < access_.loops.size(); ++k)
      text += "}\n";
    return text + "}\n";
  }

  std::string extend(const std::string& offset, const std::string& known) const {
    const std::string length = literal(static_cast<std::int64_t>(access_.length));
    return "if (!(" + known + ") || " + offset + ".v > LONG_MAX - " + length +
           ") { bad = true; continue; }\n"
           "low = min(low, " +
           offset + ".v);\nend = max(end, " + offset + ".v + " + length + ");\n";
  }

  std::string claim(const std::string& offset, const std::string& known) const {
    const std::string length = literal(static_cast<std::int64_t>(access_.length));
    const std::string unit = literal(static_cast<std::int64_t>(unit_));
    return "if (!(" + known + ") || " + offset + ".v < 0 || " + offset + ".v % " + unit +
           " != 0 || " + offset + ".v > claimed - " + length +
           ") { bad = true; continue; }\n"
           "for (long p = " +
           offset + ".v / " + unit + "; p < (" + offset + ".v + " + length + ") / " + unit +
           "; ++p)\n"
           "bad = bad || isTaken(claims, p);\n";
  }

  const Access& access_;
  Inputs& inputs_;
  const std::uint64_t unit_;
  std::vector<std::string> scopes_; ///< statements, by loops around them
  std::vector<std::string> counts_, conditions_;
  std::unordered_map<std::string, std::string> names_; ///< of values, by their text
  unsigned values_ = 0;
};

/// `claimed`: the parameter whose places are claimed, if any are.
std::string headOf(const Inputs& inputs, const std::array<Corners, 3>& corners,
                   std::optional<unsigned> claimed) {
  std::string text =
      "kernel void INSPECTOR(global const long* restrict n, global long* restrict out" +
      std::string(claimed ? ", global uint* restrict claims" : "");
  for (const unsigned b : inputs.buffers)
    text += ", global const uchar* restrict b" + std::to_string(b);
  text += ") {\n";
  std::size_t number = Sizes;
  for (const unsigned b : inputs.buffers)
    text += "const long size" + std::to_string(b) + " = " + at(number++) + ";\n";
  for (std::size_t s = 0; s < inputs.scalars.size(); ++s)
    text += "const long scalar" + std::to_string(s) + " = " + at(number++) + ";\n";
  if (claimed) // texts are equal only if all is
    text += "const long claimed = " + at(number) + "; // bytes of argument " +
            std::to_string(*claimed) + "\n";
  text += "local long lows[" + std::to_string(maxLanes) + "], ends[" + std::to_string(maxLanes) +
          "];\n"
          "const uint lane = get_local_id(0);\n"
          "const long cell = get_group_id(0);\n";
  std::string row = "cell"; // which of them, in this dimension and those above
  for (unsigned d = 0; d < 3; ++d) {
    const std::string own = std::to_string(d);
    text += "const long first" + own + " = " + row + " % " + at(Cells + d) + " * " + at(Run + d) +
            " * " + at(Local + d) + ";\n";
    row += " / " + at(Cells + d);
    text += "const uint size_" + own + " = min(" + at(Run + d) + " * " + at(Local + d) + ", " +
            at(Global + d) + " - first" + own + ");\n";
    text += "const bool corners" + own + " = " +
            (corners[d] == Corners::Always     ? "true"
             : corners[d] == Corners::OfGroups ? at(Run + d) + " == 1"
                                               : "false") +
            ";\n";
    text += "const uint count" + own + " = corners" + own + " ? min(size_" + own + ", 2u) : size_" +
            own + ";\n";
  }
  text += "long low = LONG_MAX, end = LONG_MIN;\n"
          "bool bad = false;\n"
          "uint steps = " +
          std::to_string(maxSteps) + "u;\n";
  return text;
}

std::string tail() {
  return R"(lows[lane] = bad ? LONG_MIN : low;
ends[lane] = bad ? LONG_MAX : end;
for (uint other = get_local_size(0) / 2; other > 0; other /= 2) {
barrier(CLK_LOCAL_MEM_FENCE);
if (lane < other) {
lows[lane] = min(lows[lane], lows[lane + other]);
ends[lane] = max(ends[lane], ends[lane + other]);
}
}
if (lane == 0) {
out[2 * cell] = lows[0];
out[2 * cell + 1] = ends[0];
}
}
)";
}

/// What the expressions' operations mean here.
std::string prelude() {
  std::string functions = R"(typedef struct { long v; int ok; } N;
N nothing() { N r = {0, 0}; return r; }
N value(long v) { N r = {v, 1}; return r; }
N plus(N a, N b) { N r = {(long)((ulong)a.v + (ulong)b.v), a.ok && b.ok}; return r; }
N times(N a, N b) { N r = {(long)((ulong)a.v * (ulong)b.v), a.ok && b.ok}; return r; }
N checked_plus(N a, N b) {
  N r = {(long)((ulong)a.v + (ulong)b.v), 0};
  r.ok = a.ok && b.ok && ((a.v ^ r.v) & (b.v ^ r.v)) >= 0;
  return r;
}
N checked_times(N a, N b) {
  N r = {(long)((ulong)a.v * (ulong)b.v), 0};
  r.ok = a.ok && b.ok && mul_hi(a.v, b.v) == r.v >> 63;
  return r;
}
N least(N a, N b) { N r = {min(a.v, b.v), a.ok && b.ok}; return r; }
N greatest(N a, N b) { N r = {max(a.v, b.v), a.ok && b.ok}; return r; }
int divides(N a, N b) { return a.ok && b.ok && b.v != 0 && !(b.v == -1 && a.v == LONG_MIN); }
N quotient(N a, N b) {
  N r = {0, divides(a, b)};
  if (r.ok) r.v = a.v / b.v;
  return r;
}
N remainder_(N a, N b) {
  N r = {0, divides(a, b)};
  if (r.ok) r.v = a.v % b.v;
  return r;
}
N floorQuotient(N a, N b) {
  N r = {0, divides(a, b)};
  if (r.ok) r.v = a.v / b.v - (a.v % b.v != 0 && (a.v < 0) != (b.v < 0));
  return r;
}
int shifts(N a, N b) { return a.ok && b.ok && b.v >= 0 && b.v < 63; }
N shiftedLeft(N a, N b) { return shifts(a, b) ? checked_times(a, value(1L << b.v)) : nothing(); }
N shiftedRight(N a, N b) { N r = {shifts(a, b) ? a.v >> b.v : 0, shifts(a, b)}; return r; }
N and_(N a, N b) { N r = {a.v & b.v, a.ok && b.ok}; return r; }
N or_(N a, N b) { N r = {a.v | b.v, a.ok && b.ok}; return r; }
N xor_(N a, N b) { N r = {a.v ^ b.v, a.ok && b.ok}; return r; }
N signed_(N a, int bits) {
  N r = {a.v, a.ok && (bits > 63 || a.v >> (bits - 1) == a.v >> 63)};
  return r;
}
N unsigned_(N a, int bits) {
  N r = {a.v, a.ok && a.v >= 0 && (bits > 62 || a.v >> bits == 0)};
  return r;
}
N less(N a, N b) { N r = {a.v < b.v, a.ok && b.ok}; return r; }
N lessEqual(N a, N b) { N r = {a.v <= b.v, a.ok && b.ok}; return r; }
N equal(N a, N b) { N r = {a.v == b.v, a.ok && b.ok}; return r; }
N notEqual(N a, N b) { N r = {a.v != b.v, a.ok && b.ok}; return r; }
bool isTaken(global uint* claims, long place) {
  return atomic_or(claims + (place >> 5), 1u << (place & 31)) >> (place & 31) & 1;
}
N select_(N a, N b, N yes, N no) {
  if (!a.ok || !b.ok) return nothing();
  return a.v < b.v ? yes : no;
}
)";
  struct Type {
    const char *name, *type;
    int bytes;
  };
  // A number of 64 bits beyond the signed ones has no place in the arithmetic above.
  for (const Type& t : {Type{"S8", "char", 1}, Type{"U8", "uchar", 1}, Type{"S16", "short", 2},
                        Type{"U16", "ushort", 2}, Type{"S32", "int", 4}, Type{"U32", "uint", 4},
                        Type{"S64", "long", 8}, Type{"U64", "ulong", 8}}) {
    const std::string bytes = std::to_string(t.bytes), type = t.type;
    functions += std::string("N load") + t.name +
                 "(global const uchar* b, long size, N at) {\n"
                 "  N r = {0, at.ok && at.v >= 0 && at.v <= size - " +
                 bytes + " && at.v % " + bytes +
                 " == 0};\n"
                 "  if (r.ok) r.v = *(global const " +
                 type + "*)(b + at.v);\n" +
                 (type == "ulong" ? "  r.ok = r.ok && r.v >= 0;\n" : "") + "  return r;\n}\n";
  }
  return functions;
}

/// Bytes of the buffer that an argument is.
std::uint64_t sizeOf(std::span<const ArgumentValue> arguments, unsigned parameter) {
  return parameter < arguments.size() ? arguments[parameter].bufferSize : 0;
}

} // namespace

CellGrid gridOf(const NDRange& range, std::uint64_t most) {
  CellGrid grid;
  for (unsigned d = 0; d < 3; ++d)
    grid.cells[d] = range.groups(d);
  while (grid.count() > most) {
    const auto d = static_cast<unsigned>(std::max_element(grid.cells.begin(), grid.cells.end()) -
                                         grid.cells.begin());
    grid.run[d] *= 2;
    grid.cells[d] = (range.groups(d) + grid.run[d] - 1) / grid.run[d];
  }
  return grid;
}

InspectorSource::InspectorSource(const Access& access) {
  Writer writer(access, inputs_, 0);
  for (unsigned d = 0; d < 3; ++d)
    corners_[d] = writer.cornersOf(d);
  finish(writer.write());
}

InspectorSource::InspectorSource(const ClaimedPlaces& places)
    : claimed_(places.parameter), unit_(places.unit) {
  std::string bodies;
  for (const Access* access : places.accesses)
    bodies += Writer(*access, inputs_, unit_).write();
  finish(bodies);
}

/// Scalars keep their order, by which `bodies` name them.
void InspectorSource::finish(const std::string& bodies) {
  std::ranges::sort(inputs_.buffers);
  text_ = headOf(inputs_, corners_, claimed_) + bodies + tail();
}

CellGrid InspectorSource::grid(const NDRange& range) const {
  return claimed_ ? gridOf(range, maxClaimingCells) : gridOf(range);
}

std::uint64_t InspectorSource::claimBytes(std::span<const ArgumentValue> arguments) const {
  if (!claimed_)
    return 0;
  const std::uint64_t places = sizeOf(arguments, *claimed_) / unit_;
  return std::max<std::uint64_t>((places + 31) / 32, 1) * sizeof(std::uint32_t);
}

std::size_t InspectorSource::lanes(const NDRange& range, const CellGrid& grid) const {
  std::uint64_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    const bool ends =
        corners_[d] == Corners::Always || (corners_[d] == Corners::OfGroups && grid.run[d] == 1);
    const std::uint64_t all =
        std::min<std::uint64_t>(range.global[d], grid.run[d] * range.local[d]);
    items *= ends ? std::min<std::uint64_t>(all, 2) : all;
  }
  return static_cast<std::size_t>(std::bit_ceil(std::min<std::uint64_t>(items, maxLanes)));
}

std::optional<std::vector<std::int64_t>>
InspectorSource::numbers(const NDRange& range, const CellGrid& grid,
                         std::span<const ArgumentValue> arguments) const {
  std::vector<std::int64_t> numbers;
  bool fits = true;
  auto add = [&](Int value, Int most) {
    fits = fits && value <= most && value >= INT64_MIN;
    numbers.push_back(static_cast<std::int64_t>(value));
  };
  for (const auto* triple : {&range.offset, &range.global, &range.local})
    for (const std::uint64_t each : *triple)
      add(each, mostItems);
  for (unsigned d = 0; d < 3; ++d)
    add(range.groups(d), mostItems);
  Int itemsOfCell = 1;
  for (unsigned d = 0; d < 3; ++d) {
    add(grid.run[d], mostItems);
    itemsOfCell *= Int{grid.run[d]} * range.local[d];
  }
  for (const std::uint64_t cells : grid.cells)
    add(cells, mostItems);
  fits = fits && itemsOfCell < INT32_MAX;
  add(range.dimensions, 3);
  for (const unsigned buffer : inputs_.buffers)
    add(sizeOf(arguments, buffer), INT64_MAX);
  for (const Expr& scalar : inputs_.scalars) {
    const std::optional<Int> value = argumentValue(scalar, arguments);
    fits = fits && value;
    add(value.value_or(0), INT64_MAX);
  }
  if (claimed_)
    add(sizeOf(arguments, *claimed_), INT64_MAX);
  if (!fits)
    return std::nullopt;
  return numbers;
}

std::string programOf(std::span<const InspectorSource> inspectors) {
  std::string text = prelude();
  for (std::size_t i = 0; i < inspectors.size(); ++i)
    text += "#define INSPECTOR inspect" + std::to_string(i) + "\n" + inspectors[i].text() +
            "#undef INSPECTOR\n";
  return text;
}

std::vector<Interval> cellsFrom(std::span<const std::int64_t> written) {
  std::vector<Interval> cells;
  cells.reserve(written.size() / 2);
  for (std::size_t i = 0; i + 1 < written.size(); i += 2) {
    const std::int64_t low = written[i], end = written[i + 1];
    if (low == INT64_MIN)
      cells.push_back(everything);
    else if (end == INT64_MIN)
      cells.push_back(nothing);
    else
      cells.push_back({low, Int{end} - 1});
  }
  return cells;
}

} // namespace libsplit::runtime
