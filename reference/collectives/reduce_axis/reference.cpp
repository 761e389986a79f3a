#include "reference/collectives/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::reduce_axis {

/// See Reference.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank != call.root) return;
  for (std::int64_t a = 0; a < call.outer; ++a) {
    Piece& row = pieces.emplace_back();
    row.recv_offset = a * call.inner;
    row.count = call.inner;
    row.source = listed_terms;
    for (int q = 0; q < call.ranks; ++q) {
      const std::int64_t length = call.counts[spec::to_size(q)];
      for (std::int64_t j = 0; j < length; ++j) {
        row.terms.push_back({.rank = q, .offset = (a * length + j) * call.inner});
      }
    }
  }
}

}  // namespace rankcheck::reference::reduce_axis
