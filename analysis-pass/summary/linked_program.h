// A program that an application compiled in units and linked, as one text: what the runtime hands
// to splitc, gets back flattened or partition-ready, keeps beside the program's binary, and builds
// for other devices. The text begins with a character that no OpenCL C begins with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libsplit {

/// A file that a unit may include by `name`, given to clCompileProgram as a program of its own.
struct EmbeddedHeader {
  std::string name;
  std::string text;
  bool operator==(const EmbeddedHeader&) const = default;
};

/// What clCompileProgram was given.
struct SourceUnit {
  std::string text; ///< OpenCL C
  std::string options;
  std::vector<EmbeddedHeader> headers;
  bool operator==(const SourceUnit&) const = default;
};

/// What clLinkProgram was given.
struct LinkedProgram {
  std::vector<SourceUnit> units;
  std::string options;
  bool operator==(const LinkedProgram&) const = default;
};

inline constexpr std::string_view linkedProgramMagic = "\x7Flibsplit-linked 1\n";

std::string serialize(const LinkedProgram& program);
/// Nothing if `text` is damaged.
std::optional<LinkedProgram> parseLinkedProgram(std::string_view text);

} // namespace libsplit
