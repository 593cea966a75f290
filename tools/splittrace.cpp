// splittrace: what a trace that LIBSPLIT_TRACE wrote says: summed up, as a page, as Chrome trace
// events, beside another, or gone through once more with other devices.
//
// Exit status: 0, 1 if a file is no trace or can't be read or written, 2 for a bad command line.
#include "tools/command_line.h"
#include "tools/trace_diff.h"
#include "tools/trace_report.h"
#include "tools/trace_summary.h"
#include "tools/what_if.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>

namespace {

using namespace libsplit::tools;

constexpr std::size_t noTransfers = 0;

/// What `use` makes of the stream; nothing, with a line on stderr, if it can't be read.
template <typename Use>
auto reading(const std::string& path, Use use)
    -> std::optional<std::invoke_result_t<Use, std::istream&>> {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) {
      std::cerr << "splittrace: can't read " << path << "\n";
      return std::nullopt;
    }
  }
  try {
    return use(path == "-" ? std::cin : file);
  } catch (const std::exception& error) {
    std::cerr << "splittrace: " << path << ": " << error.what() << "\n";
    return std::nullopt;
  }
}

/// `use(contents, summary)` of the trace; the exit status.
template <typename Use> int with(const std::string& path, std::size_t transfers, Use use) {
  const std::optional<TraceContents> contents = reading(path, readTrace);
  if (!contents)
    return 1;
  try {
    return use(*contents, summarize(*contents, transfers));
  } catch (const std::exception& error) {
    std::cerr << "splittrace: " << path << ": " << error.what() << "\n";
    return 1;
  }
}

int writeReport(const std::string& trace, const std::string& output) {
  return with(trace, noTransfers, [&](const TraceContents& contents, const TraceSummary& summary) {
    std::ofstream file(output);
    file << reportPage(contents, summary);
    file.close();
    if (!file)
      std::cerr << "splittrace: can't write " << output << "\n";
    return file ? 0 : 1;
  });
}

/// One event a line. What is of an older version is in that form.
void writeEvents(std::istream& trace, std::ostream& output) {
  if (!isCompactTrace(trace.peek())) {
    output << trace.rdbuf();
    return;
  }
  const char* before = "[\n";
  decodeTrace(trace, [&](const nlohmann::ordered_json& event) {
    output << std::exchange(before, ",\n")
           << event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  });
  output << "\n]\n";
}

/// `path` "-": to stdout.
int writeChrome(const std::string& trace, const std::string& path) {
  std::ofstream file;
  if (path != "-")
    file.open(path);
  std::ostream& output = path == "-" ? std::cout : file;
  if (output && !reading(trace, [&](std::istream& stream) {
        writeEvents(stream, output);
        return true;
      }))
    return 1;
  output.flush();
  if (!output)
    std::cerr << "splittrace: can't write " << path << "\n";
  return output ? 0 : 1;
}

int printDiff(const std::string& a, const std::string& b) {
  return with(a, noTransfers, [&](const TraceContents&, const TraceSummary& first) {
    return with(b, noTransfers, [&](const TraceContents&, const TraceSummary& second) {
      std::cout << diffText(first, second);
      return 0;
    });
  });
}

/// Texts as far as they are UTF-8: programs' names may be anything.
void print(const nlohmann::ordered_json& json) {
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

int printWhatIf(const std::string& path, const WhatIf& question, bool json) {
  return with(path, noTransfers, [&](const TraceContents& contents, const TraceSummary& summary) {
    const WhatIfAnswer answer = whatIf(contents, question);
    if (json)
      print(toJson(answer));
    else
      std::cout << toText(answer, summary.program);
    return 0;
  });
}

int printSummary(const std::string& path, std::size_t transfers, bool json) {
  return with(path, transfers, [&](const TraceContents&, const TraceSummary& summary) {
    if (json)
      print(toJson(summary));
    else
      std::cout << toText(summary);
    return 0;
  });
}

Manual manual() {
  return {"sum up a trace of libsplit, show it as a page, compare two, ask what would be if",
          {{"EXIT STATUS",
            "0, 1 if a file is no trace or can't be read or written, 2 for a bad command line."},
           {"EXAMPLES", "  splitrun --trace run.trace -- ./your_program\n"
                        "  splittrace run.trace\n"
                        "  splittrace report -o report.html run.trace\n"
                        "  splittrace chrome -o run.json run.trace\n"
                        "  splittrace diff before.trace after.trace\n"
                        "  splittrace whatif --devices 0.0,0.1,0.1 run.trace\n"}},
          {"splitrun(1)", "libsplit(7)"}};
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Sums up a trace of libsplit (LIBSPLIT_TRACE, splitrun --trace) by kernel and device,\n"
      "and says what to try.",
      "splittrace"};
  std::string path, output, second;
  bool json = false;
  std::size_t transfers = 5;
  app.add_option("trace", path, "The file, - for stdin");
  app.add_flag("--json", json, "Write JSON instead of text");
  app.add_option("--transfers", transfers, "How many of the slowest transfers to show")
      ->capture_default_str();
  CLI::App* report = app.add_subcommand(
      "report",
      "Writes one page that shows the run: timeline, shares, bytes, kernels with reasons.\n"
      "It holds all that it needs, and opens in any browser.");
  report->add_option("-o,--output", output, "The page to write")->required()->type_name("FILE");
  report->add_option("trace", path, "The file, - for stdin")->required();
  CLI::App* chrome = app.add_subcommand(
      "chrome", "Writes the trace as Chrome trace events, which Perfetto (ui.perfetto.dev) opens.");
  chrome->add_option("-o,--output", output, "The file to write; default: stdout")
      ->type_name("FILE");
  chrome->add_option("trace", path, "The file, - for stdin")->required();
  CLI::App* diff =
      app.add_subcommand("diff", "Compares two traces, kernel by kernel: A before, B after.");
  diff->add_option("a", path, "The first trace")->required();
  diff->add_option("b", second, "The second trace")->required();
  WhatIf question;
  CLI::App* whatif = app.add_subcommand(
      "whatif",
      "Tells what the run would have taken with other devices, links or shares: its launches are\n"
      "decided about, cut and moved for once more, at the costs that the trace shows.");
  whatif
      ->add_option(
          "--devices", question.devices,
          "Devices of the trace, by label; twice the same: another one like it. Default: as\n"
          "they were")
      ->delimiter(',')
      ->type_name("P.D,...");
  whatif
      ->add_option_function<std::string>(
          "--policy",
          [&](const std::string& text) {
            question.policy = libsplit::runtime::parsePolicy(text);
            if (!question.policy)
              throw CLI::ValidationError("--policy", text + " is no policy");
          },
          "As LIBSPLIT_POLICY. Default: shares as they were, and auto where devices are others")
      ->type_name("POLICY");
  whatif
      ->add_option_function<std::vector<std::string>>(
          "--link",
          [&](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto link = parseLink(text);
              if (!link)
                throw CLI::ValidationError("--link", text + " is no [DEVICE=]GB/S[,MICROSECONDS]");
              question.links.insert(*link);
            }
          },
          "Copies to and from the device, or all devices, at so many GB/s, and so long to begin "
          "one")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("[P.D=]GB/S[,US]");
  whatif->add_flag("--json", json, "Write JSON instead of text");
  whatif->add_option("trace", path, "The file, - for stdin")->required();
  app.require_subcommand(0, 1);
  if (auto status = readCommandLine(app, argc, argv, manual()))
    return *status;
  if (*report)
    return writeReport(path, output);
  if (*chrome)
    return writeChrome(path, output.empty() ? "-" : output);
  if (*diff)
    return printDiff(path, second);
  if (*whatif)
    return printWhatIf(path, question, json);
  if (path.empty()) {
    std::cerr << "splittrace: no trace; see splittrace --help\n";
    return badUsage;
  }
  return printSummary(path, transfers, json);
}
