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
  for (const auto& [number, name] :
       {std::pair<int, std::string>{32008, "bitshuffle (32008)"}, {65000, "65000"}}) {
    write_filtered(path_, number);
    const hdf5::Reader file(path_);
    const std::string expected = path_.string() +
                                 ": data: found data that a missing filter compressed, "
                                 "expected the HDF5 filter " +
                                 name + " in a folder of HDF5_PLUGIN_PATH";
    std::vector<float> rows;
    EXPECT_EQ(complaint_of([&] { return file.numbers<float>("data"); }), expected);
    EXPECT_EQ(complaint_of([&] { file.rows("data", 0, 1, rows); }), expected);
  }
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
