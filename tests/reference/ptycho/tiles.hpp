#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

using Tiles = std::vector<double>;

/// Exchanges tiles with halos. `tiles` holds the pixels of all ranks.
inline Tiles exchanged(Operator operation,
                       const spec::Scene& scene,
                       const std::vector<std::int64_t>& counts,
                       const Tiles& tiles) {
  OperatorArrays in = empty_arrays(scene, counts);
  in.make(spec::Array::tile);
  EXPECT_EQ(in[spec::Array::tile].values.size(), tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) in[spec::Array::tile].values[i] = tiles[i];
  const OperatorArrays out = outputs_of(operation, in);
  Tiles values;
  for (const auto& value : out[spec::Array::tile].values) {
    values.push_back(value.real());
  }
  return values;
}

/// Exchanges four rows of one column with a halo of one row. Rank r's tile has counts[r] rows.
/// `tiles` holds the rows of all ranks, with their halos.
inline Tiles exchanged(Operator operation,
                       const std::vector<std::int64_t>& counts,
                       const Tiles& tiles) {
  return exchanged(
      operation, {.rows = 4, .cols = 1, .window = 1, .detector = 1, .halo = 1}, counts, tiles);
}

/// Exchanges two rows of three columns between four ranks, with a halo of one pixel. Ranks 0 and 1
/// own the first row, and ranks 2 and 3 the second row. Ranks 0 and 2 own the first column, and
/// ranks 1 and 3 the other two columns. With the halo, ranks 0 and 2 hold the first two columns of
/// both rows, and ranks 1 and 3 hold all pixels.
inline Tiles exchanged_in_a_grid(Operator operation, const Tiles& tiles) {
  return exchanged(operation,
                   {.rows = 2, .cols = 3, .window = 1, .detector = 1, .tile_cols = 2, .halo = 1},
                   {1, 2, 1, 2},
                   tiles);
}

}  // namespace rankcheck::reference
