#include "tests/data.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/model.hpp"

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

TEST(DataTest, SimulatedScanIsWhatItsObjectAndProbeGive) {
  const auto path = tests::data_file("simulated-two-modes.cxi");
  if (!path) GTEST_SKIP() << tests::absent("simulated-two-modes.cxi");
  Dataset data = read_dataset(*path);
  EXPECT_EQ(data.count, 169);
  EXPECT_EQ(data.detector, 32);
  EXPECT_EQ(data.window, 16);
  EXPECT_EQ(data.modes, 2);
  EXPECT_EQ(data.rows, 128);
  EXPECT_LE(model_error(data), 2e-6);
  for (float& position : data.positions) position += 0.5F;
  EXPECT_GT(model_error(data), 1e-3);
}

TEST(DataTest, SiemensStarFitsOnItsObject) {
  const auto path = tests::data_file(tests::siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(tests::siemens_star);
  const Dataset data = read_dataset(*path);
  EXPECT_EQ(data.count, 516);
  EXPECT_EQ(data.window, 128);
  EXPECT_TRUE(data.has_probe);
  EXPECT_FALSE(data.has_object);
  const auto [least, most] = std::minmax_element(data.positions.begin(), data.positions.end());
  EXPECT_GE(*least, 1);
  EXPECT_LT(*most + 128, std::max(data.rows, data.cols));
  // The beam is in the middle of the detector. Reading moves it to the frames' corners.
  double corner = 0;
  double middle = 0;
  for (std::size_t n = 0; n < 516; ++n) {
    corner += data.frames[n * 128 * 128];
    middle += data.frames[(n * 128 + 64) * 128 + 64];
  }
  EXPECT_GT(corner, 10 * middle);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
