#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::partition_stripes {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
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

}  // namespace rankcheck::reference::partition_stripes
