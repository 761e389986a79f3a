#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::propagate_fresnel {
namespace {

using spec::Array;

TEST(PropagateFresnelTest, AConstantWaveTurnsOnceInEveryWavelength) {
  OperatorArrays in = frame_of(2, Values(4, 1));
  in.scene.wavelength = 0.5;
  in.scene.distance = 0.125;
  expect_near(outputs_of(reference, in)[Array::waves].values, Values(4, 1i));
}

TEST(PropagateFresnelTest, APlaneWaveKeepsItsShape) {
  // The wave has 1/5 cycle per pixel down the rows and -2/5 along the columns. 1 - 1/25 - 4/25 =
  // 0.8 remains along the beam.
  OperatorArrays in = frame_of(5, plane_wave(5, 1, -2));
  in.scene.wavelength = 1;
  in.scene.distance = 3;
  const auto phase = std::polar(1.0, 6 * std::numbers::pi * std::sqrt(0.8));
  expect_near(outputs_of(reference, in)[Array::waves].values,
              times(phase, in[Array::waves].values));
}

TEST(PropagateFresnelTest, AWaveTooFineDecaysBothWays) {
  // The wave has half a cycle per pixel. Waves above a quarter decay.
  for (const double distance : {0.5, -0.5}) {
    OperatorArrays in = frame_of(2, plane_wave(2, 1, 0));
    in.scene.wavelength = 4;
    in.scene.distance = distance;
    const double factor = std::exp(-std::numbers::pi * std::sqrt(0.25 - 0.0625));
    expect_near(outputs_of(reference, in)[Array::waves].values,
                times(factor, in[Array::waves].values));
  }
}

TEST(PropagateFresnelTest, TurningTheFrameTurnsTheResult) {
  Values waves{1, 2, 3i, 4, 5.0 - 1i, 6, 7, 8i, 9, 1, 1, 2, 3, 5, 8, 13};
  const auto turned = [](const Values& frame) {
    Values out;
    for (int at = 0; at < 16; ++at) {
      out.push_back(frame[spec::to_size((4 - at / 4) % 4 * 4 + (4 - at % 4) % 4)]);
    }
    return out;
  };
  OperatorArrays in = frame_of(4, waves);
  in.scene.wavelength = 1.5;
  in.scene.distance = 2;
  const Values behind = outputs_of(reference, in)[Array::waves].values;
  in[Array::waves].values = turned(waves);
  expect_near(outputs_of(reference, in)[Array::waves].values, turned(behind));
}

}  // namespace
}  // namespace rankcheck::reference::propagate_fresnel
