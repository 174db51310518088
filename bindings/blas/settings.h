// The environment variables of the drop-in BLAS. Those of libmygemm.so hold as well.
#pragma once

namespace mygemm::blas {

enum class OffloadChoice { kAuto, kAlways, kNever };

// MYGEMM_BLAS_OFFLOAD = auto, always or never, read once. Unset: never where MYGEMM_BACKEND = host,
// else auto. Another value is auto, and is named on stderr.
OffloadChoice offload_choice();

}  // namespace mygemm::blas
