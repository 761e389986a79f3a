#include "reference/ptycho/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/propagate_fresnel/reference.hpp"
#include "reference/ptycho/shift/reference.hpp"
#include "reference/ptycho/shift_back/reference.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;
using Values = std::vector<std::complex<double>>;

/// Returns a setting with one position and one frame of waves.
Setting setting(int width, const Values& waves) {
  Setting in;
  in.scene = {.rows = width, .cols = width, .window = width, .detector = width};
  in.positions = 1;
  in.unit = 0x1p-53;
  in.make(Array::waves).values = waves;
  in.make(Array::positions);
  return in;
}

Values waves_behind(Operator operation, const Setting& in) {
  Setting out = in;
  operation(in, out);
  return out[Array::waves].values;
}

void expect_spectrum_near(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) {
    EXPECT_LE(std::abs(got[at] - expected[at]), 1e-13) << at;
  }
}

/// Returns exp(2 pi i (k p + l q) / width) at each pixel (p, q).
Values plane_wave(int width, int k, int l) {
  Values wave;
  for (int at = 0; at < width * width; ++at) {
    const double turns = static_cast<double>(k * (at / width) + l * (at % width)) / width;
    wave.push_back(std::polar(1.0, 2 * std::numbers::pi * turns));
  }
  return wave;
}

Values times(std::complex<double> factor, Values values) {
  for (auto& value : values) value *= factor;
  return values;
}

TEST(FreeSpaceTest, a_constant_wave_turns_once_in_every_wavelength) {
  Setting in = setting(2, Values(4, 1));
  in.scene.wavelength = 0.5;
  in.scene.distance = 0.125;
  expect_spectrum_near(waves_behind(propagate_fresnel::reference, in), Values(4, 1i));
}

TEST(FreeSpaceTest, a_plane_wave_keeps_its_shape) {
  // The wave has 1/5 cycle per pixel down the rows and -2/5 along the columns. 1 - 1/25 - 4/25 =
  // 0.8 remains along the beam.
  Setting in = setting(5, plane_wave(5, 1, -2));
  in.scene.wavelength = 1;
  in.scene.distance = 3;
  const auto phase = std::polar(1.0, 6 * std::numbers::pi * std::sqrt(0.8));
  expect_spectrum_near(waves_behind(propagate_fresnel::reference, in),
                       times(phase, in[Array::waves].values));
}

TEST(FreeSpaceTest, a_wave_too_fine_decays_both_ways) {
  // The wave has half a cycle per pixel. Waves above a quarter decay.
  for (const double distance : {0.5, -0.5}) {
    Setting in = setting(2, plane_wave(2, 1, 0));
    in.scene.wavelength = 4;
    in.scene.distance = distance;
    const double factor = std::exp(-std::numbers::pi * std::sqrt(0.25 - 0.0625));
    expect_spectrum_near(waves_behind(propagate_fresnel::reference, in),
                         times(factor, in[Array::waves].values));
  }
}

TEST(FreeSpaceTest, turning_the_frame_turns_the_result) {
  Values waves{1, 2, 3i, 4, 5.0 - 1i, 6, 7, 8i, 9, 1, 1, 2, 3, 5, 8, 13};
  const auto turned = [](const Values& frame) {
    Values out;
    for (int at = 0; at < 16; ++at) {
      out.push_back(frame[static_cast<std::size_t>((4 - at / 4) % 4 * 4 + (4 - at % 4) % 4)]);
    }
    return out;
  };
  Setting in = setting(4, waves);
  in.scene.wavelength = 1.5;
  in.scene.distance = 2;
  const Values behind = waves_behind(propagate_fresnel::reference, in);
  in[Array::waves].values = turned(waves);
  expect_spectrum_near(waves_behind(propagate_fresnel::reference, in), turned(behind));
}

TEST(FreeSpaceTest, where_little_is_left_along_the_beam_its_root_is_uncertain) {
  const spec::Scene scene{.wavelength = 4, .distance = 1};
  // The first wave is exactly the finest that travels, the second is constant.
  EXPECT_GT(free_space(scene, 4, 1, 0, 0x1p-53).error, 1e-9);
  EXPECT_LT(free_space(scene, 4, 0, 0, 0x1p-53).error, 1e-14);
}

TEST(ShiftTest, half_a_pixel_is_half_a_turn_of_the_highest_frequency) {
  Setting in = setting(2, {1, 0, 0, 0});
  in[Array::positions].values = {0, 0.5};
  expect_spectrum_near(waves_behind(shift::reference, in),
                       {0.5 * (1.0 + 1i), 0.5 * (1.0 - 1i), 0, 0});
}

TEST(ShiftTest, a_pixel_down_and_two_to_the_right) {
  Setting in = setting(3, {1, 0, 0, 0, 2, 0, 0, 0, 0});
  in[Array::positions].values = {1, 2};
  expect_spectrum_near(waves_behind(shift::reference, in), {0, 0, 0, 0, 0, 1, 2, 0, 0});
}

TEST(ShiftTest, back_is_the_other_way) {
  Setting in = setting(3, {0, 0, 0, 0, 0, 1, 2, 0, 0});
  in[Array::positions].values = {1, 2};
  expect_spectrum_near(waves_behind(shift_back::reference, in), {1, 0, 0, 0, 2, 0, 0, 0, 0});
}

/// Returns the largest change of a value relative to its bound.
double worst_ratio(const Field& plain, const Field& moved) {
  double ratio = 0;
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    ratio = std::max(ratio, std::abs(moved.values[i] - plain.values[i]) / plain.errors[i]);
  }
  return ratio;
}

TEST(FilterTest, errors_that_are_brought_along_stay_inside_the_bounds) {
  // Plane waves are the worst errors: each adds up in one pixel of the spectrum. All are tried in
  // turn.
  constexpr int width = 6;
  for (int pixel = 0; pixel < width * width; ++pixel) {
    Setting in = setting(width, plane_wave(width, 1, 2));
    in.scene.wavelength = 0.75;
    in.scene.distance = 4.5;
    Field& waves = in[Array::waves];
    waves.errors.assign(waves.values.size(), 0.01);
    Setting out = in;
    propagate_fresnel::reference(in, out);
    Setting moved = in;
    const Values worst = plane_wave(width, pixel / width, pixel % width);
    for (std::size_t i = 0; i < worst.size(); ++i) {
      moved[Array::waves].values[i] += 0.01 * worst[i];
    }
    Setting moved_out = moved;
    propagate_fresnel::reference(moved, moved_out);
    EXPECT_LE(worst_ratio(out[Array::waves], moved_out[Array::waves]), 1) << pixel;
  }
}

TEST(FilterTest, transforms_there_and_back_do_not_multiply_bounds_by_all_pixels) {
  constexpr int width = 8;
  Setting in = setting(width, Values(width * width, 1));
  in.scene.wavelength = in.scene.distance = 1;
  in[Array::waves].errors.assign(width * width, 0.01);
  Setting out = in;
  propagate_fresnel::reference(in, out);
  // The vector of errors keeps its length, and all of it may lie in one pixel.
  EXPECT_GE(out[Array::waves].errors[0], 0.01 * width);
  EXPECT_LT(out[Array::waves].errors[0], 0.01 * width * 1.001);
}

}  // namespace
}  // namespace rankcheck::reference
