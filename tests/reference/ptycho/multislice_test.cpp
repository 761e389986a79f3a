#include <algorithm>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/slices.hpp"

namespace rankcheck::reference::multislice {
namespace {

using spec::Array;

TEST(MultisliceTest, LightMeetsOneSliceAfterAnother) {
  Values expected(9);
  expected[centre] = 2.0 * (1.0 + 1i) * 1i * 3i;
  expect_near(outputs_of(reference, two_slices())[Array::waves].values, expected);
}

TEST(MultisliceTest, SlicesOfOnesAreFreeSpace) {
  OperatorArrays in = three_slices();
  Values& object = in[Array::object].values;
  const auto behind_first = object.begin() + static_cast<std::ptrdiff_t>(object.size() / 3);
  std::fill(behind_first, object.end(), 1);
  OperatorArrays one = in;
  one.scene.slices = 1;
  one[Array::object].values.assign(object.begin(), behind_first);
  reference(one, one);
  one.scene.distance = 6;
  expect_near(outputs_of(reference, in)[Array::waves].values,
              outputs_of(propagate_fresnel::reference, one)[Array::waves].values);
}

TEST(MultisliceTest, SlicesThatOnlyTurnPhasesKeepTheEnergy) {
  const OperatorArrays in = three_slices();
  const OperatorArrays out = outputs_of(reference, in);
  double probe = 0;
  double waves = 0;
  for (const auto& value : in[Array::probe].values) probe += std::norm(value);
  for (const auto& value : out[Array::waves].values) {
    waves += std::norm(value);
  }
  EXPECT_NEAR(waves, 2 * probe, 1e-12 * probe);
}

TEST(MultisliceTest, EachPixelOfTheWindowMeetsItsPixelOfEachSlice) {
  // The wave 4i meets 1, 2i, 4 and -1.
  expect_near(outputs_of(reference, two_wide_slices())[Array::waves].values, {4i, -8, 16i, -4i});
}

}  // namespace
}  // namespace rankcheck::reference::multislice
