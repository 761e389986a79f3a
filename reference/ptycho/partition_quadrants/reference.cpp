#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::partition_quadrants {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
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

}  // namespace rankcheck::reference::partition_quadrants
