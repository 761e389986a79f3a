#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"
#include "reference/ptycho/spectrum.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Waves on their way: to the detector and back, through free space, and shifts.
namespace rankcheck::reference {
namespace {

TEST(PropagateTest, SumsWavesWithSignsAndHalvesThem) {
  // A frame of 2 x 2: F[k, l] is half of the sum of wave[p, q] (-1)^(k p + l q).
  const OperatorArrays in =
      arrays_of({.window = 2, .detector = 2}, {1}, {{Array::waves, {1, 2i, 3, 4}}});
  EXPECT_EQ(outputs_of(propagate::reference, in)[Array::far_waves].values,
            (Values{4.0 + 1i, -1i, -3.0 + 1i, 1.0 - 1i}));
}

TEST(PropagateTest, APointBesideTheFirstTurnsBackwardsAlongTheRow) {
  // Pixel (0, 1) of 4 x 4 gives exp(-2 pi i l / 4) / 4 in each row.
  OperatorArrays in = arrays_of({.window = 4, .detector = 4}, {1}, {{Array::waves, {}}});
  in[Array::waves].values[1] = 4;
  expect_near(outputs_of(propagate::reference, in)[Array::far_waves].values,
              {1, -1i, -1, 1i, 1, -1i, -1, 1i, 1, -1i, -1, 1i, 1, -1i, -1, 1i});
}

TEST(PropagateInverseTest, SumsFrequenciesWithSignsAndHalvesThem) {
  // A frame of 2 x 2: wave[p, q] is half of the sum of F[k, l] (-1)^(k p + l q).
  const OperatorArrays in = arrays_of({.window = 2, .detector = 2},
                                      {1},
                                      {{Array::far_waves, {4.0 + 1i, -1i, -3.0 + 1i, 1.0 - 1i}}});
  expect_near(outputs_of(propagate_inverse::reference, in)[Array::waves].values, {1, 2i, 3, 4});
}

TEST(PropagateInverseTest, AFrequencyDownTheRowsTurnsForwardsFromRowToRow) {
  // Frequency (1, 0) of 4 x 4 gives exp(2 pi i p / 4) / 4 in row p.
  OperatorArrays in = arrays_of({.window = 4, .detector = 4}, {1}, {{Array::far_waves, {}}});
  in[Array::far_waves].values[4] = 4;
  expect_near(outputs_of(propagate_inverse::reference, in)[Array::waves].values,
              {1, 1, 1, 1, 1i, 1i, 1i, 1i, -1, -1, -1, -1, -1i, -1i, -1i, -1i});
}

TEST(PropagateInverseTest, PixelsAroundTheWindowAreKept) {
  const OperatorArrays in =
      arrays_of({.window = 1, .detector = 2}, {1}, {{Array::far_waves, {2, 0, 0, 0}}});
  EXPECT_EQ(outputs_of(propagate_inverse::reference, in)[Array::waves].values,
            (Values{1, 1, 1, 1}));
}

/// Expects that an operator transforms each frame of 2 x 2 that has its number at the corner.
void expect_transforms(Operator operation, Array from, Array to) {
  const OperatorArrays in = arrays_of({.window = 2, .detector = 2, .modes = 2},
                                      {1, 1},
                                      {{from, {0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0}}});
  EXPECT_EQ(outputs_of(operation, in)[to].values,
            (Values{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

TEST(PropagateTest, EveryModeOfEveryPositionIsTransformedThereAndBack) {
  expect_transforms(propagate::reference, Array::waves, Array::far_waves);
  expect_transforms(propagate_inverse::reference, Array::far_waves, Array::waves);
}

/// Returns exp(2 pi i (k p + l q) / width) at each pixel (p, q).
Values plane_wave(int width, int k, int l) {
  Values wave;
  for (int at = 0; at < width * width; ++at) {
    const int row = at / width;
    const int col = at % width;
    const double turns = static_cast<double>(k * row + l * col) / width;
    wave.push_back(std::polar(1.0, 2 * std::numbers::pi * turns));
  }
  return wave;
}

Values times(Value factor, Values values) {
  for (Value& value : values) value *= factor;
  return values;
}

/// Returns a problem with one position and one frame of waves, in double precision.
OperatorArrays frame_of(int width, const Values& waves, double wavelength, double distance) {
  return arrays_of(
      {.window = width, .detector = width, .wavelength = wavelength, .distance = distance},
      {1},
      {{Array::waves, waves}},
      double_unit);
}

/// Free space of a wavelength and a distance.
struct FreeSpaceOf {
  double wavelength;
  double distance;
};

/// Expects that waves behind free space are `factor` times what they were, and that the adjoint
/// multiplies with the conjugate factor.
void expect_factor(int width, const Values& waves, const FreeSpaceOf& space, Value factor) {
  const OperatorArrays in = frame_of(width, waves, space.wavelength, space.distance);
  SCOPED_TRACE(testing::Message() << testing::PrintToString(waves) << " over " << space.distance);
  {
    SCOPED_TRACE("propagate_fresnel");
    expect_near(outputs_of(propagate_fresnel::reference, in)[Array::waves].values,
                times(factor, waves));
  }
  SCOPED_TRACE("propagate_fresnel_adjoint");
  expect_near(outputs_of(propagate_fresnel_adjoint::reference, in)[Array::waves].values,
              times(std::conj(factor), waves));
}

TEST(PropagateFresnelTest, AConstantWaveTurnsOnceInEveryWavelength) {
  // A quarter of the wavelength is a quarter of a turn.
  expect_factor(2, Values(4, 1), {.wavelength = 0.5, .distance = 0.125}, 1i);
  expect_factor(2, Values(4, 1), {.wavelength = 0.5, .distance = -0.125}, -1i);
}

TEST(PropagateFresnelTest, APlaneWaveTurnsAsFarAsItTravelsAlongTheBeam) {
  // The wave has 1/5 cycle per pixel down the rows and -2/5 along the columns. 1 - 1/25 - 4/25 =
  // 0.8 remains along the beam.
  const auto phase = std::polar(1.0, 6 * std::numbers::pi * std::sqrt(0.8));
  expect_factor(5, plane_wave(5, 1, -2), {.wavelength = 1, .distance = 3}, phase);
}

TEST(PropagateFresnelTest, AWaveTooFineDecaysBothWays) {
  // The wave has half a cycle per pixel. Waves above a quarter decay.
  const double factor = std::exp(-std::numbers::pi * std::sqrt(0.25 - 0.0625));
  for (const double distance : {0.5, -0.5}) {
    expect_factor(2, plane_wave(2, 1, 0), {.wavelength = 4, .distance = distance}, factor);
    expect_factor(2, plane_wave(2, 0, 1), {.wavelength = 4, .distance = distance}, factor);
  }
}

TEST(PropagateFresnelTest, TurningTheFrameTurnsTheResult) {
  const Values waves{1, 2, 3i, 4, 5.0 - 1i, 6, 7, 8i, 9, 1, 1, 2, 3, 5, 8, 13};
  const auto turned = [](const Values& frame) {
    Values out;
    for (int at = 0; at < 16; ++at) {
      out.push_back(frame[spec::to_size((4 - at / 4) % 4 * 4 + (4 - at % 4) % 4)]);
    }
    return out;
  };
  OperatorArrays in = frame_of(4, waves, 1.5, 2);
  const Values behind = outputs_of(propagate_fresnel::reference, in)[Array::waves].values;
  in[Array::waves].values = turned(waves);
  expect_near(outputs_of(propagate_fresnel::reference, in)[Array::waves].values, turned(behind));
}

TEST(PropagateFresnelAdjointTest, EveryModeOfEveryPositionIsBroughtBack) {
  const OperatorArrays in =
      arrays_of({.window = 1, .detector = 1, .modes = 2, .wavelength = 0.5, .distance = 0.125},
                {1, 1},
                {{Array::waves, {1, 2, 3, 4i}}});
  expect_near(outputs_of(propagate_fresnel_adjoint::reference, in)[Array::waves].values,
              {-1i, -2i, -3i, 4});
}

/// Returns a wave that an operator shifts to the position.
Values shifted(Operator shift, int width, const Values& waves, const Values& position) {
  OperatorArrays in = frame_of(width, waves, 0, 0);
  in.make(Array::positions).values = position;
  return outputs_of(shift, in)[Array::waves].values;
}

TEST(ShiftTest, HalfAPixelIsHalfATurnOfTheHighestFrequency) {
  expect_near(shifted(shift::reference, 2, {1, 0, 0, 0}, {0, 0.5}),
              {0.5 * (1.0 + 1i), 0.5 * (1.0 - 1i), 0, 0});
  expect_near(shifted(shift_back::reference, 2, {1, 0, 0, 0}, {0, 0.5}),
              {0.5 * (1.0 - 1i), 0.5 * (1.0 + 1i), 0, 0});
}

TEST(ShiftTest, APixelDownAndTwoToTheRight) {
  const Values corner{1, 0, 0, 0, 2, 0, 0, 0, 0};
  const Values moved{0, 0, 0, 0, 0, 1, 2, 0, 0};
  expect_near(shifted(shift::reference, 3, corner, {1, 2}), moved);
  expect_near(shifted(shift_back::reference, 3, moved, {1, 2}), corner);
}

TEST(FreeSpaceTest, WhereLittleIsLeftAlongTheBeamItsRootIsUncertain) {
  const spec::Scene scene{.wavelength = 4, .distance = 1};
  // The first wave is exactly the finest that travels, the second is constant.
  EXPECT_GT(free_space(scene, 4, 1, 0, 0x1p-53).error, 1e-9);
  EXPECT_LT(free_space(scene, 4, 0, 0, 0x1p-53).error, 1e-14);
}

/// Returns the largest change of a value relative to its bound.
double worst_ratio(const BoundedArray& plain, const BoundedArray& moved) {
  double ratio = 0;
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    ratio = std::max(ratio, std::abs(moved.values[i] - plain.values[i]) / plain.errors[i]);
  }
  return ratio;
}

TEST(FilterTest, ErrorsThatAreBroughtAlongStayInsideTheBounds) {
  // Plane waves are the worst errors: each adds up in one pixel of the spectrum. All are tried in
  // turn.
  constexpr int width = 6;
  OperatorArrays in = frame_of(width, plane_wave(width, 1, 2), 0.75, 4.5);
  in[Array::waves].errors.assign(std::size_t{width} * width, 0.01);
  const OperatorArrays out = outputs_of(propagate_fresnel::reference, in);
  for (int pixel = 0; pixel < width * width; ++pixel) {
    OperatorArrays moved = in;
    const Values worst = plane_wave(width, pixel / width, pixel % width);
    for (std::size_t i = 0; i < worst.size(); ++i) {
      moved[Array::waves].values[i] += 0.01 * worst[i];
    }
    const OperatorArrays moved_out = outputs_of(propagate_fresnel::reference, moved);
    EXPECT_LE(worst_ratio(out[Array::waves], moved_out[Array::waves]), 1) << pixel;
  }
}

TEST(FilterTest, TransformsThereAndBackDoNotMultiplyBoundsByAllPixels) {
  constexpr int width = 8;
  OperatorArrays in = frame_of(width, Values(std::size_t{width} * width, 1), 1, 1);
  in[Array::waves].errors.assign(std::size_t{width} * width, 0.01);
  const OperatorArrays out = outputs_of(propagate_fresnel::reference, in);
  // The vector of errors keeps its length, and all of it may lie in one pixel.
  EXPECT_GE(out[Array::waves].errors[0], 0.01 * width);
  EXPECT_LT(out[Array::waves].errors[0], 0.01 * width * 1.001);
}

}  // namespace
}  // namespace rankcheck::reference
