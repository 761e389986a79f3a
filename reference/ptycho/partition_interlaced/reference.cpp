#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::partition_interlaced {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const auto ranks = static_cast<std::int64_t>(in.counts.size());
  std::vector<int> owner;
  for (std::int64_t i = 0; i < in.positions; ++i) owner.push_back(static_cast<int>(i % ranks));
  set_owners(owner, out);
}

}  // namespace rankcheck::reference::partition_interlaced
