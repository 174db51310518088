// The transpose kernels for GPUs: a configure function and a launcher each. kernels/kernel.h says
// what they do. A .cpp file has the configure functions of the .cu file of the same name.
#pragma once

#include "kernels/transpose/config.h"

namespace mygemm {

// Vectorised accesses, for rows that begin at multiples of 16 bytes.
const char* configure_transpose_vector(const TransposeKernel&, const TransposeFacts&,
                                       const DeviceTraits&, const PlanOptions&, TransposeConfig*);
// The same with input tiles loaded through a tensor map.
const char* configure_transpose_tma(const TransposeKernel&, const TransposeFacts&,
                                    const DeviceTraits&, const PlanOptions&, TransposeConfig*);
// Vectorised accesses where rows of the output begin anywhere.
const char* configure_transpose_shifted(const TransposeKernel&, const TransposeFacts&,
                                        const DeviceTraits&, const PlanOptions&, TransposeConfig*);
// Packs of the output gathered by element, for rows that begin anywhere; few rows without gaps in
// the output; square matrices in place.
const char* configure_transpose_gathered(const TransposeKernel&, const TransposeFacts&,
                                         const DeviceTraits&, const PlanOptions&, TransposeConfig*);
const char* configure_transpose_gathered_runs(const TransposeKernel&, const TransposeFacts&,
                                              const DeviceTraits&, const PlanOptions&,
                                              TransposeConfig*);
const char* configure_transpose_gathered_in_place(const TransposeKernel&, const TransposeFacts&,
                                                  const DeviceTraits&, const PlanOptions&,
                                                  TransposeConfig*);
// Narrow and small matrices without gaps.
const char* configure_transpose_narrow(const TransposeKernel&, const TransposeFacts&,
                                       const DeviceTraits&, const PlanOptions&, TransposeConfig*);
// Tiles in shared memory, an element a thread.
const char* configure_transpose_tiled(const TransposeKernel&, const TransposeFacts&,
                                      const DeviceTraits&, const PlanOptions&, TransposeConfig*);
// Square matrices in place: vectorised, and an element a thread.
const char* configure_transpose_vector_in_place(const TransposeKernel&, const TransposeFacts&,
                                                const DeviceTraits&, const PlanOptions&,
                                                TransposeConfig*);
const char* configure_transpose_square_in_place(const TransposeKernel&, const TransposeFacts&,
                                                const DeviceTraits&, const PlanOptions&,
                                                TransposeConfig*);
// Any matrix in place: copied to the workspace, and transposed from there.
const char* configure_transpose_through_workspace(const TransposeKernel&, const TransposeFacts&,
                                                  const DeviceTraits&, const PlanOptions&,
                                                  TransposeConfig*);
// Any problem, an element a thread.
const char* configure_transpose_naive(const TransposeKernel&, const TransposeFacts&,
                                      const DeviceTraits&, const PlanOptions&, TransposeConfig*);

// The grids of three of these kernels alone, for other ones that launch them.
void set_vector_grid(const TransposeProblem&, const DeviceTraits&, TransposeConfig*);
void set_gathered_grid(const TransposeProblem&, const RowAlignment&, const DeviceTraits&,
                       TransposeConfig*);
void set_shifted_grid(const TransposeProblem&, const DeviceTraits&, TransposeConfig*);

namespace cuda {
Status launch_transpose_vector(const TransposeProblem&, const TransposeConfig&,
                               const LaunchContext&);
Status launch_transpose_tma(const TransposeProblem&, const TransposeConfig&, const LaunchContext&);
Status launch_transpose_shifted(const TransposeProblem&, const TransposeConfig&,
                                const LaunchContext&);
Status launch_transpose_gathered(const TransposeProblem&, const TransposeConfig&,
                                 const LaunchContext&);
Status launch_transpose_gathered_runs(const TransposeProblem&, const TransposeConfig&,
                                      const LaunchContext&);
Status launch_transpose_gathered_in_place(const TransposeProblem&, const TransposeConfig&,
                                          const LaunchContext&);
Status launch_transpose_narrow(const TransposeProblem&, const TransposeConfig&,
                               const LaunchContext&);
Status launch_transpose_tiled(const TransposeProblem&, const TransposeConfig&,
                              const LaunchContext&);
Status launch_transpose_vector_in_place(const TransposeProblem&, const TransposeConfig&,
                                        const LaunchContext&);
Status launch_transpose_square_in_place(const TransposeProblem&, const TransposeConfig&,
                                        const LaunchContext&);
Status launch_transpose_through_workspace(const TransposeProblem&, const TransposeConfig&,
                                          const LaunchContext&);
Status launch_transpose_naive(const TransposeProblem&, const TransposeConfig&,
                              const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
