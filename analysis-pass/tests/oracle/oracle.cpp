// Is what the analysis says true? Each kernel of the given OpenCL C files is analysed, and run here
// on random launches, work-group by work-group. For every launch that has a meaning it must hold,
// for every box of work-groups, that
//
//     bytes read ⊆ predicted reads,  bytes written ⊆ possible writes,  certain writes ⊆ written.
//
// A kernel after a line `// oracle: exact` must in addition be predicted exactly, reads and writes;
// after `// oracle: reads exact` or `// oracle: writes exact`, these. After `// oracle: inexact` it
// must not: what is known to be imprecise is noticed when it gets better.
//
//     oracle [--table] [--launches N] [--seed S] [--build-options=-DTILE=4] FILE.cl...
//
// A program must be analysed alike whether or not a report asks for the names of its variables.
//
// --table prints for each kernel, in bytes: predicted reads ÷ read, possible writes ÷ written,
// certain writes ÷ written.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/summary/serialize.h"
#include "analysis-pass/tests/oracle/trial.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace {

using namespace libsplit;
using namespace libsplit::oracle;

struct Marks {
  bool reads = false, writes = false; ///< exact
  bool inexact = false;
};

/// What the file's comments say of its kernels, by name.
std::map<std::string, Marks> readMarks(const std::string& text) {
  std::map<std::string, Marks> result;
  static const std::regex kernelLine(R"(^\s*(?:__)?kernel\b.*?\bvoid\s+(\w+).*)");
  Marks next;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("// oracle: exact"))
      next.reads = next.writes = true;
    else if (line.starts_with("// oracle: reads exact"))
      next.reads = true;
    else if (line.starts_with("// oracle: writes exact"))
      next.writes = true;
    else if (line.starts_with("// oracle: inexact"))
      next.inexact = true;
    else if (std::regex_match(line, match, kernelLine)) {
      result[match[1]] = next;
      next = {};
    }
  }
  return result;
}

/// Build options that a file asks for: a lit test's first line that has some, or `//@ options`.
std::vector<std::string> optionsIn(const std::string& text, const std::filesystem::path& folder) {
  std::vector<std::string> options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t begin = line.starts_with("//@ options ") ? 12 : std::string::npos;
    if (auto dashes = line.find(" -- "); line.starts_with("// RUN:") && dashes != std::string::npos)
      begin = options.empty() ? dashes + 4 : std::string::npos;
    if (begin != std::string::npos) {
      std::istringstream words(line.substr(begin, line.find('|', begin) - begin));
      for (std::string word; words >> word;) {
        if (auto here = word.find("$here"); here != std::string::npos)
          word.replace(here, 5, folder.string());
        options.push_back(word);
      }
    }
  }
  return options;
}

struct Options {
  std::vector<std::string> build;
  unsigned launches = 24;
  unsigned seed = 1;
  bool table = false;
};

struct Count {
  unsigned kernels = 0, launches = 0, failures = 0;
};

std::string ratio(std::uint64_t a, std::uint64_t b) {
  if (a == b)
    return "1";
  if (b == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(a) / static_cast<double>(b));
  return text;
}

void check(const std::filesystem::path& file, const Options& options, Memories& memories,
           Count& count) {
  std::ifstream in(file, std::ios::binary);
  ProgramInput input;
  input.text.assign(std::istreambuf_iterator<char>(in), {});
  input.name = file.string();
  auto words = optionsIn(input.text, file.parent_path());
  words.insert(words.end(), options.build.begin(), options.build.end());
  input.options = parseBuildOptions(words);
  auto fail = [&](const std::string& kernel, const std::string& why) {
    std::cout << file.filename().string() << ": " << kernel << ": " << why << "\n";
    ++count.failures;
  };

  ProgramSummary program = analyzeProgram(input);
  if (!program.failure.empty()) {
    std::cout << file.filename().string() << ": not analysed: " << program.failure << "\n";
    return;
  }
  ProgramInput named = input;
  named.wantsNames = true;
  if (serialize(analyzeProgram(named)) != serialize(program))
    fail("the program", "is analysed otherwise when a report asks for names");
  auto marks = readMarks(input.text);
  std::vector<std::string> missing;
  std::vector<std::string> wanted;
  for (const KernelSummary& kernel : program.kernels) {
    if (kernel.obstacles.empty())
      wanted.push_back(kernel.name);
    else if (options.table)
      std::cout << file.filename().string() << ": " << kernel.name
                << ": not split: " << kernel.obstacles.front().reason.text << "\n";
  }
  auto kernels = Kernel::compile(input, wanted, missing);
  for (const std::string& why : missing)
    if (options.table)
      std::cout << file.filename().string() << ": can't be run: " << why << "\n";
  for (const auto& kernel : kernels) {
    auto found = std::ranges::find(program.kernels, kernel->name(), &KernelSummary::name);
    const KernelSummary& summary = *found;
    ++count.kernels;
    Tally tally;
    std::string wrong, undefined;
    unsigned tries = 0;
    for (; tally.launches < options.launches && tries < 20 * options.launches && wrong.empty();
         ++tries) {
      std::mt19937 random(options.seed * 1000003u + tries);
      Launch launch = randomLaunch(summary, memories, random);
      Observation observation = kernel->run(launch.range, launch.arguments, memories);
      if (!observation.undefined.empty()) {
        undefined = observation.undefined;
        continue;
      }
      const Tally before = tally;
      wrong = compare(summary, launch, observation, memories, random, tally);
      if (observation.unspecified) { // what follows from any value is never predicted exactly
        tally.readsExact = before.readsExact;
        tally.writesExact = before.writesExact;
      }
      if (!wrong.empty())
        wrong += toString(launch, summary);
    }
    count.launches += tally.launches;
    const Marks& marked = marks[kernel->name()];
    if (!wrong.empty())
      fail(kernel->name(), wrong);
    if (tally.launches == 0)
      fail(kernel->name(),
           "no launch among " + std::to_string(tries) + " has a meaning: " + undefined);
    if (marked.reads && !tally.readsExact)
      fail(kernel->name(), "reads are not predicted exactly");
    if (marked.writes && !tally.writesExact)
      fail(kernel->name(), "writes are not predicted exactly");
    if (marked.inexact && tally.readsExact && tally.writesExact)
      fail(kernel->name(), "is exact by now");
    if (options.table)
      std::printf("%-28s %-32s %4u %8s %8s %8s%s\n", file.filename().c_str(),
                  kernel->name().c_str(), tally.launches,
                  ratio(tally.predictedReads, tally.read).c_str(),
                  ratio(tally.possibleWrites, tally.written).c_str(),
                  ratio(tally.certainWrites, tally.written).c_str(),
                  tally.readsExact && tally.writesExact ? "  exact" : "");
  }
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Holds the analysis of OpenCL C kernels against what they really read and write."};
  Options options;
  std::vector<std::string> files;
  app.add_flag("--table", options.table, "Print precision per kernel");
  app.add_option("--launches", options.launches, "Launches per kernel")->capture_default_str();
  app.add_option("--seed", options.seed, "Of the launches")->capture_default_str();
  app.add_option("--build-options", options.build, "Options for all files")
      ->allow_extra_args(false);
  app.add_option("files", files, "OpenCL C files")->required();
  CLI11_PARSE(app, argc, argv);

  Memories memories;
  Count count;
  if (options.table)
    std::printf("%-28s %-32s %4s %8s %8s %8s\n", "file", "kernel", "runs", "reads", "possible",
                "certain");
  for (const std::string& file : files) {
    check(file, options, memories, count);
    std::cout.flush();
    std::fflush(stdout);
  }
  std::printf("%u kernels, %u launches compared, %u failures\n", count.kernels, count.launches,
              count.failures);
  return count.failures == 0 ? 0 : 1;
}
