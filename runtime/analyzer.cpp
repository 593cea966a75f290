#include "runtime/analyzer.h"

#include "analysis-pass/summary/serialize.h"
#include "runtime/child_process.h"
#include "runtime/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <dlfcn.h>
#include <unistd.h>

namespace libsplit::runtime {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad())
    return std::nullopt;
  return text;
}

std::string hex(XXH128_hash_t hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

/// Path, size and time of splitc: a rebuilt one must not answer from an older one's cache.
std::string identity(const std::string& splitc) {
  std::error_code error;
  auto size = fs::file_size(splitc, error);
  auto time = fs::last_write_time(splitc, error).time_since_epoch().count();
  return error ? std::string() : std::to_string(size) + " " + std::to_string(time);
}

std::string cacheKey(const std::string& splitc, const std::string& source,
                     const std::string& buildOptions, const DeviceMacros& macros) {
  std::string text = std::to_string(summaryFormatVersion);
  auto append = [&](const std::string& part) {
    text += '\n' + std::to_string(part.size()) + ' ' + part;
  };
  append(identity(splitc));
  append(source);
  append(buildOptions);
  append(macros.version);
  append(macros.extensions);
  for (const std::string& define : macros.defines)
    append(define);
  // A relative -I means another file in another folder.
  std::error_code error;
  append(fs::current_path(error).string());
  return hex(XXH3_128bits(text.data(), text.size()));
}

bool includesUnchanged(const ProgramSummary& summary) {
  for (const IncludedFile& file : summary.includes) {
    auto text = readFile(file.path);
    if (!text || XXH3_64bits(text->data(), text->size()) != file.hash)
      return false;
  }
  return true;
}

// An entry is the hash of the summary's text, then the text: whoever finds it damaged sees so.
std::optional<ProgramSummary> readEntry(const std::string& path) {
  auto entry = readFile(path);
  if (!entry)
    return std::nullopt;
  std::string text = entry->size() > 33 ? entry->substr(33) : std::string();
  std::optional<ProgramSummary> summary;
  if (entry->compare(0, 32, hex(XXH3_128bits(text.data(), text.size()))) == 0)
    summary = parseProgramSummary(text);
  if (!summary)
    writeLogOnce(LogLevel::Warn, "ignored the damaged cache entry " + path);
  return summary;
}

void writeEntry(const std::string& directory, const std::string& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(directory, error);
  std::string temporary = path + "." + std::to_string(::getpid());
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << hex(XXH3_128bits(text.data(), text.size())) << '\n' << text;
    file.close();
    written = !file.fail();
  }
  if (written) {
    fs::rename(temporary, path, error);
    written = !error;
  }
  if (!written) {
    fs::remove(temporary, error);
    writeLogOnce(LogLevel::Warn, "can't write to the cache directory " + directory +
                                     "; kernels are analysed anew in every run");
  }
}

std::shared_ptr<const ProgramSummary> failed(std::string why) {
  auto summary = std::make_shared<ProgramSummary>();
  summary->failure = std::move(why);
  return summary;
}

} // namespace

Analyzer::Analyzer(std::string splitc, std::string cacheDir, double timeoutSeconds)
    : splitc_(std::move(splitc)), cacheDir_(std::move(cacheDir)), timeoutSeconds_(timeoutSeconds) {}

std::string Analyzer::run(const std::string& source, const std::string& buildOptions,
                          const DeviceMacros& macros, std::string& failure) const {
  std::vector<std::string> arguments = {splitc_,
                                        "-",
                                        "--emit=summary",
                                        "--build-options=" + buildOptions,
                                        "--device-version=" + macros.version,
                                        "--device-extensions=" + macros.extensions};
  for (const std::string& define : macros.defines)
    arguments.push_back("--device-define=" + define);
  ChildResult child = runChild(arguments, source, timeoutSeconds_, &cancelled_);
  if (!child.succeeded)
    failure = "the analysis program " + splitc_ + " " + child.failure;
  return std::move(child.output);
}

std::shared_ptr<const ProgramSummary> Analyzer::analyze(const std::string& source,
                                                        const std::string& buildOptions,
                                                        const DeviceMacros& macros) const {
  std::string path;
  if (!cacheDir_.empty()) {
    path = cacheDir_ + "/" + cacheKey(splitc_, source, buildOptions, macros) + ".summary";
    auto cached = readEntry(path);
    if (cached && includesUnchanged(*cached))
      return std::make_shared<const ProgramSummary>(std::move(*cached));
  }
  std::string failure;
  std::string text = run(source, buildOptions, macros, failure);
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
  if (!path.empty())
    writeEntry(cacheDir_, path, text);
  return std::make_shared<const ProgramSummary>(std::move(*summary));
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
