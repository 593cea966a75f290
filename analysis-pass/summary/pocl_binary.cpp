#include "analysis-pass/summary/pocl_binary.h"

#include <cstddef>
#include <cstdint>

namespace libsplit {
namespace {

constexpr std::uint64_t knownVersion = 9;
constexpr std::uint64_t flushesDenormals = 1;
constexpr std::size_t hashSize = 41;

/// Takes bytes off the front. Once there were too few, there are none any more.
class FileReader {
public:
  explicit FileReader(std::string_view bytes) : left_(bytes) {}

  std::string_view take(std::uint64_t size) {
    if (size > left_.size()) {
      isCut_ = true;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    std::size_t shift = 0;
    for (const char byte : take(size)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  bool isEmpty() const { return left_.empty(); }
  bool isCut() const { return isCut_; }

private:
  std::string_view left_;
  bool isCut_ = false;
};

} // namespace

std::optional<PoclBinary> readPoclBinary(std::string_view binary) {
  if (!binary.starts_with(poclBinaryMagic))
    return std::nullopt;
  FileReader reader(binary.substr(poclBinaryMagic.size()));
  reader.number(8); // device
  const std::uint64_t version = reader.number(4);
  reader.number(4); // kernels
  const std::uint64_t flags = reader.number(8);
  reader.number(4); // entries
  reader.take(hashSize);
  FileReader files(reader.take(reader.number(8)));
  if (version != knownVersion || reader.isCut())
    return std::nullopt;
  while (!files.isEmpty()) {
    const std::string_view name = files.take(files.number(4));
    const std::string_view content = files.take(files.number(4));
    if (!files.isCut() && name == "/program.bc" && !content.empty())
      return PoclBinary{content, (flags & flushesDenormals) != 0};
  }
  return std::nullopt;
}

} // namespace libsplit
