// Measured constants of the kernels whose blocks compute one block tile each. How they were fitted:
// tile_estimate.h, and warptiled.h for split-K.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::tile_figures {

constexpr GemmFigures kWarptiled128x128 = {.efficiency = 0.858,
                                           .step_seconds = 0.196e-6,
                                           .fill_seconds = 1.1e-6,
                                           .column_seconds = 1.7e-9,
                                           .store_seconds = 0.62e-10,
                                           .round_seconds = 1.7e-6,
                                           .triangles = true};
constexpr GemmFigures kWarptiled128x64 = {.efficiency = 0.879,
                                          .step_seconds = 0.237e-6,
                                          .fill_seconds = 0.86e-6,
                                          .column_seconds = 12e-9,
                                          .store_seconds = 0.31e-10,
                                          .round_seconds = 2.4e-6,
                                          .triangles = true};
constexpr GemmFigures kWarptiled64x64 = {.efficiency = 0.737,
                                         .step_seconds = 0.213e-6,
                                         .fill_seconds = 0.59e-6,
                                         .store_seconds = 1.3e-10,
                                         .triangles = true};
constexpr GemmFigures kWarptiled64x32 = {.efficiency = 0.781,
                                         .step_seconds = 0.169e-6,
                                         .fill_seconds = 0.35e-6,
                                         .column_seconds = 13e-9,
                                         .store_seconds = 0.94e-10,
                                         .triangles = true};
constexpr GemmFigures kWarptiled32x64 = {.efficiency = 0.83,
                                         .step_seconds = 0.204e-6,
                                         .fill_seconds = 0.51e-6,
                                         .column_seconds = 1.5e-9,
                                         .store_seconds = 1.1e-10,
                                         .triangles = true};
constexpr GemmFigures kWarptiled32x32 = {.efficiency = 0.704,
                                         .step_seconds = 0.143e-6,
                                         .fill_seconds = 0.43e-6,
                                         .store_seconds = 1.1e-10,
                                         .triangles = true};
constexpr GemmFigures kSmall64x32 = {
    .efficiency = 0.75, .step_seconds = 1.3e-6, .fill_seconds = 0.77e-6, .store_seconds = 1.3e-10};
constexpr GemmFigures kSmall32x32 = {.efficiency = 0.707,
                                     .step_seconds = 0.931e-6,
                                     .fill_seconds = 0.65e-6,
                                     .store_seconds = 1.3e-10};
constexpr GemmFigures kSmall16x16 = {.efficiency = 0.563,
                                     .step_seconds = 0.705e-6,
                                     .fill_seconds = 0.55e-6,
                                     .store_seconds = 1.5e-10};
constexpr GemmFigures kSliced64x64 = {.efficiency = 0.61,
                                      .step_seconds = 0.642e-6,
                                      .column_seconds = 9.5e-9,
                                      .store_seconds = 0.7e-10,
                                      .triangles = true};
constexpr GemmFigures kSliced32x32 = {.efficiency = 0.29,
                                      .step_seconds = 0.468e-6,
                                      .column_seconds = 6.8e-9,
                                      .store_seconds = 0.46e-10,
                                      .triangles = true};
constexpr GemmFigures kSliced32x16 = {.efficiency = 0.413,
                                      .step_seconds = 0.287e-6,
                                      .fill_seconds = 0.35e-6,
                                      .store_seconds = 5e-10,
                                      .round_seconds = 0.4e-6,
                                      .triangles = true};
constexpr GemmFigures kSplitk64x64 = {.efficiency = 0.705, .step_seconds = 0.233e-6};
constexpr GemmFigures kSplitk64x32 = {.efficiency = 0.686, .step_seconds = 0.126e-6};
constexpr GemmFigures kSplitk32x64 = {.efficiency = 0.675, .step_seconds = 0.127e-6};
constexpr GemmFigures kSplitk32x32 = {.efficiency = 0.562, .step_seconds = 0.118e-6};
constexpr GemmFigures kTiled = {.efficiency = 0.125,
                                .step_seconds = 0.781e-6,
                                .fill_seconds = 1e-6,
                                .store_seconds = 3.6e-10,
                                .round_seconds = 0.29e-6,
                                .triangles = true};
constexpr GemmFigures kNaive = {.takes = Takes::kAny,
                                .efficiency = 0.038,
                                .step_seconds = 0.042e-6,
                                .fill_seconds = 0.22e-6,
                                .store_seconds = 8.9e-10,
                                .round_seconds = 0.1e-6,
                                .triangles = true};

}  // namespace mygemm::tile_figures
