#include "harness/base/npy.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

TEST(NpyTest, IsNumpysFormat) {
  const std::array<float, 2> values{1.5F, -2.0F};
  const std::string file =
      to_npy(spec::Type::f32, reinterpret_cast<const std::byte*>(values.data()), {2});
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(file.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   ");
  ASSERT_EQ(file.size() % 64, 8U);
  EXPECT_EQ(file[file.size() - 9], '\n');
  EXPECT_EQ(file.substr(file.size() - 8),
            std::string(reinterpret_cast<const char*>(values.data()), 8));
}

TEST(NpyTest, HasTheShape) {
  const std::array<std::int8_t, 6> values{1, 2, 3, 4, 5, 6};
  const std::string file =
      to_npy(spec::Type::int8, reinterpret_cast<const std::byte*>(values.data()), {2, 1, 3});
  EXPECT_TRUE(has(file, "'shape': (2, 1, 3), }"));
  EXPECT_EQ(file.size() % 64, 6U);
}

TEST(NpyTest, HeaderSizeIsStated) {
  const std::string file = to_npy(spec::Type::int8, nullptr, {0});
  const auto stated =
      static_cast<unsigned char>(file[8]) + 256 * static_cast<unsigned char>(file[9]);
  EXPECT_EQ(file.size(), 10U + static_cast<unsigned>(stated));
}

TEST(NpyTest, DescriptionsHaveTheTypesSize) {
  for (const spec::TypeInfo& each : spec::type_table) {
    EXPECT_EQ(std::stoi(std::string(npy_description(each.type).substr(2))), each.bytes)
        << each.name;
  }
}

/// A file with this header.
std::string file_of(std::string header, const std::string& elements, char version = 1) {
  header += '\n';
  std::string file = std::string("\x93NUMPY", 6) + version + '\0';
  file += static_cast<char>(header.size());
  file += '\0';
  if (version > 1) file += std::string(2, '\0');
  return file + header + elements;
}

std::string refusal_of(const std::string& file) {
  return complaint_of<BadInput>([&] { return NpyArray(file).shape(); });
}

TEST(NpyArrayTest, ReadsWhatIsWritten) {
  const std::array<float, 6> values{1.5F, -2.0F, 3, 4, 5, 6};
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{2, 3}, {6}, {1, 6}, {0, 3}, {}}) {
    const NpyArray array(
        to_npy(spec::Type::f32, reinterpret_cast<const std::byte*>(values.data()), shape));
    EXPECT_EQ(array.description(), "<f4");
    EXPECT_EQ(array.shape(), shape);
    const std::span<const std::byte> expected = std::as_bytes(std::span(values));
    ASSERT_EQ(array.elements().size(), spec::to_size(array.count()) * 4);
    EXPECT_TRUE(std::equal(array.elements().begin(), array.elements().end(), expected.begin()));
  }
}

TEST(NpyArrayTest, ReadsWhatOtherWritersMayWrite) {
  const NpyArray array(
      file_of(R"({"shape":(2,1), "fortran_order" : False,"descr":"|u1"})", "ab", 2));
  EXPECT_EQ(array.shape(), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(array.description(), "|u1");
  // In one dimension, there is only one order.
  EXPECT_EQ(refusal_of(file_of("{'descr':'|u1','fortran_order':True,'shape':(2,),}", "ab")), "");
}

TEST(NpyArrayTest, RefusesOthersInOneLine) {
  const std::string damaged =
      "the header is damaged: expected 'descr', 'fortran_order' and 'shape'";
  const auto header = [](const std::string& description, const std::string& shape) {
    return "{'descr': " + description + ", 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "expected a file that numpy.save wrote"},
      {"PK\3\4 an archive of arrays", "expected a file that numpy.save wrote"},
      {file_of(header("'<f4'", "(1,)"), "1234", 4),
       "got 4, expected version 1, 2 or 3 of numpy's format"},
      {file_of(header("'<f4'", "(1,)"), "").substr(0, 40), "the file ends within its header"},
      {file_of(header("'<f4'", "(2,)"), "1234"),
       "got 4, expected 8 bytes behind the header for the shape (2,)"},
      {file_of(header("'<f4'", "(1,)"), "12345"),
       "got 5, expected 4 bytes behind the header for the shape (1,)"},
      {file_of(header("'<f4'", "(4611686018427387904, 4)"), "1234"),
       "got 4, expected fewer bytes behind the header for the shape (4611686018427387904, 4)"},
      {file_of(header("'>f4'", "(1,)"), "1234"),
       "expected little-endian numbers; array.astype(array.dtype.newbyteorder('<'))"},
      {file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", "1234"),
       "got Fortran order, expected C order; numpy.ascontiguousarray(array) converts"},
      {file_of(header("'|O'", "(1,)"), "1234"), "got dtype |O, expected an array of numbers"},
      {file_of(header("'<U4'", "(1,)"), "1234"), "got dtype <U4, expected an array of numbers"},
      {file_of(header("[('x', '<f4')]", "(1,)"), "1234"),
       "got an array of records, expected one of numbers"},
      {file_of(header("'<f4'", "(-1,)"), "1234"), damaged},
      {file_of(header("'<f4'", "(1"), "1234"), damaged},
      {file_of("{'descr': '<f4', 'shape': (1,), }", "1234"), damaged},
      {file_of("{'descr': '<f4'", "1234"), damaged},
      {file_of(header("'<f4'", "(1,)") + "x", "1234"), damaged},
  };
  for (const auto& [file, refusal] : all) EXPECT_EQ(refusal_of(file), refusal);
}

TEST(NpyArrayTest, KnowsTheTypesOfDescriptions) {
  EXPECT_TRUE(is_npy_of("<f4", spec::Type::f32));
  EXPECT_FALSE(is_npy_of("<f8", spec::Type::f32));
  // numpy does not know bfloat16. The package ml_dtypes writes such arrays as bytes.
  EXPECT_TRUE(is_npy_of("|V2", spec::Type::bf16));
  EXPECT_TRUE(is_npy_of("<V1", spec::Type::f8e4m3));
  EXPECT_FALSE(is_npy_of("|V2", spec::Type::f16));
}

}  // namespace
}  // namespace rankcheck::harness
