#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/reconstruct/dataset.hpp"
#include "tests/cases/reconstruct/reading.hpp"

/// Scans in ptypy's layout.
namespace rankcheck::cases::reconstruct {
namespace {

std::vector<Part> ptypy_scan() {
  std::vector<double> frames;
  for (int i = 0; i < 32; ++i) frames.push_back(i);
  const double kiloelectronvolts = wavelength_of_energy(4) / 1.602176634e-16;
  return {
      number("meta/energy", kiloelectronvolts),
      number("meta/distance", 1),
      number("meta/psize", 1),
      numbers("chunks/10/data", {1, 4, 4}, std::vector<double>(16, 100)),
      numbers("chunks/10/positions", {1, 2}, {4.5, 3.25}),
      numbers("chunks/2/data", {2, 4, 4}, frames),
      numbers("chunks/2/positions", {2, 2}, {0, 0, 2, 1}),
  };
}

TEST_F(ReadTest, TakesChunksByTheirNumber) {
  const Dataset data = read(ptypy_scan());
  EXPECT_EQ(data.count, 3);
  EXPECT_EQ(data.frames[0], 10);
  EXPECT_EQ(data.frames[32], 100);
  ASSERT_EQ(data.positions.size(), 6U);
  EXPECT_NEAR(data.positions[4], 5.5, 1e-5);
  EXPECT_NEAR(data.positions[5], 4.25, 1e-5);
}

TEST_F(ReadTest, TakesTheCentreAndTheWeightsOfPtypy) {
  std::vector<double> weights(16, 1);
  weights[6] = 0;
  const Dataset data = read(with(
      ptypy_scan(),
      {numbers("meta/center", {2}, {1, 2}), numbers("chunks/10/weights", {1, 4, 4}, weights)}));
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.frames[0], 0);
  EXPECT_EQ(data.frames[1], 7);
  EXPECT_EQ(data.partly_bad, 1);
}

TEST_F(ReadTest, TakesTheWeightsThatPtypysFramesShare) {
  std::vector<double> weights(16, 1);
  weights[6] = 0;
  const Dataset data = read(with(ptypy_scan(),
                                 {numbers("meta/center", {2}, {1, 2}),
                                  numbers("meta/weight2d", {4, 4}, weights),
                                  numbers("chunks/2/weights", {0}, {}),
                                  numbers("chunks/10/weights", {0}, {})}));
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(std::count(data.mask.begin(), data.mask.end(), 0), 1);
  EXPECT_EQ(data.partly_bad, 0);
}

TEST_F(ReadTest, RejectsPtypysChunksWithOtherCounts) {
  expect_rejected(with(ptypy_scan(), {numbers("chunks/2/positions", {3, 2}, {0, 0, 1, 1, 2, 2})}),
                  "chunks/2/positions",
                  "found [3, 2], expected [2, 2], a position for each frame");
  expect_rejected(with(ptypy_scan(), {numbers("chunks/10/data", {1, 1, 1}, {1})}),
                  "chunks/10/data",
                  "found [1, 1, 1], expected frames of 4 × 4 pixels, as in the chunk before");
  expect_rejected(without(ptypy_scan(), {"meta/energy"}),
                  "meta/energy or info/energy",
                  "found no such dataset, expected kiloelectronvolts");
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
