// Clock, temperature and power of the GPU while it is measured, through NVML found with dlopen.
#pragma once

#include <optional>
#include <string>

namespace bench {

struct TelemetryReading {
  std::optional<int> sm_clock_mhz, memory_clock_mhz, temperature_c;
  std::optional<double> power_w;
};

class Telemetry {
 public:
  // An empty bus id (the host), or no NVML, gives readings without values.
  explicit Telemetry(const std::string& pci_bus_id);

  TelemetryReading read() const;
  const std::string& driver() const { return driver_; }  // e.g. "580.159", or empty
  std::optional<int> max_sm_clock_mhz() const;

 private:
  // nvmlDevice_t, and functions as nvml.h declares them with enums as int.
  void* device_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*max_clock_)(void*, int, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  std::string driver_;
};

}  // namespace bench
