#include "tools/explain.h"

#include "analysis-pass/summary/inspection.h"
#include "runtime/plan/planner.h"
#include "tools/source_terms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

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

/// By its name, also as a vector of them; what a typedef hides is not known.
bool isFloatingPoint(const std::string& type) {
  const std::string element = type.substr(0, type.find_last_not_of("0123456789") + 1);
  return element == "float" || element == "double" || element == "half";
}

/// What the planner is asked; the values that arguments point to live in it.
struct ImaginedRequest {
  runtime::LaunchRequest request;
  std::vector<std::vector<std::byte>> values;
  std::string assumed; ///< "4096/64, n = 4096"
};

ImaginedRequest imagine(const KernelSummary& kernel, const ImaginedLaunch& launch) {
  ImaginedRequest result;
  runtime::LaunchRequest& request = result.request;
  request.range = launch.range.value_or(typicalRange(kernel));
  result.assumed = toString(request.range);
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    auto given = launch.arguments.find(parameter.name);
    if (given == launch.arguments.end())
      given = launch.arguments.find(std::to_string(i));
    ArgumentValue& value = request.arguments.emplace_back();
    auto& bytes = result.values.emplace_back(parameter.size);
    if (parameter.kind == ParameterKind::GlobalBuffer ||
        parameter.kind == ParameterKind::ConstantBuffer) {
      value.bufferSize = given == launch.arguments.end()
                             ? std::uint64_t{1} << 28
                             : static_cast<std::uint64_t>(given->second);
      request.buffers.push_back({i, request.bufferCount++, 0});
    } else if (parameter.kind == ParameterKind::Image) {
      const ImageNumbers numbers{4, request.range.global}; // a pixel for each work-item
      bytes.resize(sizeof numbers);
      std::memcpy(bytes.data(), &numbers, sizeof numbers);
      value.bufferSize = 4 * numbers.size[0] * numbers.size[1] * numbers.size[2];
      request.buffers.push_back({i, request.bufferCount++, 0});
    } else if (parameter.kind == ParameterKind::Scalar && !bytes.empty()) {
      std::int64_t number = given == launch.arguments.end()
                                ? static_cast<std::int64_t>(request.range.global[0])
                                : given->second;
      std::size_t unit = bytes.size() <= 8 ? bytes.size() : 4; // structs and vectors: of 32 bits
      for (std::size_t at = 0; at + unit <= bytes.size(); at += unit)
        std::memcpy(bytes.data() + at, &number, unit);
      if (!isFloatingPoint(parameter.type))
        result.assumed += ", " + parameter.name + " = " + std::to_string(number);
    }
    value.bytes = bytes;
  }
  return result;
}

std::string withLine(const Reason& reason) {
  return reason.text +
         (reason.where.line ? " (line " + std::to_string(reason.where.line) + ")" : "");
}

std::string text(const SourceLine& where) {
  if (where.line == 0)
    return "line ?";
  return (where.file.empty() ? "line " : where.file + ":") + std::to_string(where.line);
}

/// What two devices with separate memories would do.
runtime::PlanResult planFor(const KernelSummary& kernel, const runtime::LaunchRequest& request,
                            unsigned dimension) {
  const runtime::PlanDevice devices[] = {{0, &kernel}, {1, &kernel}};
  const std::uint64_t groups = request.range.groups(dimension);
  const std::uint64_t counts[] = {groups - groups / 2, groups / 2};
  return runtime::planCut(request, devices, dimension, counts);
}

/// Why a kernel with this access and no other would not be split on rung 1.
std::string whyNotExact(const Access& access, const std::string& name, Rung rung) {
  const std::string at = text(access.where);
  const unsigned where = access.offset.op() == Expr::Op::Unknown ? access.offset.line() : 0;
  switch (rung) {
  case Rung::Possible:
    if (access.effect == Effect::Update)
      return at + " updates what is in " + name;
    if (access.certain)
      return "which bytes of " + name + " " + at + " writes can't be told exactly";
    return at + " may leave " + name + " as it was: " + withLine(access.doubt);
  case Rung::Difference:
    if (access.offset.op() == Expr::Op::Unknown)
      return at + " may write anywhere in " + name + ": " +
             withLine({access.offset.text(), {{}, where == access.where.line ? 0 : where}});
    return at + " may write the same bytes of " + name + " on several devices";
  case Rung::Atomics:
    return at + " may update the same bytes of " + name + " on several devices";
  case Rung::InPlace:
  case Rung::Exact:
    break;
  }
  return {};
}

/// One line for what keeps `plan` from rung 1: an access that alone would do so, or all writes to
/// the bytes that several devices write.
std::string whyNotExact(const KernelSummary& kernel, const runtime::LaunchRequest& request,
                        const runtime::LaunchPlan& plan) {
  if (plan.rung == Rung::Exact)
    return {};
  auto nameOf = [&](const Access& access) {
    return "`" + kernel.parameters[access.parameter].name + "`";
  };
  for (const Access& access : kernel.accesses) {
    if (access.effect == Effect::Read || access.effect == Effect::Rewrite)
      continue;
    KernelSummary alone = kernel;
    alone.accesses = {access};
    auto result = planFor(alone, request, plan.dimension);
    auto* itself = std::get_if<runtime::LaunchPlan>(&result);
    if (itself && itself->rung == plan.rung)
      return "  not rung 1: " + whyNotExact(access, nameOf(access), plan.rung) + "\n";
  }
  for (const runtime::Merge& merge : plan.merges) {
    std::string lines, name;
    for (const Access& access : kernel.accesses) {
      bool isHere = std::ranges::any_of(request.buffers, [&](const auto& argument) {
        return argument.parameter == access.parameter && argument.buffer == merge.buffer;
      });
      if (!isHere || access.effect == Effect::Read || access.effect == Effect::Rewrite)
        continue;
      name = nameOf(access);
      const std::string line = text(access.where);
      if (!lines.ends_with(line))
        lines += (lines.empty() ? "" : ", ") + line;
    }
    return "  not rung 1: together, several devices may write the same bytes of " + name + " (" +
           lines + ")\n";
  }
  return "  not rung 1: which bytes are written can't be told exactly\n";
}

/// Which rung, in which dimension, and why not the first.
std::string explainSplit(const KernelSummary& kernel, const ImaginedLaunch& launch) {
  if (!kernel.obstacles.empty())
    return "  not split: " + withLine(kernel.obstacles.front().reason) + "\n";
  const ImaginedRequest imagined = imagine(kernel, launch);
  const runtime::LaunchRequest& request = imagined.request;

  struct Best {
    runtime::LaunchPlan plan;
    std::uint64_t bytes = 0;
  };
  std::optional<Best> best;
  std::optional<Reason> reason;
  for (unsigned d = request.range.dimensions; d-- > 0;) {
    if (request.range.groups(d) < 2)
      continue;
    auto result = planFor(kernel, request, d);
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
    return "  not split at " + imagined.assumed + ": " +
           (reason ? withLine(*reason) : "a single work-group") + "\n";
  return "  split at " + imagined.assumed + ": dimension " + std::to_string(best->plan.dimension) +
         ", rung " + std::to_string(static_cast<int>(best->plan.rung)) + " (" +
         meaning(best->plan.rung) + ")\n" + whyNotExact(kernel, request, best->plan);
}

const char* verb(const Access& access) {
  switch (access.effect) {
  case Effect::Read:
    return "reads";
  case Effect::Update:
    return "updates";
  case Effect::Rewrite:
    return "may store back";
  case Effect::Write:
    return access.certain ? "writes" : "may write";
  }
  return "";
}

/// Buffers whose contents the regions depend on.
std::string loadedBuffers(const KernelSummary& kernel) {
  std::set<unsigned> loaded;
  for (const Access& access : kernel.accesses)
    eachLoad(access, [&](const Expr& load) { loaded.insert(load.index()); });
  std::string names;
  for (const unsigned parameter : loaded)
    if (parameter < kernel.parameters.size())
      names += (names.empty() ? "`" : ", `") + kernel.parameters[parameter].name + "`";
  return names;
}

/// Accesses whose places are followed ahead of the launch, in the order of the source.
std::string explainInspections(const KernelSummary& kernel) {
  std::map<std::pair<std::string, unsigned>, bool> lines; // do they write?
  for (const Access& access : kernel.accesses)
    if (wantsInspection(access))
      lines[{access.where.file, access.where.line}] |= access.effect == Effect::Write;
  std::string result;
  for (const auto& [where, writes] : lines)
    result += "  " + text(SourceLine{where.first, where.second}) +
              ": an inspection finds out where each work-group goes" +
              (writes ? "; places of their own give rung 2\n" : "\n");
  for (unsigned p = 0; p < kernel.parameters.size(); ++p)
    if (const auto places = placesToClaim(kernel, p))
      result += "  " + text(places->accesses.front()->where) +
                ": an inspection finds out whether work-items change places of their own in `" +
                kernel.parameters[p].name + "`; if so, several memories are merged (rung 3)\n";
  return result;
}

std::string joined(const std::vector<std::string>& parts, const char* first, const char* next) {
  std::string result;
  for (const std::string& part : parts)
    result += (result.empty() ? first : next) + part;
  return result;
}

/// A line for each access, in columns and in the order of the source.
std::string explainAccesses(const KernelSummary& kernel) {
  std::vector<const Access*> accesses;
  for (const Access& access : kernel.accesses)
    accesses.push_back(&access);
  std::ranges::stable_sort(accesses, [](const Access* a, const Access* b) {
    return std::tie(a->where.file, a->where.line) < std::tie(b->where.file, b->where.line);
  });
  std::vector<std::array<std::string, 4>> rows;
  std::size_t widths[3] = {};
  for (const Access* access : accesses) {
    const AccessWords words = inWords(kernel, *access);
    rows.push_back({text(access->where), words.verb, words.parameter, words.region});
    for (std::size_t i = 0; i < 3; ++i)
      widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  std::string result;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < 3; ++i)
      result += "  " + row[i] + std::string(widths[i] - row[i].size(), ' ');
    result += "  " + row[3] + "\n";
  }
  const std::string where = variablesInWords(kernel);
  return where.empty() ? result : result + "  " + where + "\n";
}

} // namespace

std::optional<NDRange> parseRange(const std::string& text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  auto take = [&](char c) { return at != end && *at == c && ++at; };
  /// How many; 0 if they are no sizes.
  auto takeSizes = [&](std::array<std::uint64_t, 3>& sizes) {
    unsigned count = 0;
    do {
      if (count == sizes.size())
        return 0U;
      auto [behind, error] = std::from_chars(at, end, sizes[count]);
      if (error != std::errc() || sizes[count] == 0)
        return 0U;
      at = behind;
      ++count;
    } while (take('x'));
    return count;
  };
  NDRange range;
  range.dimensions = takeSizes(range.global);
  if (range.dimensions == 0 || !take('/') || takeSizes(range.local) != range.dimensions ||
      at != end)
    return std::nullopt;
  return range;
}

AccessWords inWords(const KernelSummary& kernel, const Access& access) {
  const AccessTerms terms = inSourceTerms(kernel, access);
  std::string region = terms.region;
  if (access.effect == Effect::Update)
    region += std::string(" by ") + nameOf(access.update.operation);
  region += joined(terms.loops, ", ", "; ") + joined(terms.guards, ", if ", " and ");
  return {verb(access), kernel.parameters[access.parameter].name, region};
}

std::string variablesInWords(const KernelSummary& kernel) {
  std::vector<AccessTerms> said;
  for (const Access& access : kernel.accesses)
    said.push_back(inSourceTerms(kernel, access));
  return joined(variablesInSourceTerms(kernel, said), "where ", ", ");
}

std::string explainHead(const KernelSummary& kernel) {
  std::string result = "kernel " + kernel.name + "(";
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    result += (i == 0 ? "" : ", ") + kernel.parameters[i].type +
              (kernel.parameters[i].type.empty() ? "" : " ") + kernel.parameters[i].name;
  result += ")\n";
  if (std::ranges::any_of(kernel.requiredLocal, [](std::uint64_t size) { return size != 0; }))
    result += "  work-group size " + std::to_string(kernel.requiredLocal[0]) + " x " +
              std::to_string(kernel.requiredLocal[1]) + " x " +
              std::to_string(kernel.requiredLocal[2]) + " required\n";
  return result;
}

std::string explainOutcome(const KernelSummary& kernel, const ImaginedLaunch& launch) {
  std::string result;
  if (std::string names = loadedBuffers(kernel); !names.empty())
    result += "  what " + names + " hold" + (names.find(',') == std::string::npos ? "s" : "") +
              " is looked at before the launch\n";
  result += explainInspections(kernel);
  if (kernel.dependsOnGroups)
    result += "  depends on its work-groups: not split if the launch leaves their size open\n";
  if (kernel.dependsOnGroupsIfShared)
    result += "  has barriers: not split if the launch leaves the size of work-groups open, and "
              "arguments share a buffer that it writes\n";
  if (kernel.needsPartitionArgument)
    result += "  runs rewritten: it asks for group ids or sizes of the whole launch\n";
  return result + explainSplit(kernel, launch);
}

std::string explain(const KernelSummary& kernel, const ImaginedLaunch& launch) {
  std::string result = explainHead(kernel);
  for (const Obstacle& obstacle : kernel.obstacles)
    result +=
        "  " + text(obstacle.reason.where) + "  can't be split: " + obstacle.reason.text + "\n";
  return result + explainAccesses(kernel) + explainOutcome(kernel, launch);
}

} // namespace libsplit
