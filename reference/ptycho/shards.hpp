#pragma once

#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

/// For every position, the index of its copy among all ranks' shards. Rank r's shard begins at r
/// times the number of positions and holds the rank's own positions in their order.
[[nodiscard]] inline std::vector<std::size_t> places_in_shards(const OperatorArrays& arrays) {
  std::vector<std::size_t> used(arrays.counts.size(), 0);
  std::vector<std::size_t> places;
  for (const auto& owner : arrays[spec::Array::owners].values) {
    const auto rank = static_cast<std::size_t>(owner.real());
    places.push_back(rank * spec::to_size(arrays.positions) + used[rank]++);
  }
  return places;
}

/// Copies a position's `values` values and their errors from index `from_place` to index
/// `to_place`, counted in positions.
inline void copy_position(const BoundedArray& from,
                          std::size_t from_place,
                          BoundedArray& to,
                          std::size_t to_place,
                          std::int64_t values) {
  const auto size = spec::to_size(values);
  for (std::size_t i = 0; i < size; ++i) {
    to.values[to_place * size + i] = from.values[from_place * size + i];
    to.errors[to_place * size + i] = from.errors[from_place * size + i];
  }
}

}  // namespace rankcheck::reference
