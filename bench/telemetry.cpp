// See telemetry.h. NVML is optional: a value is absent where a function of it is.
#include "telemetry.h"

#include <dlfcn.h>

namespace bench {
namespace {

// nvml.h's values.
constexpr int kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

template <class Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

template <class Function>
std::optional<int> clock_of(Function function, void* device, int which) {
  unsigned megahertz = 0;
  if (device == nullptr || function == nullptr || function(device, which, &megahertz) != 0) {
    return std::nullopt;
  }
  return static_cast<int>(megahertz);
}

}  // namespace

Telemetry::Telemetry(const std::string& pci_bus_id) {
  void* library = pci_bus_id.empty() ? nullptr : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return;
  }
  int (*init)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_by_bus_id)(const char*, void**) = nullptr;
  if (!find(library, "nvmlInit_v2", &init) || init() != 0) {
    return;
  }
  char text[96] = "";
  if (find(library, "nvmlSystemGetDriverVersion", &driver_version) &&
      driver_version(text, sizeof(text)) == 0) {
    driver_ = text;
  }
  find(library, "nvmlDeviceGetClockInfo", &clock_);
  find(library, "nvmlDeviceGetMaxClockInfo", &max_clock_);
  find(library, "nvmlDeviceGetTemperature", &temperature_);
  find(library, "nvmlDeviceGetPowerUsage", &power_);
  if (!find(library, "nvmlDeviceGetHandleByPciBusId_v2", &device_by_bus_id) ||
      device_by_bus_id(pci_bus_id.c_str(), &device_) != 0) {
    device_ = nullptr;
  }
}

TelemetryReading Telemetry::read() const {
  TelemetryReading reading;
  reading.sm_clock_mhz = clock_of(clock_, device_, kClockSm);
  reading.memory_clock_mhz = clock_of(clock_, device_, kClockMemory);
  unsigned value = 0;
  if (device_ != nullptr && temperature_ != nullptr &&
      temperature_(device_, kTemperatureGpu, &value) == 0) {
    reading.temperature_c = static_cast<int>(value);
  }
  if (device_ != nullptr && power_ != nullptr && power_(device_, &value) == 0) {
    reading.power_w = static_cast<double>(value) / 1000;  // NVML counts milliwatts
  }
  return reading;
}

std::optional<int> Telemetry::max_sm_clock_mhz() const {
  return clock_of(max_clock_, device_, kClockSm);
}

}  // namespace bench
