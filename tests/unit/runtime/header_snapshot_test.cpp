#include "runtime/program/header_snapshot.h"

#include "runtime/core/disk_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace libsplit::runtime {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, which is the current one meanwhile.
class HeaderSnapshotTest : public ::testing::Test {
protected:
  void SetUp() override {
    previousFolder = fs::current_path();
    std::string pattern = fs::temp_directory_path() / "headersXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    fs::current_path(pattern);
    folder = fs::current_path();
  }
  void TearDown() override {
    fs::current_path(previousFolder);
    fs::remove_all(folder);
  }

  static void write(const std::string& path, const std::string& text) {
    if (fs::path(path).has_parent_path())
      fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  static IncludedFile file(const std::string& path, const std::string& text) {
    return {path, hashOfContents(text)};
  }

  fs::path previousFolder, folder;
};

TEST_F(HeaderSnapshotTest, FollowsWhatHeadersInclude) {
  write("config.h", "#define N 1\n");
  write("inc/outer.h", "# include \"inner.h\"\n");
  write("inc/inner.h", "int x;\n");
  const HeaderSnapshot seen({"#include \"config.h\"\n#if 0\n  #\tinclude <outer.h> // one\n#endif"},
                            "-DM=2 -I inc");
  EXPECT_EQ(seen.changed(), std::nullopt);
  EXPECT_EQ(seen.differsFrom({file("./config.h", "#define N 1\n"), file("inc/inner.h", "int x;\n"),
                              file((folder / "inc/outer.h").string(), "# include \"inner.h\"\n")}),
            std::nullopt);
  EXPECT_EQ(seen.differsFrom({file("config.h", "#define N 2\n")}), "config.h");
  EXPECT_EQ(seen.differsFrom({file("other.h", "")}), "other.h");
  write("inc/inner.h", "int y;\n");
  EXPECT_EQ(seen.changed(), (folder / "inc/inner.h").string());
}

TEST_F(HeaderSnapshotTest, AFileThatHidesAnotherIsAChange) {
  write("b/config.h", "int b;\n");
  const HeaderSnapshot seen({"#include <config.h>\n"}, "-Ia -Ib");
  EXPECT_EQ(seen.changed(), std::nullopt);
  write("a/config.h", "int a;\n");
  EXPECT_EQ(seen.changed(), (folder / "a/config.h").string());
}

TEST_F(HeaderSnapshotTest, AMissingFileIsAChange) {
  write("config.h", "int a;\n");
  const HeaderSnapshot seen({"#include \"config.h\"\n"}, "");
  fs::remove("config.h");
  EXPECT_NE(seen.changed(), std::nullopt);
}

TEST_F(HeaderSnapshotTest, MacrosMayPutTheQuotesAroundNames) {
  write("inc/types.h", "#include TEXT( FOLDER/inner.h )\n");
  write("inc/inner.h", "int a;\n");
  write("here.h", "int b;\n");
  const HeaderSnapshot seen({"#include TEXT(FOLDER/types.h)\n"
                             "#define HEADER TEXT(here.h)\n"
                             "#include HEADER\n"},
                            "-D PLAIN(x)=#x -D TEXT(x)=PLAIN(x) -D FOLDER=" +
                                (folder / "inc").string());
  EXPECT_EQ(seen.differsFrom(
                {file((folder / "inc/types.h").string(), "#include TEXT( FOLDER/inner.h )\n"),
                 file((folder / "inc/inner.h").string(), "int a;\n"), file("here.h", "int b;\n")}),
            std::nullopt);
  // Macros that name themselves come to an end.
  const HeaderSnapshot endless({"#define A TEXT(A A)\n#include A\n"}, "");
  EXPECT_EQ(endless.changed(), std::nullopt);
}

TEST_F(HeaderSnapshotTest, NamesMayBeMacros) {
  write("special.h", "int a;\n");
  const HeaderSnapshot seen({"#include HEADER\n"}, "-DHEADER=\\\"special.h\\\"");
  EXPECT_EQ(seen.differsFrom({file("special.h", "int a;\n")}), std::nullopt);
  write("special.h", "int b;\n");
  EXPECT_NE(seen.changed(), std::nullopt);
}

TEST_F(HeaderSnapshotTest, CyclesAndFoldersDoNoHarm) {
  write("a.h", "#include \"b.h\"\n");
  write("b.h", "#include \"a.h\"\n#include \"folder\"\n");
  fs::create_directory("folder");
  EXPECT_EQ(HeaderSnapshot({"#include \"a.h\"\n#include \"\n#include"}, "").changed(),
            std::nullopt);
}

TEST_F(HeaderSnapshotTest, FingerprintTellsWhatWasThere) {
  const std::vector<std::string_view> text{"#include \"config.h\"\n"};
  const std::string none = HeaderSnapshot(text, "").fingerprint();
  write("config.h", "1");
  const std::string one = HeaderSnapshot(text, "").fingerprint();
  write("config.h", "2");
  const std::string two = HeaderSnapshot(text, "").fingerprint();
  write("config.h", "1");
  EXPECT_NE(none, one);
  EXPECT_NE(one, two);
  EXPECT_EQ(HeaderSnapshot(text, "").fingerprint(), one);
}

TEST_F(HeaderSnapshotTest, UnitsThatSawDifferentFilesAreAChange) {
  write("config.h", "1");
  write("other.h", "1");
  HeaderSnapshot first({"#include \"config.h\"\n"}, "");
  HeaderSnapshot both = first;
  both.add(HeaderSnapshot({"#include \"other.h\"\n"}, ""));
  EXPECT_EQ(both.differsFrom({file("config.h", "1"), file("other.h", "1")}), std::nullopt);
  write("config.h", "2");
  first.add(HeaderSnapshot({"#include \"config.h\"\n"}, ""));
  write("config.h", "1");
  EXPECT_NE(first.changed(), std::nullopt);
}

} // namespace
} // namespace libsplit::runtime
