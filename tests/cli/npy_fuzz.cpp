// libFuzzer target of the .npy reader. Any bytes either fail with Error or give a valid header: its
// sizes fit the data, and writing it again gives the same. Anything else (another exception, an
// overflow, a read out of bounds) is a crash and a finding.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "error.h"
#include "npy.h"

namespace {

namespace npy = mygemm::cli::npy;

void require(bool condition) {
  if (!condition) std::abort();
}

std::span<const std::byte> as_bytes(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

void check_sizes(const npy::Header& header, uint64_t file_bytes) {
  require(header.data_offset >= 10 && header.data_offset <= npy::kMaxHeaderBytes);
  require(header.data_offset + header.data_bytes == file_bytes);

  uint64_t elements = 1;  // wraps only where the reader failed to refuse
  for (const int64_t extent : header.shape) {
    require(extent >= 0);
    elements *= static_cast<uint64_t>(extent);
  }
  require(elements == static_cast<uint64_t>(header.elements));
  require(elements <= file_bytes);
  require(elements * static_cast<uint64_t>(header.type.bytes) == header.data_bytes);
  const int bytes = header.type.bytes;
  require(bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
}

void check_round_trip(const npy::Header& header) {
  const std::string text = npy::make_header(header.type, header.shape, header.fortran_order);
  const npy::Header again =
      npy::parse_header(as_bytes(text.data(), text.size()), text.size() + header.data_bytes);
  require(text.size() % 64 == 0 && again.data_offset == text.size());
  require(again.type == header.type && again.shape == header.shape);
  require(again.fortran_order == header.fortran_order);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const npy::Header header = npy::parse_header(as_bytes(data, size), size);
    check_sizes(header, size);
    check_round_trip(header);
  } catch (const mygemm::cli::Error& error) {
    require(error.what()[0] != '\0');
  }
  return 0;
}
