// The host's kernels of matrix products: host_cblas, host_blocked and host_naive, as pairs of
// configure and launch for the table of kernels. Host backend.
#pragma once

#include "kernels/gemm/facts.h"
#include "kernels/kernel.h"

namespace mygemm::host {

// Chains of 384 k in vector registers, added up in D or, of 16 bits, in a buffer. The last tiles
// are computed as others are, in a copy: see gemm.cpp.
inline constexpr SumOrder kOrder{
    "batch-invariant products sum in another order: that of host_blocked"};

// Without a device and without the rest of the host backend: see gemm_configure.cpp.
const char* configure_gemm_cblas(const GemmKernel&, const GemmFacts&, const DeviceTraits&,
                                 const PlanOptions&, GemmConfig*);
const char* configure_gemm_blocked(const GemmKernel&, const GemmFacts&, const DeviceTraits&,
                                   const PlanOptions&, GemmConfig*);
const char* configure_gemm_naive(const GemmKernel&, const GemmFacts&, const DeviceTraits&,
                                 const PlanOptions&, GemmConfig*);

Status launch_gemm_cblas(const GemmProblem&, const GemmConfig&, const LaunchContext&);
Status launch_gemm_blocked(const GemmProblem&, const GemmConfig&, const LaunchContext&);
Status launch_gemm_naive(const GemmProblem&, const GemmConfig&, const LaunchContext&);

}  // namespace mygemm::host
