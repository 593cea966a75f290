#include "tools/trace_report.h"

#include "report_parts.h"
#include "runtime/core/text_table.h"
#include "tools/what_if.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace libsplit::tools {

namespace {

using Json = nlohmann::ordered_json;
using Track = TraceWork::Track;

struct Span {
  double begin = 0, end = 0;
  std::string name;
  std::ptrdiff_t call = -1;
  std::string details;
  std::size_t count = 1;
};

struct Row {
  std::string label;
  int kind = 0;
  std::vector<Span> spans;
};

constexpr int kindOfCalls = 4;

std::string details(const TraceWork& work) {
  const Json& arguments = work.arguments;
  std::string text;
  auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (arguments.contains("groups")) {
    const auto first = arguments.at("first_group").get<std::uint64_t>();
    add("work-groups " + std::to_string(first) + " to " +
        std::to_string(first + arguments.at("groups").get<std::uint64_t>()) + " of " +
        arguments.at("all_groups").dump() + " in dimension " + arguments.at("dimension").dump());
  }
  if (arguments.contains("bytes")) {
    const auto bytes = arguments.at("bytes").get<std::uint64_t>();
    const double seconds = (work.end - work.begin) * 1e-6;
    char rate[32] = "";
    if (seconds > 0)
      std::snprintf(rate, sizeof rate, ", %.2f GB/s", static_cast<double>(bytes) / seconds * 1e-9);
    add(runtime::amountText(bytes) + rate);
  }
  if (arguments.contains("unsplit"))
    add("not split: " + arguments.at("unsplit").get<std::string>());
  if (work.idleBefore > 0)
    add("the device did nothing for " + runtime::durationText(work.idleBefore * 1e-6) + " before");
  return text;
}

std::vector<Row> rowsOf(const TraceContents& contents) {
  std::vector<std::ptrdiff_t> callOf(contents.works.size(), -1);
  for (std::size_t i = 0; i < contents.calls.size(); ++i)
    for (const std::size_t work : contents.calls[i].works)
      callOf[work] = static_cast<std::ptrdiff_t>(i);

  std::map<int, Row> threads;
  for (std::size_t i = 0; i < contents.calls.size(); ++i) {
    const TraceCall& call = contents.calls[i];
    Row& row = threads[call.thread];
    row.label = "thread " + std::to_string(call.thread);
    row.kind = kindOfCalls;
    row.spans.push_back({call.begin, call.end, call.kernel.empty() ? call.name : call.kernel,
                         static_cast<std::ptrdiff_t>(i), call.kernel.empty() ? "" : call.name, 1});
  }
  std::map<std::pair<std::size_t, int>, Row> tracks; // by device and thread
  for (std::size_t i = 0; i < contents.works.size(); ++i) {
    const TraceWork& work = contents.works[i];
    Row& row = tracks[{work.device, work.thread}];
    row.label = labelOf(contents.devices.at(work.device));
    row.kind = static_cast<int>(work.track);
    row.spans.push_back({work.begin, work.end, work.name, callOf[i], details(work), 1});
  }
  std::vector<Row> rows;
  for (auto& [thread, row] : threads)
    rows.push_back(std::move(row));
  for (auto& [track, row] : tracks)
    rows.push_back(std::move(row));
  for (Row& row : rows)
    std::ranges::stable_sort(row.spans, {}, &Span::begin);
  return rows;
}

/// Draws as one what is shorter than `resolution` and no further than that from what is before it.
void merge(Row& row, double resolution) {
  std::vector<Span> merged;
  for (Span& span : row.spans) {
    Span* last = merged.empty() ? nullptr : &merged.back();
    const bool isShort = span.end - span.begin < resolution;
    if (!last || !isShort || span.begin - last->end > resolution ||
        last->end - last->begin > 8 * resolution ||
        (last->count == 1 && last->end - last->begin >= resolution)) {
      merged.push_back(std::move(span));
      continue;
    }
    last->end = std::max(last->end, span.end);
    last->count += span.count;
    last->name = last->name == span.name ? span.name : "several";
    last->call = -1;
    last->details = "zoomed out too far to tell them apart";
  }
  row.spans = std::move(merged);
}

std::size_t spansIn(const std::vector<Row>& rows) {
  std::size_t count = 0;
  for (const Row& row : rows)
    count += row.spans.size();
  return count;
}

/// Fewer spans, if there are too many; what was done about it, in words.
std::string thin(std::vector<Row>& rows, std::size_t maxSpans, double microseconds) {
  const std::size_t all = spansIn(rows);
  double resolution = microseconds / 1e5;
  const double coarsest = std::max(microseconds, 1.0);
  for (; spansIn(rows) > maxSpans + rows.size() && resolution <= coarsest; resolution *= 2)
    for (Row& row : rows)
      merge(row, resolution);
  const std::size_t left = spansIn(rows);
  if (left == all)
    return {};
  return "Of " + std::to_string(all) + " spans, those shorter than " +
         runtime::durationText(resolution / 2 * 1e-6) +
         " that follow each other closely are drawn as one: " + std::to_string(left) + " are left.";
}

Json toJson(const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows) {
    Json spans = Json::array();
    for (const Span& span : row.spans)
      spans.push_back({span.begin, span.end, span.name, span.call, span.details, span.count});
    all.push_back({{"label", row.label}, {"kind", row.kind}, {"spans", std::move(spans)}});
  }
  return all;
}

/// By kernel, at most `maxLaunches` each: neighbours are averaged beyond that.
Json launchesOf(const TraceContents& contents) {
  constexpr std::size_t maxLaunches = 400;
  std::map<std::string, std::vector<const TraceShares*>> byKernel;
  for (const TraceShares& shares : contents.shares)
    byKernel[shares.kernel].push_back(&shares);
  Json result = Json::object();
  for (const auto& [kernel, launches] : byKernel) {
    const std::size_t each = (launches.size() + maxLaunches - 1) / maxLaunches;
    Json list = Json::array();
    for (std::size_t begin = 0; begin < launches.size(); begin += each) {
      const std::size_t count = std::min(each, launches.size() - begin);
      std::vector<double> shares(contents.devices.size());
      double idle = 0;
      for (std::size_t i = begin; i < begin + count; ++i) {
        idle += launches[i]->idle / static_cast<double>(count);
        for (const auto& [device, share] : launches[i]->shares)
          for (std::size_t d = 0; d < shares.size(); ++d)
            if (labelOf(contents.devices[d]) == device)
              shares[d] += share / static_cast<double>(count);
      }
      list.push_back({{"shares", shares}, {"idle", idle}, {"count", count}});
    }
    result[kernel] = std::move(list);
  }
  return result;
}

/// Bytes from the host's memory (0) and the devices' (1 and on) to each other.
std::vector<std::vector<std::uint64_t>> matrixOf(const TraceContents& contents) {
  const std::size_t nodes = contents.devices.size() + 1;
  std::vector<std::vector<std::uint64_t>> matrix(nodes, std::vector<std::uint64_t>(nodes));
  for (const TraceWork& work : contents.works) {
    if (!work.arguments.contains("bytes") || work.arguments.contains("home"))
      continue;
    const bool in = work.track == Track::TransfersIn;
    matrix[in ? 0 : work.device + 1][in ? work.device + 1 : 0] +=
        work.arguments.at("bytes").get<std::uint64_t>();
  }
  return matrix;
}

/// Buffers by size, each with who held how much from when on.
Json buffersOf(const TraceContents& contents, Json& notes) {
  constexpr std::size_t mostBuffers = 100, mostSteps = 400;
  std::map<std::uint64_t, std::vector<const TraceHolding*>> holdings;
  for (const TraceHolding& holding : contents.holdings)
    holdings[holding.buffer].push_back(&holding);
  auto sizeOf = [&](std::uint64_t number) {
    const auto found = contents.buffers.find(number);
    return found == contents.buffers.end() ? 0 : found->second;
  };
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, of] : holdings)
    numbers.push_back(number);
  std::ranges::stable_sort(numbers, std::greater<>(), sizeOf);
  if (numbers.size() > mostBuffers) {
    notes.push_back("Of " + std::to_string(numbers.size()) + " buffers the " +
                    std::to_string(mostBuffers) + " largest are shown.");
    numbers.resize(mostBuffers);
  }
  Json buffers = Json::array();
  for (const std::uint64_t number : numbers) {
    const auto& of = holdings[number];
    const std::size_t each = (of.size() + mostSteps - 1) / mostSteps;
    Json steps = Json::array();
    for (std::size_t i = 0; i < of.size(); i += each) {
      const TraceHolding& holding = *of[i + each < of.size() ? i : of.size() - 1];
      std::vector<std::uint64_t> bytes(contents.devices.size() + 1);
      for (const auto& [node, valid] : holding.bytes) {
        if (node == "host")
          bytes[0] = valid;
        for (std::size_t d = 0; d < contents.devices.size(); ++d)
          if (node == labelOf(contents.devices[d]))
            bytes[d + 1] = valid;
      }
      steps.push_back({holding.at, bytes});
    }
    buffers.push_back(
        {{"number", number}, {"bytes", sizeOf(number)}, {"left", each}, {"steps", steps}});
  }
  return buffers;
}

/// Launches with what each issued: by kernel the first few, and as many more evenly from the rest.
Json graphsOf(const TraceContents& contents) {
  constexpr std::size_t firstFew = 8, more = 24, mostWorks = 400;
  std::map<std::string, std::vector<std::size_t>> calls;
  for (std::size_t c = 0; c < contents.calls.size(); ++c)
    if (!contents.calls[c].kernel.empty() && !contents.calls[c].works.empty())
      calls[contents.calls[c].kernel].push_back(c);
  Json graphs = Json::array();
  for (auto& [kernel, of] : calls) {
    std::ranges::stable_sort(of, {}, [&](std::size_t c) { return contents.calls[c].begin; });
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < std::min(firstFew, of.size()); ++i)
      chosen.insert(i);
    for (std::size_t i = 1; i <= more; ++i)
      chosen.insert((of.size() - 1) * i / more);
    for (const std::size_t i : chosen) {
      const TraceCall& call = contents.calls[of[i]];
      Json works = Json::array();
      for (const std::size_t index : call.works) {
        if (works.size() == mostWorks)
          break;
        const TraceWork& work = contents.works[index];
        works.push_back({work.arguments.value("work", std::uint64_t{0}), work.device,
                         static_cast<int>(work.track), work.name, work.begin, work.end,
                         details(work), work.arguments.value("after", Json::array())});
      }
      graphs.push_back({{"kernel", kernel},
                        {"launch", i},
                        {"of", of.size()},
                        {"call", of[i]},
                        {"left", call.works.size() - works.size()},
                        {"works", std::move(works)}});
    }
  }
  return graphs;
}

Json dataOf(const TraceContents& contents, const TraceSummary& summary, std::size_t maxSpans) {
  std::vector<Row> rows = rowsOf(contents);
  double end = 0;
  for (const Row& row : rows)
    for (const Span& span : row.spans)
      end = std::max(end, span.end);
  Json notes = Json::array();
  if (std::string thinned = thin(rows, maxSpans, end); !thinned.empty())
    notes.push_back(thinned);
  if (summary.dropped > 0)
    notes.push_back("The trace lacks " + std::to_string(summary.dropped) + " events.");
  if (summary.cutAt)
    notes.push_back("The trace ends at byte " + std::to_string(*summary.cutAt) +
                    ", in the middle of an event.");
  Json devices = Json::array(), kernels = Json::array(), nodes = {"host"};
  for (const DeviceSummary& device : summary.devices) {
    nodes.push_back(labelOf(device.name));
    devices.push_back({{"name", device.name},
                       {"label", labelOf(device.name)},
                       {"kernelUs", device.kernelSeconds * 1e6},
                       {"transferUs", device.transferSeconds * 1e6},
                       {"otherUs", device.otherSeconds * 1e6},
                       {"idle", device.idle}});
  }
  for (const KernelSummary& kernel : summary.kernels) {
    std::vector<double> shares;
    for (const DevicePart& part : kernel.parts)
      shares.push_back(part.share);
    Json reasons = Json::array();
    for (const auto& [reason, count] : kernel.reasons)
      reasons.push_back({reason, count});
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches()},
                       {"split", kernel.split},
                       {"splitUs", kernel.medianSeconds * 1e6},
                       {"homeUs", kernel.homeSeconds * 1e6},
                       {"gain", kernel.gain()},
                       {"shares", shares},
                       {"idle", kernel.idle},
                       {"reasons", std::move(reasons)}});
  }
  Json buffers = buffersOf(contents, notes);
  return {{"program", summary.program},       {"sentence", gainSentence(summary)},
          {"model", gainByModel(contents)},   {"buffers", std::move(buffers)},
          {"graphs", graphsOf(contents)},     {"notes", std::move(notes)},
          {"advice", summary.advice},         {"rows", toJson(rows)},
          {"launches", launchesOf(contents)}, {"nodes", std::move(nodes)},
          {"matrix", matrixOf(contents)},     {"kernels", std::move(kernels)},
          {"devices", std::move(devices)}};
}

void replaceOnce(std::string& text, const std::string& mark, const std::string& by) {
  text.replace(text.find(mark), mark.size(), by);
}

} // namespace

std::string gainSentence(const TraceSummary& summary) {
  std::uint64_t launches = 0, split = 0;
  double home = 0, took = 0;
  std::uint64_t compared = 0;
  std::map<std::string, std::uint64_t> reasons;
  for (const KernelSummary& kernel : summary.kernels) {
    launches += kernel.launches();
    split += kernel.split;
    home += kernel.comparedHomeSeconds;
    took += kernel.comparedSplitSeconds;
    compared += kernel.compared;
    for (const auto& [reason, count] : kernel.reasons)
      reasons[reason] += count;
  }
  if (launches == 0)
    return "No kernel was launched.";
  if (split == 0) {
    const auto most =
        std::ranges::max_element(reasons, {}, [](const auto& each) { return each.second; });
    return "None of " + std::to_string(launches) + " launches was split" +
           (most == reasons.end() ? "." : ", most of them since: " + most->first + ".");
  }
  std::string text = std::to_string(split) + " of " + std::to_string(launches) +
                     " launches were split over " + std::to_string(summary.devices.size()) +
                     " devices. ";
  if (!(took > 0))
    return text + "None of their kind was timed on the program's own device alone, so that what "
                  "this gained is not known.";
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.2f", home / took);
  return text + std::to_string(compared) + " of them took " + runtime::durationText(took) +
         "; by those that were timed on the program's own device alone they would have taken " +
         runtime::durationText(home) + ", " + factor + " times as long.";
}

std::string reportPage(const TraceContents& contents, const TraceSummary& summary,
                       std::size_t maxSpans) {
  std::string page = report::page;
  std::string data =
      dataOf(contents, summary, maxSpans).dump(-1, ' ', false, Json::error_handler_t::replace);
  // What stands in a script's element must not look like its end.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6)
    data.replace(at, 1, "\\u003c");
  replaceOnce(page, "/*PAGE*/", report::script);
  replaceOnce(page, "/*DATA*/", data);
  replaceOnce(page, "/*D3*/", std::string("\n/*\n") + report::d3Licence + "*/\n" + report::d3);
  return page;
}

} // namespace libsplit::tools
