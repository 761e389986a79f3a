#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "reference/ptycho/references.hpp"
#include "reference/spec/split_mix.hpp"
#include "reference/spec/to_size.hpp"

/// References of the partitions of scan positions; partition.hpp has their terms.
namespace rankcheck::reference {

namespace {

/// A scan position in steps of 1/256 pixel, and its index.
struct ScanPoint {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t number = 0;
};

/// All positions of a problem, in order.
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

/// The number of positions that `rank` gets in equal shares.
std::int64_t equal_share(std::int64_t positions, std::int64_t ranks, int rank) {
  std::int64_t share = 0;
  for (std::int64_t i = rank; i < positions; i += ranks) ++share;
  return share;
}

/// The index of the cell that holds `at`, if `cells` cells lie between `least` and `most`.
std::int64_t cell_of(std::int64_t at, std::int64_t least, std::int64_t most, std::int64_t cells) {
  std::int64_t cell = 0;
  // Every edge between two cells below the coordinate moves it to the next cell.
  for (std::int64_t edge = 1; edge < cells; ++edge) {
    if (edge * (most - least) < (at - least) * cells) ++cell;
  }
  return cell;
}

/// The least and the greatest row and column of some positions; zeros if there are no positions.
struct Bounds {
  explicit Bounds(const std::vector<ScanPoint>& points) {
    if (!points.empty()) least = most = points.front();
    for (const ScanPoint& point : points) {
      least.row = std::min(least.row, point.row);
      least.col = std::min(least.col, point.col);
      most.row = std::max(most.row, point.row);
      most.col = std::max(most.col, point.col);
    }
  }

  ScanPoint least;
  ScanPoint most;
};

/// Makes the array owners from one rank for each position.
void set_owners(const std::vector<int>& ranks, OperatorArrays& out) {
  BoundedArray& owners = out.make(spec::Array::owners);
  for (std::size_t i = 0; i < ranks.size(); ++i) owners.values[i] = ranks[i];
}

std::int64_t ranks_of(const OperatorArrays& arrays) {
  return static_cast<std::int64_t>(arrays.counts.size());
}

/// Gives each position to the rank owner(position, bounds of all positions, ranks), and makes
/// owners.
template <class Owner>
void give_each(const OperatorArrays& in, OperatorArrays& out, const Owner& owner) {
  const std::vector<ScanPoint> scan = scan_of(in);
  const Bounds box(scan);
  std::vector<int> ranks;
  for (const ScanPoint& at : scan) ranks.push_back(static_cast<int>(owner(at, box, ranks_of(in))));
  set_owners(ranks, out);
}

/// Gives the positions to ranks 0, 1, … in the given order, in equal shares, and makes owners.
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

/// Gives the points to the ranks first … last-1.
void split(std::vector<ScanPoint> points,
           const std::vector<std::int64_t>& shares,
           std::size_t first,
           std::size_t last,
           std::vector<int>& owner) {
  if (points.empty()) return;
  if (last - first == 1) {
    for (const ScanPoint& point : points) {
      owner[spec::to_size(point.number)] = static_cast<int>(first);
    }
    return;
  }
  const Bounds box(points);
  const bool along_rows = box.most.row - box.least.row >= box.most.col - box.least.col;
  std::sort(points.begin(), points.end(), [&](const ScanPoint& a, const ScanPoint& b) {
    return along_rows ? std::tie(a.row, a.col, a.number) < std::tie(b.row, b.col, b.number)
                      : std::tie(a.col, a.row, a.number) < std::tie(b.col, b.row, b.number);
  });
  const std::size_t middle = (first + last) / 2;
  std::int64_t before = 0;
  for (std::size_t rank = first; rank < middle; ++rank) before += shares[rank];
  const auto cut = points.begin() + before;
  split({points.begin(), cut}, shares, first, middle, owner);
  split({cut, points.end()}, shares, middle, last, owner);
}

std::uint64_t hash_of(std::int64_t number) {
  return spec::split_mix((static_cast<std::uint64_t>(number) + 1) * spec::golden_gamma);
}

}  // namespace

// Each needs positions, and makes owners.

void partition_compact::reference(const OperatorArrays& in, OperatorArrays& out) {
  const std::vector<ScanPoint> scan = scan_of(in);
  const std::size_t ranks = in.counts.size();
  std::vector<std::int64_t> shares;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    shares.push_back(
        equal_share(in.positions, static_cast<std::int64_t>(ranks), static_cast<int>(rank)));
  }
  std::vector<int> owner(scan.size());
  split(scan, shares, 0, ranks, owner);
  set_owners(owner, out);
}

void partition_consecutive::reference(const OperatorArrays& in, OperatorArrays& out) {
  share_in_order(scan_of(in), ranks_of(in), out);
}

void partition_equal_stripes::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::tie(a.row, a.col, a.number) < std::tie(b.row, b.col, b.number);
  });
  share_in_order(scan, ranks_of(in), out);
}

void partition_grid::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::int64_t cols = 1;
  for (std::int64_t divisor = 1; divisor * divisor <= ranks_of(in); ++divisor) {
    if (ranks_of(in) % divisor == 0) cols = divisor;
  }
  give_each(in, out, [&](const ScanPoint& at, const Bounds& box, std::int64_t ranks) {
    return cell_of(at.row, box.least.row, box.most.row, ranks / cols) * cols +
           cell_of(at.col, box.least.col, box.most.col, cols);
  });
}

void partition_interlaced::reference(const OperatorArrays& in, OperatorArrays& out) {
  give_each(in, out, [](const ScanPoint& at, const Bounds&, std::int64_t ranks) {
    return at.number % ranks;
  });
}

void partition_quadrants::reference(const OperatorArrays& in, OperatorArrays& out) {
  give_each(in, out, [](const ScanPoint& at, const Bounds& box, std::int64_t ranks) {
    const std::int64_t row = cell_of(at.row, box.least.row, box.most.row, ranks);
    // If the number of ranks is odd, the last rank has its band alone.
    const bool alone = ranks % 2 == 1 && row == ranks - 1;
    return alone ? row : row - row % 2 + cell_of(at.col, box.least.col, box.most.col, 2);
  });
}

void partition_random::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::pair(hash_of(a.number), a.number) < std::pair(hash_of(b.number), b.number);
  });
  share_in_order(scan, ranks_of(in), out);
}

void partition_stripes::reference(const OperatorArrays& in, OperatorArrays& out) {
  give_each(in, out, [](const ScanPoint& at, const Bounds& box, std::int64_t ranks) {
    return cell_of(at.row, box.least.row, box.most.row, ranks);
  });
}

}  // namespace rankcheck::reference
