#include "runtime/program/program_analyses.h"

#include "analysis-pass/summary/build_options.h"
#include "analysis-pass/summary/linked_program.h"
#include "analysis-pass/summary/program_kind.h"
#include "runtime/core/log.h"
#include "runtime/core/worker.h"

#include <algorithm>
#include <set>
#include <utility>

namespace libsplit::runtime {

ProgramAnalyses::ProgramAnalyses(const Dispatch& cl, const Options& options, const DiskCache& cache,
                                 DriverTrial& trial, bool yields, RetainContext retain)
    : cl_(cl), options_(options), trial_(trial), yields_(yields), retain_(std::move(retain)),
      analyzer_(options.splitc.empty() ? defaultSplitc() : options.splitc, cache,
                options.analysisTimeoutSeconds),
      macroProbe_(cl, cache) {}

namespace {

/// The build options with which the device's compiler is to be asked for the program's macros.
/// Nothing: they differ from unit to unit, and so may the answers.
std::optional<std::string> optionsOfAll(const Origin& origin) {
  if (kindOf(origin.text) != ProgramKind::Linked)
    return origin.options;
  const auto program = parseLinkedProgram(origin.text);
  std::set<std::string> different;
  for (const SourceUnit& unit : program ? program->units : std::vector<SourceUnit>())
    different.insert(MacroProbe::standardOptions(unit.options));
  return different.size() == 1 ? std::optional(*different.begin()) : std::nullopt;
}

} // namespace

/// With what only the device's compiler knows, which is added to `macros`.
std::shared_ptr<const ProgramSummary> ProgramAnalyses::find(const Origin& origin,
                                                            DeviceMacros& macros,
                                                            const Place& place, bool recallOnly) {
  // What a macro selects may ask for others.
  constexpr int mostRounds = 8;
  constexpr int stepsBelow = 10; // it is a child process: it holds no driver's lock
  for (int round = 0;; ++round) {
    auto summary = analyzer_.recall(origin.text, origin.options, macros, origin.headers.get());
    if (!summary && recallOnly)
      return nullptr;
    if (!summary && options_.progress && reportsToTerminal())
      writeLogOnce(LogLevel::Warn,
                   "analyses the program's kernels, once; later runs find the result");
    auto analyze = [&] {
      summary = analyzer_.analyze(origin.text, origin.options, macros, origin.headers.get());
    };
    if (!summary && yields_)
      runBelow(stepsBelow, analyze);
    else if (!summary)
      analyze();
    if (summary->unknownMacros.empty() || round == mostRounds)
      return summary;
    const Ref<cl_context> keep = retain_(place.context);
    const std::optional<std::string> options = optionsOfAll(origin);
    if (!keep || !options || !trial_.allows(place.device) ||
        !macroProbe_.ask(place.context, place.device, *options, summary->unknownMacros, macros))
      return summary;
  }
}

std::shared_ptr<const ProgramSummary>
ProgramAnalyses::of(Build& build, const std::shared_ptr<const Origin>& origin,
                    const DeviceMacros& macros, const Place& place, bool recallOnly) {
  auto known = std::find_if(build.analyses.begin(), build.analyses.end(), [&](const auto& entry) {
    return entry.origin == origin && entry.macros == macros &&
           (!entry.askedOf || entry.askedOf == place.device);
  });
  if (known != build.analyses.end())
    return known->summary;
  auto failed = [](const std::string& why) {
    auto summary = std::make_shared<ProgramSummary>();
    summary->failure = why;
    return summary;
  };
  // IL is the same for every device.
  const bool isC = isSource(kindOf(origin->text));
  std::shared_ptr<const ProgramSummary> summary;
  const DeviceMacros told = isC ? macros : DeviceMacros{};
  DeviceMacros asked = told;
  if (isC && !options_.hiddenBuildOptions.empty())
    summary = failed(options_.hiddenBuildOptions + " gives the driver other build options");
  else
    summary = find(*origin, asked, place, recallOnly);
  if (!summary)
    return nullptr;
  if (origin->isFlat && !summary->includes.empty())
    summary = failed("the program was made from a binary, and includes other files on this device");
  for (const std::string& option :
       parseBuildOptions(splitOptions(isC ? origin->options : "")).skipped)
    writeLogOnce(LogLevel::Info, "the analysis takes no notice of the build option " + option);
  build.analyses.push_back({origin, macros, asked == told ? nullptr : place.device, summary});
  return summary;
}

std::string ProgramAnalyses::windowed(const Origin& origin, const Place& place,
                                      const std::string& text) {
  std::string failure = "it is no OpenCL C", made;
  if (isSource(kindOf(text))) {
    failure.clear();
    // The analysis first: it finds out which macros are only the device's to tell.
    DeviceMacros macros = deviceMacros(cl_, place.device);
    find(origin, macros, place, /*recallOnly=*/false);
    made = analyzer_.windowed(text, origin.options, macros, failure);
  }
  if (!failure.empty())
    log(LogLevel::Info, "a program can't do with parts of buffers: ", failure);
  return made;
}

std::string ProgramAnalyses::explain(const Origin& origin, const Place& place,
                                     const std::vector<std::string>& words) {
  // The analysis first: it finds out which macros are only the device's to tell.
  DeviceMacros macros =
      isSource(kindOf(origin.text)) ? deviceMacros(cl_, place.device) : DeviceMacros{};
  find(origin, macros, place, /*recallOnly=*/false);
  return analyzer_.explain(origin.text, origin.options, macros, origin.headers.get(), words);
}

} // namespace libsplit::runtime
