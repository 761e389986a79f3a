#pragma once

#include <cstdint>
#include <span>

#include "reference/spec/scene.hpp"

/// Which part of an array each rank of a call has.
namespace rankcheck::spec {

/// A rectangle of the object's pixels.
struct Box {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  [[nodiscard]] std::int64_t pixels() const { return rows * cols; }
  /// Whether the pixel lies in the box.
  [[nodiscard]] bool has(std::int64_t r, std::int64_t c) const {
    return r >= row && r < row + rows && c >= col && c < col + cols;
  }

  friend bool operator==(const Box&, const Box&) = default;
};

/// What two boxes have in common; no pixels where that is nothing.
[[nodiscard]] Box overlap(const Box& a, const Box& b);

/// The pixels that a rank owns. The ranks form a grid of tile_cols columns, row by row; what is
/// left over owns nothing. The grid's row i has counts[i * tile_cols] rows of the object, its
/// column j has counts[j] columns, as long as there are any; the last row and the last column get
/// what then is left.
[[nodiscard]] Box tile_of(const Scene& scene, std::span<const std::int64_t> counts, int rank);

/// The pixels that a rank holds: its tile and `halo` more on each side, as far as the object goes.
/// An empty tile has no halo.
[[nodiscard]] Box held_by(const Scene& scene, std::span<const std::int64_t> counts, int rank);

/// A run of values among those of an array; of a shard or a tile, among those of all ranks.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The values of an array that a rank has, where rank q has counts[q] scan positions.
[[nodiscard]] Part part_of(const Scene& scene,
                           std::span<const std::int64_t> counts,
                           Array array,
                           int rank);

/// The number of an array's values, of all ranks where each has something of its own.
[[nodiscard]] std::int64_t total_of(const Scene& scene,
                                    std::span<const std::int64_t> counts,
                                    Array array);

/// Whether every rank has the whole array.
[[nodiscard]] constexpr bool is_replicated(const Scene& scene, Array array) {
  const Share share = info(array).share;
  return !is_per_position(scene, array) &&
         (share == Share::of_scene || share == Share::all_positions);
}

}  // namespace rankcheck::spec
