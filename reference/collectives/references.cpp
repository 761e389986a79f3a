#include "reference/collectives/references.hpp"

#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

/// Appends nothing: a barrier moves no values.
void barrier::reference(const spec::Call& /*call*/, int /*rank*/, std::vector<Piece>& /*pieces*/) {}

/// out[r] = in[root], for every rank r.
void broadcast::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0, .count = call.count, .source = call.root, .send_offset = 0});
}

/// out[r] = in[root][block r].
void scatter::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0,
                    .count = spec::block_count(call, rank),
                    .source = call.root,
                    .send_offset = spec::block_offset(call, rank)});
}

void scatter_v::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  scatter::reference(call, rank, pieces);
}

/// out[root][block q] = in[q]; other ranks have no output.
void gather::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather::reference(call, rank, pieces);
}

void gather_v::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  gather::reference(call, rank, pieces);
}

/// out[r][block q] = in[q], for every rank r.
void all_gather::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  std::int64_t offset = 0;
  for (int q = 0; q < call.ranks; ++q) {
    const std::int64_t count = spec::block_count(call, q);
    pieces.push_back({.recv_offset = offset, .count = count, .source = q, .send_offset = 0});
    offset += count + call.gap;
  }
}

void all_gather_v::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  all_gather::reference(call, rank, pieces);
}

/// out[r][block q] = in[q][block r].
void all_to_all::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  for (int q = 0; q < call.ranks; ++q) {
    pieces.push_back({.recv_offset = q * call.count,
                      .count = call.count,
                      .source = q,
                      .send_offset = rank * call.count});
  }
}

/// out[r][block q] = in[q][block r].
void all_to_all_v::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
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

/// out[r] = in[origin(r)]. A rank that nobody sends to has no output.
void send_recv::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (spec::origin(call, rank) == spec::nobody) return;
  pieces.push_back({.recv_offset = 0,
                    .count = call.count,
                    .source = spec::origin(call, rank),
                    .send_offset = 0});
}

/// out[root][i] = op over q of in[q][i]; other ranks have no output.
void reduce::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank != call.root) return;
  pieces.push_back({.recv_offset = 0, .count = call.count, .source = every_rank, .send_offset = 0});
}

/// out[r][i] = op over q of in[q][i], for every rank r.
void all_reduce::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0, .count = call.count, .source = every_rank, .send_offset = 0});
}

/// out[r][i] = op over q of in[q][block r][i].
void reduce_scatter::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0,
                    .count = spec::block_count(call, rank),
                    .source = every_rank,
                    .send_offset = spec::block_offset(call, rank)});
}

void reduce_scatter_v::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  reduce_scatter::reference(call, rank, pieces);
}

void broadcast_list::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  std::int64_t start = 0;
  for (const std::int64_t count : call.counts) {
    pieces.push_back(
        {.recv_offset = start, .count = count, .source = call.root, .send_offset = start});
    start += count + call.gap;
  }
}

void reduce_list::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_reduce_list::reference(call, rank, pieces);
}

void all_reduce_list::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  std::int64_t start = 0;
  for (const std::int64_t count : call.counts) {
    pieces.push_back(
        {.recv_offset = start, .count = count, .source = every_rank, .send_offset = start});
    start += count + call.gap;
  }
}

void gather_axis::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather_axis::reference(call, rank, pieces);
}

void all_gather_axis::reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  // The result is listed in the order of its elements.
  std::int64_t recv_offset = 0;
  for (std::int64_t a = 0; a < call.outer; ++a) {
    for (int q = 0; q < call.ranks; ++q) {
      const std::int64_t count = call.counts[spec::to_size(q)] * call.inner;
      pieces.push_back(
          {.recv_offset = recv_offset, .count = count, .source = q, .send_offset = a * count});
      recv_offset += count;
    }
  }
}

void reduce_axis::reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
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

}  // namespace rankcheck::reference
