#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

using Tiles = std::vector<double>;

/// Exchanges four rows of one column with a halo of one row. Rank r's tile has counts[r] rows.
/// `tiles` holds the rows of all ranks, with their halos.
inline Tiles exchanged(Operator operation,
                       const std::vector<std::int64_t>& counts,
                       const Tiles& tiles) {
  OperatorArrays in =
      empty_arrays({.rows = 4, .cols = 1, .window = 1, .detector = 1, .halo = 1}, counts);
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

}  // namespace rankcheck::reference
