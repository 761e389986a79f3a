#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The shapes of ptychography: what its operators take and give.
namespace rankcheck::spec {

/// The sizes of a ptychographic problem, in pixels; how many scan positions there are, and which
/// rank has which, the call's counts say.
struct Scene {
  /// The object.
  int rows = 0;
  int cols = 0;
  /// Width of the square window that the probe fills.
  int window = 0;
  /// Width of the square frames; the window lies in their middle, after (detector - window) / 2
  /// pixels rounded down.
  int detector = 0;
  /// Incoherent modes of the probe.
  int modes = 1;
  /// Slices of the object along the beam.
  int slices = 1;
  /// Every position has a probe of its own.
  bool varying_probe = false;
  /// Operators of tiles: columns of the grid that the ranks' tiles form; see share.hpp.
  int tile_cols = 1;
  /// Operators of tiles: pixels that a rank holds on each side of its tile.
  int halo = 0;
  /// Operators of waves in free space: their length, and how far they travel (where negative, back
  /// from there), in object pixels.
  double wavelength = 0;
  double distance = 0;

  friend bool operator==(const Scene&, const Scene&) = default;
};

/// What an array of an operator is; it names the space that its values live in. Row-major, the
/// last two dimensions are (row, column); complex numbers are two components.
enum class Array : std::uint8_t {
  /// No array of a scene.
  none,
  /// Complex [slices, rows, cols].
  object,
  /// Complex [modes, window, window]; of each position where the probe varies.
  probe,
  /// Real [2]: row and column of the window's minimum corner, in object pixels.
  positions,
  /// Complex [detector, detector]: a window of the object, zero around it.
  patches,
  /// Complex [modes, detector, detector]: what leaves the object, zero around the window.
  waves,
  /// Complex [modes, detector, detector]: what reaches the detector, zero frequency first.
  far_waves,
  /// Real [detector, detector]: measured or modelled intensities, zero frequency first.
  frames,
  /// Real [detector, detector]: 1 where the detector measures, 0 where not.
  mask,
  /// Real [1].
  cost,
  /// Real [rows, cols].
  object_weight,
  /// Real [window, window].
  probe_weight,
  /// Real [all positions]: the rank that each position is for.
  owners,
  /// positions and frames of a rank after they went to their owners: room for all positions, its
  /// own ones first, in their order, then zeros.
  shard_positions,
  shard_frames,
  /// Complex: the part of the object that a rank holds, its tile and the halo around it.
  tile,
  /// Complex [window, window]: patches without what is around the window.
  windows,
  /// As object and probe, of steps that remember: the gradient of the step before, and the
  /// direction that it went; zeros before the first step.
  object_gradient,
  object_direction,
  probe_gradient,
  probe_direction,
  /// Real [2]: how far a step went, for the object and for the probe.
  step_lengths,
  /// Complex [modes, detector, detector], of steps that remember: what left the object at a
  /// position. Unlike waves, it need not be zero around the window.
  exit_waves,
};

/// How large an array is, and what of it a rank has.
enum class Share : std::uint8_t {
  /// As the scene says: all of it, or the copies of the rank's positions.
  of_scene,
  /// A copy for each position of all ranks, all on every rank.
  all_positions,
  /// Room for a copy for each position of all ranks, on every rank something of its own.
  shard,
  /// Another part of the object on every rank.
  tile,
};

/// What an array looks like.
struct ArrayInfo {
  Array array;
  std::string_view name;
  bool is_complex;
  /// There is one for each position, on the rank that has the position; else every rank has all.
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
  return array_table[static_cast<std::size_t>(array)];
}

[[nodiscard]] constexpr std::string_view name(Array array) {
  return info(array).name;
}

/// Whether the ranks share the array's copies out among them, as they do the positions.
[[nodiscard]] constexpr bool is_per_position(const Scene& scene, Array array) {
  return info(array).per_position || (array == Array::probe && scene.varying_probe);
}

/// Whether a stage of a case may take an array from what an earlier stage left: the same array, or
/// the waves that left the object as its exit waves.
[[nodiscard]] constexpr bool is_taken_from(Array taken, Array left) {
  return taken == left || (taken == Array::exit_waves && left == Array::waves);
}

/// Values (complex numbers or real ones) of the array, or of one position's copy of it, or 1 for
/// tiles; how many a rank has says share.hpp.
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

/// Components of the array, or of one position's copy of it.
[[nodiscard]] constexpr std::int64_t components(const Scene& scene, Array array) {
  return values(scene, array) * (info(array).is_complex ? 2 : 1);
}

/// Rows and columns before the window in a frame.
[[nodiscard]] constexpr int margin(const Scene& scene) {
  return (scene.detector - scene.window) / 2;
}

}  // namespace rankcheck::spec
