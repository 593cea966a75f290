// splitc: what an OpenCL C program does to its buffers, and whether its kernels can be split.
//
// Called by people (`splitc kernel.cl`) and by the runtime (`splitc - --emit=summary ...`, program
// on stdin). Exit status: 0, 1 if the program can't be read or analysed, 2 for a bad command line.
// To the runtime, a summary of why a program can't be analysed is an answer like any other: 0.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/pass/report.h"
#include "analysis-pass/pass/window_rewriter.h"
#include "analysis-pass/summary/program_kind.h"
#include "analysis-pass/summary/serialize.h"
#include "tools/annotate.h"
#include "tools/command_line.h"
#include "tools/explain.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

#include <unistd.h>

namespace {

using namespace libsplit;
using tools::badUsage;

bool readAll(const std::string& path, std::string& text) {
  std::ifstream file;
  if (path != "-")
    file.open(path, std::ios::binary);
  std::istream& stream = path == "-" ? std::cin : file;
  // Unlike the buffer's iterators, read() does not throw where the path is a folder's.
  char block[1 << 16];
  while (stream.read(block, sizeof block) || stream.gcount() > 0)
    text.append(block, static_cast<std::size_t>(stream.gcount()));
  return stream.eof();
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// What people ask.
struct Question {
  ImaginedLaunch launch;
  std::string kernel; ///< about this one alone; empty: about all
  bool inColour = false;
};

bool hasParameter(const KernelSummary& kernel, const std::string& name) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].name == name || std::to_string(i) == name)
      return true;
  return false;
}

/// Tells of all kernels that are asked about. False if there is none of that name.
bool report(const ProgramInput& input, const ProgramSummary& program, const Question& question,
            bool withSource) {
  for (const auto& [name, value] : question.launch.arguments)
    if (std::ranges::none_of(program.kernels, [&name = name](const KernelSummary& kernel) {
          return hasParameter(kernel, name);
        }))
      std::cerr << "splitc: no kernel has a parameter " << name << "\n";
  auto readSource = [](const std::string& path) {
    std::string text;
    return readAll(path, text) ? std::optional(text) : std::nullopt;
  };
  const char* separator = "";
  for (const KernelSummary& kernel : program.kernels) {
    if (!question.kernel.empty() && kernel.name != question.kernel)
      continue;
    std::cout << std::exchange(separator, "\n")
              << (withSource
                      ? annotate(kernel, input.text, readSource, question.launch, question.inColour)
                      : explain(kernel, question.launch));
  }
  if (!question.kernel.empty() && !*separator)
    std::cerr << "splitc: " << input.name << " holds no kernel " << question.kernel << "\n";
  return question.kernel.empty() || *separator;
}

/// Writes what `emit` asks for. False if there is none, with the reason.
bool write(const ProgramInput& input, const std::string& emit, const Question& question) {
  if (emit == "ir") {
    std::string failure;
    std::cout << preparedIr(input, failure);
    if (!failure.empty())
      std::cerr << "splitc: " << failure << "\n";
    return failure.empty();
  }
  if (emit == "windowed") {
    const WindowRewrite rewrite = rewriteForWindows(input);
    std::cout << rewrite.source;
    if (!rewrite.failure.empty())
      std::cerr << "splitc: " << rewrite.failure << "\n";
    return rewrite.failure.empty();
  }
  ProgramInput named = input;
  const bool isForPeople = emit == "report" || emit == "explain";
  named.wantsNames = isForPeople;
  if (isForPeople)
    for (const std::string& option : input.options.skipped)
      std::cerr << "splitc: skipped the build option " << option << "\n";
  ProgramSummary program = analyzeProgram(named);
  if (emit == "summary") {
    std::cout << serialize(program);
    return true;
  }
  if (emit == "source") {
    if (!program.failure.empty())
      std::cerr << "splitc: " << program.failure << "\n";
    else
      std::cout << (program.partitionSource.empty() ? input.text : program.partitionSource);
    return program.failure.empty();
  }
  if (!program.failure.empty() || emit == "accesses")
    std::cout << describe(program);
  else if (!program.kernels.empty() &&
           !report(input, program, question,
                   emit == "explain" && kindOf(input.text) == ProgramKind::OpenclC))
    return false;
  if (program.failure.empty() && program.kernels.empty())
    std::cerr << "splitc: " << input.name << " holds no kernel\n";
  return program.failure.empty();
}

tools::Manual manual() {
  return {
      "tell what OpenCL kernels read and write, and how they will be split",
      {{"NOTES",
        "What is written below a line of the source, or beside its number, is in the terms of "
        "the source: \"writes a bytes [4*i, +4)\" are the four bytes from 4*i on. \"writes\" "
        "means certainly, \"may write\" possibly, \"may store back\" only with what was there.\n\n"
        "The rung tells how what the devices wrote is put together: 1, each writes bytes of its "
        "own; 2, the same, with the old bytes brought in first; 3, merged by what changed; 4, "
        "merged by the atomic operation.\n"},
       {"EXIT STATUS", "0, 1 if the program can't be read or analysed, 2 for a bad command line."},
       {"EXAMPLES",
        "  splitc --explain kernels.cl -- -DTILE=16 -cl-fast-relaxed-math\n"
        "  splitc --kernel step --range 1024x1024/16x16 --argument n=1000 kernels.cl\n"}},
      {"splitrun(1)", "libsplit(7)"}};
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tells which bytes of which buffer an OpenCL C program's kernels touch, what keeps\n"
               "them from being split over several devices, and why.",
               "splitc"};
  std::string path = "-";
  std::string emit = "report";
  std::string buildOptions;
  std::string version;
  std::string defaultVersion;
  std::string extensions;
  std::vector<std::string> trailing;
  ProgramInput input;
  app.add_option("file", path, "OpenCL C source, - for stdin");
  app.add_option("--emit", emit, "What to write")
      ->check(
          CLI::IsMember({"report", "explain", "accesses", "summary", "source", "windowed", "ir"}))
      ->capture_default_str();
  bool explainAsked = false;
  std::string colour = "auto";
  Question question;
  app.add_flag(
      "--explain", explainAsked,
      "Write the source with what each line reads and writes, and each obstacle, below it");
  app.add_option("--kernel", question.kernel, "Tell of this kernel alone")->type_name("NAME");
  app.add_option("--color", colour, "Colours in what --explain writes; auto: on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--build-options", buildOptions, "Options as given to clBuildProgram");
  app.add_option("--device-version", version, "CL_DEVICE_OPENCL_C_VERSION, or as in 120");
  app.add_option("--device-default-version", defaultVersion,
                 "OpenCL C version of programs that name none");
  auto* extensionOption =
      app.add_option("--device-extensions", extensions, "CL_DEVICE_EXTENSIONS of the device");
  app.add_option("--device-define", input.device.defines, "Macro that the device's compiler sets")
      ->allow_extra_args(false);
  app.add_option("--device-undefine", input.device.undefines,
                 "Macro that the device's compiler is known not to set")
      ->allow_extra_args(false);
  std::string range;
  std::vector<std::string> arguments;
  auto* rangeOption = app.add_option(
      "--range", range,
      "Global and local sizes of a launch, 1024x1024/16x16: how will it be split? Default: "
      "4096/64, "
      "256x256/16x16 or 64x64x32/8x8x4, by the dimensions that the kernel asks about");
  app.add_option("--argument", arguments,
                 "NAME=NUMBER, for --range, or its position from 0 for NAME: the value of a number "
                 "(default: the global size of "
                 "dimension 0), or the bytes of a buffer")
      ->allow_extra_args(false);
  app.footer("Build options may also follow after --.");

  // CLI11 would take what stands behind -- as positionals; they are the program's.
  int own = argc;
  for (int i = 1; i < argc && own == argc; ++i)
    if (std::string_view(argv[i]) == "--")
      own = i;
  trailing.assign(argv + std::min(own + 1, argc), argv + argc);
  // Nor does it take an empty value after =, which stands for none.
  static constexpr std::string_view emptyOptions[] = {
      "--build-options=", "--device-version=", "--device-default-version=", "--device-extensions="};
  std::vector<char*> ownWords;
  for (int i = 0; i < own; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--device-extensions=")
      input.device.extensions.emplace();
    if (std::ranges::find(emptyOptions, argument) == std::end(emptyOptions))
      ownWords.push_back(argv[i]);
  }
  if (auto status =
          tools::readCommandLine(app, static_cast<int>(ownWords.size()), ownWords.data(), manual()))
    return *status;

  auto options = splitOptions(buildOptions);
  options.insert(options.end(), trailing.begin(), trailing.end());
  input.options = parseBuildOptions(options);
  for (const std::string* text : {&version, &defaultVersion}) {
    if (text->empty())
      continue;
    auto parsed = parseDeviceVersion(*text);
    if (!parsed) {
      std::cerr << "splitc: bad OpenCL C version " << *text << "\n";
      return badUsage;
    }
    if (text == &version)
      input.device.version = *parsed;
    else
      input.device.defaultVersion = *parsed;
  }
  if (extensionOption->count() > 0)
    input.device.extensions = words(extensions);
  if (path != "-")
    input.name = path;
  if (!readAll(path, input.text)) {
    std::cerr << "splitc: can't read " << path << "\n";
    return 1;
  }
  ImaginedLaunch& launch = question.launch;
  if (rangeOption->count() > 0 && !(launch.range = parseRange(range))) {
    std::cerr << "splitc: bad --range " << range << ", expected GLOBAL/LOCAL, such as 4096/64\n";
    return badUsage;
  }
  for (const std::string& argument : arguments) {
    std::size_t equals = argument.find('=');
    std::istringstream number(equals == std::string::npos ? "" : argument.substr(equals + 1));
    if (!(number >> launch.arguments[argument.substr(0, equals)]) || !number.eof()) {
      std::cerr << "splitc: bad --argument " << argument << ", expected NAME=NUMBER\n";
      return badUsage;
    }
  }
  question.inColour = colour == "always" || (colour == "auto" && ::isatty(STDOUT_FILENO) == 1);
  if (!write(input, explainAsked ? "explain" : emit, question))
    return 1;
  return std::cout.flush() ? 0 : 1;
}
