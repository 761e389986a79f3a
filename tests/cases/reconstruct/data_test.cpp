#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/model.hpp"
#include "tests/cases/reconstruct/data_file.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// Returns the largest difference between a dataset's frames and its model's frames, relative to
/// the largest intensity.
double model_error(const Dataset& data) {
  ReferenceModel model(data);
  const std::size_t pixels = data.mask.size();
  double error = 0;
  for (std::int64_t n = 0; n < data.count; ++n) {
    const reference::BoundedArray& modelled = model.intensity(n);
    for (std::size_t i = 0; i < pixels; ++i) {
      const double measured = data.frames[spec::to_size(n) * pixels + i];
      error = std::max(error, std::abs(modelled.values[i].real() - measured));
    }
  }
  return error / *std::max_element(data.frames.begin(), data.frames.end());
}

class SimulatedScanTest : public DataFileTest<testing::Test, two_modes> {};

TEST_F(SimulatedScanTest, IsWhatItsObjectAndProbeGive) {
  EXPECT_EQ(data_.count, 169);
  EXPECT_EQ(data_.detector, 32);
  EXPECT_EQ(data_.window, 16);
  EXPECT_EQ(data_.modes, 2);
  EXPECT_EQ(data_.rows, 128);
  EXPECT_LE(model_error(data_), 2e-6);
  for (float& position : data_.positions) position += 0.5F;
  EXPECT_GT(model_error(data_), 1e-3);
}

class MeasuredScanTest : public DataFileTest<> {};

TEST_F(MeasuredScanTest, FitsOnItsObject) {
  EXPECT_EQ(data_.count, 516);
  EXPECT_EQ(data_.window, 128);
  EXPECT_TRUE(data_.has_probe);
  EXPECT_FALSE(data_.has_object);
  const auto [least, most] = std::minmax_element(data_.positions.begin(), data_.positions.end());
  EXPECT_GE(*least, 1);
  EXPECT_LT(*most + 128, std::max(data_.rows, data_.cols));
  // The beam is in the middle of the detector. Reading moves it to the frames' corners.
  double corner = 0;
  double middle = 0;
  for (std::size_t n = 0; n < 516; ++n) {
    corner += data_.frames[n * 128 * 128];
    middle += data_.frames[(n * 128 + 64) * 128 + 64];
  }
  EXPECT_GT(corner, 10 * middle);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
