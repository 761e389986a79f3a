#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// The exit waves of one slice: illuminate and its adjoints.
namespace rankcheck::reference {
namespace {

/// The pixels are 4 and 8i. The first window lies a quarter of a pixel to the right of the first
/// pixel. The second window lies on the first pixel. So the patches are 3 + 2i and 4.
OperatorArrays lit_row(const Values& probe = {}, bool varying_probe = false) {
  return arrays_of(row_of_two(varying_probe),
                   {1, 1},
                   {{Array::positions, {0, 0.25, 0, 0}},
                    {Array::object, {4, 8i}},
                    {Array::probe, probe},
                    {Array::waves, {}}});
}

/// The window's pixel in the frame of this position and mode.
std::size_t middle_of(std::size_t position, std::size_t mode) {
  return 9 * (2 * position + mode) + 4;
}

/// Returns an object of 3 x 3 with a window of 2 x 2. The window lies a quarter of a pixel below
/// the first row and one column to the right. So its patch has three quarters of a pixel and one
/// quarter of the pixel below: 6 + 5, 9 + 6, 15 + i and 18 + 2.
OperatorArrays lit_window() {
  return arrays_of({.rows = 3, .cols = 3, .window = 2, .detector = 2},
                   {1},
                   {{Array::positions, {0.25, 1}},
                    {Array::object, {4, 8, 12, 16i, 20, 24, 0, 4i, 8}},
                    {Array::probe, {1, 2, 1i, -1}},
                    {Array::waves, {4, 4, 4, 8}}});
}

TEST(IlluminateTest, EveryModeIsMultipliedWithTheWindowAndNothingIsLitAroundIt) {
  const OperatorArrays out = outputs_of(illuminate::reference, lit_row({2, 1i}));
  Values expected(std::size_t{4} * 9);
  expected[middle_of(0, 0)] = 6.0 + 4i;
  expected[middle_of(0, 1)] = -2.0 + 3i;
  expected[middle_of(1, 0)] = 8;
  expected[middle_of(1, 1)] = 4i;
  EXPECT_EQ(out[Array::waves].values, expected);
  EXPECT_EQ(out[Array::waves].errors[0], 0);
  EXPECT_GT(out[Array::waves].errors[middle_of(0, 0)], 0);
}

TEST(IlluminateTest, AVaryingProbeIsEachPositionsOwn) {
  const OperatorArrays out = outputs_of(illuminate::reference, lit_row({1, 2, 3, 4}, true));
  EXPECT_EQ(out[Array::waves].values[middle_of(0, 1)], 2.0 * (3.0 + 2i));
  EXPECT_EQ(out[Array::waves].values[middle_of(1, 0)], 12.0);
}

TEST(IlluminateTest, EachPixelOfTheWindowMeetsItsPixelOfTheProbe) {
  // The patch is 11, 15, 15 + i and 20.
  EXPECT_EQ(outputs_of(illuminate::reference, lit_window())[Array::waves].values,
            (Values{11, 30, -1.0 + 15i, -20}));
}

TEST(IlluminateAdjointObjectTest, ModesComeBackWithTheConjugateProbe) {
  OperatorArrays in = lit_row({2, 1i});
  in[Array::waves].values[middle_of(0, 0)] = 1;
  in[Array::waves].values[middle_of(0, 1)] = 1;
  EXPECT_EQ(outputs_of(illuminate_adjoint_object::reference, in)[Array::object].values,
            (Values{0.75 * (2.0 - 1i), 0.25 * (2.0 - 1i)}));
}

TEST(IlluminateAdjointObjectTest, WhatLiesAroundTheWindowIsDropped) {
  OperatorArrays in = lit_row({2, 1i});
  in[Array::waves].values[0] = 1;
  EXPECT_EQ(outputs_of(illuminate_adjoint_object::reference, in)[Array::object].values,
            (Values{0, 0}));
}

TEST(IlluminateAdjointObjectTest, EachPixelOfTheWindowGoesToItsPlaceInTheObject) {
  // Waves times the conjugate probe are 4, 8, -4i and -8. Three quarters stay in their row, and one
  // quarter goes to the next row.
  EXPECT_EQ(outputs_of(illuminate_adjoint_object::reference, lit_window())[Array::object].values,
            (Values{0, 3, 6, 0, 1.0 - 3i, 2 - 6, 0, -1i, -2}));
}

TEST(IlluminateAdjointProbeTest, PositionsAreSummedWithTheConjugateWindowUnlessTheProbeVaries) {
  for (const bool varies : {false, true}) {
    OperatorArrays in = lit_row({}, varies);
    in[Array::waves].values[middle_of(0, 0)] = 1;
    in[Array::waves].values[middle_of(1, 0)] = 1i;
    EXPECT_EQ(outputs_of(illuminate_adjoint_probe::reference, in)[Array::probe].values,
              varies ? (Values{3.0 - 2i, 0, 4i, 0}) : (Values{3.0 + 2i, 0}));
  }
}

TEST(IlluminateAdjointProbeTest, EachPixelOfTheWindowGoesToItsPixelOfTheProbe) {
  // The patch is 11, 15, 15 + i and 20.
  EXPECT_EQ(outputs_of(illuminate_adjoint_probe::reference, lit_window())[Array::probe].values,
            (Values{44, 60, 60.0 - 4i, 160}));
}

}  // namespace
}  // namespace rankcheck::reference
