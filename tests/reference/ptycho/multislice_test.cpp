#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/gaussian_gradients/reference.hpp"
#include "reference/ptycho/multislice/reference.hpp"
#include "reference/ptycho/multislice_adjoint_object/reference.hpp"
#include "reference/ptycho/multislice_adjoint_probe/reference.hpp"
#include "reference/ptycho/poisson_gradients/reference.hpp"
#include "reference/ptycho/propagate_fresnel/reference.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;
using Values = std::vector<std::complex<double>>;

void expect_near(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) {
    EXPECT_LE(std::abs(got[at] - expected[at]), 1e-13) << at;
  }
}

Values output(Operator operation, const Setting& in, Array array) {
  Setting out = in;
  operation(in, out);
  return out[array].values;
}

/// Two slices of one pixel, 2 and 3i, in frames of three. Light turns by a quarter between them.
Setting two_pixels() {
  Setting in;
  in.scene = {.rows = 1,
              .cols = 1,
              .window = 1,
              .detector = 3,
              .slices = 2,
              .wavelength = 4,
              .distance = 1};
  in.positions = 1;
  in.unit = 0x1p-53;
  in.make(Array::positions);
  in.make(Array::object).values = {2, 3i};
  in.make(Array::probe).values = {1.0 + 1i};
  in.make(Array::waves);
  return in;
}

constexpr std::size_t centre = 4;

TEST(MultisliceTest, light_meets_one_slice_after_another) {
  Values expected(9);
  expected[centre] = 2.0 * (1.0 + 1i) * 1i * 3i;
  expect_near(output(multislice::reference, two_pixels(), Array::waves), expected);
}

TEST(MultisliceTest, each_slice_gets_back_what_the_others_leave) {
  Setting in = two_pixels();
  in[Array::waves].values[centre] = 5;
  in[Array::waves].values[0] = 7;
  const Values expected{std::conj((1.0 + 1i) * 1i * 3i) * 5.0,
                        std::conj(2.0 * (1.0 + 1i) * 1i) * 5.0};
  expect_near(output(multislice_adjoint_object::reference, in, Array::object), expected);
}

TEST(MultisliceTest, the_probe_gets_back_what_all_slices_leave) {
  Setting in = two_pixels();
  in[Array::waves].values[centre] = 5;
  expect_near(output(multislice_adjoint_probe::reference, in, Array::probe),
              {std::conj(2i * 3i) * 5.0});
}

/// Returns numbers of magnitude one.
Values turned(std::size_t count) {
  Values values;
  for (std::size_t at = 0; at < count; ++at) {
    values.push_back(std::polar(1.0, static_cast<double>(at * at % 7)));
  }
  return values;
}

/// Three slices and whole positions. No wave is too fine to travel.
Setting three_slices() {
  Setting in;
  in.scene = {.rows = 4,
              .cols = 5,
              .window = 3,
              .detector = 3,
              .modes = 2,
              .slices = 3,
              .wavelength = 1.25,
              .distance = 3};
  in.positions = 2;
  in.unit = 0x1p-53;
  in.make(Array::positions).values = {0, 2, 1, 1};
  in.make(Array::object).values = turned(in.size(Array::object));
  in.make(Array::probe);
  for (std::size_t at = 0; at < in.size(Array::probe); ++at) {
    in[Array::probe].values[at] = {static_cast<double>(at % 5) - 1, 0.5};
  }
  return in;
}

TEST(MultisliceTest, slices_of_ones_are_free_space) {
  Setting in = three_slices();
  Values& object = in[Array::object].values;
  const auto behind_first = object.begin() + static_cast<std::ptrdiff_t>(object.size() / 3);
  std::fill(behind_first, object.end(), 1);
  Setting one = in;
  one.scene.slices = 1;
  one[Array::object].values.assign(object.begin(), behind_first);
  multislice::reference(one, one);
  one.scene.distance = 6;
  expect_near(output(multislice::reference, in, Array::waves),
              output(propagate_fresnel::reference, one, Array::waves));
}

TEST(MultisliceTest, slices_that_only_turn_phases_keep_the_energy) {
  const Setting in = three_slices();
  double probe = 0;
  double waves = 0;
  for (const auto& value : in[Array::probe].values) probe += std::norm(value);
  for (const auto& value : output(multislice::reference, in, Array::waves)) {
    waves += std::norm(value);
  }
  EXPECT_NEAR(waves, 2 * probe, 1e-12 * probe);
}

/// Compares the cost's derivative with the gradient, along a direction in `count` values of an
/// array from `first` on. The derivative is twice the real part of gradient times direction.
void expect_derivative(Operator gradients, Array array, std::size_t first, std::size_t count) {
  Setting in = three_slices();
  in[Array::positions].values = {0.25, 1.5, 0.75, 0.5};
  in.make(Array::frames);
  for (std::size_t at = 0; at < in.size(Array::frames); ++at) {
    in[Array::frames].values[at] = static_cast<double>(at % 4) + 0.5;
  }
  in.make(Array::mask).values.assign(9, 1);
  in[Array::mask].values[3] = 0;
  const Values gradient = output(gradients, in, array);
  const Values direction = turned(count);
  const auto cost = [&](double step) {
    Setting moved = in;
    for (std::size_t at = 0; at < count; ++at) {
      moved[array].values[first + at] += step * direction[at];
    }
    return output(gradients, moved, Array::cost).front().real();
  };
  double expected = 0;
  for (std::size_t at = 0; at < count; ++at) {
    expected += 2 * (std::conj(gradient[first + at]) * direction[at]).real();
  }
  // The difference quotient is off by the square of the step, and by roundings divided by the step.
  EXPECT_NEAR((cost(1e-5) - cost(-1e-5)) / 2e-5, expected, 1e-7 * std::abs(cost(0)));
  EXPECT_GT(std::abs(expected), 1e-3 * std::abs(cost(0)));
}

TEST(MultisliceTest, gradients_by_each_slice_are_the_costs_derivatives) {
  for (const Operator gradients : {gaussian_gradients::reference, poisson_gradients::reference}) {
    for (std::size_t slice = 0; slice < 3; ++slice) {
      SCOPED_TRACE(slice);
      expect_derivative(gradients, Array::object, slice * 20, 20);
    }
  }
}

TEST(MultisliceTest, gradients_by_each_mode_are_the_costs_derivatives) {
  for (const Operator gradients : {gaussian_gradients::reference, poisson_gradients::reference}) {
    for (std::size_t mode = 0; mode < 2; ++mode) {
      SCOPED_TRACE(mode);
      expect_derivative(gradients, Array::probe, mode * 9, 9);
    }
  }
}

}  // namespace
}  // namespace rankcheck::reference
