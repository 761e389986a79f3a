#include <algorithm>
#include <tuple>
#include <utility>

#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/split_mix.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

namespace {

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
  share_in_order(scan_of(in), static_cast<std::int64_t>(in.counts.size()), out);
}

void partition_equal_stripes::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::tie(a.row, a.col, a.number) < std::tie(b.row, b.col, b.number);
  });
  share_in_order(scan, static_cast<std::int64_t>(in.counts.size()), out);
}

void partition_grid::reference(const OperatorArrays& in, OperatorArrays& out) {
  const std::vector<ScanPoint> scan = scan_of(in);
  const Bounds box(scan);
  const auto ranks = static_cast<std::int64_t>(in.counts.size());
  std::int64_t cols = 1;
  for (std::int64_t divisor = 1; divisor * divisor <= ranks; ++divisor) {
    if (ranks % divisor == 0) cols = divisor;
  }
  std::vector<int> owner(scan.size());
  for (const ScanPoint& at : scan) {
    const std::int64_t row = cell_of(at.row, box.least.row, box.most.row, ranks / cols);
    const std::int64_t col = cell_of(at.col, box.least.col, box.most.col, cols);
    owner[spec::to_size(at.number)] = static_cast<int>(row * cols + col);
  }
  set_owners(owner, out);
}

void partition_interlaced::reference(const OperatorArrays& in, OperatorArrays& out) {
  const auto ranks = static_cast<std::int64_t>(in.counts.size());
  std::vector<int> owner;
  for (std::int64_t i = 0; i < in.positions; ++i) owner.push_back(static_cast<int>(i % ranks));
  set_owners(owner, out);
}

void partition_quadrants::reference(const OperatorArrays& in, OperatorArrays& out) {
  const std::vector<ScanPoint> scan = scan_of(in);
  const Bounds box(scan);
  const int ranks = static_cast<int>(in.counts.size());
  std::vector<int> owner(scan.size());
  for (const ScanPoint& at : scan) {
    int rank = static_cast<int>(cell_of(at.row, box.least.row, box.most.row, ranks));
    // If the number of ranks is odd, the last rank has its band alone.
    const bool alone = ranks % 2 == 1 && rank == ranks - 1;
    if (!alone) {
      rank -= rank % 2;
      rank += static_cast<int>(cell_of(at.col, box.least.col, box.most.col, 2));
    }
    owner[spec::to_size(at.number)] = rank;
  }
  set_owners(owner, out);
}

void partition_random::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::pair(hash_of(a.number), a.number) < std::pair(hash_of(b.number), b.number);
  });
  share_in_order(scan, static_cast<std::int64_t>(in.counts.size()), out);
}

void partition_stripes::reference(const OperatorArrays& in, OperatorArrays& out) {
  const std::vector<ScanPoint> scan = scan_of(in);
  const Bounds box(scan);
  const auto ranks = static_cast<std::int64_t>(in.counts.size());
  std::vector<int> owner(scan.size());
  for (const ScanPoint& at : scan) {
    owner[spec::to_size(at.number)] =
        static_cast<int>(cell_of(at.row, box.least.row, box.most.row, ranks));
  }
  set_owners(owner, out);
}

}  // namespace rankcheck::reference
