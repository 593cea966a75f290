#include "runtime/program/origin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace libsplit::runtime {
namespace {

namespace fs = std::filesystem;

class Origins : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             (testing::UnitTest::GetInstance()->current_test_info()->name() +
              std::to_string(::getpid()));
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  Origin some() const {
    Origin origin{"kernel void k() {}\n3 \0x", "-DA=1 -DB", true, DeviceMacros{}};
    origin.madeFor->version = "OpenCL C 1.2";
    origin.madeFor->defines = {"__IMAGE_SUPPORT__=1", "", "X"};
    return origin;
  }

  fs::path folder;
};

TEST_F(Origins, AreTheSameInAnotherProcess) {
  DiskCache disk(folder);
  BinaryOrigins(disk).keep("0123", some());
  BinaryOrigins later(disk);
  auto found = later.find("0123");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text, some().text);
  EXPECT_EQ(found->options, some().options);
  EXPECT_TRUE(found->isFlat);
  EXPECT_EQ(found->madeFor, some().madeFor);
  EXPECT_FALSE(later.find("0124"));
}

TEST_F(Origins, CutAnywhereAreNone) {
  DiskCache disk(folder);
  BinaryOrigins(disk).keep("0123", some());
  std::string whole = *disk.read("0123.origin");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    disk.write("0123.origin", whole.substr(0, size)); // with the right hash: the text itself is cut
    auto found = BinaryOrigins(disk).find("0123");
    // Cut behind a whole define, it is another device's.
    EXPECT_TRUE(!found || found->madeFor != some().madeFor) << size;
  }
}

TEST_F(Origins, AreForgottenInMemoryButNotOnDisk) {
  DiskCache nowhere("");
  BinaryOrigins origins(nowhere);
  for (int i = 0; i < 1000; ++i)
    origins.note(std::to_string(i), std::make_shared<Origin>(some()));
  EXPECT_FALSE(origins.find("0"));
  EXPECT_TRUE(origins.find("999"));
}

TEST_F(Origins, ReadFilesOnlyWhereTheTextNamesSome) {
  EXPECT_FALSE(mayReadFiles({"kernel void k() {}", "", false, {}}));
  EXPECT_TRUE(mayReadFiles({"#include \"a.h\"", "", false, {}}));
  EXPECT_TRUE(mayReadFiles({"kernel void k() {}", "-include a.h", false, {}}));
  EXPECT_FALSE(mayReadFiles({"#include \"a.h\"", "", true, {}}));
  EXPECT_FALSE(mayReadFiles({"\x03\x02\x23\x07 include", "", false, {}}));
}

TEST_F(Origins, ThatWereUsedLastStayWhenTheCacheIsTrimmed) {
  DiskCache disk(folder);
  const std::string names[] = {hashOf("a") + ".origin", hashOf("b") + ".origin",
                               hashOf("c") + ".origin"};
  auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    disk.write(names[i], "text");
    fs::last_write_time(folder / names[i], now - std::chrono::hours(10 - i));
  }
  std::ofstream(folder / "other.txt") << "not ours";
  EXPECT_EQ(disk.read(names[0]), "text"); // used now
  disk.trim({.entries = 2, .bytes = 1 << 20});
  EXPECT_TRUE(disk.read(names[0]));
  EXPECT_FALSE(disk.read(names[1]));
  EXPECT_TRUE(disk.read(names[2]));
  disk.trim({.entries = 2, .bytes = 40});
  EXPECT_TRUE(disk.read(names[2]));
  EXPECT_FALSE(disk.read(names[0]));
  EXPECT_TRUE(fs::exists(folder / "other.txt"));
}

} // namespace
} // namespace libsplit::runtime
