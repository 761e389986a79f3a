#include <array>
#include <string>
#include <vector>

#include <H5Cpp.h>
#include <gtest/gtest.h>

#include "cases/reconstruct/hdf5.hpp"
#include "tests/cases/reconstruct/reading.hpp"

/// Frames that were compressed with filters that this machine lacks.
namespace rankcheck::cases::reconstruct {
namespace {

/// Writes [2, 2] numbers. The dataset's chunk claims that it went through the filter.
void write_filtered(const std::filesystem::path& path, H5Z_filter_t filter) {
  const H5::H5File file(path.string(), H5F_ACC_TRUNC);
  const std::array<hsize_t, 2> extents{2, 2};
  H5::DSetCreatPropList properties;
  properties.setChunk(2, extents.data());
  ASSERT_GE(H5Pset_filter(properties.getId(), filter, H5Z_FLAG_OPTIONAL, 0, nullptr), 0);
  const H5::DataSet dataset = file.createDataSet(
      "data", H5::PredType::NATIVE_FLOAT, H5::DataSpace(2, extents.data()), properties);
  const std::array<float, 4> values{};
  const std::array<hsize_t, 2> first{0, 0};
  ASSERT_GE(
      H5Dwrite_chunk(dataset.getId(), H5P_DEFAULT, 0, first.data(), sizeof values, values.data()),
      0);
}

TEST_F(ReadTest, NamesTheFilterThatIsMissing) {
  struct Filter {
    H5Z_filter_t number;
    std::string name;
  };
  for (const Filter& filter : {Filter{32008, "bitshuffle (32008)"}, Filter{65000, "65000"}}) {
    write_filtered(path_, filter.number);
    const hdf5::Reader file(path_);
    const std::string expected = path_.string() +
                                 ": data: found data that a missing filter compressed, "
                                 "expected the HDF5 filter " +
                                 filter.name + " in a folder of HDF5_PLUGIN_PATH";
    const auto complaint = [&](const auto& read) -> std::string {
      try {
        read();
      } catch (const harness::BadInput& bad) {
        return bad.what();
      }
      return "nothing";
    };
    std::vector<float> rows;
    EXPECT_TRUE(complaint([&] { (void)file.numbers<float>("data"); }).starts_with(expected));
    EXPECT_TRUE(complaint([&] { file.rows("data", 0, 1, rows); }).starts_with(expected))
        << complaint([&] { file.rows("data", 0, 1, rows); });
  }
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
