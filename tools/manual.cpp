#include "tools/manual.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace libsplit::tools {

namespace {

/// Text as roff takes it literally; `word` becomes bold.
std::string escaped(const std::string& text) {
  std::string result;
  bool isBold = false;
  for (const char c : text) {
    if (c == '`') {
      result += isBold ? "\\fR" : "\\fB";
      isBold = !isBold;
    } else if (c == '\\') {
      result += "\\e";
    } else if (c == '|') {
      result += "|\\:"; // a line may end here
    } else if (c == '-') {
      result += "\\-"; // a minus, which can be copied, and no hyphen
    } else if (c == '\'' && result.empty()) {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return (result.starts_with('.') ? "\\&" : "") + result;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool isLiteral = false;
  for (std::string line; std::getline(lines, line);) {
    const bool stands = line.starts_with(' ');
    if (stands != isLiteral)
      result += stands ? ".PP\n.EX\n" : ".EE\n.PP\n";
    isLiteral = stands;
    if (line.empty())
      result += ".PP\n";
    else if (line.ends_with("::"))
      result += ".TP\n" + escaped(line.substr(0, line.size() - 2)) + "\n";
    else
      result += escaped(line) + "\n";
  }
  return result + (isLiteral ? ".EE\n" : "");
}

/// "PATH", "report|explain": what stands for an option's value; empty for a switch.
std::string valueOf(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size_max() == 0)
    return {};
  std::string type = option.get_type_name();
  if (const std::size_t brace = type.find('{'); brace != std::string::npos) {
    type = type.substr(brace + 1, type.find('}') - brace - 1);
    std::ranges::replace(type, ',', '|');
  }
  return type;
}

bool isHelp(const CLI::Option& option) {
  return option.check_lname("help");
}

/// In the order of --help; those in no group are hidden there.
std::vector<const CLI::Option*> visible(const CLI::App& app, bool positional) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty() && option->get_positional() == positional)
      options.push_back(option);
  return options;
}

std::vector<const CLI::App*> commandsOf(const CLI::App& app) {
  auto all = app.get_subcommands([](const CLI::App*) { return true; });
  return {all.begin(), all.end()};
}

std::string synopsis(const CLI::App& app, const std::string& name, const Manual& manual) {
  std::string line = ".B " + escaped(name) + "\n";
  if (!visible(app, false).empty())
    line += "[\\fIOPTION\\fR]...\n";
  for (const CLI::Option* option : visible(app, true)) {
    const std::string word = upper(option->get_name(true));
    line += manual.runsCommand       ? "\\-\\- \\fI" + word + "\\fR [\\fIARGUMENT\\fR]...\n"
            : option->get_required() ? "\\fI" + word + "\\fR\n"
                                     : "[\\fI" + word + "\\fR]\n";
  }
  return line;
}

std::string optionList(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : visible(app, false)) {
    std::string names;
    for (const std::string& name : option->get_snames())
      names += (names.empty() ? "" : ", ") + ("`-" + name + "`");
    for (const std::string& name : option->get_lnames())
      names += (names.empty() ? "" : ", ") + ("`--" + name + "`");
    const std::string value = valueOf(*option);
    text += ".TP\n" + escaped(names) + (value.empty() ? "" : " \\fI" + escaped(value) + "\\fR") +
            "\n" +
            escaped(isHelp(*option) ? "Print a summary of the options, and exit"
                                    : option->get_description());
    if (!option->get_default_str().empty() && !value.empty())
      text += " (default: " + escaped(option->get_default_str()) + ")";
    text += "\n";
  }
  return text;
}

std::string head(const std::string& name, int section, const Manual& manual) {
  return ".\\\" Made from the table of options; see tools/manual.h.\n.TH " + upper(name) + " " +
         std::to_string(section) +
         " \"\" \"libsplit " LIBSPLIT_VERSION "\"\n.ad l\n.nh\n.SH NAME\n" + name + " \\- " +
         escaped(manual.summary) + "\n";
}

std::string tail(const Manual& manual) {
  std::string page;
  for (const auto& [title, text] : manual.sections)
    page += ".SH " + title + "\n" + paragraphs(text);
  std::string others;
  for (const std::string& other : manual.seeAlso) {
    const std::size_t brace = other.find('(');
    others += (others.empty() ? "" : ",\n") +
              (".BR " + other.substr(0, brace) + " " + other.substr(brace));
  }
  // The comma belongs to the request before it.
  for (std::size_t at = 0; (at = others.find(",\n", at)) != std::string::npos; at += 3)
    others.replace(at, 2, " ,\n");
  return others.empty() ? page : page + ".SH SEE ALSO\n" + others + "\n";
}

bool isPlainWord(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-';
  });
}

/// The words that `value` may be; empty: a file, or something that nobody can list.
std::string choices(const std::string& value) {
  std::string words;
  std::istringstream all(value);
  for (std::string word; value.find('|') != std::string::npos && std::getline(all, word, '|');)
    if (isPlainWord(word))
      words += (words.empty() ? "" : " ") + word;
  return words;
}

void addOptions(const CLI::App& app, std::string& names, std::string& cases) {
  for (const CLI::Option* option : visible(app, false)) {
    std::string pattern;
    std::vector<std::string> all;
    for (const std::string& name : option->get_snames())
      all.push_back("-" + name);
    for (const std::string& name : option->get_lnames())
      all.push_back("--" + name);
    for (const std::string& name : all) {
      names += (names.empty() ? "" : " ") + name;
      pattern += (pattern.empty() ? "" : " | ") + name;
    }
    const std::string value = valueOf(*option), words = choices(value);
    if (!words.empty())
      cases +=
          "    " + pattern + ") COMPREPLY=($(compgen -W '" + words + "' -- \"$cur\")); return ;;\n";
    else if (!value.empty())
      cases += "    " + pattern + ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n";
  }
}

} // namespace

std::string manualPage(const CLI::App& app, const Manual& manual) {
  std::string page = head(app.get_name(), 1, manual) + ".SH SYNOPSIS\n";
  page += synopsis(app, app.get_name(), manual);
  for (const CLI::App* command : commandsOf(app))
    page += ".br\n" + synopsis(*command, app.get_name() + " " + command->get_name(), manual);
  page +=
      ".SH DESCRIPTION\n" + paragraphs(app.get_description()) + ".SH OPTIONS\n" + optionList(app);
  for (const CLI::App* command : commandsOf(app))
    page += ".SS " + escaped(app.get_name() + " " + command->get_name()) + "\n" +
            paragraphs(command->get_description()) + optionList(*command);
  return page + tail(manual);
}

std::string manualPage(const std::string& name, int section, const Manual& manual) {
  return head(name, section, manual) + tail(manual);
}

std::string bashCompletion(const CLI::App& app, const Manual& manual) {
  std::string names, cases, commands;
  addOptions(app, names, cases);
  for (const CLI::App* command : commandsOf(app)) {
    addOptions(*command, names, cases);
    commands += (commands.empty() ? "" : " ") + command->get_name();
  }
  const std::string name = app.get_name();
  std::string text = "# Made from the table of options; see tools/manual.h.\n_" + name + "() {\n" +
                     R"(  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
)";
  text += manual.runsCommand ? R"(    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((COMP_CWORD == i + 1)); then
      COMPREPLY=($(compgen -c -- "$cur") $(compgen -f -- "$cur"))
    else
      COMPREPLY=($(compgen -f -- "$cur"))
    fi
)"
                             : "    COMPREPLY=($(compgen -f -- \"$cur\"))\n";
  text += "    return\n  done\n  case $prev in\n" + cases +
          "  esac\n  if [[ $cur == -* ]]; then\n" + "    COMPREPLY=($(compgen -W '" + names +
          "' -- \"$cur\"))\n  else\n" + "    COMPREPLY=($(compgen -f -- \"$cur\"))\n";
  if (!commands.empty())
    text += "    ((COMP_CWORD > 1)) || COMPREPLY+=($(compgen -W '" + commands + "' -- \"$cur\"))\n";
  return text + "  fi\n}\ncomplete -o filenames -F _" + name + " " + name + "\n";
}

} // namespace libsplit::tools
