#include <algorithm>
#include <utility>

#include "reference/ptycho/partition.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::partition_random {

namespace {

std::uint64_t hash_of(std::int64_t number) {
  std::uint64_t z = (static_cast<std::uint64_t>(number) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<ScanPoint> scan = scan_of(in);
  std::sort(scan.begin(), scan.end(), [](const ScanPoint& a, const ScanPoint& b) {
    return std::pair(hash_of(a.number), a.number) < std::pair(hash_of(b.number), b.number);
  });
  share_in_order(scan, static_cast<std::int64_t>(in.counts.size()), out);
}

}  // namespace rankcheck::reference::partition_random
