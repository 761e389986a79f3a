#include "harness/form.hpp"

#include <array>
#include <utility>

namespace rankcheck::harness {

namespace {

using spec::Array;
using spec::Scene;

/// Distance of the plain object from the corner of the translated object, in pixels.
constexpr int rows_moved = 1;
constexpr int cols_moved = 2;

/// Factor of a raster's positions: whole pixels become this many pixels apart.
constexpr int raster_step = 2;

bool is_object(Array array) {
  return array == Array::object || array == Array::object_gradient ||
         array == Array::object_direction;
}

bool is_probe(Array array) {
  return array == Array::probe || array == Array::probe_gradient || array == Array::probe_direction;
}

/// Whether the array consists of frames as large as the detector (other than exit_waves).
bool is_seen(Array array) {
  return array == Array::frames || array == Array::mask || array == Array::waves ||
         array == Array::far_waves || array == Array::patches;
}

/// Number of values of one mode's image in a probe or in exit waves; 0 for other arrays.
std::int64_t area_of_mode(const Scene& scene, Array array) {
  if (is_probe(array)) return std::int64_t{scene.window} * scene.window;
  if (array == Array::exit_waves) return std::int64_t{scene.detector} * scene.detector;
  return 0;
}

/// Exactly value `index` of the plain array, times `factor`.
Bent one(std::int64_t index, std::complex<double> factor = 1) {
  Bent bent;
  bent.count = 1;
  bent.terms[0] = {.index = static_cast<std::size_t>(index), .factor = factor};
  return bent;
}

/// A pixel of an image of an array. In arrays without images, row and column are 0.
struct Pixel {
  std::int64_t image = 0;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t row = 0;
  std::int64_t col = 0;
};

Pixel pixel_of(const Scene& scene, Array array, std::int64_t index) {
  Pixel pixel;
  if (is_object(array)) {
    pixel.rows = scene.rows;
    pixel.cols = scene.cols;
  } else if (is_probe(array)) {
    pixel.rows = pixel.cols = scene.window;
  } else if (is_seen(array) || array == Array::exit_waves) {
    pixel.rows = pixel.cols = scene.detector;
  }
  pixel.image = index / (pixel.rows * pixel.cols);
  pixel.row = index / pixel.cols % pixel.rows;
  pixel.col = index % pixel.cols;
  return pixel;
}

double brightness_of(Array array) {
  if (is_probe(array) || array == Array::exit_waves) return 2;
  return array == Array::frames ? 4 : 1;
}

double stretch_of(const Scene& scene, Array array, std::int64_t index) {
  if (is_probe(array)) return 0.5;
  return is_object(array) && index < std::int64_t{scene.rows} * scene.cols ? 2 : 1;
}

/// Mirrors a position in the object.
Bent reflect_position(const Scene& scene, std::int64_t index) {
  Bent bent = one(index, -1);
  bent.offset = (index % 2 == 0 ? scene.rows : scene.cols) - scene.window;
  return bent;
}

/// Mirrors a pixel of an image in both axes.
Bent reflect_pixel(const Pixel& at) {
  return one(((at.image + 1) * at.rows - 1 - at.row) * at.cols + at.cols - 1 - at.col);
}

/// Mirrors a pixel of a frame in the middle of the frame's window. Frames are periodic.
Bent reflect_exit_waves(const Scene& scene, std::int64_t index) {
  const Pixel at = pixel_of(scene, Array::exit_waves, index);
  const std::int64_t last = 2 * spec::margin(scene) + scene.window - 1;
  const auto reflected = [&](std::int64_t i) { return (last - i + at.rows) % at.rows; };
  return one((at.image * at.rows + reflected(at.row)) * at.cols + reflected(at.col));
}

Bent bend_twin(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return reflect_position(scene, index);
  // A reflected and conjugated wave has the same intensity in every pixel of the detector. It
  // travels backwards.
  const bool is_wave = array == Array::exit_waves;
  if (!is_object(array) && !is_probe(array) && !is_wave) return one(index);
  Bent bent =
      is_wave ? reflect_exit_waves(scene, index) : reflect_pixel(pixel_of(scene, array, index));
  bent.conjugates = true;
  return bent;
}

/// In frames, pixel 0 (the zero frequency) stays in its place.
Bent bend_reflected(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return reflect_position(scene, index);
  if (array == Array::exit_waves) return reflect_exit_waves(scene, index);
  const Pixel at = pixel_of(scene, array, index);
  if (is_object(array) || is_probe(array)) return reflect_pixel(at);
  if (!is_seen(array)) return one(index);
  return one((at.image * at.rows + (at.rows - at.row) % at.rows) * at.cols +
             (at.cols - at.col) % at.cols);
}

/// The ramp makes a quarter turn for each row and half a turn for each column; both are exact.
Bent bend_ramped(const Scene& scene, Array array, std::int64_t index) {
  constexpr std::array<std::complex<double>, 4> turns{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  const Pixel at = pixel_of(scene, array, index);
  const std::complex<double> turn = turns[static_cast<std::size_t>(at.row + 2 * at.col) % 4];
  if (is_probe(array)) return one(index, std::conj(turn));
  return one(index, is_object(array) && at.image == 0 ? turn : 1);
}

/// On a raster of every other pixel, the phases under all windows are the same.
Bent bend_periodic(const Scene& scene, Array array, std::int64_t index) {
  constexpr std::array<std::complex<double>, 4> turns{{{1, 0}, {0, 1}, {0, -1}, {-1, 0}}};
  if (array == Array::positions) return one(index, raster_step);
  const Pixel at = pixel_of(scene, array, index);
  const std::complex<double> turn =
      turns[static_cast<std::size_t>(at.row % raster_step * raster_step + at.col % raster_step)];
  if (is_probe(array)) return one(index, std::conj(turn));
  return one(index, is_object(array) && at.image == 0 ? turn : 1);
}

/// The last mode of each probe, and of each position's exit waves, is the dark mode.
Bent bend_dark(const Scene& scene, Array array, std::int64_t index) {
  const std::int64_t area = area_of_mode(scene, array);
  if (area == 0) return one(index);
  if (index / area % scene.modes == scene.modes - 1) return {};
  return one(index - index / (area * scene.modes) * area);
}

Bent bend_transposed(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return one(index ^ 1);
  const Pixel at = pixel_of(scene, array, index);
  return one((at.image * at.cols + at.col) * at.rows + at.row);
}

Bent bend_mixed(const Scene& scene, Array array, std::int64_t index) {
  const std::int64_t area = area_of_mode(scene, array);
  if (area == 0 || scene.modes < 2) return one(index);
  const std::int64_t mode = index / area % scene.modes;
  if (mode > 1) return one(index);
  Bent bent = one(index, {0.5, 0.5});
  bent.count = 2;
  bent.terms[1] = {.index = static_cast<std::size_t>(mode == 0 ? index + area : index - area),
                   .factor = {0.5, -0.5}};
  return bent;
}

Bent bend_translated(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) {
    Bent bent = one(index);
    bent.offset = index % 2 == 0 ? rows_moved : cols_moved;
    return bent;
  }
  if (!is_object(array)) return one(index);
  const Pixel at = pixel_of(scene, array, index);
  if (at.row < rows_moved || at.col < cols_moved) return {};
  return one((at.image * (at.rows - rows_moved) + at.row - rows_moved) * (at.cols - cols_moved) +
             at.col - cols_moved);
}

/// `copy(n)` returns the index of the plain position that position n is made of.
template <class Copy>
Bent from_position(const Scene& scene, Array array, std::int64_t index, const Copy& copy) {
  if (!spec::is_per_position(scene, array)) return one(index);
  const std::int64_t size = spec::values(scene, array);
  return one(copy(index / size) * size + index % size);
}

/// The object is a polynomial that is linear in the row and linear in the column.
Bent bend_bilinear(const Scene& scene, Array array, std::int64_t index) {
  if (array != Array::object) return one(index);
  const Pixel at = pixel_of(scene, array, index);
  Bent bent;
  bent.offset = bilinear_value(static_cast<double>(at.row), static_cast<double>(at.col));
  return bent;
}

}  // namespace

std::complex<double> bilinear_value(double row, double col) {
  return {1 + 2 * row + 3 * col + row * col, row - col};
}

Bent bend(
    Form form, const Scene& scene, std::int64_t positions, spec::Array array, std::int64_t index) {
  switch (form) {
    case Form::plain:
      break;
    case Form::turned:
      return one(index,
                 is_object(array) || array == Array::exit_waves ? std::complex<double>(0, 1) : 1);
    case Form::stretched:
      return one(index, stretch_of(scene, array, index));
    case Form::twin:
      return bend_twin(scene, array, index);
    case Form::transposed:
      return bend_transposed(scene, array, index);
    case Form::mixed:
      return bend_mixed(scene, array, index);
    case Form::translated:
      return bend_translated(scene, array, index);
    case Form::reversed:
      return from_position(scene, array, index, [&](std::int64_t n) { return positions - 1 - n; });
    case Form::repeated:
      return from_position(scene, array, index, [](std::int64_t n) { return n / 2; });
    case Form::bilinear:
      return bend_bilinear(scene, array, index);
    case Form::ramped:
      return bend_ramped(scene, array, index);
    case Form::reflected:
      return bend_reflected(scene, array, index);
    case Form::dark:
      return bend_dark(scene, array, index);
    case Form::brightened:
      return one(index, brightness_of(array));
    case Form::raster:
      return one(index, array == Array::positions ? raster_step : 1);
    case Form::periodic:
      return bend_periodic(scene, array, index);
    case Form::unmasked:
      if (array != Array::mask) break;
      return {.offset = 1};
  }
  return one(index);
}

Scene plain_scene(Form form, const Scene& scene) {
  Scene plain = scene;
  if (form == Form::twin) plain.distance = 0 - plain.distance;
  if (form == Form::transposed) std::swap(plain.rows, plain.cols);
  if (form == Form::translated) {
    plain.rows -= rows_moved;
    plain.cols -= cols_moved;
  }
  if (form == Form::dark) --plain.modes;
  if (form == Form::raster || form == Form::periodic) {
    plain.rows -= (plain.rows - plain.window + 1) / raster_step;
    plain.cols -= (plain.cols - plain.window + 1) / raster_step;
  }
  return plain;
}

Scene bent_scene(Form form, const Scene& plain) {
  Scene scene = plain;
  if (form == Form::twin) scene.distance = 0 - scene.distance;
  if (form == Form::transposed) std::swap(scene.rows, scene.cols);
  if (form == Form::translated) {
    scene.rows += rows_moved;
    scene.cols += cols_moved;
  }
  if (form == Form::dark) ++scene.modes;
  return scene;
}

std::string why_invalid(Form form, const Scene& scene) {
  const Scene plain = plain_scene(form, scene);
  if (plain.modes < 1) return "form: a dark mode needs another one";
  if (plain.rows >= plain.window && plain.cols >= plain.window) return {};
  return "form: a translated object needs " + std::to_string(scene.window + rows_moved) +
         " rows and " + std::to_string(scene.window + cols_moved) + " columns";
}

}  // namespace rankcheck::harness
