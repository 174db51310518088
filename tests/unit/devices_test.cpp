// Unit tests: the known GPUs, and the ways to write their names.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "device_traits.h"

namespace mygemm {
namespace {

std::string found(const char* name) {
  const DeviceTraits* device = find_device(name);
  return device ? device->name : "unknown";
}

TEST(Devices, AreFoundByNameInAnySpelling) {
  for (const char* name : {"RTX 4090", "rtx 4090", "rtx4090", "RTX_4090", "rtx-4090",
                           "NVIDIA RTX 4090", "  Nvidia  rtx 4090 "}) {
    EXPECT_EQ(found(name), "RTX 4090") << name;
  }
  EXPECT_EQ(found("NVIDIA H200"), "H200");
  EXPECT_EQ(found("h200"), "H200");
}

TEST(Devices, AreFoundByArchitecture) {
  EXPECT_EQ(found("sm_75"), "T4");
  EXPECT_EQ(found("SM 80"), "A100");
  EXPECT_EQ(find_device("sm_86")->cc, 86);
  EXPECT_EQ(find_device("sm_90")->cc, 90);
  EXPECT_EQ(find_device("sm_120")->cc, 120);
  EXPECT_EQ(find_device("sm_90a")->cc, 90);
  EXPECT_EQ(find_device("SM 100f")->cc, 100);
}

TEST(Devices, AreNotFoundByAnythingElse) {
  for (const char* name :
       {"", " ", "nvidia", "sm", "sm_", "sm_7", "sm_750", "sm_0", "sm_a", "sm_90b", "sm_90aa",
        "H200a", "90", "H20", "H2000", "RTX", "4090", "\xff\xfe", "host"}) {
    EXPECT_EQ(found(name), "unknown") << name;
  }
}

TEST(Devices, FindThemselves) {
  std::set<std::string> names;
  for (const DeviceTraits& device : known_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name << " is there twice";
    EXPECT_EQ(find_device(device.name), &device);
  }
}

TEST(Devices, HaveTraitsOfGpus) {
  for (const DeviceTraits& device : known_devices()) {
    SCOPED_TRACE(device.name);
    EXPECT_GE(device.cc, 75);
    EXPECT_GE(device.num_sms, 20);
    EXPECT_GE(device.shared_per_block, 48 * 1024);
    EXPECT_LE(device.shared_per_block, device.sm.shared_bytes);
    EXPECT_EQ(device.sm.registers, 65536);
    EXPECT_TRUE(device.sm.threads >= 1024 && device.sm.threads % 512 == 0);
    EXPECT_TRUE(device.sm.blocks == 16 || device.sm.blocks == 24 || device.sm.blocks == 32);
    EXPECT_GE(device.l2_bytes, 1024 * 1024);
    // FLOP/s and bytes/s, not tera or giga.
    EXPECT_TRUE(device.fp32_flops > 1e12 && device.fp32_flops < 1e15);
    EXPECT_TRUE(device.memory_bandwidth > 1e11 && device.memory_bandwidth < 1e14);
    EXPECT_FALSE(device.has_cblas);
  }
}

}  // namespace
}  // namespace mygemm
