#include "runtime/program/origin.h"

#include "analysis-pass/summary/program_kind.h"
#include "analysis-pass/summary/text_parts.h"

#include <algorithm>
#include <string_view>

namespace libsplit::runtime {

namespace {

constexpr std::string_view magic = "libsplit-origin 1\n";

std::string serialize(const Origin& origin) {
  std::string text(magic);
  appendPart(text, origin.text);
  appendPart(text, origin.options);
  const DeviceMacros& macros = *origin.madeFor;
  appendPart(text, macros.version);
  appendPart(text, macros.defaultVersion);
  appendPart(text, macros.extensions);
  for (const std::string& define : macros.defines)
    appendPart(text, define);
  return text;
}

std::shared_ptr<const Origin> parse(std::string_view text) {
  if (!text.starts_with(magic))
    return nullptr;
  text.remove_prefix(magic.size());
  auto origin = std::make_shared<Origin>();
  DeviceMacros& macros = origin->madeFor.emplace();
  origin->isFlat = true;
  if (!takePart(text, origin->text) || !takePart(text, origin->options) ||
      !takePart(text, macros.version) || !takePart(text, macros.defaultVersion) ||
      !takePart(text, macros.extensions))
    return nullptr;
  while (!text.empty())
    if (!takePart(text, macros.defines.emplace_back()))
      return nullptr;
  return origin;
}

std::string entryName(const std::string& binary) {
  return binary + ".origin";
}

} // namespace

namespace {

bool namesDirective(std::string_view text) {
  for (const char* directive : {"include", "import", "embed"})
    if (text.find(directive) != std::string_view::npos)
      return true;
  return false;
}

} // namespace

bool mayReadFiles(const Origin& origin) {
  return isSource(kindOf(origin.text)) && !origin.isFlat &&
         (namesDirective(origin.text) || namesDirective(origin.options));
}

std::shared_ptr<const HeaderSnapshot> headersOf(const std::vector<std::string_view>& texts,
                                                const std::string& options) {
  if (namesDirective(options) || std::ranges::any_of(texts, namesDirective))
    return std::make_shared<const HeaderSnapshot>(texts, options);
  return nullptr;
}

void BinaryOrigins::note(const std::string& binary, std::shared_ptr<const Origin> origin) {
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = noted_.insert_or_assign(binary, std::move(origin));
  if (!isNew)
    return;
  order_.push_back(binary);
  if (order_.size() > maxNoted) {
    noted_.erase(order_.front());
    order_.pop_front();
  }
}

void BinaryOrigins::keep(const std::string& binary, const Origin& origin) const {
  std::string text = serialize(origin);
  // Most programs ask for the same binary in every run.
  if (disk_.read(entryName(binary)) != text)
    disk_.write(entryName(binary), text);
}

std::shared_ptr<const Origin> BinaryOrigins::find(const std::string& binary) const {
  {
    std::lock_guard lock(mutex_);
    auto found = noted_.find(binary);
    if (found != noted_.end())
      return found->second;
  }
  auto entry = disk_.read(entryName(binary));
  return entry ? parse(*entry) : nullptr;
}

} // namespace libsplit::runtime
