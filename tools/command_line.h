// What the command lines of all tools have in common.
#pragma once

#include "tools/manual.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace libsplit::tools {

/// Exit status after a command line that can't be obeyed.
constexpr int badUsage = 2;

/// Reads the command line of `app`, which has a name. The exit status if the tool is to end here.
/// Beside what --help tells, each tool has --help-man and --help-completion, for the build.
inline std::optional<int> readCommandLine(CLI::App& app, int argc, char** argv,
                                          const Manual& manual) {
  app.set_version_flag("--version", app.get_name() + " " LIBSPLIT_VERSION,
                       "Print the version, and exit");
  if (argc == 2 && argv[1] == std::string_view("--help-man")) {
    std::cout << manualPage(app, manual);
    return std::cout.flush() ? 0 : 1;
  }
  if (argc == 2 && argv[1] == std::string_view("--help-completion")) {
    std::cout << bashCompletion(app, manual);
    return std::cout.flush() ? 0 : 1;
  }
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& asked) { // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::cerr << app.get_name() << ": " << error.what() << "; see " << app.get_name()
              << " --help\n";
    return badUsage;
  }
}

} // namespace libsplit::tools
