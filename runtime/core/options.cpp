#include "runtime/core/options.h"

#include "runtime/core/device_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <unistd.h>

namespace libsplit::runtime {

namespace {

std::optional<double> parseNumber(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearestVariable(const std::string& name) {
  auto nearest = std::min_element(
      optionTable().begin(), optionTable().end(), [&](const OptionInfo& a, const OptionInfo& b) {
        return editDistance(name, a.variable) < editDistance(name, b.variable);
      });
  return nearest->variable;
}

template <typename Value>
std::optional<Value> oneOf(const std::map<std::string, Value>& words, const std::string& text) {
  auto found = words.find(text);
  return found == words.end() ? std::nullopt : std::optional(found->second);
}

// The parsers that options.def names: nothing if the text is no value of the option.

std::optional<std::string> parseFileName(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> parseDevices(const std::string& text) {
  return parseDeviceSpec(text) ? std::optional(text) : std::nullopt;
}

std::optional<bool> parseFlag(const std::string& text) {
  return oneOf<bool>({{"0", false}, {"1", true}}, text);
}

std::optional<SeparateNodes> parseSeparateNodes(const std::string& text) {
  return oneOf<SeparateNodes>({{"0", SeparateNodes::None},
                               {"1", SeparateNodes::All},
                               {"all-but-last", SeparateNodes::AllButLast},
                               {"home", SeparateNodes::Home}},
                              text);
}

std::optional<LocalSize> parseLocalSize(const std::string& text) {
  return oneOf<LocalSize>({{"auto", LocalSize::Auto}, {"driver", LocalSize::Driver}}, text);
}

std::optional<LogLevel> parseLogLevel(const std::string& text) {
  return oneOf<LogLevel>({{"error", LogLevel::Error},
                          {"warn", LogLevel::Warn},
                          {"info", LogLevel::Info},
                          {"debug", LogLevel::Debug}},
                         text);
}

std::optional<double> parseSeconds(const std::string& text) {
  auto value = parseNumber(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<double> parseMicroseconds(const std::string& text) {
  auto value = parseSeconds(text);
  return value ? std::optional(*value * 1e-6) : std::nullopt;
}

/// "24M". At least enough for a few elements of any type.
std::optional<std::size_t> parseBytes(const std::string& text) {
  constexpr std::size_t least = 1024;
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  std::size_t end = 0;
  unsigned long long number = 0;
  try {
    number = std::stoull(text, &end);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const std::string units = "KMG";
  const std::size_t unit = end < text.size() ? units.find(text[end]) : std::string::npos;
  const bool hasUnit = unit != std::string::npos;
  if (end + hasUnit != text.size())
    return std::nullopt;
  const unsigned shift = hasUnit ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
  if (number > (std::numeric_limits<std::size_t>::max() >> shift) || (number << shift) < least)
    return std::nullopt;
  return static_cast<std::size_t>(number) << shift;
}

/// "0", "1", or so many bytes of the host's memory.
std::optional<std::uint64_t> parsePoolMemory(const std::string& text) {
  if (text == "0")
    return 0;
  return text == "1" ? std::optional<std::uint64_t>(std::numeric_limits<std::uint64_t>::max())
                     : parseBytes(text);
}

/// A small whole number.
std::optional<std::uint64_t> parseCount(const std::string& text) {
  constexpr std::uint64_t most = 64;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= most
             ? std::optional(value)
             : std::nullopt;
}

/// PoCL's, AMD's, and those of Mesa's Clover.
constexpr const char* driversBuildOptions[] = {
    "POCL_EXTRA_BUILD_FLAGS",     "AMD_OCL_BUILD_OPTIONS",        "AMD_OCL_BUILD_OPTIONS_APPEND",
    "CLOVER_EXTRA_BUILD_OPTIONS", "CLOVER_EXTRA_COMPILE_OPTIONS", "CLOVER_EXTRA_LINK_OPTIONS"};

} // namespace

const std::vector<OptionInfo>& optionTable() {
  static const std::vector<OptionInfo> table = {
#define OPTION(member, parse, variable, flag, values, defaultValue, help)                          \
  {variable, flag, values, defaultValue, help, [](Options& options, const std::string& text) {     \
     auto value = parse(text);                                                                     \
     if (value)                                                                                    \
       options.member = *std::move(value);                                                         \
     return value.has_value();                                                                     \
   }},
#include "runtime/core/options.def"
#undef OPTION
  };
  return table;
}

std::optional<Policy> parsePolicy(const std::string& text) {
  Policy policy;
  if (text == "auto")
    return policy;
  static const std::map<std::string, Policy::Kind> words = {
      {"off", Policy::Kind::Off},         {"fixed-point", Policy::Kind::FixedPoint},
      {"broyden", Policy::Kind::Broyden}, {"broyden-bad", Policy::Kind::BroydenBad},
      {"profile", Policy::Kind::Profile}, {"dynamic", Policy::Kind::Dynamic}};
  if (auto word = words.find(text); word != words.end()) {
    policy.kind = word->second;
    return policy;
  }
  if (text.starts_with("single:")) {
    std::string number = text.substr(7);
    auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), policy.device);
    if (number.empty() || error != std::errc() || end != number.data() + number.size())
      return std::nullopt;
    policy.kind = Policy::Kind::Single;
    return policy;
  }
  if (!text.starts_with("static:"))
    return std::nullopt;
  policy.kind = Policy::Kind::Static;
  for (std::size_t begin = 7; begin <= text.size();) {
    std::size_t end = std::min(text.find(',', begin), text.size());
    auto share = parseNumber(text.substr(begin, end - begin));
    if (!share || *share < 0)
      return std::nullopt;
    policy.shares.push_back(*share);
    begin = end + 1;
  }
  double sum = std::accumulate(policy.shares.begin(), policy.shares.end(), 0.0);
  if (!(sum > 0))
    return std::nullopt;
  for (double& share : policy.shares)
    share /= sum;
  return policy;
}

Options parseOptions(const std::vector<std::string>& environment,
                     std::vector<std::string>& complaints) {
  Options options;
  std::string home, xdgCache;
  for (const std::string& entry : environment) {
    std::size_t equals = entry.find('=');
    if (equals == std::string::npos)
      continue;
    std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (!value.empty() && std::find(std::begin(driversBuildOptions), std::end(driversBuildOptions),
                                    name) != std::end(driversBuildOptions))
      options.hiddenBuildOptions = name;
    if (name == "HOME")
      home = value;
    else if (name == "XDG_CACHE_HOME")
      xdgCache = value;
    if (!name.starts_with("LIBSPLIT_"))
      continue;
    auto row = std::find_if(optionTable().begin(), optionTable().end(),
                            [&](const OptionInfo& info) { return name == info.variable; });
    if (row == optionTable().end())
      complaints.push_back("unknown variable " + name + ", did you mean " + nearestVariable(name) +
                           "?");
    else if (!row->set(options, value))
      complaints.push_back("bad value `" + value + "` of " + name + ", expected " + row->values);
  }
  if (options.cacheDir.empty()) {
    if (xdgCache.starts_with('/'))
      options.cacheDir = xdgCache + "/libsplit";
    else if (home.starts_with('/'))
      options.cacheDir = home + "/.cache/libsplit";
  }
  return options;
}

std::vector<std::string> processEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry)
    entries.emplace_back(*entry);
  return entries;
}

std::string withProcessId(std::string pattern) {
  const std::string id = std::to_string(::getpid());
  for (std::size_t at = 0; (at = pattern.find("%p", at)) != std::string::npos; at += id.size())
    pattern.replace(at, 2, id);
  return pattern;
}

std::string optionsAsMarkdown() {
  std::string text = "| variable | values | default | meaning |\n| --- | --- | --- | --- |\n";
  auto escaped = [](std::string cell) {
    for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2)
      cell.insert(at, "\\");
    return cell;
  };
  for (const OptionInfo& row : optionTable()) {
    std::string flag = *row.flag ? std::string(" (`splitrun ") + row.flag + "`)" : "";
    std::string fallback = *row.defaultValue ? "`" + std::string(row.defaultValue) + "`" : "";
    text += "| `" + std::string(row.variable) + "`" + flag + " | `" + escaped(row.values) + "` | " +
            fallback + " | " + escaped(row.help) + " |\n";
  }
  return text;
}

} // namespace libsplit::runtime
