#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::reference {

/// The source of a piece that combines the same run of every rank's send buffer, in rank order.
inline constexpr int every_rank = -1;

/// The source of a piece that combines the runs in `Piece::terms`, in this order.
inline constexpr int listed_terms = -2;

/// Where a run of a rank's send buffer begins, in elements.
struct Term {
  int rank = 0;
  std::int64_t offset = 0;

  friend bool operator==(const Term&, const Term&) = default;
  friend bool operator<(const Term& a, const Term& b) {
    return std::tie(a.rank, a.offset) < std::tie(b.rank, b.offset);
  }
};

/// A run of one rank's output elements and the input elements that it is made of. Offsets and
/// counts are in elements. A reference lists such pieces: it says which inputs are used, never how
/// they travel.
struct Piece {
  std::int64_t recv_offset = 0;
  std::int64_t count = 0;
  /// Position of the source in the group, `every_rank` or `listed_terms`.
  int source = 0;
  std::int64_t send_offset = 0;
  /// For `listed_terms` only.
  std::vector<Term> terms = {};
};

/// The runs of input elements that a piece of a call of `ranks` ranks is made of.
[[nodiscard]] inline std::vector<Term> terms_of(const Piece& piece, int ranks) {
  if (piece.source == listed_terms) return piece.terms;
  if (piece.source != every_rank) return {{.rank = piece.source, .offset = piece.send_offset}};
  std::vector<Term> terms;
  for (int q = 0; q < ranks; ++q) terms.push_back({.rank = q, .offset = piece.send_offset});
  return terms;
}

/// Appends the pieces that make up the output of `rank`; appends nothing if `rank` has no output.
using Reference = void (*)(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference
