#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// What is measured at the detector: intensities, costs, gradients, and the weights of pixels.
namespace rankcheck::reference {
namespace {

TEST(IntensityTest, SumsTheSquaredMagnitudesOfTheModes) {
  const OperatorArrays in = arrays_of(
      {.window = 1, .detector = 1, .modes = 2}, {1}, {{Array::far_waves, {3.0 + 4i, 2i}}});
  // 9 + 16 of the first mode, 4 of the second.
  EXPECT_EQ(outputs_of(intensity::reference, in)[Array::frames].values, Values{29});
}

TEST(IntensityTest, KeepsPixelsAndPositionsApart) {
  const OperatorArrays in =
      arrays_of({.window = 2, .detector = 2, .modes = 2},
                {1, 1},
                {{Array::far_waves, {1, 2, 0, 0, 0, 1i, 2, 0, 0, 0, 0, 3i, 1, 0, 0, 0}}});
  EXPECT_EQ(outputs_of(intensity::reference, in)[Array::frames].values,
            (Values{1, 5, 4, 0, 1, 0, 0, 9}));
}

TEST(IntensityTest, ErrorsOfModesAddUpAsAVector) {
  // The error of a wave is squared with it.
  OperatorArrays in = arrays_of({.window = 1, .detector = 1}, {1}, {{Array::far_waves, {3i}}});
  in[Array::far_waves].errors = {0.5};
  expect_bound(outputs_of(intensity::reference, in)[Array::frames].errors[0], 3.5 * 3.5 - 3 * 3);
  // The modes are a vector of length 5. Its error has the length hypot(0.3, 0.4) = 0.5.
  in = arrays_of({.window = 1, .detector = 1, .modes = 2}, {1}, {{Array::far_waves, {3, 4i}}});
  in[Array::far_waves].errors = {0.3, 0.4};
  expect_bound(outputs_of(intensity::reference, in)[Array::frames].errors[0], 5.5 * 5.5 - 5 * 5);
}

/// Returns a problem with a detector of one pixel, where each position has a wave of each mode and
/// a measured intensity. Rank r has counts[r] positions.
OperatorArrays far_pixels(const std::vector<std::int64_t>& counts,
                          const Values& waves,
                          const Values& frames) {
  const int modes = static_cast<int>(waves.size() / frames.size());
  return arrays_of({.window = 1, .detector = 1, .modes = modes},
                   counts,
                   {{Array::far_waves, waves}, {Array::frames, frames}, {Array::mask, {1}}});
}

/// Expects the cost and the gradient of one position, off by `slack` at most.
void expect_cost(Operator operation,
                 const Values& waves,
                 double frame,
                 double cost,
                 const Values& gradient,
                 double slack = 0) {
  SCOPED_TRACE(testing::PrintToString(waves) + " and a frame of " + std::to_string(frame));
  const OperatorArrays out = outputs_of(operation, far_pixels({1}, waves, {frame}));
  expect_near(out[Array::cost].values, {cost}, slack);
  expect_near(out[Array::far_waves].values, gradient, slack);
}

TEST(GaussianCostTest, ComparesAmplitudesAndTheGradientIsWhatTheWaveHasTooMuch) {
  // The amplitudes are 4 and 1: (4 - 1)^2 and (1 - sqrt(1 / 16)) 4i.
  expect_cost(gaussian_cost::reference, {4i}, 1, 9, {3i});
  // Modes share the amplitude. The amplitude of 3 and 4i is 5, so (5 - 2)^2 and (1 - 2/5) (3, 4i).
  expect_cost(gaussian_cost::reference, {3, 4i}, 4, 9, {1.8, 2.4i}, 1e-13);
  // Waves of nothing have no derivative.
  expect_cost(gaussian_cost::reference, {0}, 4, 4, {0});
}

TEST(GaussianCostTest, SumsThePositionsOfAllRanks) {
  // (4 - 1)^2 + (2 - 1)^2 + (1 - 2)^2.
  const OperatorArrays out =
      outputs_of(gaussian_cost::reference, far_pixels({2, 0, 1}, {4, 2, 1i}, {1, 1, 4}));
  expect_values(out, {{Array::cost, {11}}, {Array::far_waves, {3, 1, -1i}}});
}

TEST(GaussianCostTest, UnmeasuredPixelsAddNothing) {
  // Both frames: (4 - 1)^2 + (2 - 4)^2 in the first and the last pixel.
  const OperatorArrays in = arrays_of({.window = 2, .detector = 2},
                                      {1, 1},
                                      {{Array::far_waves, {4, 4, 4, 2i, 4, 4, 4, 2i}},
                                       {Array::frames, {1, 9, 9, 16, 1, 9, 9, 16}},
                                       {Array::mask, {1, 0, 0, 1}}});
  const OperatorArrays out = outputs_of(gaussian_cost::reference, in);
  expect_values(out, {{Array::cost, {26}}, {Array::far_waves, {3, 0, 0, -2i, 3, 0, 0, -2i}}});
}

TEST(GaussianCostTest, TheCostIsAsUncertainAsTheWave) {
  // The wave may be 4.5, which costs 3.5^2 and not 3^2.
  OperatorArrays in = far_pixels({1}, {4}, {1});
  in[Array::far_waves].errors = {0.5};
  const OperatorArrays out = outputs_of(gaussian_cost::reference, in);
  expect_bound(out[Array::cost].errors[0], 3.5 * 3.5 - 3 * 3);
}

/// The floor e = 1e-9 of intensities moves Poisson's costs below by about as much.
constexpr double moved_by_floor = 1e-8;

TEST(PoissonCostTest, ComparesIntensitiesAndTheGradientIsTheShareThatTheIntensityHasTooMuch) {
  // I = 4 and d = 1: 4 - 1 - log 4 and (1 - 1/4) 2i.
  expect_cost(poisson_cost::reference, {2i}, 1, 3 - std::log(4), {1.5i}, moved_by_floor);
  // Modes share the intensity. I = 1 + 3 and d = 2: 4 - 2 - 2 log 2 and (1 - 2/4) F.
  const Values waves{1, std::sqrt(3.0) * 1i};
  const Values half{0.5, std::sqrt(0.75) * 1i};
  expect_cost(poisson_cost::reference, waves, 2, 2 - 2 * std::log(2), half, moved_by_floor);
  // The right intensity costs nothing.
  expect_cost(poisson_cost::reference, {2i}, 4, 0, {0}, moved_by_floor);
  // Without photons, all of the intensity costs: I + e, and the gradient is the wave.
  expect_cost(poisson_cost::reference, {2i}, 0, 4 + 1e-9, {2i});
}

TEST(PoissonCostTest, TheFloorStandsForNoIntensity) {
  // I = 0 and d = 1: e - 1 - log e, with log e = -9 log 10.
  const OperatorArrays out = outputs_of(poisson_cost::reference, far_pixels({1}, {0}, {1}));
  expect_near(out[Array::cost].values, {1e-9 - 1 + 9 * std::log(10)});
  EXPECT_EQ(out[Array::far_waves].values, Values{0});
}

TEST(PoissonCostTest, SumsThePositionsOfAllRanks) {
  // 4 + 0 + 1 without photons, and 4 - 1 - log 4.
  const OperatorArrays out =
      outputs_of(poisson_cost::reference, far_pixels({2, 0, 2}, {2, 0, 1i, 2}, {0, 0, 0, 1}));
  expect_near(out[Array::cost].values, {8 - std::log(4)}, moved_by_floor);
}

TEST(PoissonCostTest, UnmeasuredPixelsAddNothing) {
  const OperatorArrays in = arrays_of({.window = 2, .detector = 2},
                                      {1, 1},
                                      {{Array::far_waves, {2, 4, 4, 1i, 2, 4, 4, 1i}},
                                       {Array::frames, {}},
                                       {Array::mask, {1, 0, 0, 1}}});
  const OperatorArrays out = outputs_of(poisson_cost::reference, in);
  expect_near(out[Array::cost].values, {2 * (4 + 1)}, moved_by_floor);
  EXPECT_EQ(out[Array::far_waves].values, (Values{2, 0, 0, 1i, 2, 0, 0, 1i}));
}

TEST(PoissonCostTest, TheCostIsAsUncertainAsTheWave) {
  // Without photons, the cost is the intensity: (2 + 0.5)^2 and not 2^2.
  OperatorArrays in = far_pixels({1}, {2}, {0});
  in[Array::far_waves].errors = {0.5};
  const OperatorArrays out = outputs_of(poisson_cost::reference, in);
  expect_bound(out[Array::cost].errors[0], 2.5 * 2.5 - 2 * 2);
}

TEST(GaussianGradientsTest, ObjectAndProbeGetTheGradientBackConjugated) {
  // The waves are 2 * 4i, and the measured amplitude is 4: cost (8 - 4)^2 and G = 4i.
  const OperatorArrays out = outputs_of(gaussian_gradients::reference, lit_pixel(2.0, {4i}, 16));
  EXPECT_EQ(out[Array::cost].values, Values{16});
  EXPECT_EQ(out[Array::object].values, (Values{16, 0}));  // conj(4i) 4i
  EXPECT_EQ(out[Array::probe].values, Values{8i});        // conj(2) 4i
}

TEST(GaussianGradientsTest, SumsThePositionsOfAllRanks) {
  // Rank 0 has two positions as above. Rank 2 has the second pixel, with waves of 1i 4i = -4, so
  // its cost is 0.
  OperatorArrays in = lit_pixel(2, {4i}, 16, 3);
  in.counts = {2, 0, 1};
  in[Array::object].values[1] = 1i;
  in[Array::positions].values[5] = 1;
  const OperatorArrays out = outputs_of(gaussian_gradients::reference, in);
  expect_values(out, {{Array::cost, {32}}, {Array::object, {32, 0}}, {Array::probe, {16i}}});
}

TEST(GaussianGradientsTest, TheModesShareTheAmplitude) {
  // The waves are 3 and 4i with an amplitude of 5, and the measured amplitude is 10: cost 25 and G
  // = -F.
  const OperatorArrays out = outputs_of(gaussian_gradients::reference, lit_pixel(1, {3, 4i}, 100));
  expect_values(out, {{Array::cost, {25}}, {Array::object, {-25, 0}}}, roundings);
  expect_near(out[Array::probe].values, {-3, -4i});
}

TEST(GaussianGradientsTest, TheFrameIsComparedWhereTheDetectorIs) {
  // The window of one pixel lies at [0, 0] of 2 x 2, so all far waves are 4 / 2. Nothing is
  // measured in two pixels: G = 2. The others measure 4, so G = 0. Back at [0, 0], (2 + 2) / 2
  // remains.
  OperatorArrays in = lit_pixel(1, {4}, 0);
  in.scene.detector = 2;
  in.make(Array::frames).values = {0, 4, 4, 0};
  in.make(Array::mask).values.assign(4, 1);
  const OperatorArrays out = outputs_of(gaussian_gradients::reference, in);
  expect_values(out, {{Array::cost, {8}}, {Array::object, {8, 0}}, {Array::probe, {2}}}, roundings);
}

TEST(GaussianGradientsTest, EachSliceGetsBackWhatTheOthersLeave) {
  // The waves are 2 * 1i * 3i = -6, because light turns by a quarter between the slices. The
  // measured amplitude is 3, so G = -3. The slices get conj(1i * 3i) G and conj(2 * 1i) G, and the
  // probe gets conj(-6) G.
  const OperatorArrays in = arrays_of(two_thick_slices(1, 1, 1, 1),
                                      {1},
                                      {{Array::object, {2, 3i}},
                                       {Array::probe, {1}},
                                       {Array::positions, {}},
                                       {Array::frames, {9}},
                                       {Array::mask, {1}}});
  const OperatorArrays out = outputs_of(gaussian_gradients::reference, in);
  expect_values(out, {{Array::cost, {9}}, {Array::object, {9, 6i}}}, roundings);
  expect_near(out[Array::probe].values, {18});
}

TEST(PoissonGradientsTest, ObjectAndProbeGetTheGradientBackConjugated) {
  // I = |2 * 4i|^2 = 64 and d = 32: 64 - 32 - 32 log 2, and G = (1 - 32 / 64) 8i = 4i, at each of
  // two positions. The object gets conj(4i) 4i. The floor of intensities moves this by less.
  OperatorArrays out = outputs_of(poisson_gradients::reference, lit_pixel(2, {4i}, 32, 2));
  expect_near(out[Array::cost].values, {2 * (32 - 32 * std::log(2))}, 10 * moved_by_floor);
  expect_near(out[Array::object].values, {32, 0}, 10 * moved_by_floor);
  EXPECT_EQ(out[Array::object].values[1], 0.0);
  // The probe gets conj(2i) 4i.
  out = outputs_of(poisson_gradients::reference, lit_pixel(2i, {4}, 32, 2));
  expect_near(out[Array::probe].values, {16}, 10 * moved_by_floor);
}

TEST(PoissonGradientsTest, UnmeasuredPixelsAddNothing) {
  OperatorArrays in = lit_pixel(2, {4i}, 32);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(poisson_gradients::reference, in);
  expect_values(out, {{Array::cost, {0}}, {Array::object, {0, 0}}, {Array::probe, {0}}});
}

/// The first window lies a quarter of a pixel to the right of the first pixel. The second window
/// lies on the second pixel.
OperatorArrays quarter(const Values& probe, bool varying_probe = false) {
  return arrays_of(row_of_two(varying_probe),
                   {1, 1},
                   {{Array::positions, {0, 0.25, 0, 1}}, {Array::probe, probe}});
}

TEST(ObjectPreconditionerTest, AllModesOfAllPositionsLightThePixelsOfAllSlices) {
  // Both modes have 4 + 8 = 12. Pixel 0 gets 3/4 of it. Pixel 1 gets 1/4, and all of the second.
  OperatorArrays in = quarter({2, 2.0 + 2i});
  for (const int slices : {1, 3}) {
    in.scene.slices = slices;
    EXPECT_EQ(outputs_of(object_preconditioner::reference, in)[Array::object_weight].values,
              (Values{9, 3 + 12}))
        << slices;
  }
}

TEST(ObjectPreconditionerTest, APositionOfAVaryingProbeHasItsOwnLight) {
  // The probes have 1 + 3 = 4 and 4 + 16 = 20.
  const OperatorArrays in = quarter({1, std::sqrt(3.0), 2i, 4}, true);
  expect_near(outputs_of(object_preconditioner::reference, in)[Array::object_weight].values,
              {3, 1 + 20});
}

TEST(ObjectPreconditionerTest, APixelOfTheWindowLightsItsPixelOfTheObject) {
  const OperatorArrays in = arrays_of({.rows = 3, .cols = 2, .window = 2, .detector = 2},
                                      {1},
                                      {{Array::positions, {1, 0}}, {Array::probe, {1, 2i, 3, 4}}});
  EXPECT_EQ(outputs_of(object_preconditioner::reference, in)[Array::object_weight].values,
            (Values{0, 0, 1, 4, 9, 16}));
}

TEST(ObjectPreconditionerTest, TheErrorOfTheProbeIsSquaredWithIt) {
  // The first mode may be 2.5, and the second is exact. The first window gives 3/4 of its light.
  OperatorArrays in = quarter({2, 2.0 + 2i});
  in[Array::probe].errors = {0.5, 0};
  const OperatorArrays out = outputs_of(object_preconditioner::reference, in);
  expect_bound(out[Array::object_weight].errors[0], 0.75 * (2.5 * 2.5 - 2 * 2));
}

/// Returns the weights that an object gives to the probe.
BoundedArray weights_of(const spec::Scene& scene,
                        const std::vector<std::int64_t>& counts,
                        const Values& object,
                        const Values& positions,
                        const Errors& errors = {}) {
  OperatorArrays in =
      arrays_of(scene, counts, {{Array::object, object}, {Array::positions, positions}});
  if (!errors.empty()) in[Array::object].errors = errors;
  return outputs_of(probe_preconditioner::reference, in)[Array::probe_weight];
}

TEST(ProbePreconditionerTest, SumsTheSquaredMagnitudesOfAllPositions) {
  // Between the pixels there is 1 + 2i, with 5. On the second pixel there is 4i, with 16.
  const spec::Scene scene{.rows = 1, .cols = 2, .window = 1, .detector = 1};
  EXPECT_EQ(weights_of(scene, {1, 1}, {2, 4i}, {0, 0.5, 0, 1}).values, Values{21});
}

TEST(ProbePreconditionerTest, APixelOfTheWindowSeesItsPixelsOfTheObject) {
  // 1 + 4, 4 + 9, 16 + 25 and 25 + 36, with windows in the middle of frames.
  const spec::Scene scene{.rows = 2, .cols = 3, .window = 2, .detector = 4};
  EXPECT_EQ(weights_of(scene, {2, 0}, {1, 2i, 3, 4, 5, 6i}, {0, 0, 0, 1}).values,
            (Values{5, 13, 41, 61}));
}

TEST(ProbePreconditionerTest, NothingIsSeenOutsideTheObject) {
  const spec::Scene scene{.rows = 1, .cols = 1, .window = 2, .detector = 2};
  EXPECT_EQ(weights_of(scene, {1}, {3i}, {-1, 0}).values, (Values{0, 0, 9, 0}));
}

TEST(ProbePreconditionerTest, TheErrorOfTheObjectIsSquaredWithIt) {
  const spec::Scene scene{.rows = 1, .cols = 1, .window = 1, .detector = 1};
  expect_bound(weights_of(scene, {2}, {3}, {}, {0.5}).errors[0], 2 * (3.5 * 3.5 - 3 * 3));
}

}  // namespace
}  // namespace rankcheck::reference
