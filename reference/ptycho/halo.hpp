#pragma once

#include <vector>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/to_size.hpp"

/// What the halo exchanges share. A rank holds its tile of the object and a halo around it. So
/// several ranks may hold copies of one pixel, but one rank owns it: see spec/share.hpp.
namespace rankcheck::reference {

/// A pixel's copy on one rank.
struct Replica {
  int rank = 0;
  spec::Box box;
  /// Index of the copy among the values of all ranks' tiles.
  std::size_t place = 0;
  bool owner = false;
};

/// Calls body(row, col, replicas) for every pixel of the object, with all its copies in rank order.
template <class Body>
void for_each_replicated_pixel(const OperatorArrays& arrays, const Body& body) {
  std::vector<spec::Box> boxes;
  std::vector<spec::Box> tiles;
  for (int rank = 0; rank < static_cast<int>(arrays.counts.size()); ++rank) {
    boxes.push_back(spec::held_by(arrays.scene, arrays.counts, rank));
    tiles.push_back(spec::tile_of(arrays.scene, arrays.counts, rank));
  }
  std::vector<Replica> replicas;
  for (std::int64_t row = 0; row < arrays.scene.rows; ++row) {
    for (std::int64_t col = 0; col < arrays.scene.cols; ++col) {
      replicas.clear();
      std::int64_t before = 0;
      for (std::size_t r = 0; r < boxes.size(); ++r) {
        const spec::Box& box = boxes[r];
        if (box.has(row, col)) {
          replicas.push_back(
              {.rank = static_cast<int>(r),
               .box = box,
               .place = spec::to_size(before + (row - box.row) * box.cols + col - box.col),
               .owner = tiles[r].has(row, col)});
        }
        before += box.pixels();
      }
      body(row, col, replicas);
    }
  }
}

}  // namespace rankcheck::reference
