#include "analysis-pass/summary/linked_program.h"

#include "analysis-pass/summary/text_parts.h"

namespace libsplit {

// The link's options, then for each unit its text, its options, and a part that holds its headers'
// names and texts.
std::string serialize(const LinkedProgram& program) {
  std::string text(linkedProgramMagic);
  appendPart(text, program.options);
  for (const SourceUnit& unit : program.units) {
    appendPart(text, unit.text);
    appendPart(text, unit.options);
    std::string headers;
    for (const EmbeddedHeader& header : unit.headers) {
      appendPart(headers, header.name);
      appendPart(headers, header.text);
    }
    appendPart(text, headers);
  }
  return text;
}

std::optional<LinkedProgram> parseLinkedProgram(std::string_view text) {
  LinkedProgram program;
  if (!text.starts_with(linkedProgramMagic))
    return std::nullopt;
  text.remove_prefix(linkedProgramMagic.size());
  if (!takePart(text, program.options))
    return std::nullopt;
  while (!text.empty()) {
    SourceUnit& unit = program.units.emplace_back();
    std::string headers;
    if (!takePart(text, unit.text) || !takePart(text, unit.options) || !takePart(text, headers))
      return std::nullopt;
    for (std::string_view rest = headers; !rest.empty();) {
      EmbeddedHeader& header = unit.headers.emplace_back();
      if (!takePart(rest, header.name) || !takePart(rest, header.text))
        return std::nullopt;
    }
  }
  return program.units.empty() ? std::nullopt : std::optional(std::move(program));
}

} // namespace libsplit
