// Measured constants of the kernels whose blocks compute one block tile each. How they were fitted:
// tile_estimate.h, and warptiled.h for split-K.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::tile_figures {

constexpr GemmFigures kWarptiled128x128 = {.efficiency = 0.808,
                                           .step_seconds = 0.216e-6,
                                           .fill_seconds = 0.41e-6,
                                           .column_seconds = 7e-9,
                                           .store_seconds = 0.55e-10,
                                           .round_seconds = 1.1e-6,
                                           .triangles = true};
constexpr GemmFigures kWarptiled128x64 = {.efficiency = 0.843,
                                          .step_seconds = 0.267e-6,
                                          .fill_seconds = 0.21e-6,
                                          .column_seconds = 15e-9,
                                          .store_seconds = 0.56e-10,
                                          .round_seconds = 0.8e-6,
                                          .triangles = true};
constexpr GemmFigures kWarptiled64x64 = {.efficiency = 0.661,
                                         .step_seconds = 0.189e-6,
                                         .fill_seconds = 0.69e-6,
                                         .column_seconds = 3.8e-9,
                                         .store_seconds = 0.96e-10,
                                         .round_seconds = 0.44e-6,
                                         .triangles = true};
constexpr GemmFigures kWarptiled64x32 = {.efficiency = 0.647,
                                         .step_seconds = 0.131e-6,
                                         .fill_seconds = 0.45e-6,
                                         .column_seconds = 28e-9,
                                         .store_seconds = 0.49e-10,
                                         .round_seconds = 0.52e-6,
                                         .triangles = true};
constexpr GemmFigures kWarptiled32x64 = {.efficiency = 0.693,
                                         .step_seconds = 0.143e-6,
                                         .fill_seconds = 0.56e-6,
                                         .column_seconds = 10e-9,
                                         .store_seconds = 0.79e-10,
                                         .round_seconds = 0.39e-6,
                                         .triangles = true};
constexpr GemmFigures kWarptiled32x32 = {.efficiency = 0.596,
                                         .step_seconds = 0.119e-6,
                                         .fill_seconds = 0.48e-6,
                                         .column_seconds = 6.8e-9,
                                         .store_seconds = 1e-10,
                                         .triangles = true};
constexpr GemmFigures kSmall64x32 = {.efficiency = 0.63,
                                     .step_seconds = 0.891e-6,
                                     .fill_seconds = 0.95e-6,
                                     .column_seconds = 24e-9,
                                     .store_seconds = 1e-10,
                                     .round_seconds = 1.3e-6};
constexpr GemmFigures kSmall32x32 = {.efficiency = 0.70,
                                     .step_seconds = 0.737e-6,
                                     .fill_seconds = 0.6e-6,
                                     .column_seconds = 26e-9,
                                     .store_seconds = 1.4e-10};
constexpr GemmFigures kSmall16x16 = {.efficiency = 0.432,
                                     .step_seconds = 0.503e-6,
                                     .fill_seconds = 0.9e-6,
                                     .column_seconds = 21e-9,
                                     .store_seconds = 1.7e-10};
constexpr GemmFigures kSliced64x64 = {.efficiency = 0.572,
                                      .step_seconds = 0.626e-6,
                                      .fill_seconds = 0.15e-6,
                                      .column_seconds = 7.5e-9,
                                      .store_seconds = 0.51e-10,
                                      .round_seconds = 0.15e-6,
                                      .triangles = true};
constexpr GemmFigures kSliced32x32 = {.efficiency = 0.34,
                                      .step_seconds = 0.499e-6,
                                      .fill_seconds = 0.17e-6,
                                      .column_seconds = 3.1e-9,
                                      .store_seconds = 0.61e-10,
                                      .triangles = true};
constexpr GemmFigures kSliced32x16 = {.efficiency = 0.43,
                                      .step_seconds = 0.31e-6,
                                      .fill_seconds = 0.2e-6,
                                      .store_seconds = 6.3e-10,
                                      .round_seconds = 0.53e-6,
                                      .triangles = true};
constexpr GemmFigures kSplitk64x64 = {.efficiency = 0.63, .step_seconds = 0.127e-6};
constexpr GemmFigures kSplitk64x32 = {.efficiency = 0.66, .step_seconds = 0.18e-6};
constexpr GemmFigures kSplitk32x64 = {.efficiency = 0.65, .step_seconds = 0.165e-6};
constexpr GemmFigures kSplitk32x32 = {.efficiency = 0.51, .step_seconds = 0.12e-6};
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
