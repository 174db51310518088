// Emulator of the CUDA runtime: the devices it can pretend to be. See device.h.
#include "device.h"

#include <cstdio>
#include <cstdlib>

namespace emulator {
namespace {

// By the names that the library knows, so that it plans as for the real ones.
constexpr Device kDevices[] = {
    {75, "NVIDIA T4", 40, 1590000, 5001000, 256, 4 << 20, 1024, 16, 64 << 10, 64 << 10},
    {80, "NVIDIA A100", 108, 1410000, 1215000, 5120, 40 << 20, 2048, 32, 163 << 10, 164 << 10},
    {86, "NVIDIA RTX 3090", 82, 1695000, 9751000, 384, 6 << 20, 1536, 16, 99 << 10, 100 << 10},
    {89, "NVIDIA RTX 4090", 128, 2520000, 10501000, 384, 72 << 20, 1536, 24, 99 << 10, 100 << 10},
    {90, "NVIDIA H200", 132, 1980000, 3201000, 6144, 60 << 20, 2048, 32, 227 << 10, 228 << 10},
    {100, "NVIDIA B200", 148, 1965000, 3996000, 8192, 126 << 20, 2048, 32, 227 << 10, 228 << 10},
    {120, "NVIDIA RTX 5090", 170, 2407000, 14001000, 512, 96 << 20, 1536, 24, 99 << 10, 100 << 10},
};

Device choose_device() {
  const char* text = std::getenv("MYGEMM_EMULATED_CC");
  const char* sms = std::getenv("MYGEMM_EMULATED_SMS");
  const int cc = text ? std::atoi(text) : 90;
  for (Device device : kDevices) {
    if (sms) device.num_sms = std::atoi(sms);
    if (device.cc == cc) return device;
  }
  std::fprintf(stderr, "emulator: MYGEMM_EMULATED_CC=%s is not the number of a known device\n",
               text);
  std::exit(1);
}

}  // namespace

const Device& device() {
  static const Device chosen = choose_device();
  return chosen;
}

int device_count() {
  static const int count = [] {
    const char* text = std::getenv("MYGEMM_EMULATED_DEVICES");
    return text ? std::atoi(text) : 1;
  }();
  return count;
}

}  // namespace emulator
