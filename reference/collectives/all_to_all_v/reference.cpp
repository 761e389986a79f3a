#include "reference/collectives/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::all_to_all_v {

/// out[r][block q] = in[q][block r].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  const auto n = spec::to_size(call.ranks);
  const auto r = spec::to_size(rank);
  std::int64_t recv_offset = 0;
  for (std::size_t q = 0; q < n; ++q) {
    const std::int64_t* sent_by_q = call.counts.data() + q * n;
    std::int64_t send_offset = 0;
    for (std::size_t k = 0; k < r; ++k) send_offset += sent_by_q[k] + call.gap;
    pieces.push_back({.recv_offset = recv_offset,
                      .count = sent_by_q[r],
                      .source = static_cast<int>(q),
                      .send_offset = send_offset});
    recv_offset += sent_by_q[r] + call.gap;
  }
}

}  // namespace rankcheck::reference::all_to_all_v
