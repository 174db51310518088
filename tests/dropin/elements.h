// Matrices of the element types of products, in device memory, from and to floats.
#pragma once

#include <library_types.h>

#include <vector>

#include "support/memory.h"

namespace mygemm_tests {

size_t element_bytes(cudaDataType type);
DeviceBuffer upload_as(cudaDataType type, const std::vector<float>& values);
std::vector<float> download_as(cudaDataType type, const DeviceBuffer& buffer);

}  // namespace mygemm_tests
