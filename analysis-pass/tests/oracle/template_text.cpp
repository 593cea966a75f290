#include "analysis-pass/tests/oracle/template_text.h"

#include <cctype>
#include <vector>

namespace libsplit::oracle {
namespace {

/// The alternatives of a choice, `inside` its parentheses.
std::vector<std::string_view> alternatives(std::string_view inside) {
  std::vector<std::string_view> result;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    depth += inside[i] == '(';
    depth -= inside[i] == ')';
    if (depth == 0 && inside.substr(i, 2) == "##") {
      result.push_back(inside.substr(begin, i - begin));
      begin = i + 2;
      ++i;
    }
  }
  result.push_back(inside.substr(begin));
  return result;
}

bool isNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string choose(std::string_view inside, const Names& names, Random& random) {
  if (const auto dots = inside.find(".."); dots != std::string_view::npos) {
    const auto low = inside.substr(0, dots), high = inside.substr(dots + 2);
    if (isNumber(low) && isNumber(high)) {
      const auto first = static_cast<unsigned>(std::stoul(std::string(low)));
      const auto last = static_cast<unsigned>(std::stoul(std::string(high)));
      return std::to_string(first + random.below(last - first + 1));
    }
  }
  std::vector<std::string_view> usual, mutations;
  for (std::string_view each : alternatives(inside))
    if (each.starts_with('~'))
      mutations.push_back(each.substr(1));
    else
      usual.push_back(each);
  const auto& from = usual.empty() || (!mutations.empty() && random.oneIn(6)) ? mutations : usual;
  return expand(from[random.below(static_cast<unsigned>(from.size()))], names, random);
}

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

/// A change of the text from `at` on.
struct Mutation {
  std::size_t at, length;
  std::string by;
};

class Mutator {
public:
  Mutator(const std::string& text, const std::set<std::string, std::less<>>& buffers)
      : text_(text), buffers_(buffers) {}

  std::vector<Mutation> all() {
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '[' && isIndex(i))
        within(i, '[', ']');
      else if (text_.compare(i, 4, "if (") == 0)
        within(i + 3, '(', ')');
    return std::move(found_);
  }

private:
  /// Whether what begins with the bracket at `i` says where in a buffer.
  bool isIndex(std::size_t i) const {
    std::size_t begin = i;
    while (begin > 0 && isWord(text_[begin - 1]))
      --begin;
    return buffers_.contains(std::string_view(text_).substr(begin, i - begin));
  }

  void within(std::size_t open, char opening, char closing) {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      // Beyond the end of an array of its own anything happens.
      for (int inner = 0; text_[i] == '[' && i != open && !isIndex(i);) {
        do {
          inner += text_[i] == '[';
          inner -= text_[i] == ']';
          ++i;
        } while (inner > 0);
      }
      depth += text_[i] == opening;
      depth -= text_[i] == closing;
      if (depth == 0)
        return;
      visit(i);
    }
  }

  void replace(std::size_t at, std::size_t length, std::string by) {
    found_.push_back({at, length, std::move(by)});
  }

  void visit(std::size_t i) {
    const std::string_view rest = std::string_view(text_).substr(i);
    if (rest.starts_with(" + "))
      replace(i, 3, " - ");
    else if (rest.starts_with(" - "))
      replace(i, 3, " + ");
    else if (rest.starts_with(" * "))
      replace(i, 3, " + ");
    else if (rest.starts_with(" < "))
      replace(i, 3, " <= ");
    else if (rest.starts_with(" <= "))
      replace(i, 4, " < ");
    else if (rest.starts_with(" > "))
      replace(i, 3, " >= ");
    else if (rest.starts_with(" == "))
      replace(i, 4, " != ");
    else if (rest.starts_with(" && "))
      replace(i, 4, " || ");
    else if (rest.starts_with("get_global_id("))
      replace(i, 14, "get_local_id(");
    else if (rest.starts_with("get_group_id("))
      replace(i, 13, "get_global_id(");
    else if (rest.starts_with("get_local_id("))
      replace(i, 13, "get_group_id(");
    else if (std::isdigit(static_cast<unsigned char>(text_[i])) && !isWord(text_[i - 1]))
      number(i);
  }

  void number(std::size_t begin) {
    std::size_t end = begin;
    while (std::isdigit(static_cast<unsigned char>(text_[end])))
      ++end;
    if (isWord(text_[end]) || end - begin > 4) // 0x10, 2.5f, 7u
      return;
    const auto value = std::stoul(text_.substr(begin, end - begin));
    replace(begin, end - begin, std::to_string(value + 1));
    if (value > 1) { // never by 0
      replace(begin, end - begin, std::to_string(value - 1));
      replace(begin, end - begin, std::to_string(2 * value));
    }
  }

  const std::string& text_;
  const std::set<std::string, std::less<>>& buffers_;
  std::vector<Mutation> found_;
};

} // namespace

std::string expand(std::string_view text, const Names& names, Random& random) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "$(") {
      int depth = 0;
      std::size_t end = i + 1;
      for (; end < text.size(); ++end) {
        depth += text[end] == '(';
        depth -= text[end] == ')';
        if (depth == 0)
          break;
      }
      result += choose(text.substr(i + 2, end - i - 2), names, random);
      i = end;
    } else if (text[i] == '@') {
      std::size_t end = i + 1;
      while (end < text.size() && std::isupper(static_cast<unsigned char>(text[end])))
        ++end;
      const auto found = names.find(text.substr(i + 1, end - i - 1));
      if (found != names.end())
        result += expand(found->second, names, random);
      i = end - 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string mutate(const std::string& kernel, const std::set<std::string, std::less<>>& buffers,
                   Random& random) {
  const auto mutations = Mutator(kernel, buffers).all();
  if (mutations.empty())
    return kernel;
  const Mutation& chosen = mutations[random.below(static_cast<unsigned>(mutations.size()))];
  std::string result = kernel;
  return result.replace(chosen.at, chosen.length, chosen.by);
}

} // namespace libsplit::oracle
