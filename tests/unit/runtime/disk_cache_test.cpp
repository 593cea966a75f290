#include "runtime/core/disk_cache.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

namespace libsplit::runtime {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
  Files() { fs::create_directory(folder_); }
  ~Files() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

private:
  fs::path folder_ = fs::path(testing::TempDir()) / ("disk_cache_" + std::to_string(::getpid()));
};

TEST_F(Files, AreReadWhole) {
  for (const std::string& text : {std::string(), std::string("a\0\xff\n", 4),
                                  std::string(1 << 14, 'x'), std::string(100'000, 'y')}) {
    ASSERT_TRUE(replaceFile(at("file"), text));
    EXPECT_EQ(readFile(at("file")), text);
  }
}

TEST_F(Files, ThatCantBeReadAreNone) {
  EXPECT_EQ(readFile(at("none")), std::nullopt);
  EXPECT_EQ(readFile(at(".")), std::nullopt) << "a folder";
  EXPECT_EQ(hashOfFile(at(".")), std::nullopt);
  EXPECT_EQ(DiskCache(at("")).read("."), std::nullopt);
}

} // namespace
} // namespace libsplit::runtime
