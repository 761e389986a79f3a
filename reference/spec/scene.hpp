#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reference/spec/to_size.hpp"

/// The sizes and arrays of the ptychography operators.
namespace rankcheck::spec {

/// The sizes of a ptychographic problem, in pixels. The call's counts say how many scan positions
/// there are and which rank has which.
struct Scene {
  /// Size of the object.
  int rows = 0;
  int cols = 0;
  /// Width of the square window that the probe fills.
  int window = 0;
  /// Width of the square frames. The window lies in their middle, after (detector - window) / 2
  /// pixels, rounded down.
  int detector = 0;
  /// Number of the probe's incoherent modes.
  int modes = 1;
  /// Number of the object's slices along the beam.
  int slices = 1;
  /// Whether every position has its own probe.
  bool varying_probe = false;
  /// Operators of tiles: number of columns in the grid of the ranks' tiles; see share.hpp.
  int tile_cols = 1;
  /// Operators of tiles: number of pixels that a rank holds on each side of its tile.
  int halo = 0;
  /// Operators of waves in free space: wavelength and travelled distance, in object pixels. A
  /// negative distance means that the waves travel backwards.
  double wavelength = 0;
  double distance = 0;

  friend bool operator==(const Scene&, const Scene&) = default;
};

/// The arrays of operators. The name says which space the values belong to. Arrays are row-major,
/// and their last two dimensions are (row, column). A complex number takes two components.
enum class Array : std::uint8_t {
  /// Not an array of a scene.
  none,
  /// Complex [slices, rows, cols]: the transmission of each pixel in each slice.
  object,
  /// Complex [modes, window, window]; one for each position if the probe varies.
  probe,
  /// Real [2]: row and column of the window's minimum corner, in object pixels.
  positions,
  /// Complex [detector, detector]: a window of the object, zero around it.
  patches,
  /// Complex [modes, detector, detector]: the waves that leave the object, zero around the window.
  waves,
  /// Complex [modes, detector, detector]: the waves that reach the detector, zero frequency first.
  far_waves,
  /// Real [detector, detector]: measured or modelled intensities, zero frequency first.
  frames,
  /// Real [detector, detector]: 1 for a pixel that the detector measures, 0 for others.
  mask,
  /// Real [1]: the sum over the frames of all ranks.
  cost,
  /// Real [rows, cols]: the light that each pixel of the object receives; see
  /// object_preconditioner.
  object_weight,
  /// Real [window, window]: the object's squared magnitude in all windows; see
  /// probe_preconditioner.
  probe_weight,
  /// Real [all positions]: the rank that owns each position.
  owners,
  /// positions and frames of a rank after they moved to their owners. There is room for all
  /// positions: the rank's own positions come first, in their order, then zeros.
  shard_positions,
  shard_frames,
  /// Complex: the part of the object that a rank holds, which is its tile and the halo around it.
  tile,
  /// Complex [window, window]: patches without the pixels around the window.
  windows,
  /// Shaped like object and probe, for steps that remember: the gradient of the previous step and
  /// the direction that it took. Zeros before the first step.
  object_gradient,
  object_direction,
  probe_gradient,
  probe_direction,
  /// Real [2]: the length of a step, for the object and for the probe.
  step_lengths,
  /// Complex [modes, detector, detector], for steps that remember: the waves that left the object
  /// at a position. Unlike waves, they need not be zero around the window.
  exit_waves,
};

/// How large an array is, and which part of it a rank has.
enum class Share : std::uint8_t {
  /// Defined by the scene: the whole array, or the copies of the rank's positions.
  of_scene,
  /// A copy for each position of all ranks; every rank has all copies.
  all_positions,
  /// Room for a copy for each position of all ranks; the contents differ between ranks.
  shard,
  /// Every rank has a different part of the object.
  tile,
};

/// Properties of an array.
struct ArrayInfo {
  Array array;
  std::string_view name;
  bool is_complex;
  /// Whether each position has a copy, on the rank that has the position. Otherwise every rank has
  /// the whole array.
  bool per_position;
  Share share = Share::of_scene;
};

inline constexpr std::array array_table{
    ArrayInfo{Array::none, "none", false, false},
    ArrayInfo{Array::object, "object", true, false},
    ArrayInfo{Array::probe, "probe", true, false},
    ArrayInfo{Array::positions, "positions", false, true},
    ArrayInfo{Array::patches, "patches", true, true},
    ArrayInfo{Array::waves, "waves", true, true},
    ArrayInfo{Array::far_waves, "far_waves", true, true},
    ArrayInfo{Array::frames, "frames", false, true},
    ArrayInfo{Array::mask, "mask", false, false},
    ArrayInfo{Array::cost, "cost", false, false},
    ArrayInfo{Array::object_weight, "object_weight", false, false},
    ArrayInfo{Array::probe_weight, "probe_weight", false, false},
    ArrayInfo{Array::owners, "owners", false, false, Share::all_positions},
    ArrayInfo{Array::shard_positions, "shard_positions", false, false, Share::shard},
    ArrayInfo{Array::shard_frames, "shard_frames", false, false, Share::shard},
    ArrayInfo{Array::tile, "tile", true, false, Share::tile},
    ArrayInfo{Array::windows, "windows", true, true},
    ArrayInfo{Array::object_gradient, "object_gradient", true, false},
    ArrayInfo{Array::object_direction, "object_direction", true, false},
    ArrayInfo{Array::probe_gradient, "probe_gradient", true, false},
    ArrayInfo{Array::probe_direction, "probe_direction", true, false},
    ArrayInfo{Array::step_lengths, "step_lengths", false, false},
    ArrayInfo{Array::exit_waves, "exit_waves", true, true},
};
inline constexpr std::size_t array_kinds = array_table.size();

[[nodiscard]] constexpr const ArrayInfo& info(Array array) {
  return array_table[to_size(array)];
}

[[nodiscard]] constexpr std::string_view name(Array array) {
  return info(array).name;
}

/// Whether the array has a copy for each position, which the ranks share out like the positions.
[[nodiscard]] constexpr bool is_per_position(const Scene& scene, Array array) {
  return info(array).per_position || (array == Array::probe && scene.varying_probe);
}

/// Whether a stage of a case may take an array from the results of an earlier stage. It may take
/// the same array, or take the waves that left the object as its exit waves.
[[nodiscard]] constexpr bool is_taken_from(Array taken, Array left) {
  return taken == left || (taken == Array::exit_waves && left == Array::waves);
}

/// Number of values (complex or real) of the array, or of one position's copy of it; 1 for tiles.
/// share.hpp says how many values a rank has.
[[nodiscard]] constexpr std::int64_t values(const Scene& scene, Array array) {
  const std::int64_t pixels = std::int64_t{scene.rows} * scene.cols;
  const std::int64_t window = std::int64_t{scene.window} * scene.window;
  const std::int64_t frame = std::int64_t{scene.detector} * scene.detector;
  switch (array) {
    case Array::none:
      return 0;
    case Array::object:
    case Array::object_gradient:
    case Array::object_direction:
      return scene.slices * pixels;
    case Array::probe:
    case Array::probe_gradient:
    case Array::probe_direction:
      return scene.modes * window;
    case Array::positions:
    case Array::shard_positions:
    case Array::step_lengths:
      return 2;
    case Array::patches:
    case Array::frames:
    case Array::shard_frames:
    case Array::mask:
      return frame;
    case Array::waves:
    case Array::far_waves:
    case Array::exit_waves:
      return scene.modes * frame;
    case Array::cost:
    case Array::owners:
    case Array::tile:
      return 1;
    case Array::object_weight:
      return pixels;
    case Array::probe_weight:
    case Array::windows:
      return window;
  }
  return 0;
}

/// Number of components of the array, or of one position's copy of it.
[[nodiscard]] constexpr std::int64_t components(const Scene& scene, Array array) {
  return values(scene, array) * (info(array).is_complex ? 2 : 1);
}

/// Number of rows above the window in a frame, and of columns to its left.
[[nodiscard]] constexpr int margin(const Scene& scene) {
  return (scene.detector - scene.window) / 2;
}

}  // namespace rankcheck::spec
