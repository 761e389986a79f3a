#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::shift_back {
namespace {

using spec::Array;

TEST(ShiftBackTest, HalfAPixelIsHalfATurnBackOfTheHighestFrequency) {
  OperatorArrays in = frame_of(2, {1, 0, 0, 0});
  in[Array::positions].values = {0, 0.5};
  expect_near(outputs_of(reference, in)[Array::waves].values,
              {0.5 * (1.0 - 1i), 0.5 * (1.0 + 1i), 0, 0});
}

TEST(ShiftBackTest, APixelUpAndTwoToTheLeft) {
  OperatorArrays in = frame_of(3, {0, 0, 0, 0, 0, 1, 2, 0, 0});
  in[Array::positions].values = {1, 2};
  expect_near(outputs_of(reference, in)[Array::waves].values, {1, 0, 0, 0, 2, 0, 0, 0, 0});
}

}  // namespace
}  // namespace rankcheck::reference::shift_back
