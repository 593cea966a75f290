#include "tests/property/brute_force.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace libsplit {

namespace {

using Op = Expr::Op;

struct TooLarge {};
struct Undefined {};

Int checked(bool overflow, Int value) {
  if (overflow)
    throw TooLarge{};
  return value;
}

Int add(Int a, Int b) {
  Int r;
  const bool overflow = __builtin_add_overflow(a, b, &r);
  return checked(overflow, r);
}

Int multiply(Int a, Int b) {
  Int r;
  const bool overflow = __builtin_mul_overflow(a, b, &r);
  return checked(overflow, r);
}

Int floorDiv(Int a, Int b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

class Execution {
public:
  Execution(const KernelSummary& summary, const NDRange& range,
            std::span<const ArgumentValue> arguments, std::uint64_t salt, BufferBytes buffers)
      : summary_(summary), range_(range), arguments_(arguments), salt_(salt), buffers_(buffers),
        touched_(summary.parameters.size()) {}

  std::vector<TouchedBytes> run(const GroupBox& box) {
    for (std::uint64_t d2 = firstItem(box, 2); d2 < lastItem(box, 2); ++d2)
      for (std::uint64_t d1 = firstItem(box, 1); d1 < lastItem(box, 1); ++d1)
        for (std::uint64_t d0 = firstItem(box, 0); d0 < lastItem(box, 0); ++d0) {
          item_ = {d0, d1, d2};
          for (const Access& access : summary_.accesses) {
            loops_.clear();
            iterate(access);
          }
        }
    return std::move(touched_);
  }

private:
  std::uint64_t firstItem(const GroupBox& box, unsigned d) const {
    return box.begin[d] * range_.local[d];
  }
  std::uint64_t lastItem(const GroupBox& box, unsigned d) const {
    return std::min(range_.global[d], box.end[d] * range_.local[d]);
  }

  void iterate(const Access& access) {
    if (loops_.size() == access.loops.size()) {
      perform(access);
      return;
    }
    const Loop& loop = access.loops[loops_.size()];
    Int count = std::min(value(loop.count), Int{40});
    if (!loop.exact && count > 0)
      count = noise() % (count + 1);
    for (Int k = 0; k < count; ++k) {
      loops_.push_back(k);
      iterate(access);
      loops_.pop_back();
    }
  }

  void perform(const Access& access) {
    for (const Guard& g : access.guards) {
      const Int left = value(g.left);
      const Int right = value(g.right);
      const bool holds = g.relation == Guard::Relation::Less        ? left < right
                         : g.relation == Guard::Relation::LessEqual ? left <= right
                         : g.relation == Guard::Relation::Equal     ? left == right
                                                                    : left != right;
      if (!holds)
        return;
    }
    const Int offset = value(access.offset);
    const bool write = access.effect == Effect::Write;
    if (write && !access.certain && noise() % 2)
      return;
    TouchedBytes& touched = touched_[access.parameter];
    for (std::uint64_t i = 0; i < access.length; ++i) {
      const Int byte = offset + i;
      if (byte < 0 || byte >= Int{arguments_[access.parameter].bufferSize})
        continue;
      (write ? touched.writes : touched.reads).insert(static_cast<std::uint64_t>(byte));
      if (write && access.certain)
        touched.sureWrites.insert(static_cast<std::uint64_t>(byte));
    }
  }

  Int noise() {
    salt_ = salt_ * 6364136223846793005u + 1442695040888963407u;
    return Int{salt_ >> 40};
  }

  Int value(const Expr& e) {
    const unsigned d = e.index();
    std::vector<Int> v;
    for (const Expr& operand : e.operands())
      v.push_back(value(operand));
    switch (e.op()) {
    case Op::Unknown:
      return noise() % 400 - 200;
    case Op::Constant:
      return e.value();
    case Op::Argument: {
      std::uint64_t raw = 0;
      for (unsigned i = 0; i < e.width() / 8; ++i)
        raw |= std::to_integer<std::uint64_t>(arguments_[d].bytes[e.bit() / 8 + i]) << 8 * i;
      return wrap(Int{raw}, e.width(), e.isSigned());
    }
    case Op::GlobalId:
    case Op::LocalId:
    case Op::GroupId:
    case Op::GlobalSize:
    case Op::LocalSize:
    case Op::EnqueuedLocalSize:
    case Op::NumGroups:
    case Op::GlobalOffset:
    case Op::WorkDim:
      return itemQuery(e, range_, item_);
    case Op::LoopVariable:
      return loops_.at(d);
    case Op::Add: {
      Int r = 0;
      for (const Int x : v)
        r = add(r, x);
      return r;
    }
    case Op::Mul: {
      Int r = 1;
      for (const Int x : v)
        r = multiply(r, x);
      return r;
    }
    case Op::DivFloor:
      return v[1] == 0 ? noise() : floorDiv(v[0], v[1]);
    case Op::DivTrunc:
      return v[1] == 0 ? noise() : v[0] / v[1];
    case Op::RemTrunc:
      return v[1] == 0 ? noise() : v[0] % v[1];
    case Op::Min:
      return *std::min_element(v.begin(), v.end());
    case Op::Max:
      return *std::max_element(v.begin(), v.end());
    case Op::Shl:
      return v[1] < 0 || v[1] > 63 ? noise() : multiply(v[0], Int{1} << static_cast<int>(v[1]));
    case Op::ShrArith:
      return v[1] < 0 || v[1] > 63 ? noise() : v[0] >> static_cast<int>(v[1]);
    case Op::And:
      return v[0] & v[1];
    case Op::Or:
      return v[0] | v[1];
    case Op::Xor:
      return v[0] ^ v[1];
    case Op::Wrap:
      return wrap(v[0], e.width(), e.isSigned());
    case Op::Load:
      return element(e, v[0]);
    case Op::Select:
      return v[0] < v[1] ? v[2] : v[3];
    }
    return 0;
  }

  /// Reading outside is undefined: such a launch proves nothing.
  Int element(const Expr& e, Int offset) {
    const std::span<const std::byte> bytes = buffers_[e.index()];
    const Int size = e.width() / 8;
    if (offset < 0 || offset + size > Int{bytes.size()})
      throw Undefined{};
    std::uint64_t raw = 0;
    std::memcpy(&raw, bytes.data() + static_cast<std::size_t>(offset), e.width() / 8);
    return wrap(Int{raw}, e.width(), e.isSigned());
  }

  static Int wrap(Int value, unsigned width, bool isSigned) {
    const Int period = Int{1} << width;
    const Int low = value & (period - 1);
    return isSigned && low >> (width - 1) & 1 ? low - period : low;
  }

  const KernelSummary& summary_;
  const NDRange& range_;
  std::span<const ArgumentValue> arguments_;
  std::uint64_t salt_;
  BufferBytes buffers_;
  std::vector<TouchedBytes> touched_;
  std::array<std::uint64_t, 3> item_{};
  std::vector<Int> loops_;
};

} // namespace

Int itemQuery(const Expr& query, const NDRange& range, const std::array<std::uint64_t, 3>& item) {
  const unsigned d = query.index();
  switch (query.op()) {
  case Op::GlobalId:
    return Int{range.offset[d]} + item[d];
  case Op::LocalId:
    return item[d] % range.local[d];
  case Op::GroupId:
    return item[d] / range.local[d];
  case Op::GlobalSize:
    return range.global[d];
  case Op::LocalSize:
    return std::min(range.local[d], range.global[d] - item[d] / range.local[d] * range.local[d]);
  case Op::EnqueuedLocalSize:
    return range.local[d];
  case Op::NumGroups:
    return range.groups(d);
  case Op::GlobalOffset:
    return range.offset[d];
  case Op::WorkDim:
    return range.dimensions;
  default:
    throw std::logic_error("no query of ids or sizes");
  }
}

ByteSet toByteSet(const std::set<std::uint64_t>& bytes) {
  ByteSet set;
  for (const std::uint64_t b : bytes)
    set.add({b, b + 1});
  return set;
}

std::optional<std::vector<TouchedBytes>> execute(const KernelSummary& summary, const NDRange& range,
                                                 std::span<const ArgumentValue> arguments,
                                                 const GroupBox& box, std::uint64_t salt,
                                                 BufferBytes buffers) {
  try {
    return Execution(summary, range, arguments, salt, buffers).run(box);
  } catch (const TooLarge&) {
    return std::nullopt;
  } catch (const Undefined&) {
    return std::nullopt;
  }
}

} // namespace libsplit
