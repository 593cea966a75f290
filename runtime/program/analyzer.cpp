#include "runtime/program/analyzer.h"

#include "analysis-pass/summary/program_kind.h"
#include "analysis-pass/summary/serialize.h"
#include "runtime/core/child_process.h"
#include "runtime/core/log.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <dlfcn.h>

namespace libsplit::runtime {

namespace {

namespace fs = std::filesystem;

/// Path, size and time of splitc: a rebuilt one must not answer from an older one's cache.
std::string identity(const std::string& splitc) {
  std::error_code error;
  auto size = fs::file_size(splitc, error);
  auto time = fs::last_write_time(splitc, error).time_since_epoch().count();
  return error ? std::string() : std::to_string(size) + " " + std::to_string(time);
}

std::string cacheKey(const std::string& splitc, const std::string& source,
                     const std::string& buildOptions, const DeviceMacros& macros,
                     const HeaderSnapshot* headers) {
  std::vector<std::string> parts = {std::to_string(summaryFormatVersion),
                                    identity(splitc),
                                    source,
                                    buildOptions,
                                    macros.version,
                                    macros.defaultVersion,
                                    macros.extensions,
                                    headers ? headers->fingerprint() : std::string()};
  parts.insert(parts.end(), macros.defines.begin(), macros.defines.end());
  for (const std::string& name : macros.undefines)
    parts.push_back("-U" + name);
  return hashOf(parts);
}

/// Whether the answer may have come from other files than the program.
std::optional<std::string> whyStale(const ProgramSummary& summary, const HeaderSnapshot* headers) {
  if (!headers)
    return summary.includes.empty() ? std::nullopt
                                    : std::optional("includes " + summary.includes[0].path +
                                                    " in a way that was not foreseen");
  if (auto path = headers->changed())
    return "may include " + *path + ", which changed after it was built";
  if (auto path = headers->differsFrom(summary.includes))
    return "includes " + *path + ", which was not seen as it is when the program was built";
  return std::nullopt;
}

std::shared_ptr<const ProgramSummary> failed(std::string why) {
  auto summary = std::make_shared<ProgramSummary>();
  summary->failure = std::move(why);
  return summary;
}

} // namespace

Analyzer::Analyzer(std::string splitc, const DiskCache& cache, double timeoutSeconds)
    : splitc_(std::move(splitc)), cache_(cache), timeoutSeconds_(timeoutSeconds) {}

/// `words`: what is asked.
std::string Analyzer::run(const std::vector<std::string>& words, const std::string& source,
                          const std::string& buildOptions, const DeviceMacros& macros,
                          const HeaderSnapshot* headers, std::string& failure) const {
  std::vector<std::string> arguments = {splitc_,
                                        "-",
                                        "--build-options=" + buildOptions,
                                        "--device-version=" + macros.version,
                                        "--device-default-version=" + macros.defaultVersion,
                                        "--device-extensions=" + macros.extensions};
  arguments.insert(arguments.end(), words.begin(), words.end());
  for (const std::string& define : macros.defines)
    arguments.push_back("--device-define=" + define);
  for (const std::string& name : macros.undefines)
    arguments.push_back("--device-undefine=" + name);
  ChildResult child = runChild(arguments, source, timeoutSeconds_, &cancelled_,
                               headers ? headers->directory() : std::string());
  if (!child.succeeded)
    failure = "the analysis program " + splitc_ + " " + child.failure;
  return std::move(child.output);
}

std::shared_ptr<const ProgramSummary> Analyzer::recall(const std::string& source,
                                                       const std::string& buildOptions,
                                                       const DeviceMacros& macros,
                                                       const HeaderSnapshot* headers) const {
  auto entry = cache_.read(cacheKey(splitc_, source, buildOptions, macros, headers) + ".summary");
  auto cached = entry ? parseProgramSummary(*entry) : std::nullopt;
  if (!cached || (headers ? headers->differsFrom(cached->includes) : whyStale(*cached, nullptr)))
    return nullptr;
  return std::make_shared<const ProgramSummary>(std::move(*cached));
}

std::shared_ptr<const ProgramSummary> Analyzer::analyze(const std::string& source,
                                                        const std::string& buildOptions,
                                                        const DeviceMacros& macros,
                                                        const HeaderSnapshot* headers) const {
  if (auto cached = recall(source, buildOptions, macros, headers))
    return cached;
  const std::string name = cacheKey(splitc_, source, buildOptions, macros, headers) + ".summary";
  std::string failure;
  std::string text = run({"--emit=summary"}, source, buildOptions, macros, headers, failure);
  std::optional<ProgramSummary> summary;
  if (failure.empty()) {
    std::string error;
    summary = parseProgramSummary(text, &error);
    if (!summary)
      failure = "the analysis program " + splitc_ + " gave an answer that can't be read: " + error;
  }
  if (!summary && cancelled_)
    return failed("the program ended");
  if (!summary) {
    writeLogOnce(LogLevel::Warn, failure + "; programs run unsplit");
    return failed(failure);
  }
  if (auto why = whyStale(*summary, headers))
    return failed("the program " + *why);
  // What translates SPIR-V may be there the next time, or have the time.
  if (summary->failure.empty() || kindOf(source) != ProgramKind::SpirV)
    cache_.write(name, text);
  return std::make_shared<const ProgramSummary>(std::move(*summary));
}

std::string Analyzer::windowed(const std::string& source, const std::string& buildOptions,
                               const DeviceMacros& macros, std::string& failure) const {
  const std::string name = cacheKey(splitc_, source, buildOptions, macros, nullptr) + ".windowed";
  if (auto kept = cache_.read(name))
    return std::move(*kept);
  std::string text = run({"--emit=windowed"}, source, buildOptions, macros, nullptr, failure);
  if (failure.empty())
    cache_.write(name, text);
  else
    text.clear();
  return text;
}

std::string Analyzer::explain(const std::string& source, const std::string& buildOptions,
                              const DeviceMacros& macros, const HeaderSnapshot* headers,
                              const std::vector<std::string>& words) const {
  std::vector<std::string> asked = {"--explain"};
  asked.insert(asked.end(), words.begin(), words.end());
  std::string failure;
  std::string text = run(asked, source, buildOptions, macros, headers, failure);
  return failure.empty() ? text : text + "libsplit: " + failure + "\n";
}

std::string defaultSplitc() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&defaultSplitc), &info) || !info.dli_fname)
    return "splitc";
  std::error_code error;
  fs::path library = fs::canonical(info.dli_fname, error);
  if (error)
    library = info.dli_fname;
  for (const char* relative : {"../bin/splitc", "splitc", "../../bin/splitc"}) {
    fs::path candidate = library.parent_path() / relative;
    if (fs::exists(candidate, error))
      return candidate.lexically_normal().string();
  }
  return (library.parent_path() / "../bin/splitc").lexically_normal().string();
}

} // namespace libsplit::runtime
