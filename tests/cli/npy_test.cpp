// The .npy reader and writer: files that NumPy may write are read, all others are refused with a
// sentence that says why.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "error.h"
#include "npy.h"
#include "npy_file.h"

namespace mygemm::cli::npy {
namespace {

using namespace std::string_literals;

constexpr char kGood[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

// A file of format `major`.0 with the header text and `data_bytes` zeros behind it.
std::string file_with(const std::string& header, size_t data_bytes, char major = 1) {
  std::string file = "\x93NUMPY"s + major + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i));
  }
  return file + header + std::string(data_bytes, '\0');
}

Header parse(const std::string& file) {
  return parse_header({reinterpret_cast<const std::byte*>(file.data()), file.size()}, file.size());
}

Header parse_dict(const std::string& header, size_t data_bytes) {
  return parse(file_with(header, data_bytes));
}

// The sentence with which the file is refused; empty where it is not.
std::string refusal(const std::string& file) {
  try {
    parse(file);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_refused(const std::string& header, size_t data_bytes, const std::string& sentence) {
  EXPECT_EQ(refusal(file_with(header, data_bytes)), sentence);
}

std::string with_shape(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
}

std::string with_descr(const std::string& descr) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,)}";
}

TEST(NpyHeader, ReadsEveryFormatVersion) {
  for (const char major : {1, 2, 3}) {
    const Header header = parse(file_with(kGood, 24, major));
    EXPECT_EQ(header.type, kFloat32);
    EXPECT_FALSE(header.fortran_order);
    EXPECT_EQ(header.shape, (Shape{2, 3}));
    EXPECT_EQ(header.elements, 6);
    EXPECT_EQ(header.data_bytes, 24u);
    EXPECT_EQ(header.data_offset, (major == 1 ? 10 : 12) + std::strlen(kGood));
  }
}

TEST(NpyHeader, ReadsAnyLayoutOfTheDict) {
  for (const char* text : {"{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
                           "{\"shape\": (2, 3,), \"descr\": \"<f4\", \"fortran_order\": False}",
                           " \t{ 'shape' :\n( 2L , 3L ) , 'fortran_order' : False ,"
                           "'descr' : '<f4' , } \n\n"}) {
    const Header header = parse_dict(text, 24);
    EXPECT_EQ(header.shape, (Shape{2, 3})) << text;
    EXPECT_EQ(header.type, kFloat32) << text;
  }
}

TEST(NpyHeader, ReadsEveryNumericType) {
  for (const char* descr : {"|b1", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<i8",
                            "<u8", "<f8", "<c8", "<f16", "<c16"}) {
    const size_t bytes = std::stoul(descr + 2);
    const Header header = parse_dict(with_descr("'"s + descr + "'"), 2 * bytes);
    EXPECT_EQ(header.type.descr(), descr);
    EXPECT_EQ(header.data_bytes, 2 * bytes);
  }
}

TEST(NpyHeader, ReadsScalarsVectorsAndEmptyArrays) {
  EXPECT_EQ(parse_dict(with_shape("()"), 4).elements, 1);
  EXPECT_EQ(parse_dict(with_shape("(5,)"), 20).shape, Shape{5});
  EXPECT_EQ(parse_dict(with_shape("(0, 7)"), 0).elements, 0);
  EXPECT_TRUE(
      parse_dict("{'descr': '<f4', 'fortran_order': True, 'shape': (0,)}", 0).fortran_order);
}

TEST(NpyHeader, RefusesWhatIsNoNpyFile) {
  const std::string no_npy = "not a .npy file: it does not start with \\x93NUMPY";
  EXPECT_EQ(refusal(""), no_npy);
  EXPECT_EQ(refusal("PK\x03\x04 an archive"), no_npy);
  EXPECT_EQ(refusal("\x93NUMPX\x01"s), no_npy);
  EXPECT_EQ(refusal("\x93NUMPY\x04\0\x02\0{}"s),
            ".npy format 4.0 is unknown; 1.0, 2.0 and 3.0 are read");
  EXPECT_EQ(refusal("\x93NUMPY\x01\x01\x02\0{}"s),
            ".npy format 1.1 is unknown; 1.0, 2.0 and 3.0 are read");
}

TEST(NpyHeader, RefusesEveryTruncation) {
  const std::string file = file_with(kGood, 24);
  for (size_t size = 6; size < file.size(); ++size) {
    EXPECT_EQ(refusal(file.substr(0, size)).substr(0, 10), "truncated:") << size;
  }
  EXPECT_EQ(refusal(file), "");
}

TEST(NpyHeader, RefusesSizesThatDoNotFit) {
  expect_refused(kGood, 23,
                 "truncated: the shape (2, 3) of <f4 takes 24 bytes, and 23 follow "
                 "the header");
  expect_refused(kGood, 25,
                 "too long: the shape (2, 3) of <f4 takes 24 bytes, and 25 follow "
                 "the header");
  EXPECT_EQ(refusal("\x93NUMPY\x02\0\xff\xff\xff\xff{"s),
            "the header's length is 4294967295 bytes; at most 65535 are read");
  expect_refused(with_shape("(2147483648, 1073741824)"), 24,
                 "the shape (2147483648, 1073741824) of 4-byte elements takes more than "
                 "2^63 - 1 bytes");
  expect_refused(with_shape("(0, 9223372036854775807)"), 0,
                 "the shape (0, 9223372036854775807) of 4-byte elements takes more than "
                 "2^63 - 1 bytes");
  expect_refused(with_shape("(9223372036854775808,)"), 0,
                 "the shape has an extent of '9223372036854775808', which does not fit 64 bits");
  expect_refused(with_shape("(-1, 6)"), 24,
                 "the shape has an extent of -1; extents are not negative");
  std::string long_shape = "(";
  for (int i = 0; i < 65; ++i) long_shape += "1, ";
  expect_refused(with_shape(long_shape + ")"), 4, "the shape has more than 64 dimensions");
}

TEST(NpyHeader, RefusesOtherTypes) {
  expect_refused(with_descr("'>f4'"), 8,
                 "descr '>f4' is big-endian; only little-endian arrays are read");
  expect_refused(with_descr("'|O'"), 8, "descr '|O' holds Python objects, not numbers");
  expect_refused(with_descr("[('a', '<f4')]"), 8,
                 "descr is a list of fields; records are not read");
  for (const char* descr :
       {"", "<", "<S3", "<U4", "<V4", "<M8[s]", "<f3", "<f40", "|f4", "f4", "<c32", "<f4 "}) {
    expect_refused(with_descr("'"s + descr + "'"), 8,
                   "descr '"s + descr +
                       "' is not a boolean, integer, float or complex type of "
                       "1, 2, 4, 8 or 16 bytes");
  }
}

TEST(NpyHeader, RefusesOtherDicts) {
  const std::string f4 = "'descr': '<f4', ", order = "'fortran_order': False, ",
                    shape = "'shape': (2,), ";
  expect_refused("{" + order + shape + "}", 8, "the header has no key 'descr'");
  expect_refused("{" + f4 + shape + "}", 8, "the header has no key 'fortran_order'");
  expect_refused("{" + f4 + order + "}", 8, "the header has no key 'shape'");
  expect_refused("{" + f4 + f4 + "}", 8, "the header has the key 'descr' twice");
  expect_refused("{" + f4 + "'extra': 1}", 8, "the header has the unknown key 'extra'");
  expect_refused("{" + f4 + order + shape + "} x", 8, "the header goes on after its closing brace");
  expect_refused("[1]", 8, "expected '{' in the header at '[1]'");
  expect_refused("{'descr", 8, "expected a closing ' in the header at 'descr'");
  expect_refused("{" + f4 + "'fortran_order': 0}", 8,
                 "expected True or False in the header at '0}'");
  expect_refused(with_shape("(5)"), 20, "expected ',' in the header at ')}'");
  expect_refused(with_shape("(2 3)"), 24, "expected ',' in the header at '3)}'");
  expect_refused(with_shape("(1.5, 2)"), 24, "expected ',' in the header at '.5, 2)}'");
  expect_refused(with_shape("(, 2)"), 24, "expected an integer in the header at ', 2)}'");
  expect_refused("{'" + std::string(50, '\x01') + "': 1}", 8,
                 "the header has the unknown key '" + std::string(40, '?') + "...'");
}

TEST(NpyHeader, WritesWhatItReads) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0, 4}, Shape(64, 1)}) {
    for (const bool fortran_order : {false, true}) {
      const std::string text = make_header(kFloat16, shape, fortran_order);
      EXPECT_EQ(text.size() % 64, 0u);
      EXPECT_EQ(text.back(), '\n');
      const Header header = parse(text + std::string(byte_count(shape, kFloat16), '\0'));
      EXPECT_EQ(header.shape, shape);
      EXPECT_EQ(header.type, kFloat16);
      EXPECT_EQ(header.fortran_order, fortran_order);
      EXPECT_EQ(header.data_offset, text.size());
    }
  }
}

// ---- files --------------------------------------------------------------------------------------

class NpyFile : public testing::Test {
 protected:
  NpyFile() { std::filesystem::create_directories(folder_); }
  ~NpyFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  size_t files_there() const {
    const std::filesystem::directory_iterator entries(folder_);
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  std::string load_refusal(const std::string& name) const {
    try {
      load(path(name));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      concat("npy_test_", ::testing::UnitTest::GetInstance()->random_seed(), "_", getpid());
};

Array two_floats(const std::string& path) {
  Bytes data(2 * sizeof(float));
  data.as<float>()[0] = 1.5f;
  data.as<float>()[1] = -2.0f;
  return {path, kFloat32, false, {1, 2}, std::move(data)};
}

TEST_F(NpyFile, SavesAndLoads) {
  save(two_floats(path("x.npy")));
  save(two_floats(path("x.npy")));  // replaces the first
  EXPECT_EQ(files_there(), 1u);
  const Array array = load(path("x.npy"));
  EXPECT_EQ(array.shape, (Shape{1, 2}));
  EXPECT_EQ(array.data.as<float>()[0], 1.5f);
  EXPECT_EQ(array.data.as<float>()[1], -2.0f);
}

TEST_F(NpyFile, SavesThroughALink) {
  std::ofstream(path("target.npy")) << "old content";
  std::filesystem::create_symlink("target.npy", path("link.npy"));
  save(two_floats(path("link.npy")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.npy")));
  EXPECT_EQ(load(path("target.npy")).shape, (Shape{1, 2}));
}

TEST_F(NpyFile, NamesTheFileItCannotLoad) {
  EXPECT_EQ(load_refusal("none.npy"),
            path("none.npy") + ": cannot be opened: No such file or directory");
  std::filesystem::create_directory(path("folder.npy"));
  EXPECT_EQ(load_refusal("folder.npy"), path("folder.npy") + ": cannot be read: Is a directory");
  std::ofstream(path("text.npy")) << "text";
  EXPECT_EQ(load_refusal("text.npy"),
            path("text.npy") + ": not a .npy file: it does not start with \\x93NUMPY");
}

TEST_F(NpyFile, LeavesNothingWhereItCannotSave) {
  EXPECT_THROW(save(two_floats(path("none/x.npy"))), Error);
  std::filesystem::create_directory(path("folder.npy"));
  EXPECT_THROW(save(two_floats(path("folder.npy"))), Error);
  EXPECT_EQ(files_there(), 1u);
}

}  // namespace
}  // namespace mygemm::cli::npy
