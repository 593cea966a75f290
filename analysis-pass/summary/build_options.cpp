#include "analysis-pass/summary/build_options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace libsplit {
namespace {

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Those that Clang turns into macros or into other constants.
constexpr std::array<std::string_view, 5> floatFlags{
    "-cl-fast-relaxed-math", "-cl-finite-math-only", "-cl-unsafe-math-optimizations",
    "-cl-single-precision-constant", "-cl-no-signed-zeros"};

/// The specification's that change how numbers are calculated, what is told, and how fast it is.
constexpr std::array<std::string_view, 11> harmless{"-cl-denorms-are-zero",
                                                    "-cl-fp32-correctly-rounded-divide-sqrt",
                                                    "-cl-strict-aliasing",
                                                    "-cl-mad-enable",
                                                    "-cl-uniform-work-group-size",
                                                    "-cl-no-subgroup-ifp",
                                                    "-cl-kernel-arg-info",
                                                    "-w",
                                                    "-Werror",
                                                    "-g",
                                                    "-create-library"};

/// Compilers built on Clang or GCC take these: other text, or other sizes of types.
constexpr std::array<std::string_view, 27> unclear{"-include",
                                                   "-imacros",
                                                   "-isystem",
                                                   "-iquote",
                                                   "-idirafter",
                                                   "-isysroot",
                                                   "-iprefix",
                                                   "-iwith",
                                                   "-nostdinc",
                                                   "-undef",
                                                   "-std=",
                                                   "-ansi",
                                                   "-trigraphs",
                                                   "-fshort-",
                                                   "-fno-short",
                                                   "-fpack-struct",
                                                   "-fsigned-char",
                                                   "-funsigned-char",
                                                   "-fno-signed-",
                                                   "-fms-",
                                                   "-fplugin",
                                                   "-m",
                                                   "-X",
                                                   "-Wp,",
                                                   "-target",
                                                   "--target",
                                                   "@"};

bool startsWithAny(std::string_view option, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return option.starts_with(each); });
}

std::string_view nameOf(std::string_view define) {
  return define.substr(0, define.find_first_of("=("));
}

} // namespace

std::vector<std::string> splitOptions(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size() &&
        (text[i + 1] == '"' || text[i + 1] == '\'' || text[i + 1] == '\\' || text[i + 1] == ' ')) {
      word = word.value_or("") + text[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
      word = word.value_or("") + (c == '\'' ? "'" : "");
    } else if (quote == 0 && isBlank(c)) {
      if (word)
        words.push_back(*std::exchange(word, std::nullopt));
    } else {
      word = word.value_or("") + c;
    }
  }
  if (word)
    words.push_back(*word);
  return words;
}

BuildOptions parseBuildOptions(const std::vector<std::string>& options) {
  BuildOptions result;
  for (const std::string& word : options)
    if (word.find('\'') != std::string::npos && result.unclear.empty())
      result.unclear = word;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view option = options[i];
    // Vendors' own; the level may be the next word.
    if (option == "-O0" || option.starts_with("-cl-nv-opt-level"))
      result.isUnoptimised = true;
    // -Dname and -D name.
    auto valueOf = [&](std::size_t prefix) {
      if (option.size() > prefix)
        return std::string(option.substr(prefix));
      return i + 1 < options.size() ? options[++i] : std::string();
    };
    if (option.starts_with("-D")) {
      result.defines.push_back(valueOf(2));
      std::erase(result.undefines, std::string(nameOf(result.defines.back())));
    } else if (option.starts_with("-U")) {
      const std::string name = valueOf(2);
      std::erase_if(result.defines,
                    [&](const std::string& define) { return nameOf(define) == name; });
      result.undefines.push_back(name);
    } else if (option.starts_with("-I")) {
      result.includePaths.push_back(valueOf(2));
    } else if (option.starts_with("-cl-std=")) {
      result.standard = option.substr(8);
    } else if (option == "-x") {
      ++i;
    } else if (option == "-cl-opt-disable") {
      result.isUnoptimised = true;
    } else if (std::ranges::find(floatFlags, option) != floatFlags.end()) {
      result.floatFlags.emplace_back(option);
    } else if (startsWithAny(option, unclear)) {
      if (result.unclear.empty())
        result.unclear = option;
    } else if (std::ranges::find(harmless, option) == harmless.end() &&
               std::ranges::find(result.skipped, option) == result.skipped.end()) {
      result.skipped.emplace_back(option);
    }
  }
  std::erase(result.undefines, std::string());
  std::erase(result.defines, std::string());
  std::erase(result.includePaths, std::string());
  return result;
}

} // namespace libsplit
