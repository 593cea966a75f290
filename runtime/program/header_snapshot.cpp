#include "runtime/program/header_snapshot.h"

#include "analysis-pass/summary/build_options.h"
#include "runtime/core/disk_cache.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

namespace libsplit::runtime {

namespace {

namespace fs = std::filesystem;

/// More than any program includes. Who names more is not followed, and so not split.
constexpr std::size_t maxFiles = 4096;

bool isBlank(char c) {
  return c == ' ' || c == '\t';
}

bool isInName(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}

std::string absolute(const std::string& directory, const std::string& path) {
  return (fs::path(directory) / path).lexically_normal().string();
}

bool isIdentifier(char c) {
  return isInName(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

using Macros = std::map<std::string, std::string, std::less<>>;

/// With the values of macros in place of their names.
std::string expanded(std::string text, const Macros& macros) {
  constexpr int mostRounds = 8; // of macros that name others, or themselves
  constexpr std::size_t longest = 4096;
  bool isChanged = true;
  for (int round = 0; isChanged && round < mostRounds && text.size() < longest; ++round) {
    std::string result;
    isChanged = false;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && isIdentifier(text[end]))
        ++end;
      const auto macro = macros.find(std::string_view(text).substr(i, end - i));
      isChanged = isChanged || macro != macros.end();
      end = std::max(end, i + 1);
      result += macro != macros.end() ? macro->second : text.substr(i, end - i);
      i = end;
    }
    text = std::move(result);
  }
  return text;
}

/// What macros are given that may put quotes around it.
void givenToMacros(std::string_view text, std::vector<std::string>& names) {
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t close = text.find(')'); close != std::string_view::npos;
       close = text.find(')', close + 1)) {
    const std::size_t open = text.substr(0, close).find_last_of('(');
    if (open == std::string_view::npos)
      continue;
    std::string_view given = text.substr(open + 1, close - open - 1);
    const std::size_t begin = given.find_first_not_of(blanks);
    if (begin == std::string_view::npos)
      continue;
    given = given.substr(begin, given.find_last_not_of(blanks) + 1 - begin);
    names.emplace_back(given);
  }
}

/// What stands between two characters, where it may be a file's name.
void quoted(std::string_view text, char open, char close, std::vector<std::string>& names) {
  for (std::size_t i = text.find(open); i != std::string_view::npos; i = text.find(open, i + 1)) {
    const std::size_t end = text.find_first_of(std::string{close, '\n'}, i + 1);
    if (end != std::string_view::npos && text[end] == close && end > i + 1)
      names.emplace_back(text.substr(i + 1, end - i - 1));
  }
}

} // namespace

struct HeaderSnapshot::Search {
  std::vector<std::string> paths;      ///< of -I
  std::string options;                 ///< as the compiler sees them, one a line
  Macros macros;                       ///< without parameters, by the last definition that was met
  std::vector<std::string_view> texts; ///< from memory, and the options
  bool tookAllNames = false;           ///< for the sake of a computed name
  std::set<std::string> seen;          ///< "folder\nname"
};

HeaderSnapshot::HeaderSnapshot(const std::vector<std::string_view>& texts,
                               const std::string& buildOptions) {
  std::error_code error;
  directory_ = fs::current_path(error).string();
  Search search;
  const std::vector<std::string> words = splitOptions(buildOptions);
  const BuildOptions parsed = parseBuildOptions(words);
  search.paths = parsed.includePaths;
  for (std::string define : parsed.defines) {
    if (const std::size_t equals = define.find('='); equals != std::string::npos)
      define[equals] = ' ';
    noteMacro(search, define);
  }
  for (const std::string& word : words)
    search.options += word + '\n';
  search.texts = texts;
  search.texts.emplace_back(search.options);
  for (std::string_view text : texts)
    scan(search, text, ".");
}

/// `definition`: what follows `#define`, to the end of the line.
void HeaderSnapshot::noteMacro(Search& search, std::string_view definition) {
  std::size_t end = 0;
  while (end < definition.size() && isIdentifier(definition[end]))
    ++end;
  if (end > 0 && (end == definition.size() || isBlank(definition[end])))
    search.macros.insert_or_assign(
        std::string(definition.substr(0, end)),
        std::string(definition.substr(std::min(end + 1, definition.size()))));
}

/// Any `include` or `import` after a #, also where it is a comment: too many names do no harm.
void HeaderSnapshot::scan(Search& search, std::string_view text, const std::string& folder) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::size_t i = at + 1;
    while (i < text.size() && isBlank(text[i]))
      ++i;
    const std::string_view rest = text.substr(i);
    const bool isDefinition = rest.starts_with("define");
    if (!isDefinition && !rest.starts_with("include") && !rest.starts_with("import"))
      continue;
    while (i < text.size() && isInName(text[i]))
      ++i;
    while (i < text.size() && isBlank(text[i]))
      ++i;
    const std::size_t line = text.find('\n', i);
    const std::string_view name = text.substr(i, line == std::string_view::npos ? line : line - i);
    if (isDefinition) {
      noteMacro(search, name);
      continue;
    }
    std::vector<std::string> names;
    quoted(name.substr(0, 1) == "\"" ? name : "", '"', '"', names);
    quoted(name.substr(0, 1) == "<" ? name : "", '<', '>', names);
    // A macro: its value stands somewhere.
    if (names.empty()) {
      givenToMacros(expanded(std::string(name), search.macros), names);
      if (!std::exchange(search.tookAllNames, true))
        for (std::string_view each : search.texts) {
          quoted(each, '"', '"', names);
          quoted(each, '<', '>', names);
        }
    }
    for (const std::string& each : names)
      look(search, each, folder);
  }
}

void HeaderSnapshot::look(Search& search, const std::string& name, const std::string& folder) {
  if (!search.seen.insert(folder + "\n" + name).second)
    return;
  std::vector<std::string> places{folder, "."};
  places.insert(places.end(), search.paths.begin(), search.paths.end());
  for (const std::string& place : places) {
    const std::string path = absolute(directory_, (fs::path(place) / name).string());
    if (files_.size() >= maxFiles || files_.contains(path))
      continue;
    std::error_code error;
    auto text = fs::is_regular_file(path, error) ? readFile(path) : std::nullopt;
    files_[path] = text ? std::optional(hashOfContents(*text)) : std::nullopt;
    if (text)
      scan(search, *text, fs::path(path).parent_path().string());
  }
}

void HeaderSnapshot::add(const HeaderSnapshot& other) {
  if (conflict_.empty())
    conflict_ = other.directory_ == directory_ ? other.conflict_ : other.directory_;
  for (const auto& [path, hash] : other.files_)
    if (auto [entry, isNew] = files_.emplace(path, hash); !isNew && entry->second != hash)
      conflict_ = path;
}

std::string HeaderSnapshot::fingerprint() const {
  std::vector<std::string> parts{directory_};
  for (const auto& [path, hash] : files_) {
    parts.push_back(path);
    parts.push_back(hash ? std::to_string(*hash) : "");
  }
  return hashOf(parts);
}

std::optional<std::string> HeaderSnapshot::changed() const {
  if (!conflict_.empty())
    return conflict_;
  std::error_code error;
  for (const auto& [path, hash] : files_)
    if ((fs::is_regular_file(path, error) ? hashOfFile(path) : std::nullopt) != hash)
      return path;
  return std::nullopt;
}

std::optional<std::string>
HeaderSnapshot::differsFrom(const std::vector<IncludedFile>& included) const {
  for (const IncludedFile& file : included) {
    auto seen = files_.find(absolute(directory_, file.path));
    if (seen == files_.end() || seen->second != file.hash)
      return file.path;
  }
  return std::nullopt;
}

} // namespace libsplit::runtime
