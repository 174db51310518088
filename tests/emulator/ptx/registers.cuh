// Emulator of the CUDA runtime: stands in for src/ptx/registers.cuh (sm_90a). Fibers have all the
// registers they want.
#pragma once

namespace mygemm::ptx {

template <int kCount>
void take_registers() {}

template <int kCount>
void give_up_registers() {}

}  // namespace mygemm::ptx
