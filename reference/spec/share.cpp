#include "reference/spec/share.hpp"

#include <algorithm>
#include <numeric>

#include "reference/spec/to_size.hpp"

namespace rankcheck::spec {

namespace {

/// A run of rows or columns.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Cuts a length into `parts` parts and returns part `index`. Part i gets wanted(i) as long as
/// enough is left. The last part gets the rest.
template <class Wanted>
Span cut(std::int64_t length, int parts, int index, const Wanted& wanted) {
  std::int64_t begin = 0;
  for (int i = 0; i < index; ++i) begin = std::min(length, begin + wanted(i));
  return {begin, index + 1 == parts ? length : std::min(length, begin + wanted(index))};
}

std::int64_t sum_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

Box overlap(const Box& a, const Box& b) {
  const std::int64_t row = std::max(a.row, b.row);
  const std::int64_t col = std::max(a.col, b.col);
  const std::int64_t rows = std::min(a.row + a.rows, b.row + b.rows) - row;
  const std::int64_t cols = std::min(a.col + a.cols, b.col + b.cols) - col;
  if (rows <= 0 || cols <= 0) return {};
  return {.row = row, .col = col, .rows = rows, .cols = cols};
}

Box tile_of(const Scene& scene, std::span<const std::int64_t> counts, int rank) {
  const int cols = scene.tile_cols;
  const int rows = static_cast<int>(counts.size()) / cols;
  if (rank >= rows * cols) return {};
  const Span down =
      cut(scene.rows, rows, rank / cols, [&](int i) { return counts[to_size(i) * to_size(cols)]; });
  const Span across = cut(scene.cols, cols, rank % cols, [&](int j) { return counts[to_size(j)]; });
  if (down.begin == down.end || across.begin == across.end) return {};
  return {.row = down.begin,
          .col = across.begin,
          .rows = down.end - down.begin,
          .cols = across.end - across.begin};
}

Box held_by(const Scene& scene, std::span<const std::int64_t> counts, int rank) {
  const Box tile = tile_of(scene, counts, rank);
  if (tile.pixels() == 0) return {};
  const Box wide{.row = tile.row - scene.halo,
                 .col = tile.col - scene.halo,
                 .rows = tile.rows + 2 * std::int64_t{scene.halo},
                 .cols = tile.cols + 2 * std::int64_t{scene.halo}};
  return overlap(wide, {.rows = scene.rows, .cols = scene.cols});
}

Part part_of(const Scene& scene, std::span<const std::int64_t> counts, Array array, int rank) {
  const std::int64_t size = values(scene, array);
  const auto before = counts.first(to_size(rank));
  switch (info(array).share) {
    case Share::of_scene:
      if (!is_per_position(scene, array)) return {.first = 0, .count = size};
      return {.first = sum_of(before) * size, .count = counts[to_size(rank)] * size};
    case Share::all_positions:
      return {.first = 0, .count = sum_of(counts) * size};
    case Share::shard:
      return {.first = rank * sum_of(counts) * size, .count = sum_of(counts) * size};
    case Share::tile: {
      Part part{.first = 0, .count = held_by(scene, counts, rank).pixels()};
      for (int q = 0; q < rank; ++q) part.first += held_by(scene, counts, q).pixels();
      return part;
    }
  }
  return {};
}

std::int64_t total_of(const Scene& scene, std::span<const std::int64_t> counts, Array array) {
  if (counts.empty()) return is_per_position(scene, array) ? 0 : values(scene, array);
  const Part last = part_of(scene, counts, array, static_cast<int>(counts.size()) - 1);
  return last.first + last.count;
}

}  // namespace rankcheck::spec
