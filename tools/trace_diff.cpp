#include "tools/trace_diff.h"

#include "runtime/core/text_table.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace libsplit::tools {

namespace {

using runtime::amountText;
using runtime::durationText;
using runtime::percentText;
using Rows = std::vector<std::vector<std::string>>;

const KernelSummary* find(const TraceSummary& summary, const std::string& name) {
  auto found = std::ranges::find(summary.kernels, name, &KernelSummary::name);
  return found == summary.kernels.end() ? nullptr : &*found;
}

/// "0.75 x": how much of `before` is left.
std::string ratio(double before, double after) {
  if (!(before > 0) || !(after > 0))
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f x", after / before);
  return text;
}

std::uint64_t bytesOf(const KernelSummary& kernel) {
  std::uint64_t bytes = 0;
  for (const DevicePart& part : kernel.parts)
    bytes += part.bytesIn + part.bytesOut;
  return bytes;
}

std::string sharesOf(const KernelSummary& kernel) {
  std::string text;
  for (const DevicePart& part : kernel.parts)
    text += (text.empty() ? "" : " / ") + percentText(part.share);
  return kernel.split > 0 ? text : "-";
}

void addKernel(Rows& rows, const KernelSummary& a, const KernelSummary& b) {
  auto launch = [](const KernelSummary& kernel) {
    return kernel.split > 0 ? durationText(kernel.medianSeconds) : "-";
  };
  auto count = [](const KernelSummary& kernel) {
    return std::to_string(kernel.split) + " of " + std::to_string(kernel.launches());
  };
  rows.push_back({a.name, "A", count(a), launch(a), "", sharesOf(a), percentText(a.idle),
                  amountText(bytesOf(a))});
  rows.push_back({"", "B", count(b), launch(b), ratio(a.medianSeconds, b.medianSeconds),
                  sharesOf(b), percentText(b.idle), amountText(bytesOf(b))});
}

/// Lines for what `one` says, and `other` does not.
std::string onlyIn(const char* name, const TraceSummary& one, const TraceSummary& other) {
  std::string text;
  for (const KernelSummary& kernel : one.kernels) {
    const KernelSummary* same = find(other, kernel.name);
    if (!same)
      text += std::string("* only in ") + name + ": " + kernel.name + ", launched " +
              std::to_string(kernel.launches()) + " times\n";
    for (const auto& [reason, count] : kernel.reasons)
      if (same && !same->reasons.contains(reason))
        text += std::string("* only in ") + name + ": " + std::to_string(count) + " launches of " +
                kernel.name + " were not split: " + reason + "\n";
  }
  return text;
}

} // namespace

std::string diffText(const TraceSummary& a, const TraceSummary& b) {
  std::ostringstream text;
  text << runtime::textTable({{"", "program", "takes", "", "devices", "between memories"},
                              {"A", a.program, durationText(a.seconds), "",
                               std::to_string(a.devices.size()), amountText(a.bytesBetweenNodes)},
                              {"B", b.program, durationText(b.seconds), ratio(a.seconds, b.seconds),
                               std::to_string(b.devices.size()), amountText(b.bytesBetweenNodes)}})
       << "\n";
  Rows rows = {{"kernel", "", "split", "a launch", "", "shares", "idle", "moved"}};
  for (const KernelSummary& kernel : a.kernels)
    if (const KernelSummary* same = find(b, kernel.name))
      addKernel(rows, kernel, *same);
  if (rows.size() > 1)
    text << runtime::textTable(rows);
  std::string rest = onlyIn("A", a, b) + onlyIn("B", b, a);
  std::string devicesA, devicesB;
  for (const DeviceSummary& device : a.devices)
    devicesA += (devicesA.empty() ? "" : "; ") + device.name;
  for (const DeviceSummary& device : b.devices)
    devicesB += (devicesB.empty() ? "" : "; ") + device.name;
  if (devicesA != devicesB)
    rest += "* devices of A: " + devicesA + "\n* devices of B: " + devicesB + "\n";
  if (!rest.empty())
    text << "\n" << rest;
  return text.str();
}

} // namespace libsplit::tools
