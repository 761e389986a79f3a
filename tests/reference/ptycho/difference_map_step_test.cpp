#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::difference_map_step {
namespace {

using spec::Array;
using Value = std::complex<double>;
using Values = std::vector<Value>;

/// Gives each position its own exit waves.
OperatorArrays with_waves(OperatorArrays in, const Values& waves) {
  in.make(Array::exit_waves).values = waves;
  return in;
}

OperatorArrays stepped(const OperatorArrays& in) {
  OperatorArrays out = in;
  reference(in, out);
  return out;
}

/// Returns the new value of a wave w with overlap m and projection p on the frames.
Value moved(Value w, Value m, Value p) {
  return w + difference_map_beta * (p - m);
}

TEST(DifferenceMapStepTest, TheWavesAreReflectedAtTheirOverlapAndGoToTheFrames) {
  // Waves of 6i and 2i give the object 4i / 4i = 1 and the probe 4i, so both overlap at 4i.
  // Reflected, they are 2i and 6i. The measured amplitude is 3, so both are projected to 3i.
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, {0, 4}, 9, 2), {{0, 6}, {0, 2}}));
  EXPECT_EQ(out[Array::object].values, (Values{1, 7}));
  EXPECT_EQ(out[Array::probe].values, (Values{{0, 4}}));
  EXPECT_EQ(out[Array::exit_waves].values,
            (Values{moved({0, 6}, {0, 4}, {0, 3}), moved({0, 2}, {0, 4}, {0, 3})}));
  EXPECT_LT(out[Array::exit_waves].errors[0], 1e-3);
}

TEST(DifferenceMapStepTest, TheCostIsThatOfObjectAndProbeBefore) {
  // Waves of 2 * 4i with a measured amplitude of 3 cost 25 at each position.
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, {0, 4}, 9, 2), {{0, 6}, {0, 2}}));
  EXPECT_EQ(out[Array::cost].values, Values{50});
}

TEST(DifferenceMapStepTest, TheProbeIsFittedToTheNewObject) {
  // The object is 3 / 1, then the probe 3 * 3 / 9. With the old object of 2, it would be 3 * 2 / 4.
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, 1, 9), {3}));
  EXPECT_EQ(out[Array::object].values[0], Value(3));
  EXPECT_EQ(out[Array::probe].values, Values{1});
}

TEST(DifferenceMapStepTest, TheTruthWithItsOwnWavesIsAFixedPoint) {
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, {0, 4}, 64), {{0, 8}}));
  EXPECT_EQ(out[Array::cost].values, Values{0});
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::probe].values, (Values{{0, 4}}));
  EXPECT_EQ(out[Array::exit_waves].values, (Values{{0, 8}}));
}

TEST(DifferenceMapStepTest, UnmeasuredPixelsKeepTheReflectedWaves) {
  OperatorArrays in = with_waves(lit_pixel(2, {0, 4}, 9, 2), {{0, 6}, {0, 2}});
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = stepped(in);
  EXPECT_EQ(out[Array::cost].values, Values{0});
  EXPECT_EQ(out[Array::exit_waves].values,
            (Values{moved({0, 6}, {0, 4}, {0, 2}), moved({0, 2}, {0, 4}, {0, 6})}));
}

TEST(DifferenceMapStepTest, WhereNothingIsReflectedNothingIsProjected) {
  // Waves of 4 and 0 overlap at 2. Reflected, they are 0, which has no phase, and 4.
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, 1, 9, 2), {4, 0}));
  EXPECT_EQ(out[Array::object].values[0], Value(2));
  EXPECT_EQ(out[Array::exit_waves].values, (Values{moved(4, 2, 0), moved(0, 2, 3)}));
}

TEST(DifferenceMapStepTest, AWeightOfNothingKeepsItsPixel) {
  // Without a probe, no object can be fitted. The old object then gives the probe.
  const OperatorArrays out = stepped(with_waves(lit_pixel(2, 0, 9), {4}));
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::probe].values, Values{2});
  // Without waves, the object is 0, which leaves the probe as it was.
  const OperatorArrays dark = stepped(with_waves(lit_pixel(2, 3, 9), {0}));
  EXPECT_EQ(dark[Array::object].values, (Values{0, 7}));
  EXPECT_EQ(dark[Array::probe].values, Values{3});
}

TEST(DifferenceMapStepTest, TheModesShareTheFrame) {
  // Waves of 3 and 4 with a probe of 1 and 0 give the object 3 and the probe 1 and 4 / 3. They
  // overlap at 3 and 4, an amplitude of 5. The measured amplitude is 10.
  OperatorArrays in = lit_pixel(2, 1, 100);
  in.scene.modes = 2;
  in.make(Array::probe).values = {1, 0};
  const OperatorArrays out = stepped(with_waves(in, {3, 4}));
  EXPECT_EQ(out[Array::object].values[0], Value(3));
  const Values expected{moved(3, 3, 6), moved(4, 4, 8)};
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_NEAR(std::abs(out[Array::exit_waves].values[m] - expected[m]), 0, 1e-14);
  }
}

TEST(DifferenceMapStepTest, AroundTheWindowThereIsNoOverlap) {
  // A window of one pixel lies in the corner of a frame of 2 x 2, and nothing is measured. The wave
  // in the window overlaps itself. The other waves change their sign.
  OperatorArrays in = lit_pixel(2, 1, 0);
  in.scene.detector = 2;
  in.make(Array::frames);
  in.make(Array::mask);
  const OperatorArrays out = stepped(with_waves(in, {5, 1, 1, 1}));
  const Values expected{5, moved(1, 0, -1), moved(1, 0, -1), moved(1, 0, -1)};
  EXPECT_EQ(out[Array::object].values[0], Value(5));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(std::abs(out[Array::exit_waves].values[i] - expected[i]), 0, 1e-14) << i;
  }
}

}  // namespace
}  // namespace rankcheck::reference::difference_map_step
