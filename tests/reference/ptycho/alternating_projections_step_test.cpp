#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::alternating_projections_step {
namespace {

using spec::Array;
using Values = std::vector<std::complex<double>>;

OperatorArrays stepped(const OperatorArrays& in) {
  OperatorArrays out = in;
  reference(in, out);
  return out;
}

TEST(AlternatingProjectionsStepTest, ObjectAndProbeFitTheWavesOfMeasuredAmplitude) {
  // The waves are 2 * 4i and the measured amplitude is 2, so they become 2i. Then the object is 2i
  // / 4i and the probe 2i / 2.
  const OperatorArrays out = stepped(lit_pixel(2, {0, 4}, 4));
  EXPECT_EQ(out[Array::cost].values, Values{36});
  EXPECT_EQ(out[Array::object].values, (Values{0.5, 7}));
  EXPECT_EQ(out[Array::probe].values, (Values{{0, 1}}));
  EXPECT_LT(out[Array::object].errors[0], 1e-5);
}

TEST(AlternatingProjectionsStepTest, UnmeasuredPixelsKeepTheirWaves) {
  OperatorArrays in = lit_pixel(2, {0, 4}, 4);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = stepped(in);
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::probe].values, (Values{{0, 4}}));
}

TEST(AlternatingProjectionsStepTest, WavesOfNothingStayNothingAndAWeightOfNothingKeeps) {
  const OperatorArrays out = stepped(lit_pixel(0, 3, 4));
  EXPECT_EQ(out[Array::object].values, (Values{0, 7}));
  EXPECT_EQ(out[Array::probe].values, Values{3});
  EXPECT_EQ(out[Array::probe].errors, std::vector<double>{0});
}

TEST(AlternatingProjectionsStepTest, TheSamePositionAgainChangesNothing) {
  EXPECT_EQ(stepped(lit_pixel(2, {0, 4}, 4, 4))[Array::object].values, (Values{0.5, 7}));
}

TEST(AlternatingProjectionsStepTest, ModesShareTheMeasuredAmplitude) {
  // The waves are 6i and -8, with the amplitude 10. The measured amplitude is 5, so they become 3i
  // and -4. The object is (3 * 3i - 4i * -4) / (9 + 16). The probe is -2i / 4 times the waves.
  OperatorArrays in = lit_pixel(2i, 0, 25);
  in.scene.modes = 2;
  in.make(Array::probe).values = {3, 4i};
  const OperatorArrays out = stepped(in);
  expect_near(out[Array::cost].values, {25});
  expect_near(out[Array::object].values, {1i, 7});
  expect_near(out[Array::probe].values, {1.5, 2i});
}

}  // namespace
}  // namespace rankcheck::reference::alternating_projections_step
