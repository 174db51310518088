// Reading and writing .npy files, see npy_file.h.
#include "npy_file.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "error.h"
#include "input_file.h"
#include "output_file.h"
#include "progress.h"

namespace mygemm::cli::npy {
namespace {

Array parsed(const std::string& path, std::span<const std::byte> content) {
  Header header =
      parse_header(content.first(std::min(content.size(), kMaxHeaderBytes)), content.size());
  Bytes data(header.data_bytes);
  std::memcpy(data.data(), content.data() + header.data_offset, header.data_bytes);
  return {path, header.type, header.fortran_order, std::move(header.shape), std::move(data)};
}

Array load_unnamed(const std::string& path) {
  InputFile input(path);
  const int64_t size = input.size();
  if (size < 0) {
    Progress progress("reading");
    return parsed(path, input.read_to_the_end(&progress));
  }

  Progress progress("reading", size);
  const auto file_bytes = static_cast<uint64_t>(size);
  std::vector<std::byte> start(std::min<uint64_t>(file_bytes, kMaxHeaderBytes));
  const auto read_exactly = [&](std::byte* into, size_t bytes) {
    if (input.read(into, bytes, &progress) < bytes) throw Error("became shorter while it was read");
  };
  read_exactly(start.data(), start.size());
  Header header = parse_header(start, file_bytes);

  // Data that came with the header is the first of the array.
  Bytes data(header.data_bytes);
  const auto into = data.as<std::byte>();
  const size_t begun = start.size() - header.data_offset;
  std::copy(start.end() - static_cast<std::ptrdiff_t>(begun), start.end(), into.begin());
  read_exactly(into.data() + begun, into.size() - begun);
  return {path, header.type, header.fortran_order, std::move(header.shape), std::move(data)};
}

}  // namespace

Array load(const std::string& path) {
  const std::string name = input_name(path);
  try {
    Array array = load_unnamed(path);
    array.path = name;
    return array;
  } catch (const Error& error) {
    throw Error(name, ": ", error.what());
  } catch (const std::bad_alloc&) {
    throw Error(name, ": does not fit in memory");
  }
}

void save(const Array& array) {
  OutputFile file(array.path);
  const std::string header = make_header(array.type, array.shape, array.fortran_order);
  file.write(header.data(), header.size());
  file.write(array.data.data(), array.data.size());
  file.finish();
}

}  // namespace mygemm::cli::npy
