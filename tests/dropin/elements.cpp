// See elements.h.
#include "elements.h"

#include "support/oracle.h"

namespace mygemm_tests {
namespace {

// The numbers of cuBLAS's types are those of mygemm's.
mygemmDataType_t of(cudaDataType type) { return static_cast<mygemmDataType_t>(type); }

}  // namespace

size_t element_bytes(cudaDataType type) { return static_cast<size_t>(type_bytes(of(type))); }

DeviceBuffer upload_as(cudaDataType type, const std::vector<float>& values) {
  const size_t size = element_bytes(type);
  std::vector<unsigned char> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    encode(of(type), static_cast<double>(values[i]), &bytes[i * size]);
  }
  return {bytes.data(), bytes.size(), 0};
}

std::vector<float> download_as(cudaDataType type, const DeviceBuffer& buffer) {
  const size_t size = element_bytes(type);
  std::vector<unsigned char> bytes(buffer.bytes());
  buffer.download(bytes.data());
  std::vector<float> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(decode(of(type), &bytes[i * size]));
  }
  return values;
}

}  // namespace mygemm_tests
