#include <cmath>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Steps that project waves on the frames, alternately or with the difference map, and the modes of
/// a probe made orthogonal.
namespace rankcheck::reference {
namespace {

TEST(AlternatingProjectionsStepTest, ObjectAndProbeFitTheWavesOfMeasuredAmplitude) {
  // The waves are 2 * 4i and the measured amplitude is 2, so they become 2i. Then the object is 2i
  // / 4i and the probe 2i / 2.
  const OperatorArrays out =
      outputs_of(alternating_projections_step::reference, lit_pixel(2, {4i}, 4));
  expect_values(out, {{Array::cost, {36}}, {Array::object, {0.5, 7}}, {Array::probe, {1i}}});
  EXPECT_LT(out[Array::object].errors[0], 1e-5);
}

TEST(AlternatingProjectionsStepTest, UnmeasuredPixelsKeepTheirWaves) {
  OperatorArrays in = lit_pixel(2, {4i}, 4);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(alternating_projections_step::reference, in);
  expect_values(out, {{Array::object, {2, 7}}, {Array::probe, {4i}}});
}

TEST(AlternatingProjectionsStepTest, WavesOfNothingStayNothingAndAWeightOfNothingKeeps) {
  const OperatorArrays out =
      outputs_of(alternating_projections_step::reference, lit_pixel(0, {3}, 4));
  expect_values(out, {{Array::object, {0, 7}}, {Array::probe, {3}}});
  EXPECT_EQ(out[Array::probe].errors, Errors{0});
}

TEST(AlternatingProjectionsStepTest, TheSamePositionAgainChangesNothing) {
  const OperatorArrays out =
      outputs_of(alternating_projections_step::reference, lit_pixel(2, {4i}, 4, 4));
  EXPECT_EQ(out[Array::object].values, (Values{0.5, 7}));
}

TEST(AlternatingProjectionsStepTest, ModesShareTheMeasuredAmplitude) {
  // The waves are 6i and -8, with the amplitude 10. The measured amplitude is 5, so they become 3i
  // and -4. The object is (3 * 3i - 4i * -4) / (9 + 16). The probe is -2i / 4 times the waves.
  const OperatorArrays out =
      outputs_of(alternating_projections_step::reference, lit_pixel(2i, {3, 4i}, 25));
  expect_values(out, {{Array::cost, {25}}, {Array::object, {1i, 7}}}, roundings);
  expect_near(out[Array::probe].values, {1.5, 2i});
}

/// Takes a step of the difference map from exit waves of each position.
OperatorArrays mapped(OperatorArrays in, const Values& waves) {
  in.make(Array::exit_waves).values = waves;
  return outputs_of(difference_map_step::reference, in);
}

/// Returns the new value of a wave w with overlap m and projection p on the frames.
Value moved(Value w, Value m, Value p) {
  return w + difference_map_beta * (p - m);
}

TEST(DifferenceMapStepTest, TheWavesAreReflectedAtTheirOverlapAndGoToTheFrames) {
  // Waves of 6i and 2i give the object 4i / 4i = 1 and the probe 4i, so both overlap at 4i.
  // Reflected, they are 2i and 6i. The measured amplitude is 3, so both are projected to 3i.
  const OperatorArrays out = mapped(lit_pixel(2, {4i}, 9, 2), {6i, 2i});
  expect_values(out, {{Array::object, {1, 7}}, {Array::probe, {4i}}});
  EXPECT_EQ(out[Array::exit_waves].values, (Values{moved(6i, 4i, 3i), moved(2i, 4i, 3i)}));
  EXPECT_LT(out[Array::exit_waves].errors[0], 1e-3);
  // The cost is that of object and probe before: waves of 2 * 4i cost 25 at each position.
  EXPECT_EQ(out[Array::cost].values, Values{50});
}

TEST(DifferenceMapStepTest, TheProbeIsFittedToTheNewObject) {
  // The object is 3 / 1, then the probe 3 * 3 / 9. With the old object of 2, it would be 3 * 2 / 4.
  const OperatorArrays out = mapped(lit_pixel(2, {1}, 9), {3});
  EXPECT_EQ(out[Array::object].values[0], Value(3));
  EXPECT_EQ(out[Array::probe].values, Values{1});
}

TEST(DifferenceMapStepTest, TheTruthWithItsOwnWavesIsAFixedPoint) {
  const OperatorArrays out = mapped(lit_pixel(2, {4i}, 64), {8i});
  expect_values(out, {{Array::cost, {0}}, {Array::object, {2, 7}}, {Array::probe, {4i}}});
  EXPECT_EQ(out[Array::exit_waves].values, Values{8i});
}

TEST(DifferenceMapStepTest, UnmeasuredPixelsKeepTheReflectedWaves) {
  OperatorArrays in = lit_pixel(2, {4i}, 9, 2);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = mapped(in, {6i, 2i});
  EXPECT_EQ(out[Array::cost].values, Values{0});
  EXPECT_EQ(out[Array::exit_waves].values, (Values{moved(6i, 4i, 2i), moved(2i, 4i, 6i)}));
}

TEST(DifferenceMapStepTest, WhereNothingIsReflectedNothingIsProjected) {
  // Waves of 4 and 0 overlap at 2. Reflected, they are 0, which has no phase, and 4.
  const OperatorArrays out = mapped(lit_pixel(2, {1}, 9, 2), {4, 0});
  EXPECT_EQ(out[Array::object].values[0], Value(2));
  EXPECT_EQ(out[Array::exit_waves].values, (Values{moved(4, 2, 0), moved(0, 2, 3)}));
}

TEST(DifferenceMapStepTest, AWeightOfNothingKeepsItsPixel) {
  // Without a probe, no object can be fitted. The old object then gives the probe.
  const OperatorArrays out = mapped(lit_pixel(2, {0}, 9), {4});
  expect_values(out, {{Array::object, {2, 7}}, {Array::probe, {2}}});
  // Without waves, the object is 0, which leaves the probe as it was.
  const OperatorArrays dark = mapped(lit_pixel(2, {3}, 9), {0});
  expect_values(dark, {{Array::object, {0, 7}}, {Array::probe, {3}}});
}

TEST(DifferenceMapStepTest, TheModesShareTheFrame) {
  // Waves of 3 and 4 with a probe of 1 and 0 give the object 3 and the probe 1 and 4 / 3. They
  // overlap at 3 and 4, an amplitude of 5. The measured amplitude is 10.
  const OperatorArrays out = mapped(lit_pixel(2, {1, 0}, 100), {3, 4});
  EXPECT_EQ(out[Array::object].values[0], Value(3));
  expect_near(out[Array::exit_waves].values, {moved(3, 3, 6), moved(4, 4, 8)}, 1e-14);
}

TEST(DifferenceMapStepTest, AroundTheWindowThereIsNoOverlap) {
  // A window of one pixel lies in the corner of a frame of 2 x 2, and nothing is measured. The wave
  // in the window overlaps itself. The other waves change their sign.
  OperatorArrays in = lit_pixel(2, {1}, 0);
  in.scene.detector = 2;
  in.make(Array::frames);
  in.make(Array::mask);
  const OperatorArrays out = mapped(in, {5, 1, 1, 1});
  EXPECT_EQ(out[Array::object].values[0], Value(5));
  expect_near(
      out[Array::exit_waves].values, {5, moved(1, 0, -1), moved(1, 0, -1), moved(1, 0, -1)}, 1e-14);
}

/// Orthogonalizes two modes of a window of 2 x 2 pixels.
Values orthogonalized(const Values& probe) {
  const OperatorArrays in = arrays_of(
      {.rows = 2, .cols = 2, .window = 2, .detector = 2, .modes = 2}, {}, {{Array::probe, probe}});
  return outputs_of(orthogonalize_modes::reference, in)[Array::probe].values;
}

TEST(OrthogonalizeModesTest, EqualModesBecomeOne) {
  // (1, i) twice: the sum's power is 4, and the difference has none.
  const Values values = orthogonalized({1, 1i, 0, 0, 1, 1i, 0, 0});
  EXPECT_NEAR(std::norm(values[0]), 2, 1e-15);
  EXPECT_NEAR(std::norm(values[1]), 2, 1e-15);
  EXPECT_NEAR(std::abs(values[1] / values[0] - 1i), 0, 1e-15);
  EXPECT_NEAR(std::abs(values[4]), 0, 1e-15);
}

TEST(OrthogonalizeModesTest, TheStrongerOfOrthogonalModesComesFirst) {
  const Values values = orthogonalized({1, 0, 0, 0, 0, 2i, 0, 0});
  EXPECT_EQ(values[1], 2i);
  EXPECT_EQ(values[4], 1.0);
}

TEST(OrthogonalizeModesTest, PowersAreTheEigenvaluesOfTheInnerProducts) {
  // The inner products are (2, 1; 1, 1). Their eigenvalues are (3 +- sqrt 5) / 2.
  const Values values = orthogonalized({1, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_NEAR(std::norm(values[0]) + std::norm(values[1]), (3 + std::sqrt(5.0)) / 2, 1e-14);
  EXPECT_NEAR(std::norm(values[4]) + std::norm(values[5]), (3 - std::sqrt(5.0)) / 2, 1e-14);
}

}  // namespace
}  // namespace rankcheck::reference
