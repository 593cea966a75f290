// Texts within a text: each as its length in decimal, a space, itself, and a newline.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace libsplit {

inline void appendPart(std::string& text, std::string_view part) {
  text += std::to_string(part.size()) + ' ';
  text += part;
  text += '\n';
}

/// Takes a part off the front of `text`; false if there is none.
inline bool takePart(std::string_view& text, std::string& part) {
  std::size_t length = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  std::size_t begin = static_cast<std::size_t>(end - text.data()) + 1;
  if (error != std::errc() || begin > text.size() || length >= text.size() - begin ||
      text[begin - 1] != ' ' || text[begin + length] != '\n')
    return false;
  part = text.substr(begin, length);
  text.remove_prefix(begin + length + 1);
  return true;
}

} // namespace libsplit
