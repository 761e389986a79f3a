#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/lsqml_step/directions.hpp"
#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {
namespace {

/// The waves are 4 and the measured amplitude is 1. With s = sqrt(0.95^2 + 0.05^2): dO = -1.5 / s,
/// dP = -6, u = -3 / s, v = -12, chi = -3. The determinant is 1620 / s^2, so x1 = 0.4 s and x2 =
/// 0.1.
OperatorArrays far_waves_of_4(std::int64_t positions = 1) {
  return lit_pixel(2, {2}, 1, positions);
}

TEST(LsqmlStepTest, ObjectAndProbeGoAlongTheirDirectionsAsFarAsTheDampedLeastSquaresSay) {
  // The same positions again change no mean.
  for (const int positions : {1, 3}) {
    SCOPED_TRACE(positions);
    const OperatorArrays out = outputs_of(lsqml_step::reference, far_waves_of_4(positions));
    expect_near(out[Array::step_lengths].values, {0.36 * std::sqrt(0.905), 0.09}, 1e-15);
    EXPECT_EQ(out[Array::cost].values[0], 9.0 * positions);
    expect_near(out[Array::object].values, {1.46, 7}, 1e-15);
    EXPECT_EQ(out[Array::object].values[1], 7.0);
    expect_near(out[Array::probe].values, {1.46}, 1e-15);
    EXPECT_LT(out[Array::object].errors[0], 1e-4);
  }
}

TEST(LsqmlStepTest, OtherModesMoveButDoNotCountForTheLengths) {
  // The two modes share the amplitude 4 as 2.4 and 3.2. The second mode has another direction than
  // the first.
  const OperatorArrays out = outputs_of(lsqml_step::reference, lit_pixel(2, {1.2, 1.6}, 1));
  // The directions are dO = -1.5 / s and dP = (-3.6, -4.8). For mode 0: u = -1.8 / s, v = -7.2, chi
  // = -1.8. So x1 and x2 are the lengths of a single mode with 0.6 of its light: det = 0.1296 *
  // 1620 / s^2 ...
  expect_near(out[Array::step_lengths].values, {0.36 * std::sqrt(0.905), 0.09}, 1e-15);
  EXPECT_NEAR(out[Array::probe].values[1].real(), 1.6 - 0.09 * 4.8, 1e-15);
}

TEST(LsqmlStepTest, NothingMovesWhereThereIsNothingToSolve) {
  // The waves are 1 and the measured amplitude is 1: no direction and no determinant.
  const OperatorArrays out = outputs_of(lsqml_step::reference, lit_pixel(1, {1}, 1));
  expect_values(out, {{Array::step_lengths, {0, 0}}, {Array::object, {1, 7}}});
}

/// One pixel has a small weight and one a large weight. The divisor has the relative error of the
/// largest weight.
TEST(LsqmlStepTest, TheErrorOfTheLargestWeightMakesDirectionsWrong) {
  constexpr std::size_t bright = 1000;
  OperatorArrays in = lit_pixel(1, {2}, 9, 1 + bright);
  in[Array::object].values[1] = 1;
  for (std::size_t n = 1; n <= bright; ++n) in[Array::positions].values[2 * n + 1] = 1;
  const OperatorArrays led = outputs_of(lsqml_step::directions, in);
  const OperatorArrays weighed = outputs_of(object_preconditioner::reference, in);
  const Estimate most = at(weighed[Array::object_weight], 1);
  ASSERT_GT(most.value.real(), 500 * weighed[Array::object_weight].values[0].real());
  const Estimate direction = at(led[Array::object_direction], 0);
  EXPECT_GT(direction.error / std::abs(direction.value), most.error / most.value.real() / 2);
}

TEST(LsqmlStepTest, WithoutPositionsNothingMovesAndNothingIsOpen) {
  const OperatorArrays out = outputs_of(lsqml_step::reference, far_waves_of_4(0));
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::object].errors, (Errors{0, 0}));
  EXPECT_EQ(out[Array::step_lengths].errors, (Errors{0, 0}));
}

/// Two windows of 2 x 2 that lie side by side. Only the frequency 0 is measured.
OperatorArrays two_windows() {
  return arrays_of({.rows = 2, .cols = 4, .window = 2, .detector = 2},
                   {1, 1},
                   {{Array::object, {4, -2i, 2i, -2i, 2, 0, 0, 0}},
                    {Array::probe, {1, 1i, 1, 1i}},
                    {Array::positions, {0, 0, 0, 2}},
                    {Array::frames, {4, 0, 0, 0, 0, 0, 0, 0}},
                    {Array::mask, {1, 0, 0, 0}}},
                   double_unit);
}

/// With the probe P, the waves are (4, 2, 2, 0) and (2i, 2, 0, 0). At frequency 0 they are 4 and
/// 1 + i, and the measured amplitudes are 2 and 0. So G is 2 and 1 + i there, and its transforms
/// are c = 1 and c = (1 + i)/2 at all pixels. Hence, with s = sqrt(0.95^2 + 0.05^2):
/// - dO = -conj(P) c / s, because all weights are 1.
/// - dP = -sum of conj(o) c / 2 = -(5 - i, -1 + 3i, 2, 0) / 2.
/// - First position: u = -(1, 1, 1, 1) / s, chi = s u, v = -(10 - 2i, 3 + i, 2, 0). So a1 = 4/s^2,
///   a4 = 118, sum of u conj(v) = (15 + i)/s, b1 = 4/s and b2 = 15.
/// - Second position: u = -(1 + i)(1, 1, 1, 1) / 2s, chi = s u, v = -(1 + 5i, 3 + i, 0, 0). So a1 =
///   2/s^2, a4 = 36, sum of u conj(v) = (5 - i)/s, b1 = 2/s and b2 = 5.
/// - Half of the means of a1 and a4 are 1.5/s^2 and 38.5.
/// - First position: det = (5.5 * 156.5 - 226)/s^2 = 634.75/s^2, x1 = (156.5 * 4 - 15 * 15) s /
///   634.75 = 401 s / 634.75, x2 = (5.5 * 15 - 15 * 4) / 634.75 = 22.5 / 634.75.
/// - Second position: det = (3.5 * 74.5 - 26)/s^2 = 234.75/s^2, x1 = (74.5 * 2 - 5 * 5) s / 234.75
///   = 124 s / 234.75, x2 = (3.5 * 5 - 5 * 2) / 234.75 = 7.5 / 234.75.
TEST(LsqmlStepTest, LengthsAreMeansOverPositionsOfComplexWindows) {
  const OperatorArrays out = outputs_of(lsqml_step::reference, two_windows());
  const double along_object = 0.9 * (401 / 634.75 + 124 / 234.75) / 2;
  const double along_probe = 0.9 * (22.5 / 634.75 + 7.5 / 234.75) / 2;
  expect_near(out[Array::cost].values, {4 + 2});
  expect_near(out[Array::step_lengths].values, {along_object * std::sqrt(0.905), along_probe});
  const std::complex<double> half = along_object * 0.5;
  expect_near(out[Array::object].values,
              {4 - along_object,
               -2i + along_object * 1i,
               2i - half * (1.0 + 1i),
               -2i - half * (1.0 - 1i),
               2 - along_object,
               along_object * 1i,
               -half * (1.0 + 1i),
               -half * (1.0 - 1i)});
  expect_near(out[Array::probe].values,
              {1.0 - along_probe / 2 * (5.0 - 1i),
               1i - along_probe / 2 * (-1.0 + 3i),
               1 - along_probe,
               1i});
}

}  // namespace
}  // namespace rankcheck::reference
