#include <algorithm>
#include <tuple>

#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::partition_compact {

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

}  // namespace

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
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

}  // namespace rankcheck::reference::partition_compact
