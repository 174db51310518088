// The .npy format: a magic string, a version, the length of a header and the header, a Python
// dict literal with the keys descr, fortran_order and shape; then the data. Pure, see npy.h.
#include "npy.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "error.h"

namespace mygemm::cli::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxDimensions = 64;  // NumPy 2's own limit

// Text from a file, for a message: shortened, and without control characters.
std::string quote(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string quoted = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    quoted += code < 0x20 || code >= 0x7f ? '?' : c;
  }
  return quoted + (text.size() > kLongest ? "...'" : "'");
}

// Reads the dict literal from left to right. Knows only what a header may hold.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }

  bool take(char wanted) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(concat("'", wanted, "'"));
  }

  std::string_view string() {
    const char mark = take('\'') ? '\'' : take('"') ? '"' : '\0';
    if (mark == '\0') fail("a quoted string");
    const size_t end = text_.find(mark, position_);
    if (end == std::string_view::npos) fail(concat("a closing ", mark));
    const std::string_view content = text_.substr(position_, end - position_);
    position_ = end + 1;
    return content;
  }

  bool boolean() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      skip_space();
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    fail("True or False");
  }

  // A tuple of integers. As in Python, a tuple of one needs its comma.
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(extent());
      if (shape.size() > kMaxDimensions) {
        throw Error("the shape has more than ", kMaxDimensions, " dimensions");
      }
      if (take(',')) continue;
      if (shape.size() == 1) fail("','");
      expect(')');
      break;
    }
    return shape;
  }

  // A list of fields stands where descr has a string otherwise.
  bool starts_list() { return take('['); }

 private:
  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  int64_t extent() {
    skip_space();
    const char* const begin = text_.data() + position_;
    const char* const end = text_.data() + text_.size();
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    const std::string_view digits(begin, static_cast<size_t>(stop - begin));
    if (error == std::errc::result_out_of_range) {
      throw Error("the shape has an extent of ", quote(digits), ", which does not fit 64 bits");
    }
    if (error != std::errc()) fail("an integer");
    if (value < 0) throw Error("the shape has an extent of ", value, "; extents are not negative");
    position_ += digits.size();
    take('L');  // Python 2 wrote long integers so
    return value;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw Error("expected ", expected, " in the header at ", quote(text_.substr(position_)));
  }

  std::string_view text_;
  size_t position_ = 0;
};

ElementType parse_descr(std::string_view descr) {
  const char order = descr.empty() ? '\0' : descr[0];
  if (order == '>') {
    throw Error("descr ", quote(descr), " is big-endian; only little-endian arrays are read");
  }
  const char kind = descr.size() > 1 ? descr[1] : '\0';
  if (kind == 'O') throw Error("descr ", quote(descr), " holds Python objects, not numbers");

  constexpr std::string_view kKnown[] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<f2",  "<i4", "<u4",
                                         "<f4", "<i8", "<u8", "<f8", "<c8", "<f16", "<c16"};
  if (std::find(std::begin(kKnown), std::end(kKnown), descr) == std::end(kKnown)) {
    throw Error("descr ", quote(descr),
                " is not a boolean, integer, float or complex type of 1, 2, 4, 8 or 16 bytes");
  }
  int bytes = 0;
  std::from_chars(descr.data() + 2, descr.data() + descr.size(), bytes);
  return {kind, bytes};
}

template <class Value>
void set_once(std::optional<Value>* field, std::string_view key, Value value) {
  if (field->has_value()) throw Error("the header has the key ", quote(key), " twice");
  *field = std::move(value);
}

// Fills type, fortran_order and shape.
Header parse_dict(std::string_view text) {
  DictReader reader(text);
  std::optional<ElementType> type;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;

  reader.expect('{');
  while (!reader.take('}')) {
    const std::string_view key = reader.string();
    reader.expect(':');
    if (key == "descr") {
      if (reader.starts_list()) throw Error("descr is a list of fields; records are not read");
      set_once(&type, key, parse_descr(reader.string()));
    } else if (key == "fortran_order") {
      set_once(&fortran_order, key, reader.boolean());
    } else if (key == "shape") {
      set_once(&shape, key, reader.tuple());
    } else {
      throw Error("the header has the unknown key ", quote(key));
    }
    if (reader.take(',')) continue;
    reader.expect('}');
    break;
  }
  if (!reader.at_end()) throw Error("the header goes on after its closing brace");
  if (!type) throw Error("the header has no key 'descr'");
  if (!fortran_order) throw Error("the header has no key 'fortran_order'");
  if (!shape) throw Error("the header has no key 'shape'");
  return {*type, *fortran_order, *std::move(shape), 0, 0, 0};
}

}  // namespace

std::string ElementType::descr() const { return concat(bytes == 1 ? '|' : '<', kind, bytes); }

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += concat(i == 0 ? "" : ", ", shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

int64_t element_count(const Shape& shape, ElementType type) {
  int64_t bytes = type.bytes;
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) {
      throw Error("the shape ", to_string(shape), " of ", type.bytes,
                  "-byte elements takes more than 2^63 - 1 bytes");
    }
    elements *= extent;
  }
  return elements;
}

size_t byte_count(const Shape& shape, ElementType type) {
  return static_cast<size_t>(element_count(shape, type)) * static_cast<size_t>(type.bytes);
}

Header parse_header(std::span<const std::byte> prefix, uint64_t file_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  if (text.substr(0, kMagic.size()) != kMagic) {
    throw Error("not a .npy file: it does not start with \\x93NUMPY");
  }
  const auto byte_at = [&](size_t i) -> size_t {
    if (i >= text.size()) throw Error("truncated: the file ends after ", file_bytes, " bytes");
    return static_cast<unsigned char>(text[i]);
  };

  const size_t major = byte_at(6);
  const size_t minor = byte_at(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(".npy format ", major, ".", minor, " is unknown; 1.0, 2.0 and 3.0 are read");
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t start = 8 + length_bytes;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte_at(8 + i) << (8 * i);
  if (length > kMaxHeaderBytes - start) {
    throw Error("the header's length is ", length, " bytes; at most ", kMaxHeaderBytes - start,
                " are read");
  }
  if (start + length > text.size()) {
    throw Error("truncated: the header should have ", length, " bytes, and the file ends after ",
                text.size() - start);
  }

  Header header = parse_dict(text.substr(start, length));
  header.elements = element_count(header.shape, header.type);
  header.data_offset = start + length;
  header.data_bytes = byte_count(header.shape, header.type);
  const uint64_t available = file_bytes - header.data_offset;
  if (available != header.data_bytes) {
    throw Error(available < header.data_bytes ? "truncated: " : "too long: ", "the shape ",
                to_string(header.shape), " of ", header.type.descr(), " takes ", header.data_bytes,
                " bytes, and ", available, " follow the header");
  }
  return header;
}

std::string make_header(ElementType type, const Shape& shape, bool fortran_order) {
  constexpr size_t kStart = 10;
  constexpr size_t kAlignment = 64;
  std::string dict =
      concat("{'descr': '", type.descr(), "', 'fortran_order': ", fortran_order ? "True" : "False",
             ", 'shape': ", to_string(shape), ", }");
  const size_t unpadded = kStart + dict.size() + 1;
  dict.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dict += '\n';
  const std::string preamble = {1, 0, static_cast<char>(dict.size() & 0xff),
                                static_cast<char>(dict.size() >> 8)};
  return std::string(kMagic) + preamble + dict;
}

}  // namespace mygemm::cli::npy
