#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::gaussian_gradients {
namespace {

using spec::Array;

TEST(GaussianGradientsTest, ObjectAndProbeGetTheGradientBackConjugated) {
  // The waves are 2 * 4i, and the measured amplitude is 4: cost (8 - 4)^2 and G = 4i.
  const OperatorArrays out = outputs_of(reference, lit_pixel(2.0, 4i, 16));
  EXPECT_EQ(out[Array::cost].values, Values{16});
  EXPECT_EQ(out[Array::object].values, (Values{16, 0}));  // conj(4i) 4i
  EXPECT_EQ(out[Array::probe].values, Values{8i});        // conj(2) 4i
}

TEST(GaussianGradientsTest, SumsThePositionsOfAllRanks) {
  // Rank 0 has two positions as above. Rank 2 has the second pixel, with waves of 1i 4i = -4, so
  // its cost is 0.
  OperatorArrays in = lit_pixel(2, 4i, 16, 3);
  in.counts = {2, 0, 1};
  in[Array::object].values[1] = 1i;
  in[Array::positions].values[5] = 1;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::cost].values, Values{32});
  EXPECT_EQ(out[Array::object].values, (Values{32, 0}));
  EXPECT_EQ(out[Array::probe].values, Values{16i});
}

TEST(GaussianGradientsTest, TheModesShareTheAmplitude) {
  // The waves are 3 and 4i with an amplitude of 5, and the measured amplitude is 10: cost 25 and G
  // = -F.
  OperatorArrays in = lit_pixel(1, 0, 100);
  in.scene.modes = 2;
  in.make(Array::probe).values = {3, 4i};
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::cost].values, {25});
  expect_near(out[Array::object].values, {-25, 0});
  expect_near(out[Array::probe].values, {-3, -4i});
}

TEST(GaussianGradientsTest, TheFrameIsComparedWhereTheDetectorIs) {
  // The window of one pixel lies at [0, 0] of 2 x 2, so all far waves are 4 / 2. Nothing is
  // measured in two pixels: G = 2. The others measure 4, so G = 0. Back at [0, 0], (2 + 2) / 2
  // remains.
  OperatorArrays in = lit_pixel(1, 4, 0);
  in.scene.detector = 2;
  in.make(Array::frames).values = {0, 4, 4, 0};
  in.make(Array::mask).values.assign(4, 1);
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::cost].values, {8});
  expect_near(out[Array::object].values, {8, 0});
  expect_near(out[Array::probe].values, {2});
}

TEST(GaussianGradientsTest, EachSliceGetsBackWhatTheOthersLeave) {
  // The waves are 2 * 1i * 3i = -6, because light turns by a quarter between the slices. The
  // measured amplitude is 3, so G = -3. The slices get conj(1i * 3i) G and conj(2 * 1i) G, and the
  // probe gets conj(-6) G.
  OperatorArrays in = empty_arrays({.rows = 1,
                                    .cols = 1,
                                    .window = 1,
                                    .detector = 1,
                                    .slices = 2,
                                    .wavelength = 4,
                                    .distance = 1},
                                   {1});
  in.make(Array::object).values = {2, 3i};
  in.make(Array::probe).values = {1};
  in.make(Array::positions);
  in.make(Array::frames).values = {9};
  in.make(Array::mask).values = {1};
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::cost].values, {9});
  expect_near(out[Array::object].values, {9, 6i});
  expect_near(out[Array::probe].values, {18});
}

}  // namespace
}  // namespace rankcheck::reference::gaussian_gradients
