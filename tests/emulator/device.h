// Emulator of the CUDA runtime: the pretend device, one of a few real ones chosen by the
// environment variable MYGEMM_EMULATED_CC (its compute capability, e.g. 75; default 90), with as
// many multiprocessors as MYGEMM_EMULATED_SMS says, if it does. MYGEMM_EMULATED_DEVICES says how
// many of them there are (default 1), with one memory.
#pragma once

namespace emulator {

struct Device {
  int cc;  // 10 * major + minor
  const char* name;
  int num_sms;
  int clock_khz, memory_clock_khz, memory_bus_bits;
  int l2_bytes;
  int threads_per_sm, blocks_per_sm;
  int shared_per_block, shared_per_sm;  // the first with opt-in
};

inline constexpr int kThreadsPerBlock = 1024;
inline constexpr int kRegistersPerSm = 65536;
inline constexpr int kSharedPerBlockDefault = 48 << 10;
inline constexpr int kSharedReservedPerBlock = 1 << 10;

// The devices of this process, all alike. Ends the process where MYGEMM_EMULATED_CC is none that is
// known.
const Device& device();

int device_count();

// A thread has a context once it has called the runtime for more than a question. What the driver
// is asked before that fails.
bool has_context();

}  // namespace emulator
