// Traits of known GPUs, so that plans can be made and explained for machines that are not here.
// A device that is here is described by the CUDA runtime instead (kernels/cuda_device.cu).
#include <cctype>
#include <string>

#include "plan/plan.h"

namespace mygemm {
namespace {

constexpr int kKiB = 1024;
constexpr int64_t kMiB = 1024 * 1024;
constexpr double kTera = 1e12, kGiga = 1e9;

// Clusters: H200 measured, others by their graphics processing clusters.
// FFMA peak at boost clock, from the vendor's datasheets. Copy bandwidth: H200 measured (4 GB
// cudaMemcpyAsync), B200 from published copies, the others 0.88 of the datasheet's figure.
constexpr DeviceTraits kDevices[] = {
    // name, cc, SMs, shared memory a block and an SM, L2, FP32, copy, has_cblas, clusters
    {"T4", 75, 40, 64 * kKiB, 64 * kKiB, 4 * kMiB, 8.1 * kTera, 280 * kGiga, false, {}},
    {"A100", 80, 108, 163 * kKiB, 164 * kKiB, 40 * kMiB, 19.5 * kTera, 1790 * kGiga, false, {}},
    {"A10", 86, 72, 99 * kKiB, 100 * kKiB, 6 * kMiB, 31.2 * kTera, 528 * kGiga, false, {}},
    {"RTX 3090", 86, 82, 99 * kKiB, 100 * kKiB, 6 * kMiB, 35.6 * kTera, 824 * kGiga, false, {}},
    {"RTX 4090", 89, 128, 99 * kKiB, 100 * kKiB, 72 * kMiB, 82.6 * kTera, 887 * kGiga, false, {}},
    {"L4", 89, 58, 99 * kKiB, 100 * kKiB, 48 * kMiB, 30.3 * kTera, 264 * kGiga, false, {}},
    {"L40S", 89, 142, 99 * kKiB, 100 * kKiB, 96 * kMiB, 91.6 * kTera, 760 * kGiga, false, {}},
    {"H200",
     90,
     132,
     227 * kKiB,
     228 * kKiB,
     60 * kMiB,
     66.9 * kTera,
     4250 * kGiga,
     false,
     {132, 66, 30, 15, 7}},
    {"H100",
     90,
     132,
     227 * kKiB,
     228 * kKiB,
     50 * kMiB,
     66.9 * kTera,
     2950 * kGiga,
     false,
     {132, 66, 30, 15, 7}},
    {"GH200",
     90,
     132,
     227 * kKiB,
     228 * kKiB,
     50 * kMiB,
     66.9 * kTera,
     3520 * kGiga,
     false,
     {132, 66, 30, 15, 7}},
    {"B200",
     100,
     148,
     227 * kKiB,
     228 * kKiB,
     126 * kMiB,
     75.0 * kTera,
     6200 * kGiga,
     false,
     {148, 74, 35, 16, 7}},
    {"RTX 5090",
     120,
     170,
     99 * kKiB,
     100 * kKiB,
     96 * kMiB,
     104.8 * kTera,
     1577 * kGiga,
     false,
     {170, 85, 40, 20, 0}},
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
  const std::string wanted = folded(name);
  for (const DeviceTraits& device : kDevices) {
    if (wanted == folded(device.name) || wanted == "sm" + std::to_string(device.cc)) {
      return &device;
    }
  }
  return nullptr;
}

}  // namespace mygemm
