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

/// The pixels that lie in both boxes; a box without pixels if there are none.
[[nodiscard]] Box overlap(const Box& a, const Box& b);

/// The pixels that a rank owns. The ranks form a grid of tile_cols columns, row by row. Ranks that
/// do not fit into whole rows of the grid own nothing. Row i of the grid has counts[i * tile_cols]
/// rows of the object, and column j has counts[j] columns, as long as enough are left. The last row
/// and the last column of the grid get the rest.
[[nodiscard]] Box tile_of(const Scene& scene, std::span<const std::int64_t> counts, int rank);

/// The pixels that a rank holds: its tile and `halo` more pixels on each side, within the object.
/// An empty tile has no halo.
[[nodiscard]] Box held_by(const Scene& scene, std::span<const std::int64_t> counts, int rank);

/// A run of an array's values. For shards and tiles, `first` counts in the shards or tiles of all
/// ranks.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The values of an array that a rank has. Rank q has counts[q] scan positions.
[[nodiscard]] Part part_of(const Scene& scene,
                           std::span<const std::int64_t> counts,
                           Array array,
                           int rank);

/// The number of an array's values. If the ranks have different values, counts those of all ranks.
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
