#include <algorithm>
#include <tuple>

#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::partition_equal_stripes {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::tie(a.row, a.col, a.number) < std::tie(b.row, b.col, b.number);
  });
  share_in_order(scan, static_cast<std::int64_t>(in.counts.size()), out);
}

}  // namespace rankcheck::reference::partition_equal_stripes
