#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/slices.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {
namespace {

using spec::Array;

TEST(MultisliceAdjointProbeTest, TheProbeGetsBackWhatAllSlicesLeave) {
  OperatorArrays in = two_slices();
  in[Array::waves].values[centre] = 5;
  expect_near(outputs_of(reference, in)[Array::probe].values, {std::conj(2i * 3i) * 5.0});
}

TEST(MultisliceAdjointProbeTest, EachPixelOfTheWindowGoesToItsPixelOfTheProbe) {
  OperatorArrays in = two_wide_slices();
  in[Array::waves].values = waves_behind_wide_slices();
  // -4i times the conjugate of 4, 2, -i and -4.
  expect_near(outputs_of(reference, in)[Array::probe].values, {-16i, -8i, 4, 16i});
}

}  // namespace
}  // namespace rankcheck::reference::multislice_adjoint_probe
