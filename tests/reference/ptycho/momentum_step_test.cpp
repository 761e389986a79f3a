#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::momentum_step {
namespace {

using spec::Array;

/// Adds the directions of a step before.
OperatorArrays going_on(OperatorArrays in, const Values& object, const Values& probe) {
  in.make(Array::object_direction).values = object;
  in.make(Array::probe_direction).values = probe;
  return in;
}

/// The waves are 2 * 4i with an amplitude of 8, and the measured amplitude is 4. So G = (1 - 4/8)
/// 8i = 4i. The object's gradient is conj(4i) 4i = 16 and D = |4i|^2 = 16. The probe's gradient is
/// conj(2) 4i = 8i and E = |2|^2 = 4.
OperatorArrays inputs(const Values& object, const Values& probe, std::int64_t positions = 1) {
  return going_on(lit_pixel(2, 4i, 16, positions), object, probe);
}

TEST(MomentumStepTest, TheDirectionIsNineTenthsOfTheOldOneLessTheGradientDividedByTheLight) {
  const OperatorArrays out = outputs_of(reference, inputs({10, 0}, {20}));
  expect_near(out[Array::object_direction].values, {9.0 - 16.0 / 16, 0});
  expect_near(out[Array::probe_direction].values, {18.0 - 8i / 4.0});
}

TEST(MomentumStepTest, ObjectAndProbeGoAlongTheNewDirections) {
  const OperatorArrays out = outputs_of(reference, inputs({10, 0}, {20}));
  expect_near(out[Array::object].values, {2.0 + 8, 7});
  expect_near(out[Array::probe].values, {4i + (18.0 - 2i)});
}

TEST(MomentumStepTest, APixelWithoutLightGoesOnAsBefore) {
  // The second pixel of the object is lit by nobody.
  const OperatorArrays out = outputs_of(reference, inputs({0, 10i}, {0}));
  expect_near(out[Array::object].values, {1, 7.0 + 9i});
  expect_near(out[Array::object_direction].values, {-1, 9i});
}

TEST(MomentumStepTest, ASecondStepGoesOnFromTheFirst) {
  // Nothing is measured, so g_o = D o and g_P = E P. The object's steps are -4 and 0.9 * -4 - 0,
  // because the first step leads to 0. The probe's second gradient is 0, as its object is.
  OperatorArrays in = going_on(lit_pixel(4, 2, 0), {0, 0}, {0});
  const OperatorArrays once = outputs_of(reference, in);
  expect_near(once[Array::object].values, {0, 7});
  expect_near(once[Array::probe].values, {0});
  const OperatorArrays twice = outputs_of(reference, once);
  expect_near(twice[Array::object].values, {-3.6, 7});
  expect_near(twice[Array::probe].values, {-1.8});
}

TEST(MomentumStepTest, FromRestItIsTheStepOfEpie) {
  const OperatorArrays in = inputs({0, 0}, {0}, 3);
  const OperatorArrays epie = outputs_of(epie_step::reference, in);
  const OperatorArrays out = outputs_of(reference, in);
  for (const Array array : {Array::cost, Array::object, Array::probe}) {
    EXPECT_EQ(out[array].values, epie[array].values) << spec::name(array);
  }
}

TEST(MomentumStepTest, TheSamePositionAgainChangesNoStep) {
  const OperatorArrays once = outputs_of(reference, inputs({10, 10i}, {20}));
  const OperatorArrays thrice = outputs_of(reference, inputs({10, 10i}, {20}, 3));
  expect_near(thrice[Array::object].values, once[Array::object].values);
  expect_near(thrice[Array::probe_direction].values, once[Array::probe_direction].values);
}

TEST(MomentumStepTest, TheCostIsThatOfObjectAndProbeBefore) {
  // (8 - 4)^2 at each of three positions.
  EXPECT_EQ(outputs_of(reference, inputs({10, 0}, {20}, 3))[Array::cost].values, Values{48});
}

TEST(MomentumStepTest, UnmeasuredPixelsTurnNothing) {
  OperatorArrays in = inputs({10, 0}, {20});
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::object_direction].values, {9, 0});
  expect_near(out[Array::probe_direction].values, {18});
}

TEST(MomentumStepTest, WithoutLightAndMemoryTheObjectStaysAndIsExact) {
  const OperatorArrays in = going_on(lit_pixel(2, 0, 16), {0, 0}, {0});
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::object_direction].values, (Values{0, 0}));
  EXPECT_EQ(out[Array::object_direction].errors, (std::vector<double>{0, 0}));
}

TEST(MomentumStepTest, TheBoundCoversTheRoundingsAndHardlyMore) {
  // 0.9 in single precision is off by 0.4 roundings. The product and the sum are rounded.
  OperatorArrays in = going_on(lit_pixel(2, 0, 16), {10, 0}, {0});
  const OperatorArrays out = outputs_of(reference, in);
  const auto taken = static_cast<double>(0.9F * 10.0F);
  expect_bound(out[Array::object_direction].errors[0], taken - 9.0);
}

}  // namespace
}  // namespace rankcheck::reference::momentum_step
