#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::partition_consecutive {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  share_in_order(scan_of(in), static_cast<std::int64_t>(in.counts.size()), out);
}

}  // namespace rankcheck::reference::partition_consecutive
