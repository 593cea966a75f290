// The reader of PoCL's binaries meets whatever a program has in its cache. It may refuse; it must
// not crash, nor hand on bytes that are not in the binary.
#include "analysis-pass/summary/pocl_binary.h"
#include "analysis-pass/summary/program_kind.h"
#include "tests/property/seeds.h"

#include <string>
#include <vector>

namespace libsplit {
namespace {

void append(std::string& text, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
}

std::string named(const std::string& name, const std::string& content) {
  std::string file;
  append(file, name.size(), 4);
  file += name;
  append(file, content.size(), 4);
  return file + content;
}

struct Binary {
  std::uint64_t version = 9, flags = 0;
  std::vector<std::string> files{named("/other", "12"), named("/program.bc", "BC\xc0\xde it")};

  std::string text() const {
    std::string text(poclBinaryMagic);
    append(text, 0x1234567890abcdef, 8);
    append(text, version, 4);
    append(text, 2, 4);
    append(text, flags, 8);
    append(text, files.size(), 4);
    text += "IE/" + std::string(37, 'A') + '\0';
    std::string all;
    for (const std::string& file : files)
      all += file;
    append(text, all.size(), 8);
    return text + all + "kernels";
  }
};

TEST(PoclBinaryProperty, theBitcodeIsFound) {
  for (std::uint64_t flags : {0, 1}) {
    const std::string text = Binary{9, flags}.text();
    EXPECT_EQ(kindOf(text), ProgramKind::PoclBinary);
    const auto binary = readPoclBinary(text);
    ASSERT_TRUE(binary);
    EXPECT_EQ(binary->bitcode, "BC\xc0\xde it");
    EXPECT_EQ(binary->flushesDenormals, flags == 1);
  }
}

TEST(PoclBinaryProperty, otherVersionsAreRefused) {
  EXPECT_FALSE(readPoclBinary(Binary{8, 0}.text()));
  EXPECT_FALSE(readPoclBinary(Binary{10, 0}.text()));
  EXPECT_FALSE(readPoclBinary(Binary{9, 0, {named("/program.bc", "")}}.text()));
  EXPECT_FALSE(readPoclBinary(Binary{9, 0, {named("/a", "b")}}.text()));
  EXPECT_FALSE(readPoclBinary(Binary{9, 0, {}}.text()));
  EXPECT_FALSE(readPoclBinary(""));
}

TEST(PoclBinaryProperty, cutBinariesAreRefused) {
  const std::string text = Binary{}.text();
  const std::size_t whole = text.size() - std::string("kernels").size();
  for (std::size_t size = 0; size < whole; ++size)
    EXPECT_FALSE(readPoclBinary(text.substr(0, size))) << size;
}

TEST(PoclBinaryProperty, whatIsHandedOnLiesWithin) {
  forEachSeed(20000, [](std::mt19937& random) {
    const Binary whole{9, static_cast<std::uint64_t>(pick(random, 0, 1))};
    // Of its very size, so that a sanitizer sees the first byte beyond.
    const std::string made = whole.text();
    std::vector<char> bytes(made.begin(), made.end());
    for (auto n = pick(random, 1, 8); n > 0; --n) {
      const auto at = static_cast<std::size_t>(pick(random, 8, std::int64_t(bytes.size()) - 1));
      bytes[at] = static_cast<char>(chance(random, 50) ? 0xff : pick(random, 0, 255));
    }
    if (chance(random, 30))
      bytes.resize(static_cast<std::size_t>(pick(random, 0, std::int64_t(bytes.size()))));
    bytes.shrink_to_fit();
    const std::string_view text(bytes.data(), bytes.size());
    if (const auto binary = readPoclBinary(text)) {
      ASSERT_FALSE(binary->bitcode.empty());
      EXPECT_GE(binary->bitcode.data(), text.data());
      EXPECT_LE(binary->bitcode.data() + binary->bitcode.size(), text.data() + text.size());
    }
  });
}

} // namespace
} // namespace libsplit
