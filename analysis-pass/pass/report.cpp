#include "analysis-pass/pass/report.h"

#include <algorithm>

namespace libsplit {
namespace {

/// The expression as the source means it: proofs that values fit are for the launch.
Expr withoutWraps(const Expr& expr) {
  if (expr.op() == Expr::Op::Wrap)
    return withoutWraps(expr.operands().front());
  if (expr.operands().empty())
    return expr;
  std::vector<Expr> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(withoutWraps(operand));
  return expr.over(std::move(operands));
}

std::string text(const Expr& expr, const std::vector<std::string>& names) {
  return toString(withoutWraps(expr), names);
}

std::string text(const SourceLine& where) {
  if (where.line == 0)
    return "line ?";
  return (where.file.empty() ? "line " : where.file + ":") + std::to_string(where.line);
}

std::string text(const Guard& guard, const std::vector<std::string>& names) {
  const char* relation = " < ";
  switch (guard.relation) {
  case Guard::Relation::Less:
    break;
  case Guard::Relation::LessEqual:
    relation = " <= ";
    break;
  case Guard::Relation::Equal:
    relation = " == ";
    break;
  case Guard::Relation::NotEqual:
    relation = " != ";
    break;
  }
  return text(guard.left, names) + relation + text(guard.right, names) +
         (guard.isInspected ? " (inspected)" : "");
}

std::string text(const Access& access, const std::vector<std::string>& names) {
  const char* verb = access.effect == Effect::Read      ? "reads "
                     : access.effect == Effect::Update  ? "updates "
                     : access.effect == Effect::Rewrite ? "may store back "
                     : access.certain                   ? "writes "
                                                        : "may write ";
  std::string line = "  " + text(access.where) + ": " + verb + names[access.parameter];
  if (access.effect == Effect::Update)
    line += std::string(" by ") + nameOf(access.update.operation);
  if (access.offset.op() == Expr::Op::Unknown) {
    line += " anywhere: " + access.offset.text();
    if (access.offset.line() != 0 && access.offset.line() != access.where.line)
      line += " (line " + std::to_string(access.offset.line()) + ")";
  } else {
    line += " at " + text(access.offset, names) + ", " + std::to_string(access.length) + " bytes";
  }
  for (std::size_t i = 0; i < access.loops.size(); ++i)
    line += ", " + toString(Expr::loop(static_cast<unsigned>(i))) +
            (access.loops[i].exact ? " < " : " < at most ") + text(access.loops[i].count, names);
  std::vector<bool> loaded(names.size(), false);
  noteLoads(access.offset, loaded);
  for (const Loop& loop : access.loops)
    noteLoads(loop.count, loaded);
  std::string by;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (loaded[i])
      by += (by.empty() ? "`" : ", `") + names[i] + "`";
  if (!by.empty())
    line += ", by " + by + " at launch";
  for (std::size_t i = 0; i < access.guards.size(); ++i)
    line += (i == 0 ? ", if " : " and ") + text(access.guards[i], names);
  return line + "\n";
}

} // namespace

std::string describe(const KernelSummary& kernel) {
  std::vector<std::string> names;
  for (const Parameter& parameter : kernel.parameters)
    names.push_back(parameter.name);

  std::string result = "kernel " + kernel.name + "(";
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    result += (i == 0 ? "" : ", ") + kernel.parameters[i].type +
              (kernel.parameters[i].type.empty() ? "" : " ") + kernel.parameters[i].name;
  result += ")\n";
  if (std::any_of(kernel.requiredLocal.begin(), kernel.requiredLocal.end(),
                  [](std::uint64_t size) { return size != 0; }))
    result += "  work-group size " + std::to_string(kernel.requiredLocal[0]) + " x " +
              std::to_string(kernel.requiredLocal[1]) + " x " +
              std::to_string(kernel.requiredLocal[2]) + " required\n";
  if (kernel.dependsOnGroups)
    result += "  depends on work-groups\n";
  if (kernel.dependsOnGroupsIfShared)
    result += "  depends on work-groups if arguments share what it writes\n";
  if (kernel.dependsOnSubGroups)
    result += "  depends on sub-groups\n";
  if (kernel.dependsOnOrder)
    result += "  depends on the order of work-items\n";
  if (kernel.needsPartitionArgument)
    result += "  needs the partition argument\n";
  for (const Obstacle& obstacle : kernel.obstacles)
    result +=
        "  " + text(obstacle.reason.where) + ": can't be split: " + obstacle.reason.text + "\n";
  for (const Access& access : kernel.accesses)
    result += text(access, names);
  return result;
}

std::string describe(const ProgramSummary& program) {
  if (!program.failure.empty())
    return "not analysed: " + program.failure + "\n";
  std::string result;
  for (const KernelSummary& kernel : program.kernels)
    result += (result.empty() ? "" : "\n") + describe(kernel);
  return result;
}

} // namespace libsplit
