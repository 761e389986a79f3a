#include "reference/ptycho/partition.hpp"

#include <algorithm>
#include <cmath>

#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

std::vector<ScanPoint> scan_of(const OperatorArrays& arrays) {
  const BoundedArray& positions = arrays[spec::Array::positions];
  const auto steps = [&](std::int64_t component) {
    const double pixels = positions.values[spec::to_size(component)].real();
    return static_cast<std::int64_t>(std::floor(256 * pixels + 0.5));
  };
  std::vector<ScanPoint> scan;
  for (std::int64_t i = 0; i < arrays.positions; ++i) {
    scan.push_back({.row = steps(2 * i), .col = steps(2 * i + 1), .number = i});
  }
  return scan;
}

std::int64_t equal_share(std::int64_t positions, std::int64_t ranks, int rank) {
  std::int64_t share = 0;
  for (std::int64_t i = rank; i < positions; i += ranks) ++share;
  return share;
}

std::int64_t cell_of(std::int64_t at, std::int64_t least, std::int64_t most, std::int64_t cells) {
  std::int64_t cell = 0;
  // Every edge between two cells below the coordinate moves it to the next cell.
  for (std::int64_t edge = 1; edge < cells; ++edge) {
    if (edge * (most - least) < (at - least) * cells) ++cell;
  }
  return cell;
}

Bounds::Bounds(const std::vector<ScanPoint>& points) {
  if (!points.empty()) least = most = points.front();
  for (const ScanPoint& point : points) {
    least.row = std::min(least.row, point.row);
    least.col = std::min(least.col, point.col);
    most.row = std::max(most.row, point.row);
    most.col = std::max(most.col, point.col);
  }
}

void set_owners(const std::vector<int>& ranks, OperatorArrays& out) {
  BoundedArray& owners = out.make(spec::Array::owners);
  for (std::size_t i = 0; i < ranks.size(); ++i) owners.values[i] = ranks[i];
}

void share_in_order(const std::vector<ScanPoint>& ordered,
                    std::int64_t ranks,
                    OperatorArrays& out) {
  std::vector<int> owner(ordered.size());
  std::size_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto share = equal_share(static_cast<std::int64_t>(ordered.size()), ranks, rank);
    for (std::int64_t i = 0; i < share; ++i) {
      owner[spec::to_size(ordered[next++].number)] = rank;
    }
  }
  set_owners(owner, out);
}

}  // namespace rankcheck::reference
