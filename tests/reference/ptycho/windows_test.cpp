#include <cstdint>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Windows of an object and of frames: crop, pad, extract and insert.
namespace rankcheck::reference {
namespace {

/// A window that is as wide as the object of one pixel, in a frame of 2 x 2.
constexpr spec::Scene one_pixel{.rows = 1, .cols = 1, .window = 1, .detector = 2};

/// Windows of 2 x 2 pixels in frames of `detector` pixels along a side.
spec::Scene windows_of_two(int detector) {
  return {.rows = 2, .cols = 2, .window = 2, .detector = detector};
}

TEST(CropTest, TakesTheWindowsBehindTheMargin) {
  // The margin is (5 - 2) / 2 = 1, rounded down. The two frames count from 0 and from 25 on.
  OperatorArrays in = arrays_of(windows_of_two(5), {0, 2}, {{Array::patches, {}}});
  for (std::size_t i = 0; i < 50; ++i) in[Array::patches].values[i] = {0, static_cast<double>(i)};
  EXPECT_EQ(outputs_of(crop::reference, in)[Array::windows].values,
            (Values{6i, 7i, 11i, 12i, 31i, 32i, 36i, 37i}));
}

TEST(CropTest, WindowsAsWideAsTheFrameStayAsTheyAre) {
  const Values patch{1, 2i, 3, 4};
  const OperatorArrays in = arrays_of(windows_of_two(2), {1}, {{Array::patches, patch}});
  EXPECT_EQ(outputs_of(crop::reference, in)[Array::windows].values, patch);
}

TEST(CropTest, PixelsKeepTheirErrors) {
  OperatorArrays in = arrays_of(one_pixel, {1}, {{Array::patches, {}}});
  in[Array::patches].errors = {0.5, 1, 2, 3};
  EXPECT_EQ(outputs_of(crop::reference, in)[Array::windows].errors, Errors{0.5});
}

const Given given_windows{{Array::windows, {1, 2i, 3, 4, 5, 6, 7, 8}}};

TEST(PadTest, PutsWindowsBehindTheMarginAndZerosAroundThem) {
  // The margin is (5 - 2) / 2 = 1, rounded down.
  const OperatorArrays in = arrays_of(windows_of_two(5), {0, 2}, given_windows);
  EXPECT_EQ(outputs_of(pad::reference, in)[Array::patches].values,
            (Values{0, 0, 0, 0, 0, 0, 1, 2i, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 5, 6,  0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(PadTest, WindowsAsWideAsTheFrameStayAsTheyAre) {
  const OperatorArrays in = arrays_of(windows_of_two(2), {0, 2}, given_windows);
  EXPECT_EQ(outputs_of(pad::reference, in)[Array::patches].values, given_windows[0].second);
}

TEST(PadTest, PixelsKeepTheirErrors) {
  OperatorArrays in = arrays_of(one_pixel, {1}, {{Array::windows, {}}});
  in[Array::windows].errors = {0.5};
  EXPECT_EQ(outputs_of(pad::reference, in)[Array::patches].errors, (Errors{0.5, 0, 0, 0}));
}

/// An object of 2 x 2 pixels and windows of one pixel, in frames of `detector` pixels along a side.
OperatorArrays four_pixels(const Values& positions, const Given& given, int detector = 1) {
  OperatorArrays in = arrays_of({.rows = 2, .cols = 2, .window = 1, .detector = detector},
                                {static_cast<std::int64_t>(positions.size() / 2)},
                                given);
  in.make(Array::positions).values = positions;
  return in;
}

const Given pixels{{Array::object, {16, 32i, 64, 128i}}};

TEST(ExtractTest, WeighsFourPixelsBetweenPixels) {
  // f = 1/4 and g = 3/4, so the weights are 3/16, 9/16, 1/16 and 3/16.
  const OperatorArrays in = four_pixels({0.25, 0.75}, pixels);
  EXPECT_EQ(outputs_of(extract::reference, in)[Array::patches].values,
            (Values{3.0 + 18i + 4.0 + 24i}));
}

TEST(ExtractTest, CountsPixelsOutsideTheObjectAsZero) {
  // Half a pixel above the object, half a pixel to its right, and both below and to the right.
  const OperatorArrays in = four_pixels({-0.5, 0, 0, 1.5, 1.5, 1.5}, pixels);
  EXPECT_EQ(outputs_of(extract::reference, in)[Array::patches].values, (Values{8, 16i, 32i}));
}

TEST(ExtractTest, TakesWholePixelsFromTheCornerOn) {
  const OperatorArrays in = arrays_of(
      {.rows = 3, .cols = 4, .window = 2, .detector = 2},
      {1},
      {{Array::object, {0, 1, 2, 3, 4, 5, 6i, 7, 8, 9, 10, 11}}, {Array::positions, {1, 2}}});
  EXPECT_EQ(outputs_of(extract::reference, in)[Array::patches].values, (Values{6i, 7, 10, 11}));
}

TEST(ExtractTest, LeavesZerosAroundTheWindow) {
  // The margin is (4 - 1) / 2 = 1, rounded down, so the window is pixel (1, 1) of the frame.
  const OperatorArrays in = four_pixels({1, 0}, pixels, 4);
  EXPECT_EQ(outputs_of(extract::reference, in)[Array::patches].values,
            (Values{0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ExtractTest, EveryPositionOfEveryRankHasItsPatch) {
  OperatorArrays in = four_pixels({1, 1, 0, 0, 1, 0}, pixels);
  in.counts = {1, 0, 2};
  EXPECT_EQ(outputs_of(extract::reference, in)[Array::patches].values, (Values{128i, 16, 64}));
}

TEST(ExtractTest, WeighsTheErrorsOfPixels) {
  OperatorArrays in = four_pixels({0.5, 0}, pixels);
  in[Array::object].errors = {1, 8, 0.5, 8};
  const OperatorArrays out = outputs_of(extract::reference, in);
  expect_bound(out[Array::patches].errors[0], 0.5 * 1 + 0.5 * 0.5);
}

TEST(InsertTest, SpreadsAPixelOverFourBetweenPixels) {
  // f = 1/4 and g = 3/4, so the weights are 3/16, 9/16, 1/16 and 3/16.
  const OperatorArrays in = four_pixels({0.25, 0.75}, {{Array::patches, {16i}}});
  EXPECT_EQ(outputs_of(insert::reference, in)[Array::object].values, (Values{3i, 9i, 1i, 3i}));
}

TEST(InsertTest, SumsThePositionsOfAllRanks) {
  OperatorArrays in = four_pixels({0, 1, 1, 0, 0, 1}, {{Array::patches, {1, 2, 4i}}});
  in.counts = {1, 0, 2};
  EXPECT_EQ(outputs_of(insert::reference, in)[Array::object].values, (Values{0, 1.0 + 4i, 2, 0}));
}

TEST(InsertTest, DropsWhatFallsOutsideTheObject) {
  // Half a pixel above the object, and half a pixel below it.
  const OperatorArrays in = four_pixels({-0.5, 0, 1.5, 1}, {{Array::patches, {4, 8}}});
  EXPECT_EQ(outputs_of(insert::reference, in)[Array::object].values, (Values{2, 0, 0, 4}));
}

TEST(InsertTest, DropsWhatLiesAroundTheWindow) {
  // The margin is (4 - 1) / 2 = 1, rounded down, so the window is pixel (1, 1) of the frame.
  Values patch(16, 9);
  patch[5] = 5;
  const OperatorArrays in = four_pixels({0, 0}, {{Array::patches, patch}}, 4);
  EXPECT_EQ(outputs_of(insert::reference, in)[Array::object].values, (Values{5, 0, 0, 0}));
}

TEST(InsertTest, PutsTheWindowInItsPlace) {
  const OperatorArrays in = arrays_of({.rows = 3, .cols = 3, .window = 2, .detector = 2},
                                      {1},
                                      {{Array::positions, {1, 0}}, {Array::patches, {1, 2, 3, 4}}});
  EXPECT_EQ(outputs_of(insert::reference, in)[Array::object].values,
            (Values{0, 0, 0, 1, 2, 0, 3, 4, 0}));
}

TEST(InsertTest, SumsTheErrorsOfPatches) {
  // One patch lies on the pixel, the other half a pixel below it.
  OperatorArrays in = four_pixels({0, 0, 0.5, 0}, {{Array::patches, {1, 1}}});
  in[Array::patches].errors = {0.25, 0.5};
  const OperatorArrays out = outputs_of(insert::reference, in);
  expect_bound(out[Array::object].errors[0], 0.25 + 0.5 * 0.5);
}

}  // namespace
}  // namespace rankcheck::reference
