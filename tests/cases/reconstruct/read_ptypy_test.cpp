#include <vector>

#include <gtest/gtest.h>

#include "cases/reconstruct/dataset.hpp"
#include "tests/cases/reconstruct/reading.hpp"

/// Scans in ptypy's layout.
namespace rankcheck::cases::reconstruct {
namespace {

class ReadPtypyTest : public ReadTest {
 protected:
  ReadPtypyTest() {
    const double kiloelectronvolts = wavelength_of_energy(4) / 1.602176634e-16;
    scan_ = {
        number("meta/energy", kiloelectronvolts),
        number("meta/distance", 1),
        number("meta/psize", 1),
        numbers("chunks/10/data", {1, 4, 4}, std::vector<double>(16, 100)),
        numbers("chunks/10/positions", {1, 2}, {4.5, 3.25}),
        numbers("chunks/2/data", {2, 4, 4}, ascending(32)),
        numbers("chunks/2/positions", {2, 2}, {0, 0, 2, 1}),
    };
    weights_[6] = 0;
  }

  /// Weights of a frame whose pixel 6 is bad.
  std::vector<double> weights_ = std::vector<double>(16, 1);
  Part center_ = numbers("meta/center", {2}, {1, 2});
};

TEST_F(ReadPtypyTest, TakesChunksByTheirNumber) {
  const Dataset data = read();
  EXPECT_EQ(data.count, 3);
  EXPECT_EQ(data.frames[0], 10);
  EXPECT_EQ(data.frames[32], 100);
  ASSERT_EQ(data.positions.size(), 6U);
  EXPECT_NEAR(data.positions[4], 5.5, 1e-5);
  EXPECT_NEAR(data.positions[5], 4.25, 1e-5);
}

TEST_F(ReadPtypyTest, TakesTheCentreAndTheWeights) {
  const Dataset data = read({center_, numbers("chunks/10/weights", {1, 4, 4}, weights_)});
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.frames[0], 0);
  EXPECT_EQ(data.frames[1], 7);
  EXPECT_EQ(data.partly_bad, 1);
}

TEST_F(ReadPtypyTest, TakesTheWeightsThatFramesShare) {
  const Dataset data = read({center_,
                             numbers("meta/weight2d", {4, 4}, weights_),
                             numbers("chunks/2/weights", {0}, {}),
                             numbers("chunks/10/weights", {0}, {})});
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.masked(), 1);
  EXPECT_EQ(data.partly_bad, 0);
}

TEST_F(ReadPtypyTest, RejectsChunksWithOtherCounts) {
  expect_rejected(numbers("chunks/2/positions", {3, 2}, {0, 0, 1, 1, 2, 2}),
                  "found [3, 2], expected [2, 2], a position for each frame");
  expect_rejected(numbers("chunks/10/data", {1, 1, 1}, {1}),
                  "found [1, 1, 1], expected frames of 4 × 4 pixels, as in the chunk before");
  scan_ = without(scan_, {"meta/energy"});
  expect_rejected(
      {}, "meta/energy or info/energy", "found no such dataset, expected kiloelectronvolts");
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
