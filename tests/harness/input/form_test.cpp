#include "harness/form.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "harness/scene_input.hpp"

namespace rankcheck::harness {
namespace {

using spec::Array;
using Complex = std::complex<double>;

/// An object of 3 x 4 pixels, a window of 2 in frames of 3, two modes, three positions.
Case scene_case(Form form = Form::plain) {
  Case c;
  c.operation = "gaussian_gradients";
  c.counts = {3};
  c.type = spec::Type::f64;
  c.form = form;
  c.scene = bent_scene(form, {.rows = 3, .cols = 4, .window = 2, .detector = 3, .modes = 2});
  return c;
}

/// What a single rank gets of an array.
std::vector<Complex> input(const Case& c, Array array) {
  const bool is_complex = spec::info(array).is_complex;
  const std::int64_t copies = spec::is_per_position(c.scene, array) ? 3 : 1;
  const std::int64_t count = copies * spec::components(c.scene, array);
  std::vector<double> parts(static_cast<std::size_t>(count));
  fill_array(c,
             {.offset = 0, .count = count, .array = array, .first = 0},
             reinterpret_cast<std::byte*>(parts.data()));
  std::vector<Complex> values;
  for (std::size_t i = 0; i < parts.size(); i += is_complex ? 2 : 1) {
    values.emplace_back(parts[i], is_complex ? parts[i + 1] : 0);
  }
  return values;
}

std::vector<Complex> input(Form form, Array array) {
  return input(scene_case(form), array);
}

TEST(FormTest, turned_objects_are_multiplied_by_i) {
  const auto plain = input(Form::plain, Array::object);
  const auto turned = input(Form::turned, Array::object);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(turned[i], Complex(0, 1) * plain[i]);
  EXPECT_EQ(input(Form::turned, Array::probe), input(Form::plain, Array::probe));
}

TEST(FormTest, stretching_keeps_the_product_of_object_and_probe) {
  EXPECT_EQ(input(Form::stretched, Array::object)[5], 2.0 * input(Form::plain, Array::object)[5]);
  EXPECT_EQ(input(Form::stretched, Array::probe)[5], 0.5 * input(Form::plain, Array::probe)[5]);
}

TEST(FormTest, twins_are_reflected_and_conjugated) {
  const auto plain = input(Form::plain, Array::object);
  const auto twin = input(Form::twin, Array::object);
  EXPECT_EQ(twin[0], std::conj(plain[11]));
  EXPECT_EQ(twin[6], std::conj(plain[5]));
  const auto probe = input(Form::plain, Array::probe);
  EXPECT_EQ(input(Form::twin, Array::probe)[5], std::conj(probe[6]));
}

TEST(FormTest, a_twins_window_is_as_far_from_the_other_side) {
  const auto plain = input(Form::plain, Array::positions);
  const auto twin = input(Form::twin, Array::positions);
  EXPECT_EQ(twin[2], 1.0 - plain[2]);
  EXPECT_EQ(twin[3], 2.0 - plain[3]);
}

TEST(FormTest, transposed_images_change_rows_and_columns) {
  const auto plain = input(Form::plain, Array::object);
  const auto transposed = input(Form::transposed, Array::object);
  EXPECT_EQ(scene_case(Form::transposed).scene.rows, 4);
  // Pixel (2, 1) of 4 x 3 is pixel (1, 2) of 3 x 4.
  EXPECT_EQ(transposed[7], plain[6]);
  const auto frames = input(Form::plain, Array::frames);
  EXPECT_EQ(input(Form::transposed, Array::frames)[9 + 1], frames[9 + 3]);
  const auto positions = input(Form::plain, Array::positions);
  EXPECT_EQ(input(Form::transposed, Array::positions)[2], positions[3]);
}

TEST(FormTest, a_mixture_keeps_the_inner_products_of_the_modes) {
  const auto plain = input(Form::plain, Array::probe);
  const auto mixed = input(Form::mixed, Array::probe);
  // The first pixel's modes, one vector before and one behind.
  EXPECT_EQ(std::norm(mixed[0]) + std::norm(mixed[4]), std::norm(plain[0]) + std::norm(plain[4]));
  const auto product = [](const std::vector<Complex>& modes) {
    return modes[0] * std::conj(modes[1]) + modes[4] * std::conj(modes[5]);
  };
  EXPECT_NEAR(std::abs(product(mixed) - product(plain)), 0, 1e-15);
  EXPECT_NE(mixed[0], plain[0]);
}

TEST(FormTest, translated_objects_begin_with_zeros) {
  const auto plain = input(Form::plain, Array::object);
  const auto translated = input(Form::translated, Array::object);
  ASSERT_EQ(translated.size(), 4U * 6U);
  EXPECT_EQ(translated[5], 0.0);
  EXPECT_EQ(translated[7], 0.0);
  EXPECT_EQ(translated[8], plain[0]);
  EXPECT_EQ(translated[23], plain[11]);
  EXPECT_EQ(input(Form::translated, Array::positions)[1],
            input(Form::plain, Array::positions)[1] + 2.0);
}

TEST(FormTest, positions_come_backwards_or_twice_with_their_frames) {
  const auto plain = input(Form::plain, Array::frames);
  EXPECT_EQ(input(Form::reversed, Array::frames)[2], plain[18 + 2]);
  EXPECT_EQ(input(Form::repeated, Array::frames)[9 + 2], plain[2]);
  EXPECT_EQ(input(Form::repeated, Array::positions)[5], input(Form::plain, Array::positions)[3]);
  EXPECT_EQ(input(Form::reversed, Array::object), input(Form::plain, Array::object));
}

TEST(FormTest, bilinear_objects_are_the_polynomial) {
  // Row 1, column 2.
  EXPECT_EQ(input(Form::bilinear, Array::object)[6], Complex(1 + 2 + 6 + 2, -1));
}

TEST(FormTest, added_inputs_are_halved) {
  Case c = scene_case();
  const auto plain = input(c, Array::object);
  c.varied = Array::object;
  c.added_seed = 9;
  const auto whole = input(c, Array::object);
  c.halvings = 3;
  EXPECT_EQ(input(c, Array::object)[4], plain[4] + (whole[4] - plain[4]) / 8.0);
}

TEST(FormTest, a_translated_object_must_have_had_a_window) {
  EXPECT_EQ(why_invalid(Form::translated, scene_case(Form::translated).scene), "");
  EXPECT_NE(why_invalid(Form::translated, {.rows = 2, .cols = 4, .window = 2, .detector = 2}), "");
}

}  // namespace
}  // namespace rankcheck::harness
