// Man pages and shell completion, made from the same table of options as --help: the command line
// itself. An option that is added there is in all three.
//
// Every tool prints its own: `splitc --help-man`, `splitc --help-completion`. The build asks them,
// and installs the answers.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace libsplit::tools {

/// What a man page says beside the options.
struct Manual {
  std::string summary; ///< "runs a program on all OpenCL devices"
  /// Title and text of each. In the text, `word` is set bold, an empty line ends a paragraph, a
  /// line that begins with blanks stands as it is, and "term::" on a line of its own begins an
  /// entry of a list whose text is what follows.
  std::vector<std::pair<std::string, std::string>> sections;
  std::vector<std::string> seeAlso; ///< "splitc(1)"
  bool runsCommand = false;         ///< what stands behind -- is another command line
};

/// A page in the macros of man(7).
std::string manualPage(const CLI::App& app, const Manual& manual);
/// One that is no program's: `name` in `section`.
std::string manualPage(const std::string& name, int section, const Manual& manual);
/// A file for bash-completion.
std::string bashCompletion(const CLI::App& app, const Manual& manual);

} // namespace libsplit::tools
