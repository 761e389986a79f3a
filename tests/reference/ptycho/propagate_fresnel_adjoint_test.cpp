#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::propagate_fresnel_adjoint {
namespace {

using spec::Array;

/// Returns the waves brought back over `distance` of free space. The frame is as wide as the waves
/// say.
Values before(const Values& waves, int width, double wavelength, double distance) {
  OperatorArrays in = empty_arrays(
      {.window = width, .detector = width, .wavelength = wavelength, .distance = distance}, {1});
  in.unit = 0x1p-53;
  in.make(Array::waves).values = waves;
  return outputs_of(reference, in)[Array::waves].values;
}

TEST(PropagateFresnelAdjointTest, AConstantWaveTurnsBackOnceInEveryWavelength) {
  // A quarter of the wavelength is a quarter of a turn.
  expect_near(before(Values(4, 1), 2, 0.5, 0.125), Values(4, -1i));
  expect_near(before(Values(4, 1), 2, 0.5, -0.125), Values(4, 1i));
}

TEST(PropagateFresnelAdjointTest, APlaneWaveTurnsBackAsFarAsItTravelsAlongTheBeam) {
  // The wave has 1/5 cycle per pixel down the rows and -2/5 along the columns. 1 - 1/25 - 4/25 =
  // 0.8 remains along the beam.
  const Values wave = plane_wave(5, 1, -2);
  const auto phase = std::polar(1.0, -6 * std::numbers::pi * std::sqrt(0.8));
  expect_near(before(wave, 5, 1, 3), times(phase, wave));
}

TEST(PropagateFresnelAdjointTest, AWaveTooFineDecaysAgain) {
  // The wave has half a cycle per pixel. Waves above a quarter decay.
  const Values wave = plane_wave(2, 0, 1);
  const double factor = std::exp(-std::numbers::pi * std::sqrt(0.25 - 0.0625));
  expect_near(before(wave, 2, 4, 0.5), times(factor, wave));
}

TEST(PropagateFresnelAdjointTest, EveryModeOfEveryPositionIsBroughtBack) {
  OperatorArrays in = empty_arrays(
      {.window = 1, .detector = 1, .modes = 2, .wavelength = 0.5, .distance = 0.125}, {1, 1});
  in.make(Array::waves).values = {1, 2, 3, 4i};
  expect_near(outputs_of(reference, in)[Array::waves].values, {-1i, -2i, -3i, 4});
}

}  // namespace
}  // namespace rankcheck::reference::propagate_fresnel_adjoint
