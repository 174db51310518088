// Traits of known GPUs, so that plans can be made and explained for machines that are not here.
// A device that is here is described by the CUDA runtime instead (kernels/cuda_device.cu).
#include <cctype>
#include <string>

#include "device_traits.h"

namespace mygemm {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr double kTera = 1e12, kGiga = 1e9;

struct Clusters {
  int of[5];  // 1, 2, 4, 8 and 16 blocks; see DeviceTraits
};

// The traits that the architecture does not give: multiprocessors, L2, FFMA peak, copy bandwidth.
constexpr DeviceTraits gpu(const char* name, int cc, int num_sms, int64_t l2_bytes, double fp32,
                           double copy, const Clusters& clusters = {}) {
  DeviceTraits traits{};
  for (int i = 0; name[i]; ++i) traits.name[i] = name[i];
  traits.cc = cc;
  traits.num_sms = num_sms;
  traits.sm = sm_resources(cc);
  // On Turing a block may use all of it; on later GPUs the runtime reserves some for each block.
  traits.shared_per_block = traits.sm.shared_bytes - (cc == 75 ? 0 : kReservedSharedBytes);
  traits.l2_bytes = l2_bytes;
  traits.fp32_flops = fp32;
  traits.memory_bandwidth = copy;
  for (int i = 0; i < 5; ++i) traits.clusters[i] = clusters.of[i];
  return traits;
}

// Clusters: H200 measured, others derived from their graphics processing clusters.
// FFMA peak at boost clock, from the vendor's datasheets. Copy bandwidth: H200 measured (4 GB
// cudaMemcpyAsync), B200 from published copies, the others 0.88 of the datasheet's figure.
constexpr Clusters kHopper{{132, 66, 30, 15, 7}};
constexpr DeviceTraits kDevices[] = {
    gpu("T4", 75, 40, 4 * kMiB, 8.1 * kTera, 280 * kGiga),
    gpu("A100", 80, 108, 40 * kMiB, 19.5 * kTera, 1790 * kGiga),
    gpu("A10", 86, 72, 6 * kMiB, 31.2 * kTera, 528 * kGiga),
    gpu("RTX 3090", 86, 82, 6 * kMiB, 35.6 * kTera, 824 * kGiga),
    gpu("RTX 4090", 89, 128, 72 * kMiB, 82.6 * kTera, 887 * kGiga),
    gpu("L4", 89, 58, 48 * kMiB, 30.3 * kTera, 264 * kGiga),
    gpu("L40S", 89, 142, 96 * kMiB, 91.6 * kTera, 760 * kGiga),
    gpu("H200", 90, 132, 60 * kMiB, 66.9 * kTera, 4250 * kGiga, kHopper),
    gpu("H100", 90, 132, 50 * kMiB, 66.9 * kTera, 2950 * kGiga, kHopper),
    gpu("GH200", 90, 132, 50 * kMiB, 66.9 * kTera, 3520 * kGiga, kHopper),
    gpu("B200", 100, 148, 126 * kMiB, 75.0 * kTera, 6200 * kGiga, {{148, 74, 35, 16, 7}}),
    gpu("RTX 5090", 120, 170, 96 * kMiB, 104.8 * kTera, 1577 * kGiga, {{170, 85, 40, 20, 0}}),
};

// Lower case without blanks, '_' and '-', and without a leading "nvidia": "RTX 4090" = "rtx4090".
std::string folded(const char* name) {
  std::string result;
  for (; *name; ++name) {
    const unsigned char c = static_cast<unsigned char>(*name);
    if (std::isalnum(c)) result += static_cast<char>(std::tolower(c));
  }
  return result.starts_with("nvidia") ? result.substr(6) : result;
}

}  // namespace

std::span<const DeviceTraits> known_devices() { return kDevices; }

const DeviceTraits* find_device(const char* name) {
  std::string wanted = folded(name);
  // sm_90a and sm_100f are what code for all of a GPU's instructions is compiled for.
  if (wanted.starts_with("sm") && (wanted.ends_with('a') || wanted.ends_with('f'))) {
    wanted.pop_back();
  }
  for (const DeviceTraits& device : kDevices) {
    if (wanted == folded(device.name) || wanted == "sm" + std::to_string(device.cc)) {
      return &device;
    }
  }
  return nullptr;
}

}  // namespace mygemm
