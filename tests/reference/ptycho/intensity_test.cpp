#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::intensity {
namespace {

using spec::Array;

TEST(IntensityTest, SumsTheSquaredMagnitudesOfTheModes) {
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1, .modes = 2}, {1});
  in.make(Array::far_waves).values = {3.0 + 4i, 2i};
  // 9 + 16 of the first mode, 4 of the second.
  EXPECT_EQ(outputs_of(reference, in)[Array::frames].values, Values{29});
}

TEST(IntensityTest, KeepsPixelsAndPositionsApart) {
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2, .modes = 2}, {1, 1});
  in.make(Array::far_waves).values = {1, 2, 0, 0, 0, 1i, 2, 0, 0, 0, 0, 3i, 1, 0, 0, 0};
  EXPECT_EQ(outputs_of(reference, in)[Array::frames].values, (Values{1, 5, 4, 0, 1, 0, 0, 9}));
}

TEST(IntensityTest, TheErrorOfAWaveIsSquaredWithIt) {
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1}, {1});
  in.make(Array::far_waves).values = {3i};
  in[Array::far_waves].errors = {0.5};
  expect_bound(outputs_of(reference, in)[Array::frames].errors[0], 3.5 * 3.5 - 3 * 3);
}

TEST(IntensityTest, ErrorsOfModesAddUpAsAVector) {
  // The modes are a vector of length 5. Its error has the length hypot(0.3, 0.4) = 0.5.
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1, .modes = 2}, {1});
  in.make(Array::far_waves).values = {3, 4i};
  in[Array::far_waves].errors = {0.3, 0.4};
  expect_bound(outputs_of(reference, in)[Array::frames].errors[0], 5.5 * 5.5 - 5 * 5);
}

}  // namespace
}  // namespace rankcheck::reference::intensity
