#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Several slices: multislice, its adjoints, and gradients by slices and modes.
namespace rankcheck::reference {
namespace {

/// Two slices of one pixel, 2 and 3i, in frames of three. Light turns by a quarter between them.
OperatorArrays two_slices() {
  return arrays_of(two_thick_slices(1, 1, 1, 3),
                   {1},
                   {{Array::positions, {}},
                    {Array::object, {2, 3i}},
                    {Array::probe, {1.0 + 1i}},
                    {Array::waves, {}}},
                   double_unit);
}

/// The window's pixel in frames of three.
constexpr std::size_t centre = 4;

/// Two slices of 2 x 3, with a window of 2 x 2 one column to the right.
/// - Probe times first slice is 4 at all pixels, so this wave is constant. Between the slices it
///   turns by a quarter, to 4i.
/// - The waves lie behind the slices. Times the conjugate second slice they are 4 at all pixels. So
///   -4i comes back to the first slice.
OperatorArrays two_wide_slices() {
  return arrays_of(two_thick_slices(2, 3, 2, 2),
                   {1},
                   {{Array::positions, {0, 1}},
                    {Array::object, {9, 4, 2, 9, -1i, -4, 9, 1, 2i, 9, 4, -1}},
                    {Array::probe, {1, 2, 4i, -1}},
                    {Array::waves, {4, 2i, 1, -4}}},
                   double_unit);
}

/// Returns numbers of magnitude one.
Values turned(std::size_t count) {
  Values values;
  for (std::size_t at = 0; at < count; ++at) {
    values.push_back(std::polar(1.0, static_cast<double>(at * at % 7)));
  }
  return values;
}

/// Three slices. No wave is too fine to travel.
OperatorArrays three_slices(const Values& positions) {
  OperatorArrays in = arrays_of({.rows = 4,
                                 .cols = 5,
                                 .window = 3,
                                 .detector = 3,
                                 .modes = 2,
                                 .slices = 3,
                                 .wavelength = 1.25,
                                 .distance = 3},
                                {1, 1},
                                {{Array::positions, positions}, {Array::probe, {}}},
                                double_unit);
  in.make(Array::object).values = turned(in.size(Array::object));
  for (std::size_t at = 0; at < in.size(Array::probe); ++at) {
    in[Array::probe].values[at] = {static_cast<double>(at % 5) - 1, 0.5};
  }
  return in;
}

TEST(MultisliceTest, LightMeetsOneSliceAfterAnother) {
  Values expected(9);
  expected[centre] = 2.0 * (1.0 + 1i) * 1i * 3i;
  expect_near(outputs_of(multislice::reference, two_slices())[Array::waves].values, expected);
}

TEST(MultisliceTest, SlicesOfOnesAreFreeSpace) {
  OperatorArrays in = three_slices({0, 2, 1, 1});
  Values& object = in[Array::object].values;
  const auto behind_first = object.begin() + static_cast<std::ptrdiff_t>(object.size() / 3);
  std::fill(behind_first, object.end(), 1);
  OperatorArrays one = in;
  one.scene.slices = 1;
  one[Array::object].values.assign(object.begin(), behind_first);
  multislice::reference(one, one);
  one.scene.distance = 6;
  expect_near(outputs_of(multislice::reference, in)[Array::waves].values,
              outputs_of(propagate_fresnel::reference, one)[Array::waves].values);
}

TEST(MultisliceTest, SlicesThatOnlyTurnPhasesKeepTheEnergy) {
  const OperatorArrays in = three_slices({0, 2, 1, 1});
  const OperatorArrays out = outputs_of(multislice::reference, in);
  double probe = 0;
  double waves = 0;
  for (const Value& value : in[Array::probe].values) probe += std::norm(value);
  for (const Value& value : out[Array::waves].values) waves += std::norm(value);
  EXPECT_NEAR(waves, 2 * probe, 1e-12 * probe);
}

TEST(MultisliceTest, EachPixelOfTheWindowMeetsItsPixelOfEachSlice) {
  // The wave 4i meets 1, 2i, 4 and -1.
  expect_near(outputs_of(multislice::reference, two_wide_slices())[Array::waves].values,
              {4i, -8, 16i, -4i});
}

TEST(MultisliceAdjointObjectTest, EachSliceGetsBackWhatTheOthersLeave) {
  OperatorArrays in = two_slices();
  in[Array::waves].values[centre] = 5;
  in[Array::waves].values[0] = 7;
  expect_near(outputs_of(multislice_adjoint_object::reference, in)[Array::object].values,
              {std::conj((1.0 + 1i) * 1i * 3i) * 5.0, std::conj(2.0 * (1.0 + 1i) * 1i) * 5.0});
}

TEST(MultisliceAdjointObjectTest, EachPixelOfTheWindowGoesToItsPlaceInEachSlice) {
  // The first slice gets -4i times the conjugate of 1, 2, 4i and -1. The second slice gets the
  // waves times the conjugate of 4i.
  const OperatorArrays out = outputs_of(multislice_adjoint_object::reference, two_wide_slices());
  expect_near(out[Array::object].values, {0, -4i, -8i, 0, -16, 4i, 0, -16i, 8, 0, -4i, 16i});
}

TEST(MultisliceAdjointProbeTest, TheProbeGetsBackWhatAllSlicesLeave) {
  OperatorArrays in = two_slices();
  in[Array::waves].values[centre] = 5;
  expect_near(outputs_of(multislice_adjoint_probe::reference, in)[Array::probe].values,
              {std::conj(2i * 3i) * 5.0});
}

TEST(MultisliceAdjointProbeTest, EachPixelOfTheWindowGoesToItsPixelOfTheProbe) {
  // -4i times the conjugate of 4, 2, -i and -4.
  const OperatorArrays out = outputs_of(multislice_adjoint_probe::reference, two_wide_slices());
  expect_near(out[Array::probe].values, {-16i, -8i, 4, 16i});
}

/// Compares the cost's derivative with the gradient, along a direction in `count` values of an
/// array from `first` on. The derivative is twice the real part of gradient times direction.
void expect_derivative(Operator gradients, Array array, std::size_t first, std::size_t count) {
  OperatorArrays in = three_slices({0.25, 1.5, 0.75, 0.5});
  in.make(Array::frames);
  for (std::size_t at = 0; at < in.size(Array::frames); ++at) {
    in[Array::frames].values[at] = static_cast<double>(at % 4) + 0.5;
  }
  in.make(Array::mask).values.assign(9, 1);
  in[Array::mask].values[3] = 0;
  const Values gradient = outputs_of(gradients, in)[array].values;
  const Values direction = turned(count);
  const auto cost = [&](double step) {
    OperatorArrays moved = in;
    for (std::size_t at = 0; at < count; ++at) {
      moved[array].values[first + at] += step * direction[at];
    }
    return outputs_of(gradients, moved)[Array::cost].values.front().real();
  };
  double expected = 0;
  for (std::size_t at = 0; at < count; ++at) {
    expected += 2 * (std::conj(gradient[first + at]) * direction[at]).real();
  }
  // The difference quotient is off by the square of the step, and by roundings divided by the step.
  EXPECT_NEAR((cost(1e-5) - cost(-1e-5)) / 2e-5, expected, 1e-7 * std::abs(cost(0)));
  EXPECT_GT(std::abs(expected), 1e-3 * std::abs(cost(0)));
}

TEST(GradientsTest, GradientsByEachSliceAndModeAreTheCostsDerivatives) {
  for (const Operator gradients : {gaussian_gradients::reference, poisson_gradients::reference}) {
    SCOPED_TRACE(gradients == gaussian_gradients::reference ? "gaussian" : "poisson");
    for (std::size_t slice = 0; slice < 3; ++slice) {
      SCOPED_TRACE(slice);
      expect_derivative(gradients, Array::object, slice * 20, 20);
    }
    for (std::size_t mode = 0; mode < 2; ++mode) {
      SCOPED_TRACE(mode);
      expect_derivative(gradients, Array::probe, mode * 9, 9);
    }
  }
}

}  // namespace
}  // namespace rankcheck::reference
