#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/slices.hpp"

namespace rankcheck::reference::multislice_adjoint_object {
namespace {

using spec::Array;

TEST(MultisliceAdjointObjectTest, EachSliceGetsBackWhatTheOthersLeave) {
  OperatorArrays in = two_slices();
  in[Array::waves].values[centre] = 5;
  in[Array::waves].values[0] = 7;
  const Values expected{std::conj((1.0 + 1i) * 1i * 3i) * 5.0,
                        std::conj(2.0 * (1.0 + 1i) * 1i) * 5.0};
  expect_near(outputs_of(reference, in)[Array::object].values, expected);
}

TEST(MultisliceAdjointObjectTest, EachPixelOfTheWindowGoesToItsPlaceInEachSlice) {
  OperatorArrays in = two_wide_slices();
  in[Array::waves].values = waves_behind_wide_slices();
  // The first slice gets -4i times the conjugate of 1, 2, 4i and -1. The second slice gets the
  // waves times the conjugate of 4i.
  expect_near(outputs_of(reference, in)[Array::object].values,
              {0, -4i, -8i, 0, -16, 4i, 0, -16i, 8, 0, -4i, 16i});
}

}  // namespace
}  // namespace rankcheck::reference::multislice_adjoint_object
