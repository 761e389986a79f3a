#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::extract {
namespace {

using spec::Array;

/// Object pixels 16, 32i / 64, 128i and windows of one pixel.
OperatorArrays four_pixels(const Values& positions) {
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 1, .detector = 1},
                                   {static_cast<std::int64_t>(positions.size() / 2)});
  in.make(Array::object).values = {16, 32i, 64, 128i};
  in.make(Array::positions).values = positions;
  return in;
}

TEST(ExtractTest, WeighsFourPixelsBetweenPixels) {
  // f = 1/4 and g = 3/4, so the weights are 3/16, 9/16, 1/16 and 3/16.
  const OperatorArrays out = outputs_of(reference, four_pixels({0.25, 0.75}));
  EXPECT_EQ(out[Array::patches].values, (Values{3.0 + 18i + 4.0 + 24i}));
}

TEST(ExtractTest, CountsPixelsOutsideTheObjectAsZero) {
  // Half a pixel above the object, half a pixel to its right, and both below and to the right.
  const OperatorArrays out = outputs_of(reference, four_pixels({-0.5, 0, 0, 1.5, 1.5, 1.5}));
  EXPECT_EQ(out[Array::patches].values, (Values{8, 16i, 32i}));
}

TEST(ExtractTest, TakesWholePixelsFromTheCornerOn) {
  OperatorArrays in = empty_arrays({.rows = 3, .cols = 4, .window = 2, .detector = 2}, {1});
  in.make(Array::object).values = {0, 1, 2, 3, 4, 5, 6i, 7, 8, 9, 10, 11};
  in.make(Array::positions).values = {1, 2};
  EXPECT_EQ(outputs_of(reference, in)[Array::patches].values, (Values{6i, 7, 10, 11}));
}

TEST(ExtractTest, LeavesZerosAroundTheWindow) {
  // The margin is (4 - 1) / 2 = 1, rounded down, so the window is pixel (1, 1) of the frame.
  OperatorArrays in = four_pixels({1, 0});
  in.scene.detector = 4;
  EXPECT_EQ(outputs_of(reference, in)[Array::patches].values,
            (Values{0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ExtractTest, EveryPositionOfEveryRankHasItsPatch) {
  OperatorArrays in = four_pixels({1, 1, 0, 0, 1, 0});
  in.counts = {1, 0, 2};
  EXPECT_EQ(outputs_of(reference, in)[Array::patches].values, (Values{128i, 16, 64}));
}

TEST(ExtractTest, WeighsTheErrorsOfPixels) {
  OperatorArrays in = four_pixels({0.5, 0});
  in[Array::object].errors = {1, 8, 0.5, 8};
  expect_bound(outputs_of(reference, in)[Array::patches].errors[0], 0.5 * 1 + 0.5 * 0.5);
}

}  // namespace
}  // namespace rankcheck::reference::extract
