#include "harness/npy.hpp"

#include <array>

#include <gtest/gtest.h>

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
  EXPECT_NE(file.find("'shape': (2, 1, 3,), }"), std::string::npos) << file;
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

}  // namespace
}  // namespace rankcheck::harness
