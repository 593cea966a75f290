#include "tools/annotate.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <vector>

namespace libsplit {

namespace {

/// What the escapes of terminals call a colour; a text without them has none.
struct Colour {
  const char* escape;
};
constexpr Colour dim{"\033[2m"}, bold{"\033[1m"}, red{"\033[1;31m"}, green{"\033[32m"},
    yellow{"\033[33m"}, cyan{"\033[36m"};

struct Note {
  std::string text;
  Colour colour;
};

/// By file and line. The program's own text has no file name, and comes first.
using Notes = std::map<std::string, std::map<unsigned, std::vector<Note>>>;

Colour colourOf(const Access& access) {
  if (access.effect == Effect::Read)
    return cyan;
  return access.effect == Effect::Write && access.certain ? green : yellow;
}

Notes notesOn(const KernelSummary& kernel) {
  Notes notes;
  for (const Obstacle& obstacle : kernel.obstacles)
    notes[obstacle.reason.where.file][obstacle.reason.where.line].push_back(
        {"can't be split: " + obstacle.reason.text, red});
  for (const Access& access : kernel.accesses) {
    const AccessWords words = inWords(kernel, access);
    std::vector<Note>& here = notes[access.where.file][access.where.line];
    Note note{words.verb + " " + words.parameter + " " + words.region, colourOf(access)};
    auto isSame = [&](const Note& other) { return other.text == note.text; };
    if (std::ranges::none_of(here, isSame)) // of several copies of an inlined function
      here.push_back(std::move(note));
  }
  return notes;
}

class Writer {
public:
  explicit Writer(bool inColour) : inColour_(inColour) {}

  void line(const std::string& text, std::optional<Colour> colour = std::nullopt) {
    const bool painted = inColour_ && colour;
    text_ += (painted ? colour->escape : "") + text + (painted ? "\033[0m" : "") + "\n";
  }
  void notes(const std::string& margin, const std::vector<Note>& notes) {
    for (const Note& note : notes)
      line(margin + note.text, note.colour);
  }
  std::string take() { return std::move(text_); }

private:
  bool inColour_;
  std::string text_;
};

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r'))
      line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The source of one file around what there are notes on.
void writeSource(Writer& writer, const std::vector<std::string>& lines,
                 const std::map<unsigned, std::vector<Note>>& notes) {
  constexpr unsigned context = 3;
  std::vector<bool> shown(lines.size(), false);
  for (const auto& [number, here] : notes)
    for (std::size_t i = number - std::min(number, context + 1); i < number + context; ++i)
      if (number > 0 && i < shown.size())
        shown[i] = true;
  const int width = static_cast<int>(std::to_string(lines.size()).size());
  const std::string margin = std::string(static_cast<std::size_t>(width), ' ') + " | ";
  bool isCut = false;
  for (unsigned i = 0; i < lines.size(); ++i) {
    if (!shown[i]) {
      if (!isCut)
        writer.line(std::string(static_cast<std::size_t>(width), ' ') + " ...", dim);
      isCut = true;
      continue;
    }
    isCut = false;
    std::ostringstream number;
    number << std::setw(width) << i + 1 << " | ";
    writer.line(number.str() + lines[i]);
    if (auto here = notes.find(i + 1); here != notes.end()) {
      const std::size_t indent = std::min(lines[i].find_first_not_of(" \t"), lines[i].size());
      writer.notes(margin + lines[i].substr(0, indent) + "^ ", here->second);
    }
  }
}

} // namespace

std::string annotate(const KernelSummary& kernel, const std::string& source,
                     const ReadSource& readSource, const ImaginedLaunch& launch, bool inColour) {
  Writer writer(inColour);
  std::istringstream head(explainHead(kernel));
  for (std::string line; std::getline(head, line);)
    writer.line(line, bold);
  for (const auto& [file, notes] : notesOn(kernel)) {
    const auto text = file.empty() ? std::optional(source) : readSource(file);
    const std::vector<std::string> lines = linesOf(text.value_or(""));
    if (!file.empty())
      writer.line("in " + file + (text ? ":" : ", which can't be read:"), dim);
    writeSource(writer, lines, notes);
    for (const auto& [number, here] : notes)
      if (number == 0 || number > lines.size())
        writer.notes(number == 0 ? "line ?: " : "line " + std::to_string(number) + ": ", here);
  }
  if (const std::string where = variablesInWords(kernel); !where.empty())
    writer.line("  " + where);
  std::istringstream outcome(explainOutcome(kernel, launch));
  for (std::string line; std::getline(outcome, line);)
    writer.line(line, line.starts_with("  not ")       ? std::optional(red)
                      : line.starts_with("  split at") ? std::optional(green)
                                                       : std::nullopt);
  return writer.take();
}

} // namespace libsplit
