#include "runtime/cost/launch_history.h"

#include "runtime/cost/known_speeds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <set>

namespace libsplit::runtime {

namespace {

void collect(const Expr& expr, std::set<WorkScalar>& scalars) {
  if (expr.op() == Expr::Op::Argument)
    scalars.insert({expr.index(), expr.bit(), expr.width(), expr.isSigned()});
  for (const Expr& operand : expr.operands())
    collect(operand, scalars);
}

/// The scalar's value, sign-extended; 0 if the argument is too small to hold it.
std::int64_t valueOf(const WorkScalar& scalar, std::span<const std::byte> bytes) {
  if (scalar.width == 0 || scalar.width > 64 || scalar.bit % 8 != 0 ||
      (scalar.bit + scalar.width + 7) / 8 > bytes.size())
    return 0;
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < (scalar.width + 7) / 8; ++i)
    bits |= std::to_integer<std::uint64_t>(bytes[scalar.bit / 8 + i]) << (8 * i);
  const unsigned unused = 64 - scalar.width;
  bits <<= unused;
  return scalar.isSigned ? static_cast<std::int64_t>(bits) >> unused
                         : static_cast<std::int64_t>(bits >> unused);
}

/// The class of a count of work-groups: itself below 16, then four for each doubling.
int sizeClass(std::uint64_t count) {
  constexpr std::uint64_t exact = 16;
  if (count < exact)
    return static_cast<int>(count);
  const int log = std::bit_width(count) - 1;
  return 4 * log + static_cast<int>((count >> (log - 2)) & 3);
}

} // namespace

std::vector<WorkScalar> workScalars(const KernelSummary& summary) {
  std::set<WorkScalar> scalars;
  for (const Access& access : summary.accesses) {
    collect(access.offset, scalars);
    for (const Guard& guard : access.guards) {
      if (guard.isInspected)
        continue;
      collect(guard.left, scalars);
      collect(guard.right, scalars);
    }
    for (const Loop& loop : access.loops)
      collect(loop.count, scalars);
  }
  return {scalars.begin(), scalars.end()};
}

int valueClass(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
  const int size = magnitude <= 8 ? static_cast<int>(magnitude)
                                  : 5 + static_cast<int>(std::bit_width(magnitude));
  return value < 0 ? -size : size;
}

std::vector<int> classesOf(std::span<const WorkScalar> scalars,
                           std::span<const ArgumentValue> arguments) {
  std::vector<int> classes;
  classes.reserve(scalars.size());
  for (const WorkScalar& scalar : scalars)
    classes.push_back(scalar.parameter < arguments.size()
                          ? valueClass(valueOf(scalar, arguments[scalar.parameter].bytes))
                          : 0);
  return classes;
}

double distance(const LaunchKey& a, double itemsA, const LaunchKey& b, double itemsB) {
  double sum = itemsA > 0 && itemsB > 0 ? std::abs(std::log2(itemsA / itemsB)) : 0;
  for (std::size_t i = 0; i < std::min(a.classes.size(), b.classes.size()); ++i)
    sum += std::abs(a.classes[i] - b.classes[i]);
  return sum;
}

std::string rangeName(const NDRange& range, bool localGiven) {
  auto list = [&](const std::array<std::uint64_t, 3>& values) {
    std::string text;
    for (unsigned d = 0; d < range.dimensions; ++d)
      text += (d ? "x" : "") + std::to_string(values[d]);
    return text;
  };
  std::string name = list(range.global) + (localGiven ? "/" + list(range.local) : "");
  if (range.offset != std::array<std::uint64_t, 3>{0, 0, 0})
    name += "+" + list(range.offset);
  return name;
}

std::optional<unsigned> LaunchHistory::usualDimension(unsigned dimensions) const {
  if (dimension)
    return dimension;
  const bool isKnown = record && record->dimension.value_or(dimensions) < dimensions;
  return isKnown ? record->dimension : std::nullopt;
}

LaunchHistory& LaunchHistories::at(const LaunchKey& key) {
  if (!last_ || last_->first != key) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      if (entries_.size() >= capacity)
        entries_.erase(
            std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
              return a.second.used < b.second.used;
            }));
      found = entries_.try_emplace(key).first;
    }
    last_ = &*found;
  }
  last_->second.used = ++uses_;
  return last_->second.history;
}

LaunchHistories::RangeClass LaunchHistories::classOf(const NDRange& range, bool localGiven) {
  RangeClass made{.dimensions = range.dimensions, .localGiven = localGiven};
  for (unsigned d = 0; d < range.dimensions; ++d) {
    const bool isGiven = localGiven && range.local[d] > 0; // drivers refuse others
    if (isGiven) {
      made.local[d] = range.local[d];
      made.isUneven[d] = !range.uniform(d);
    }
    made.size[d] = sizeClass(isGiven ? range.groups(d) : range.global[d]);
    made.offset[d] = valueClass(static_cast<std::int64_t>(range.offset[d]));
  }
  return made;
}

const std::string& LaunchHistories::nameOf(const NDRange& range, bool localGiven) {
  constexpr std::size_t mostNames = 1024;
  if (!lastRange_.name || lastRange_.range != range || lastRange_.localGiven != localGiven) {
    lastRange_.name = nullptr;
    if (names_.size() >= mostNames)
      names_.clear();
    std::string& name = names_[classOf(range, localGiven)];
    if (name.empty())
      name = rangeName(range, localGiven);
    lastRange_ = {range, localGiven, &name};
  }
  return *lastRange_.name;
}

} // namespace libsplit::runtime
