#include "runtime/options.h"

#include "runtime/device_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include <unistd.h>

namespace libsplit::runtime {

const std::vector<OptionInfo>& optionTable() {
  static const std::vector<OptionInfo> table = {
#define OPTION(member, variable, flag, values, defaultValue, help)                                 \
  {variable, flag, values, defaultValue, help},
#include "runtime/options.def"
#undef OPTION
  };
  return table;
}

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

// Each setter answers whether the text was a value of its option.
bool set(bool& member, const std::string& text) {
  if (text != "0" && text != "1")
    return false;
  member = text == "1";
  return true;
}

bool set(SeparateNodes& member, const std::string& text) {
  static const std::map<std::string, SeparateNodes> words = {
      {"0", SeparateNodes::None},
      {"1", SeparateNodes::All},
      {"all-but-last", SeparateNodes::AllButLast},
      {"home", SeparateNodes::Home}};
  auto found = words.find(text);
  if (found == words.end())
    return false;
  member = found->second;
  return true;
}

bool set(LogLevel& member, const std::string& text) {
  static const std::map<std::string, LogLevel> levels = {{"error", LogLevel::Error},
                                                         {"warn", LogLevel::Warn},
                                                         {"info", LogLevel::Info},
                                                         {"debug", LogLevel::Debug}};
  auto found = levels.find(text);
  if (found == levels.end())
    return false;
  member = found->second;
  return true;
}

/// PoCL's, AMD's, and those of Mesa's Clover.
constexpr const char* driversBuildOptions[] = {
    "POCL_EXTRA_BUILD_FLAGS",     "AMD_OCL_BUILD_OPTIONS",        "AMD_OCL_BUILD_OPTIONS_APPEND",
    "CLOVER_EXTRA_BUILD_OPTIONS", "CLOVER_EXTRA_COMPILE_OPTIONS", "CLOVER_EXTRA_LINK_OPTIONS"};

bool setNonNegative(double& member, const std::string& text, double unit) {
  auto value = parseNumber(text);
  if (!value || *value < 0)
    return false;
  member = *value * unit;
  return true;
}

bool setOption(Options& options, const std::string& variable, const std::string& text) {
  if (variable == "LIBSPLIT_DEVICES") {
    if (!parseDeviceSpec(text))
      return false;
    options.devices = text;
    return true;
  }
  if (variable == "LIBSPLIT_POLICY") {
    auto policy = parsePolicy(text);
    if (policy)
      options.policy = *policy;
    return policy.has_value();
  }
  if (variable == "LIBSPLIT_VERIFY")
    return set(options.verify, text);
  if (variable == "LIBSPLIT_LOG")
    return set(options.log, text);
  if (variable == "LIBSPLIT_PERSIST")
    return set(options.persist, text);
  if (variable == "LIBSPLIT_INSPECT")
    return set(options.inspect, text);
  if (variable == "LIBSPLIT_RELAXED_FP")
    return set(options.relaxedFloat, text);
  if (variable == "LIBSPLIT_SEPARATE_NODES")
    return set(options.separateNodes, text);
  if (variable == "LIBSPLIT_WAIT_ANALYSIS")
    return set(options.waitAnalysis, text);
  if (variable == "LIBSPLIT_MIN_LAUNCH")
    return setNonNegative(options.minLaunchSeconds, text, 1e-6);
  if (variable == "LIBSPLIT_ANALYSIS_TIMEOUT")
    return setNonNegative(options.analysisTimeoutSeconds, text, 1);
  if (text.empty())
    return false;
  if (variable == "LIBSPLIT_STATS")
    options.stats = text;
  else if (variable == "LIBSPLIT_TRACE")
    options.trace = text;
  else if (variable == "LIBSPLIT_CACHE_DIR")
    options.cacheDir = text;
  else if (variable == "LIBSPLIT_SPLITC")
    options.splitc = text;
  return true;
}

} // namespace

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
    else if (!setOption(options, name, value))
      complaints.push_back("bad value `" + value + "` of " + name + ", expected " + row->values +
                           "; using the default");
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
