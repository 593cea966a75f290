#include "runtime/core/options.h"

#include <gtest/gtest.h>

#include <set>

namespace libsplit::runtime {
namespace {

Options parse(const std::vector<std::string>& environment, std::size_t expectedComplaints = 0) {
  std::vector<std::string> complaints;
  Options options = parseOptions(environment, complaints);
  EXPECT_EQ(complaints.size(), expectedComplaints) << (complaints.empty() ? "" : complaints[0]);
  return options;
}

TEST(Options, HaveDefaultsWithoutVariables) {
  Options options = parse({"PATH=/bin", "HOME=/home/u"});
  EXPECT_EQ(options.devices, "all");
  EXPECT_EQ(options.policy.kind, Policy::Kind::Auto);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.log, LogLevel::Warn);
  EXPECT_EQ(options.cacheDir, "/home/u/.cache/libsplit");
}

TEST(Options, TakeTheCacheFolderFromTheMostSpecificVariable) {
  EXPECT_EQ(parse({"HOME=/h", "XDG_CACHE_HOME=/x"}).cacheDir, "/x/libsplit");
  EXPECT_EQ(parse({"HOME=/h", "XDG_CACHE_HOME=relative"}).cacheDir, "/h/.cache/libsplit");
  EXPECT_EQ(parse({"HOME=/h", "LIBSPLIT_CACHE_DIR=/c"}).cacheDir, "/c");
  EXPECT_EQ(parse({}).cacheDir, "");
}

TEST(Options, ReadEveryKindOfValue) {
  Options options =
      parse({"LIBSPLIT_VERIFY=1", "LIBSPLIT_LOG=debug", "LIBSPLIT_DEVICES=0.0,1.0/2+6",
             "LIBSPLIT_POLICY=static:3,1", "LIBSPLIT_STATS=s.json", "LIBSPLIT_MIN_LAUNCH=1000",
             "LIBSPLIT_RELAXED_FP=1", "LIBSPLIT_SEPARATE_NODES=home", "LIBSPLIT_STAGING=3M",
             "LIBSPLIT_DEVICE_MEMORY=4G", "LIBSPLIT_HALO_DEPTH=3"});
  EXPECT_TRUE(options.verify);
  EXPECT_EQ(options.log, LogLevel::Debug);
  EXPECT_EQ(options.devices, "0.0,1.0/2+6");
  EXPECT_EQ(options.policy.kind, Policy::Kind::Static);
  EXPECT_EQ(options.policy.shares, (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(options.stats, "s.json");
  EXPECT_DOUBLE_EQ(options.minLaunchSeconds.value(), 1e-3);
  EXPECT_TRUE(options.relaxedFloat);
  EXPECT_EQ(options.separateNodes, SeparateNodes::Home);
  EXPECT_EQ(options.stagingBytes, std::size_t{3} << 20);
  EXPECT_EQ(options.deviceMemory, std::size_t{4} << 30);
  EXPECT_EQ(options.haloDepth, 3U);
}

TEST(Options, ComplainOnceAboutEachBadValueAndKeepTheDefault) {
  Options options =
      parse({"LIBSPLIT_VERIFY=yes", "LIBSPLIT_LOG=loud", "LIBSPLIT_DEVICES=x",
             "LIBSPLIT_POLICY=static:-1", "LIBSPLIT_MIN_LAUNCH=nan",
             "LIBSPLIT_STAGING=99999999999G", "LIBSPLIT_HALO_DEPTH=-1", "LIBSPLIT_HALO_DEPTH=65"},
            8);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.devices, "all");
  EXPECT_EQ(options.policy.kind, Policy::Kind::Auto);
}

TEST(Options, TakeSizesWithUnits) {
  EXPECT_EQ(parse({"LIBSPLIT_STAGING=4096"}).stagingBytes, 4096u);
  EXPECT_EQ(parse({"LIBSPLIT_STAGING=64K"}).stagingBytes, 65536u);
  for (const char* bad : {"", "K", "-1M", " -5", "1MB", "12", "1T", "0x800"})
    EXPECT_EQ(parse({std::string("LIBSPLIT_STAGING=") + bad}, 1).stagingBytes,
              std::size_t{24} << 20)
        << bad;
}

TEST(Options, HaveAPoolOfSoManyBytes) {
  std::vector<std::string> complaints;
  const auto pool = [&](const std::string& value) {
    return parseOptions({"LIBSPLIT_POOL_MEMORY=" + value}, complaints).poolMemory;
  };
  EXPECT_EQ(pool("0"), 0U);
  EXPECT_EQ(pool("1"), ~std::uint64_t{0});
  EXPECT_EQ(pool("64M"), std::uint64_t{64} << 20);
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(pool("2"), 0U);
  EXPECT_EQ(pool("yes"), 0U);
  EXPECT_EQ(complaints.size(), 2U);
}

TEST(Options, SayWhichValuesThereAre) {
  for (const OptionInfo& row : optionTable()) {
    std::vector<std::string> complaints;
    parseOptions({std::string(row.variable) + "="}, complaints);
    EXPECT_EQ(complaints, std::vector{"bad value `` of " + std::string(row.variable) +
                                      ", expected " + row.values});
  }
}

TEST(Options, HaveTheDefaultsThatTheTableNames) {
  for (const OptionInfo& row : optionTable()) {
    Options options;
    EXPECT_TRUE(!*row.defaultValue || row.set(options, row.defaultValue)) << row.variable;
    const Options defaults;
    EXPECT_EQ(options.devices, defaults.devices);
    EXPECT_EQ(options.policy.kind, defaults.policy.kind);
    EXPECT_EQ(options.log, defaults.log);
    EXPECT_EQ(options.separateNodes, defaults.separateNodes);
    EXPECT_EQ(options.minLaunchSeconds, defaults.minLaunchSeconds);
    EXPECT_DOUBLE_EQ(options.analysisTimeoutSeconds, defaults.analysisTimeoutSeconds);
    for (bool Options::* flag : {&Options::verify, &Options::persist, &Options::inspect,
                                 &Options::relaxedFloat, &Options::waitAnalysis})
      EXPECT_EQ(options.*flag, defaults.*flag) << row.variable;
  }
}

TEST(Options, NameTheNearestVariableForAMisspelledOne) {
  std::vector<std::string> complaints;
  parseOptions({"LIBSPLIT_DEVISES=gpu"}, complaints);
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].find("LIBSPLIT_DEVICES"), std::string::npos);
}

TEST(Policy, RefusesWhatItCantRead) {
  for (const char* text : {"", "Auto", "static", "static:", "static:0", "static:1,", "static:a",
                           "static:inf", "single", "single:", "single:x", "single:1x"})
    EXPECT_FALSE(parsePolicy(text)) << text;
}

TEST(Options, TableNamesEachVariableOnceWithThePrefix) {
  std::set<std::string> seen;
  for (const OptionInfo& row : optionTable()) {
    EXPECT_TRUE(std::string(row.variable).starts_with("LIBSPLIT_"));
    EXPECT_TRUE(seen.insert(row.variable).second) << row.variable;
    EXPECT_NE(optionsAsMarkdown().find(row.variable), std::string::npos);
  }
}

} // namespace
} // namespace libsplit::runtime
