#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Steps that go down the gradients of object and probe, divided by the light: ePIE, rPIE and
/// momentum.
namespace rankcheck::reference {
namespace {

/// Adds the directions of a step before.
OperatorArrays going_on(OperatorArrays in, const Values& object, const Values& probe) {
  in.make(Array::object_direction).values = object;
  in.make(Array::probe_direction).values = probe;
  return in;
}

/// The waves are 2 * 4i with an amplitude of 8, and the measured amplitude is 4. So G = (1 - 4/8)
/// 8i = 4i. The object's gradient is conj(4i) 4i = 16 and D = |4i|^2 = 16. The probe's gradient is
/// conj(2) 4i = 8i and E = |2|^2 = 4.
OperatorArrays amplitude_of_8(std::int64_t positions = 1) {
  return lit_pixel(2, {4i}, 16, positions);
}

OperatorArrays amplitude_of_8_after(const Values& object,
                                    const Values& probe,
                                    std::int64_t positions = 1) {
  return going_on(amplitude_of_8(positions), object, probe);
}

/// Two positions of rank 0 light the first pixel, one of rank 2 the second. So D = 32 and 16, and
/// the object's gradient is 32 and 16.
OperatorArrays uneven_light() {
  OperatorArrays in = amplitude_of_8(3);
  in.counts = {2, 0, 1};
  in[Array::object].values = {2, 2};
  in[Array::positions].values[5] = 1;
  return in;
}

/// Nothing is measured, so G = F, and its transform is the wave o P. So the probe's gradient is
/// |o|^2 P, and E = |o|^2, which is 1, 4, 0 and 0.
OperatorArrays uneven_object(const Values& probe) {
  return arrays_of({.rows = 2, .cols = 2, .window = 2, .detector = 2},
                   {1},
                   {{Array::object, {1, 2i, 0, 0}},
                    {Array::probe, probe},
                    {Array::positions, {}},
                    {Array::frames, {}},
                    {Array::mask, {1, 1, 1, 1}}});
}

/// Both divide by the largest weight, which is that of the only lit pixel.
constexpr std::array epie_and_rpie{epie_step::reference, rpie_step::reference};

const char* name_of(Operator step) {
  if (step == momentum_step::reference) return "momentum_step";
  return step == epie_step::reference ? "epie_step" : "rpie_step";
}

TEST(DescentStepsTest, ObjectAndProbeGoDownTheirGradientsDividedByTheLight) {
  for (const Operator step : epie_and_rpie) {
    SCOPED_TRACE(name_of(step));
    const OperatorArrays out = outputs_of(step, amplitude_of_8());
    expect_near(out[Array::object].values, {2.0 - 16.0 / 16, 7});
    expect_near(out[Array::probe].values, {4i - 8i / 4.0});
  }
}

TEST(DescentStepsTest, TheCostIsThatOfObjectAndProbeBefore) {
  // (8 - 4)^2 at each of three positions.
  for (const Operator step :
       {epie_step::reference, rpie_step::reference, momentum_step::reference}) {
    SCOPED_TRACE(name_of(step));
    const OperatorArrays in = amplitude_of_8_after({10, 0}, {20}, 3);
    EXPECT_EQ(outputs_of(step, in)[Array::cost].values, Values{48});
  }
}

TEST(DescentStepsTest, UnmeasuredPixelsMoveNothing) {
  OperatorArrays in = amplitude_of_8();
  in[Array::mask].values[0] = 0;
  for (const Operator step : epie_and_rpie) {
    SCOPED_TRACE(name_of(step));
    const OperatorArrays out = outputs_of(step, in);
    expect_values(out, {{Array::cost, {0}}, {Array::object, {2, 7}}, {Array::probe, {4i}}});
  }
}

TEST(DescentStepsTest, WithoutLightTheObjectStaysAndIsExact) {
  for (const Operator step : epie_and_rpie) {
    SCOPED_TRACE(name_of(step));
    const OperatorArrays out = outputs_of(step, lit_pixel(2, {0}, 16));
    EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
    EXPECT_EQ(out[Array::object].errors, (Errors{0, 0}));
  }
}

TEST(EpieStepTest, TheSamePositionAgainChangesNoStep) {
  for (const int positions : {1, 3}) {
    SCOPED_TRACE(positions);
    const OperatorArrays out = outputs_of(epie_step::reference, amplitude_of_8(positions));
    expect_values(out, {{Array::object, {1, 7}}, {Array::probe, {2i}}});
  }
}

TEST(EpieStepTest, APixelGoesAsSlowlyAsItsLightOrItsObjectSays) {
  // Both gradients of the object are divided by 32.
  EXPECT_EQ(outputs_of(epie_step::reference, uneven_light())[Array::object].values,
            (Values{1, 1.5}));
  // All of the probe's gradients are divided by 4.
  const OperatorArrays in = uneven_object({4, 4, 4i, 4});
  expect_near(outputs_of(epie_step::reference, in)[Array::probe].values, {3, 0, 4i, 4});
}

TEST(EpieStepTest, TheModesShareTheStepOfTheObject) {
  // The waves are 3 and 4i with an amplitude of 5, and the measured amplitude is 10. So G = -F, g =
  // -25, and D = 9 + 16. The probe's modes become twice as large.
  const OperatorArrays out = outputs_of(epie_step::reference, lit_pixel(1, {3, 4i}, 100));
  expect_values(out, {{Array::object, {2, 7}}, {Array::probe, {6, 8i}}}, roundings);
}

TEST(RpieStepTest, APixelIsDividedByLittleMoreThanItsLightOrItsObject) {
  // The second divisor of the object is 0.95 * 16 + 0.05 * 32 = 16.8.
  expect_near(outputs_of(rpie_step::reference, uneven_light())[Array::object].values,
              {1, 2 - 16 / 16.8});
  // The divisors of the probe are 0.95 + 0.05 * 4 = 1.15, 4, 0.2 and 0.2.
  const OperatorArrays in = uneven_object({23, 4, 4i, 4});
  expect_near(outputs_of(rpie_step::reference, in)[Array::probe].values, {23 - 20, 0, 4i, 4});
}

TEST(MomentumStepTest, TheDirectionIsNineTenthsOfTheOldOneLessTheGradientDividedByTheLight) {
  const OperatorArrays out =
      outputs_of(momentum_step::reference, amplitude_of_8_after({10, 0}, {20}));
  expect_near(out[Array::object_direction].values, {9.0 - 16.0 / 16, 0});
  expect_near(out[Array::probe_direction].values, {18.0 - 8i / 4.0});
  // Object and probe go along the new directions.
  expect_near(out[Array::object].values, {2.0 + 8, 7});
  expect_near(out[Array::probe].values, {4i + (18.0 - 2i)});
}

TEST(MomentumStepTest, APixelWithoutLightGoesOnAsBefore) {
  // The second pixel of the object is lit by nobody.
  const OperatorArrays out =
      outputs_of(momentum_step::reference, amplitude_of_8_after({0, 10i}, {0}));
  expect_near(out[Array::object].values, {1, 7.0 + 9i});
  expect_near(out[Array::object_direction].values, {-1, 9i});
}

TEST(MomentumStepTest, ASecondStepGoesOnFromTheFirst) {
  // Nothing is measured, so g_o = D o and g_P = E P. The object's steps are -4 and 0.9 * -4 - 0,
  // because the first step leads to 0. The probe's second gradient is 0, as its object is.
  const OperatorArrays in = going_on(lit_pixel(4, {2}, 0), {0, 0}, {0});
  const OperatorArrays once = outputs_of(momentum_step::reference, in);
  expect_values(once, {{Array::object, {0, 7}}, {Array::probe, {0}}}, roundings);
  const OperatorArrays twice = outputs_of(momentum_step::reference, once);
  expect_values(twice, {{Array::object, {-3.6, 7}}, {Array::probe, {-1.8}}}, roundings);
}

TEST(MomentumStepTest, FromRestItIsTheStepOfEpie) {
  const OperatorArrays in = amplitude_of_8_after({0, 0}, {0}, 3);
  const OperatorArrays epie = outputs_of(epie_step::reference, in);
  const OperatorArrays out = outputs_of(momentum_step::reference, in);
  for (const Array array : {Array::cost, Array::object, Array::probe}) {
    EXPECT_EQ(out[array].values, epie[array].values) << spec::name(array);
  }
}

TEST(MomentumStepTest, TheSamePositionAgainChangesNoStep) {
  const OperatorArrays once =
      outputs_of(momentum_step::reference, amplitude_of_8_after({10, 10i}, {20}));
  const OperatorArrays thrice =
      outputs_of(momentum_step::reference, amplitude_of_8_after({10, 10i}, {20}, 3));
  expect_near(thrice[Array::object].values, once[Array::object].values);
  expect_near(thrice[Array::probe_direction].values, once[Array::probe_direction].values);
}

TEST(MomentumStepTest, UnmeasuredPixelsTurnNothing) {
  OperatorArrays in = amplitude_of_8_after({10, 0}, {20});
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(momentum_step::reference, in);
  expect_near(out[Array::object_direction].values, {9, 0});
  expect_near(out[Array::probe_direction].values, {18});
}

TEST(MomentumStepTest, WithoutLightAndMemoryTheObjectStaysAndIsExact) {
  const OperatorArrays in = going_on(lit_pixel(2, {0}, 16), {0, 0}, {0});
  const OperatorArrays out = outputs_of(momentum_step::reference, in);
  EXPECT_EQ(out[Array::object_direction].values, (Values{0, 0}));
  EXPECT_EQ(out[Array::object_direction].errors, (Errors{0, 0}));
}

TEST(MomentumStepTest, TheBoundCoversTheRoundingsAndHardlyMore) {
  // 0.9 in single precision is off by 0.4 roundings. The product and the sum are rounded.
  const OperatorArrays in = going_on(lit_pixel(2, {0}, 16), {10, 0}, {0});
  const OperatorArrays out = outputs_of(momentum_step::reference, in);
  const auto taken = static_cast<double>(0.9F * 10.0F);
  expect_bound(out[Array::object_direction].errors[0], taken - 9.0);
}

}  // namespace
}  // namespace rankcheck::reference
