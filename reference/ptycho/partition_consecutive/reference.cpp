#include "reference/ptycho/partition_consecutive/reference.hpp"

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_consecutive {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  share_in_order(scan_of(in), static_cast<std::int64_t>(in.counts.size()), out);
}

}  // namespace rankcheck::reference::partition_consecutive
