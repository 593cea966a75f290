#include "runtime/program/macro_probe.h"

#include "analysis-pass/summary/build_options.h"
#include "analysis-pass/summary/text_parts.h"
#include "runtime/core/log.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace libsplit::runtime {

namespace {

constexpr std::string_view probeName = "libsplit_probe";
constexpr std::string_view definedPrefix = "libsplit_defined_";
constexpr std::string_view valuePrefix = "libsplit_value_";

bool isIdentifier(const std::string& name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string definedText(std::span<const std::string> names) {
  std::string text = "__kernel void " + std::string(probeName) + "(__global int* p) {}\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += "#ifdef " + names[i] + "\n__kernel void " + std::string(definedPrefix) +
            std::to_string(i) + "(__global int* p) {}\n#endif\n";
  return text;
}

std::string valueText(const std::string& name) {
  return "#define LIBSPLIT_JOIN(a, b) a##b\n"
         "#define LIBSPLIT_NAME(a, b) LIBSPLIT_JOIN(a, b)\n"
         "__kernel void LIBSPLIT_NAME(" +
         std::string(valuePrefix) + ", " + name + ")(__global int* p) {}\n";
}

/// What Clang is to take for the macro's value on the device.
std::string inClang(const std::string& name, std::string value) {
  return value == "_cl_" + name ? name : value;
}

/// Else it is a text or a question of its own: compilers answer with an error, and some write that
/// to the program's stderr.
bool canBeAsked(const std::string& name) {
  static constexpr std::string_view texts[] = {"__VERSION__", "__clang_version__", "__DATE__",
                                               "__TIME__", "__TIMESTAMP__"};
  return isIdentifier(name) && !name.starts_with("__has_") &&
         std::ranges::find(texts, name) == std::end(texts);
}

std::vector<std::string> splitNames(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ';');)
    names.push_back(name);
  return names;
}

} // namespace

std::string MacroProbe::standardOptions(const std::string& options) {
  std::string kept;
  for (const std::string& word : splitOptions(options))
    if (word.starts_with("-cl-"))
      kept += word + ' ';
  return kept;
}

/// The names of the program's kernels; nothing if it can't be built.
std::optional<std::string> MacroProbe::kernelsOf(cl_context context, cl_device_id device,
                                                 const std::string& options,
                                                 const std::string& text) const {
  const char* begin = text.data();
  const std::size_t size = text.size();
  cl_int error = CL_SUCCESS;
  cl_program made = cl_.clCreateProgramWithSource(context, 1, &begin, &size, &error);
  auto program = Ref<cl_program>::adopt(cl_, error == CL_SUCCESS ? made : nullptr);
  if (!program || cl_.clBuildProgram(program.get(), 1, &device, (options + "-w").c_str(), nullptr,
                                     nullptr) != CL_SUCCESS)
    return std::nullopt;
  return stringProperty(cl_.clGetProgramInfo, program.get(), CL_PROGRAM_KERNEL_NAMES);
}

MacroProbe::Answers MacroProbe::build(cl_context context, cl_device_id device,
                                      const std::string& options,
                                      std::span<const std::string> names) const {
  Answers answers;
  const auto list = kernelsOf(context, device, options, definedText(names));
  if (!list)
    return answers;
  const std::vector<std::string> kernels = splitNames(*list);
  if (std::ranges::find(kernels, probeName) == kernels.end())
    return answers; // the driver does not tell
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string kernel = std::string(definedPrefix) + std::to_string(i);
    if (std::ranges::find(kernels, kernel) == kernels.end()) {
      answers[names[i]] = {Answer::Kind::Undefined, {}};
      continue;
    }
    const auto value = kernelsOf(context, device, options, valueText(names[i]));
    // A function-like macro stands for itself where no arguments follow.
    if (value && value->starts_with(valuePrefix) && value->substr(valuePrefix.size()) != names[i])
      answers[names[i]] = {Answer::Kind::Defined,
                           inClang(names[i], value->substr(valuePrefix.size()))};
    else
      answers[names[i]] = {};
  }
  return answers;
}

bool MacroProbe::ask(cl_context context, cl_device_id device, const std::string& options,
                     std::span<const std::string> names, DeviceMacros& macros) {
  const std::string standard = standardOptions(options);
  const std::string key = hashOf(std::vector{
      std::string("macros 2"), stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_NAME),
      stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_VERSION),
      stringProperty(cl_.clGetDeviceInfo, device, CL_DRIVER_VERSION), standard});
  const std::string entry = key + ".macros";
  auto [memo, isNew] = known_.try_emplace(key);
  Answers& known = memo->second;
  if (auto text = isNew ? cache_.read(entry) : std::nullopt) {
    std::string_view rest = *text;
    std::string name, kind, value;
    while (takePart(rest, name) && takePart(rest, kind) && takePart(rest, value))
      known[name] = {kind == "undefined" ? Answer::Kind::Undefined
                     : kind == "defined" ? Answer::Kind::Defined
                                         : Answer::Kind::Unknown,
                     value};
  }
  std::vector<std::string> open;
  for (const std::string& name : names)
    if (!known.contains(name) && canBeAsked(name))
      open.push_back(name);
  if (!open.empty()) {
    for (auto& [name, answer] : build(context, device, standard, open)) {
      known[name] = answer;
      log(LogLevel::Debug, "macro ", name, ": ",
          answer.kind == Answer::Kind::Undefined ? "not set"
          : answer.kind == Answer::Kind::Defined ? "set to " + answer.value
                                                 : std::string("set to more than a word"));
    }
    std::string text;
    for (const auto& [name, answer] : known) {
      appendPart(text, name);
      appendPart(text, answer.kind == Answer::Kind::Undefined ? "undefined"
                       : answer.kind == Answer::Kind::Defined ? "defined"
                                                              : "unknown");
      appendPart(text, answer.value);
    }
    cache_.write(entry, text);
  }
  bool isMore = false;
  auto add = [&](std::vector<std::string>& list, const std::string& item) {
    if (std::ranges::find(list, item) != list.end())
      return;
    list.push_back(item);
    isMore = true;
  };
  for (const std::string& name : names) {
    const auto answer = known.find(name);
    if (answer == known.end() || answer->second.kind == Answer::Kind::Unknown)
      continue;
    if (answer->second.kind == Answer::Kind::Undefined)
      add(macros.undefines, name);
    else
      add(macros.defines, name + "=" + answer->second.value);
  }
  return isMore;
}

} // namespace libsplit::runtime
