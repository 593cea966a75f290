#include "runtime/core/device_spec.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(DeviceSpec, KnowsTheThreeWords) {
  EXPECT_EQ(parseDeviceSpec("all")->kind, DeviceSpec::Kind::All);
  EXPECT_EQ(parseDeviceSpec("gpu")->kind, DeviceSpec::Kind::Gpus);
  EXPECT_EQ(parseDeviceSpec("cpu")->kind, DeviceSpec::Kind::Cpus);
}

TEST(DeviceSpec, ReadsAListWithSubDevices) {
  auto spec = parseDeviceSpec("0.0,1.12/2+6+24");
  ASSERT_TRUE(spec);
  ASSERT_EQ(spec->items.size(), 2u);
  EXPECT_EQ(spec->items[0].platform, 0u);
  EXPECT_TRUE(spec->items[0].computeUnits.empty());
  EXPECT_EQ(spec->items[1].platform, 1u);
  EXPECT_EQ(spec->items[1].device, 12u);
  EXPECT_EQ(spec->items[1].computeUnits, (std::vector<unsigned>{2, 6, 24}));
}

TEST(DeviceSpec, RefusesWhatItCantRead) {
  for (const char* text : {"", "ALL", "0", "0.", ".0", "0.0,", "0.0/", "0.0/2+", "0.0/0", "0.0x",
                           "-1.0", "0.0 ,0.1", "99999999999.0"})
    EXPECT_FALSE(parseDeviceSpec(text)) << text;
}

} // namespace
} // namespace libsplit::runtime
