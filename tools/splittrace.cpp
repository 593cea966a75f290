// splittrace: sums up a trace that LIBSPLIT_TRACE wrote.
//
// Exit status: 0, 1 if the file is no trace or can't be read, 2 for a bad command line.
#include "tools/command_line.h"
#include "tools/trace_summary.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  using namespace libsplit::tools;
  CLI::App app{
      "Sums up a trace of libsplit (LIBSPLIT_TRACE, splitrun --trace) by kernel and device,\n"
      "and says what to try. The trace itself opens in Perfetto (ui.perfetto.dev).",
      "splittrace"};
  std::string path;
  bool json = false;
  std::size_t transfers = 5;
  app.add_option("trace", path, "The file, - for stdin")->required();
  app.add_flag("--json", json, "Write JSON instead of text");
  app.add_option("--transfers", transfers, "How many of the slowest transfers to show")
      ->capture_default_str();
  if (auto status = readCommandLine(app, argc, argv))
    return *status;

  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      std::cerr << "splittrace: can't read " << path << "\n";
      return 1;
    }
  }
  try {
    const TraceSummary summary = summarize(path == "-" ? std::cin : file, transfers);
    if (json)
      std::cout << toJson(summary).dump(2) << "\n";
    else
      std::cout << toText(summary);
  } catch (const TraceError& error) {
    std::cerr << "splittrace: " << path << ": " << error.what() << "\n";
    return 1;
  }
}
