#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::gaussian_cost {
namespace {

using spec::Array;

TEST(GaussianCostTest, ComparesAmplitudes) {
  // The amplitudes are 4 and 1: (4 - 1)^2.
  EXPECT_EQ(outputs_of(reference, far_pixels({1}, {4i}, {1}))[Array::cost].values, Values{9});
}

TEST(GaussianCostTest, TheGradientIsWhatTheWaveHasTooMuch) {
  // (1 - sqrt(1 / 16)) 4i.
  EXPECT_EQ(outputs_of(reference, far_pixels({1}, {4i}, {1}))[Array::far_waves].values, Values{3i});
}

TEST(GaussianCostTest, ModesShareTheAmplitude) {
  // The amplitude of 3 and 4i is 5, so (5 - 2)^2 and (1 - 2/5) (3, 4i).
  OperatorArrays in = far_pixels({1}, {0}, {4});
  in.scene.modes = 2;
  in[Array::far_waves] = {.values = {3, 4i}, .errors = {0, 0}};
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::cost].values, {9});
  expect_near(out[Array::far_waves].values, {1.8, 2.4i});
}

TEST(GaussianCostTest, SumsThePositionsOfAllRanks) {
  // (4 - 1)^2 + (2 - 1)^2 + (1 - 2)^2.
  const OperatorArrays out = outputs_of(reference, far_pixels({2, 0, 1}, {4, 2, 1i}, {1, 1, 4}));
  EXPECT_EQ(out[Array::cost].values, Values{11});
  EXPECT_EQ(out[Array::far_waves].values, (Values{3, 1, -1i}));
}

TEST(GaussianCostTest, UnmeasuredPixelsAddNothing) {
  // Both frames: (4 - 1)^2 + (2 - 4)^2 in the first and the last pixel.
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2}, {1, 1});
  in.make(Array::far_waves).values = {4, 4, 4, 2i, 4, 4, 4, 2i};
  in.make(Array::frames).values = {1, 9, 9, 16, 1, 9, 9, 16};
  in.make(Array::mask).values = {1, 0, 0, 1};
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::cost].values, Values{26});
  EXPECT_EQ(out[Array::far_waves].values, (Values{3, 0, 0, -2i, 3, 0, 0, -2i}));
}

TEST(GaussianCostTest, WavesOfNothingHaveNoDerivative) {
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {0}, {4}));
  EXPECT_EQ(out[Array::cost].values, Values{4});
  EXPECT_EQ(out[Array::far_waves].values, Values{0});
}

TEST(GaussianCostTest, TheCostIsAsUncertainAsTheWave) {
  // The wave may be 4.5, which costs 3.5^2 and not 3^2.
  OperatorArrays in = far_pixels({1}, {4}, {1});
  in[Array::far_waves].errors = {0.5};
  expect_bound(outputs_of(reference, in)[Array::cost].errors[0], 3.5 * 3.5 - 3 * 3);
}

}  // namespace
}  // namespace rankcheck::reference::gaussian_cost
