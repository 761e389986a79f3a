#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::partition_grid {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
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

}  // namespace rankcheck::reference::partition_grid
