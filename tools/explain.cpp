#include "tools/explain.h"

#include "runtime/planner.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace libsplit {
namespace {

using runtime::Rung;

unsigned dimensionsOf(const Expr& expr) {
  unsigned dimensions = 0;
  switch (expr.op()) {
  case Expr::Op::GlobalId:
  case Expr::Op::LocalId:
  case Expr::Op::GroupId:
    return expr.index() + 1;
  default:
    for (const Expr& operand : expr.operands())
      dimensions = std::max(dimensions, dimensionsOf(operand));
    return dimensions;
  }
}

/// A launch as the kernel seems to want it.
NDRange typicalRange(const KernelSummary& kernel) {
  NDRange range;
  for (const Access& access : kernel.accesses) {
    range.dimensions = std::max(range.dimensions, dimensionsOf(access.offset));
    for (const Guard& guard : access.guards)
      range.dimensions =
          std::max({range.dimensions, dimensionsOf(guard.left), dimensionsOf(guard.right)});
  }
  for (unsigned d = 0; d < 3; ++d)
    if (kernel.requiredLocal[d] > 1)
      range.dimensions = std::max(range.dimensions, d + 1);
  static constexpr std::uint64_t global[3][3] = {{4096, 1, 1}, {256, 256, 1}, {64, 64, 32}};
  static constexpr std::uint64_t local[3][3] = {{64, 1, 1}, {16, 16, 1}, {8, 8, 4}};
  for (unsigned d = 0; d < range.dimensions; ++d) {
    range.local[d] = local[range.dimensions - 1][d];
    if (kernel.requiredLocal[d] != 0)
      range.local[d] = kernel.requiredLocal[d];
    std::uint64_t groups = (global[range.dimensions - 1][d] + range.local[d] - 1) / range.local[d];
    range.global[d] = groups * range.local[d];
  }
  return range;
}

std::string toString(const NDRange& range) {
  auto sizes = [&](const std::array<std::uint64_t, 3>& all) {
    std::string text;
    for (unsigned d = 0; d < range.dimensions; ++d)
      text += (d ? "x" : "") + std::to_string(all[d]);
    return text;
  };
  return sizes(range.global) + "/" + sizes(range.local);
}

const char* meaning(Rung rung) {
  switch (rung) {
  case Rung::InPlace:
    return "in one memory";
  case Rung::Exact:
    return "disjoint writes, all certain";
  case Rung::Possible:
    return "disjoint writes, some of them only possible: the old bytes are brought in first";
  case Rung::Difference:
    return "overlapping or unknown writes, merged by difference";
  case Rung::Atomics:
    return "atomic updates, merged by their operation";
  }
  return "";
}

} // namespace

std::optional<NDRange> parseRange(const std::string& text) {
  NDRange range;
  std::istringstream stream(text);
  unsigned dimensions[2] = {0, 0};
  for (unsigned part = 0; part < 2; ++part) {
    auto& sizes = part == 0 ? range.global : range.local;
    char separator = 'x';
    while (separator == 'x') {
      if (dimensions[part] == 3 || !(stream >> sizes[dimensions[part]++]) ||
          sizes[dimensions[part] - 1] == 0)
        return std::nullopt;
      separator = '\0';
      stream >> separator;
    }
    if (separator != (part == 0 ? '/' : '\0'))
      return std::nullopt;
  }
  range.dimensions = dimensions[0];
  if (dimensions[0] != dimensions[1])
    return std::nullopt;
  return range;
}

std::string explainSplit(const KernelSummary& kernel, const ImaginedLaunch& launch) {
  auto withLine = [](const Reason& reason) {
    return reason.text +
           (reason.where.line ? " (line " + std::to_string(reason.where.line) + ")" : "");
  };
  if (!kernel.obstacles.empty())
    return "  not split: " + withLine(kernel.obstacles.front().reason) + "\n";

  runtime::LaunchRequest request;
  request.range = launch.range.value_or(typicalRange(kernel));
  std::vector<std::vector<std::byte>> values;
  std::string assumed = toString(request.range);
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    auto given = launch.arguments.find(parameter.name);
    ArgumentValue& value = request.arguments.emplace_back();
    auto& bytes = values.emplace_back(parameter.size);
    if (parameter.kind == ParameterKind::GlobalBuffer ||
        parameter.kind == ParameterKind::ConstantBuffer) {
      value.bufferSize = given == launch.arguments.end()
                             ? std::uint64_t{1} << 28
                             : static_cast<std::uint64_t>(given->second);
      request.buffers.push_back({i, request.bufferCount++, 0});
    } else if (parameter.kind == ParameterKind::Scalar && !bytes.empty()) {
      std::int64_t number = given == launch.arguments.end()
                                ? static_cast<std::int64_t>(request.range.global[0])
                                : given->second;
      std::size_t unit = bytes.size() <= 8 ? bytes.size() : 4; // structs and vectors: of 32 bits
      for (std::size_t at = 0; at + unit <= bytes.size(); at += unit)
        std::memcpy(bytes.data() + at, &number, unit);
      assumed += ", " + parameter.name + " = " + std::to_string(number);
    }
    value.bytes = bytes;
  }

  const runtime::PlanDevice devices[] = {{0, &kernel}, {1, &kernel}};
  struct Best {
    runtime::LaunchPlan plan;
    std::uint64_t bytes = 0;
  };
  std::optional<Best> best;
  std::optional<Reason> reason;
  for (unsigned d = request.range.dimensions; d-- > 0;) {
    std::uint64_t groups = request.range.groups(d);
    if (groups < 2)
      continue;
    const std::uint64_t counts[] = {groups - groups / 2, groups / 2};
    auto result = runtime::planCut(request, devices, d, counts);
    if (auto* why = std::get_if<Reason>(&result)) {
      if (!reason)
        reason = *why;
      continue;
    }
    Best found{std::get<runtime::LaunchPlan>(std::move(result)), 0};
    for (const runtime::Piece& piece : found.plan.pieces)
      for (const runtime::PieceUse& use : piece.uses)
        found.bytes += use.needs.size();
    if (!best || std::pair(found.plan.rung, found.bytes) < std::pair(best->plan.rung, best->bytes))
      best = std::move(found);
  }
  if (!best)
    return "  not split at " + assumed + ": " +
           (reason ? withLine(*reason) : "a single work-group") + "\n";
  return "  split at " + assumed + ": dimension " + std::to_string(best->plan.dimension) +
         ", rung " + std::to_string(static_cast<int>(best->plan.rung)) + " (" +
         meaning(best->plan.rung) + ")\n";
}

} // namespace libsplit
