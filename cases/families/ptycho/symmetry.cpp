#include "cases/families/ptycho/symmetry.hpp"

#include <array>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases {

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
TransformedValue one(std::int64_t index, std::complex<double> factor = 1) {
  TransformedValue value;
  value.count = 1;
  value.terms[0] = {.index = spec::to_size(index), .factor = factor};
  return value;
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
TransformedValue reflect_position(const Scene& scene, std::int64_t index) {
  TransformedValue value = one(index, -1);
  value.offset = (index % 2 == 0 ? scene.rows : scene.cols) - scene.window;
  return value;
}

/// Mirrors a pixel of an image in both axes.
TransformedValue reflect_pixel(const Pixel& at) {
  return one(((at.image + 1) * at.rows - 1 - at.row) * at.cols + at.cols - 1 - at.col);
}

/// Mirrors a pixel of a frame in the middle of the frame's window. Frames are periodic.
TransformedValue reflect_exit_waves(const Scene& scene, std::int64_t index) {
  const Pixel at = pixel_of(scene, Array::exit_waves, index);
  const std::int64_t last = 2 * spec::margin(scene) + scene.window - 1;
  const auto reflected = [&](std::int64_t i) { return (last - i + at.rows) % at.rows; };
  return one((at.image * at.rows + reflected(at.row)) * at.cols + reflected(at.col));
}

TransformedValue transform_twin(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return reflect_position(scene, index);
  // A reflected and conjugated wave has the same intensity in every pixel of the detector. It
  // travels backwards.
  const bool is_wave = array == Array::exit_waves;
  if (!is_object(array) && !is_probe(array) && !is_wave) return one(index);
  TransformedValue value =
      is_wave ? reflect_exit_waves(scene, index) : reflect_pixel(pixel_of(scene, array, index));
  value.conjugates = true;
  return value;
}

/// In frames, pixel 0 (the zero frequency) stays in its place.
TransformedValue transform_reflected(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return reflect_position(scene, index);
  if (array == Array::exit_waves) return reflect_exit_waves(scene, index);
  const Pixel at = pixel_of(scene, array, index);
  if (is_object(array) || is_probe(array)) return reflect_pixel(at);
  if (!is_seen(array)) return one(index);
  return one((at.image * at.rows + (at.rows - at.row) % at.rows) * at.cols +
             (at.cols - at.col) % at.cols);
}

/// The ramp makes a quarter turn for each row and half a turn for each column; both are exact.
TransformedValue transform_ramped(const Scene& scene, Array array, std::int64_t index) {
  constexpr std::array<std::complex<double>, 4> turns{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  const Pixel at = pixel_of(scene, array, index);
  const std::complex<double> turn = turns[spec::to_size(at.row + 2 * at.col) % 4];
  if (is_probe(array)) return one(index, std::conj(turn));
  return one(index, is_object(array) && at.image == 0 ? turn : 1);
}

/// On a raster of every other pixel, the phases under all windows are the same.
TransformedValue transform_periodic(const Scene& scene, Array array, std::int64_t index) {
  constexpr std::array<std::complex<double>, 4> turns{{{1, 0}, {0, 1}, {0, -1}, {-1, 0}}};
  if (array == Array::positions) return one(index, raster_step);
  const Pixel at = pixel_of(scene, array, index);
  const std::complex<double> turn =
      turns[spec::to_size(at.row % raster_step * raster_step + at.col % raster_step)];
  if (is_probe(array)) return one(index, std::conj(turn));
  return one(index, is_object(array) && at.image == 0 ? turn : 1);
}

/// The last mode of each probe, and of each position's exit waves, is the dark mode.
TransformedValue transform_dark(const Scene& scene, Array array, std::int64_t index) {
  const std::int64_t area = area_of_mode(scene, array);
  if (area == 0) return one(index);
  if (index / area % scene.modes == scene.modes - 1) return {};
  return one(index - index / (area * scene.modes) * area);
}

TransformedValue transform_transposed(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) return one(index ^ 1);
  const Pixel at = pixel_of(scene, array, index);
  return one((at.image * at.cols + at.col) * at.rows + at.row);
}

TransformedValue transform_mixed(const Scene& scene, Array array, std::int64_t index) {
  const std::int64_t area = area_of_mode(scene, array);
  if (area == 0 || scene.modes < 2) return one(index);
  const std::int64_t mode = index / area % scene.modes;
  if (mode > 1) return one(index);
  TransformedValue value = one(index, {0.5, 0.5});
  value.count = 2;
  value.terms[1] = {.index = spec::to_size(mode == 0 ? index + area : index - area),
                    .factor = {0.5, -0.5}};
  return value;
}

TransformedValue transform_translated(const Scene& scene, Array array, std::int64_t index) {
  if (array == Array::positions) {
    TransformedValue value = one(index);
    value.offset = index % 2 == 0 ? rows_moved : cols_moved;
    return value;
  }
  if (!is_object(array)) return one(index);
  const Pixel at = pixel_of(scene, array, index);
  if (at.row < rows_moved || at.col < cols_moved) return {};
  return one((at.image * (at.rows - rows_moved) + at.row - rows_moved) * (at.cols - cols_moved) +
             at.col - cols_moved);
}

/// `copy(n)` returns the index of the plain position that position n is made of.
template <class Copy>
TransformedValue from_position(const Scene& scene,
                               Array array,
                               std::int64_t index,
                               const Copy& copy) {
  if (!spec::is_per_position(scene, array)) return one(index);
  const std::int64_t size = spec::values(scene, array);
  return one(copy(index / size) * size + index % size);
}

/// The object is a polynomial that is linear in the row and linear in the column.
TransformedValue transform_bilinear(const Scene& scene, Array array, std::int64_t index) {
  if (array != Array::object) return one(index);
  const Pixel at = pixel_of(scene, array, index);
  TransformedValue value;
  value.offset = bilinear_value(static_cast<double>(at.row), static_cast<double>(at.col));
  return value;
}

}  // namespace

std::complex<double> bilinear_value(double row, double col) {
  return {1 + 2 * row + 3 * col + row * col, row - col};
}

TransformedValue transform(Symmetry symmetry,
                           const Scene& scene,
                           std::int64_t positions,
                           spec::Array array,
                           std::int64_t index) {
  switch (symmetry) {
    case Symmetry::plain:
      break;
    case Symmetry::turned:
      return one(index,
                 is_object(array) || array == Array::exit_waves ? std::complex<double>(0, 1) : 1);
    case Symmetry::stretched:
      return one(index, stretch_of(scene, array, index));
    case Symmetry::twin:
      return transform_twin(scene, array, index);
    case Symmetry::transposed:
      return transform_transposed(scene, array, index);
    case Symmetry::mixed:
      return transform_mixed(scene, array, index);
    case Symmetry::translated:
      return transform_translated(scene, array, index);
    case Symmetry::reversed:
      return from_position(scene, array, index, [&](std::int64_t n) { return positions - 1 - n; });
    case Symmetry::repeated:
      return from_position(scene, array, index, [](std::int64_t n) { return n / 2; });
    case Symmetry::bilinear:
      return transform_bilinear(scene, array, index);
    case Symmetry::ramped:
      return transform_ramped(scene, array, index);
    case Symmetry::reflected:
      return transform_reflected(scene, array, index);
    case Symmetry::dark:
      return transform_dark(scene, array, index);
    case Symmetry::brightened:
      return one(index, brightness_of(array));
    case Symmetry::raster:
      return one(index, array == Array::positions ? raster_step : 1);
    case Symmetry::periodic:
      return transform_periodic(scene, array, index);
    case Symmetry::unmasked:
      if (array != Array::mask) break;
      return {.offset = 1};
  }
  return one(index);
}

std::string_view name(Symmetry symmetry) {
  return symmetry_names[spec::to_size(symmetry)];
}

Scene plain_scene(Symmetry symmetry, const Scene& scene) {
  Scene plain = scene;
  if (symmetry == Symmetry::twin) plain.distance = 0 - plain.distance;
  if (symmetry == Symmetry::transposed) std::swap(plain.rows, plain.cols);
  if (symmetry == Symmetry::translated) {
    plain.rows -= rows_moved;
    plain.cols -= cols_moved;
  }
  if (symmetry == Symmetry::dark) --plain.modes;
  if (symmetry == Symmetry::raster || symmetry == Symmetry::periodic) {
    plain.rows -= (plain.rows - plain.window + 1) / raster_step;
    plain.cols -= (plain.cols - plain.window + 1) / raster_step;
  }
  return plain;
}

Scene transformed_scene(Symmetry symmetry, const Scene& plain) {
  Scene scene = plain;
  if (symmetry == Symmetry::twin) scene.distance = 0 - scene.distance;
  if (symmetry == Symmetry::transposed) std::swap(scene.rows, scene.cols);
  if (symmetry == Symmetry::translated) {
    scene.rows += rows_moved;
    scene.cols += cols_moved;
  }
  if (symmetry == Symmetry::dark) ++scene.modes;
  return scene;
}

std::string why_invalid(Symmetry symmetry, const Scene& scene) {
  const Scene plain = plain_scene(symmetry, scene);
  if (plain.modes < 1) return "form: a dark mode needs another one";
  if (plain.rows >= plain.window && plain.cols >= plain.window) return {};
  return "form: a translated object needs " + std::to_string(scene.window + rows_moved) +
         " rows and " + std::to_string(scene.window + cols_moved) + " columns";
}

}  // namespace rankcheck::cases
