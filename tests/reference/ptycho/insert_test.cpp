#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::insert {
namespace {

using spec::Array;

/// An object of 2 x 2 pixels and windows of one pixel, in frames of `detector` pixels along a side.
OperatorArrays patches_at(const Values& positions, const Values& patches, int detector = 1) {
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 1, .detector = detector},
                                   {static_cast<std::int64_t>(positions.size() / 2)});
  in.make(Array::positions).values = positions;
  in.make(Array::patches).values = patches;
  return in;
}

TEST(InsertTest, SpreadsAPixelOverFourBetweenPixels) {
  // f = 1/4 and g = 3/4, so the weights are 3/16, 9/16, 1/16 and 3/16.
  const OperatorArrays out = outputs_of(reference, patches_at({0.25, 0.75}, {16i}));
  EXPECT_EQ(out[Array::object].values, (Values{3i, 9i, 1i, 3i}));
}

TEST(InsertTest, SumsThePositionsOfAllRanks) {
  OperatorArrays in = patches_at({0, 1, 1, 0, 0, 1}, {1, 2, 4i});
  in.counts = {1, 0, 2};
  EXPECT_EQ(outputs_of(reference, in)[Array::object].values, (Values{0, 1.0 + 4i, 2, 0}));
}

TEST(InsertTest, DropsWhatFallsOutsideTheObject) {
  // Half a pixel above the object, and half a pixel below it.
  const OperatorArrays out = outputs_of(reference, patches_at({-0.5, 0, 1.5, 1}, {4, 8}));
  EXPECT_EQ(out[Array::object].values, (Values{2, 0, 0, 4}));
}

TEST(InsertTest, DropsWhatLiesAroundTheWindow) {
  // The margin is (4 - 1) / 2 = 1, rounded down, so the window is pixel (1, 1) of the frame.
  const OperatorArrays in = patches_at({0, 0}, {9, 9, 9, 9, 9, 5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 4);
  EXPECT_EQ(outputs_of(reference, in)[Array::object].values, (Values{5, 0, 0, 0}));
}

TEST(InsertTest, PutsTheWindowInItsPlace) {
  OperatorArrays in = empty_arrays({.rows = 3, .cols = 3, .window = 2, .detector = 2}, {1});
  in.make(Array::positions).values = {1, 0};
  in.make(Array::patches).values = {1, 2, 3, 4};
  EXPECT_EQ(outputs_of(reference, in)[Array::object].values, (Values{0, 0, 0, 1, 2, 0, 3, 4, 0}));
}

TEST(InsertTest, SumsTheErrorsOfPatches) {
  // One patch lies on the pixel, the other half a pixel below it.
  OperatorArrays in = patches_at({0, 0, 0.5, 0}, {1, 1});
  in[Array::patches].errors = {0.25, 0.5};
  expect_bound(outputs_of(reference, in)[Array::object].errors[0], 0.25 + 0.5 * 0.5);
}

}  // namespace
}  // namespace rankcheck::reference::insert
