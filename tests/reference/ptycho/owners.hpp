#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

/// Rows and columns of scan positions.
using Points = std::vector<std::pair<double, double>>;
using Owners = std::vector<int>;

/// Returns the owners that a partition gives to positions that rank 0 of `ranks` holds.
inline Owners owners_of(Operator partition, std::size_t ranks, const Points& points) {
  std::vector<std::int64_t> counts(ranks, 0);
  counts[0] = static_cast<std::int64_t>(points.size());
  OperatorArrays in = empty_arrays({}, counts);
  in.make(spec::Array::positions);
  for (std::size_t i = 0; i < points.size(); ++i) {
    in[spec::Array::positions].values[2 * i] = points[i].first;
    in[spec::Array::positions].values[2 * i + 1] = points[i].second;
  }
  const OperatorArrays out = outputs_of(partition, in);
  Owners owners;
  for (const auto& owner : out[spec::Array::owners].values) {
    owners.push_back(static_cast<int>(owner.real()));
  }
  return owners;
}

inline const Points four_corners{{500, 500}, {500, 504}, {504, 500}, {504, 504}};

}  // namespace rankcheck::reference
