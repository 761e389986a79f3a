#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/piece.hpp"
#include "reference/spec/contract.hpp"
#include "reference/spec/to_size.hpp"

/// Carries out collectives on integers that a reader can follow.
namespace rankcheck::reference {

/// The elements of each rank's buffer, in rank order.
using Buffers = std::vector<std::vector<int>>;

/// The value of an element that no rank may write.
inline constexpr int untouched = -1;

/// The elements that `rank` receives. Reductions are sums.
inline std::vector<int> received(const spec::Contract& contract,
                                 Reference reference,
                                 const spec::Call& call,
                                 const Buffers& in,
                                 int rank) {
  std::vector<Piece> pieces;
  reference(call, rank, pieces);
  const auto size = spec::extents_of(contract, call, rank).recv_size;
  std::vector<int> recv(spec::to_size(size), untouched);
  for (const Piece& piece : pieces) {
    for (std::int64_t i = 0; i < piece.count; ++i) {
      int value = 0;
      for (const Term& term : terms_of(piece, call.ranks)) {
        value += in.at(spec::to_size(term.rank)).at(spec::to_size(term.offset + i));
      }
      recv.at(spec::to_size(piece.recv_offset + i)) = value;
    }
  }
  return recv;
}

/// Expects that the call is legal, that its inputs have these sizes, and that it leaves `out`.
inline void expect_received(const spec::Contract& contract,
                            Reference reference,
                            const spec::Call& call,
                            const Buffers& in,
                            const Buffers& out) {
  ASSERT_EQ(spec::why_invalid(contract, call), std::nullopt);
  Buffers got;
  for (int rank = 0; rank < call.ranks; ++rank) {
    const auto extents = spec::extents_of(contract, call, rank);
    ASSERT_EQ(spec::to_size(extents.send_size), in.at(spec::to_size(rank)).size())
        << "the send buffer of rank " << rank;
    got.push_back(received(contract, reference, call, in, rank));
  }
  EXPECT_EQ(got, out);
}

}  // namespace rankcheck::reference
