#include "reference/collectives/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/collective.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/print.hpp"
#include "tests/reference/collectives/calls.hpp"

namespace rankcheck::reference {

/// Prints a name for GoogleTest, which otherwise prints addresses.
static void PrintTo(const Collective& collective, std::ostream* out) {
  *out << collective.contract.name;
}

}  // namespace rankcheck::reference

namespace rankcheck::tests {
namespace {

using reference::Collective;
using reference::Piece;
using spec::Call;

std::vector<Piece> pieces_of(const Collective& which, const Call& call, int rank) {
  std::vector<Piece> pieces;
  which.reference(call, rank, pieces);
  return pieces;
}

class EveryCollectiveTest : public testing::TestWithParam<Collective> {};

INSTANTIATE_TEST_SUITE_P(All,
                         EveryCollectiveTest,
                         testing::ValuesIn(reference::collectives()),
                         printed_name);

/// Returns legal calls of one to five ranks with empty blocks, gaps and every root.
std::vector<Call> calls_of(const spec::Contract& contract) {
  std::vector<Call> calls;
  for (int n = 1; n <= 5; ++n) {
    for (const std::int64_t size : {0, 1, 5}) {
      Call call = call_of(contract, n, size);
      for (int root = 0; root <= call.root; ++root) {
        calls.push_back(call);
        calls.back().root = root;
      }
    }
  }
  return calls;
}

bool inside_one(const std::vector<spec::Block>& blocks, std::int64_t offset, std::int64_t count) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const spec::Block& block) {
    return block.offset <= offset && offset + count <= block.offset + block.count;
  });
}

TEST_P(EveryCollectiveTest, FillsEveryReceivedBlockOnceAndNothingElse) {
  for (const Call& call : calls_of(GetParam().contract)) {
    ASSERT_EQ(spec::why_invalid(GetParam().contract, call), std::nullopt);
    for (int rank = 0; rank < call.ranks; ++rank) {
      const auto extents = spec::extents_of(GetParam().contract, call, rank);
      std::vector<int> expected(spec::to_size(extents.recv_size), 0);
      for (const spec::Block& block : extents.recv) {
        for (std::int64_t i = 0; i < block.count; ++i) {
          ++expected.at(spec::to_size(block.offset + i));
        }
      }
      std::vector<int> written(expected.size(), 0);
      for (const Piece& piece : pieces_of(GetParam(), call, rank)) {
        for (std::int64_t i = 0; i < piece.count; ++i) {
          ++written.at(spec::to_size(piece.recv_offset + i));
        }
      }
      ASSERT_EQ(written, expected);
    }
  }
}

TEST_P(EveryCollectiveTest, ReadsSentBlocksOnly) {
  for (const Call& call : calls_of(GetParam().contract)) {
    for (int rank = 0; rank < call.ranks; ++rank) {
      for (const Piece& piece : pieces_of(GetParam(), call, rank)) {
        for (const reference::Term& term : terms_of(piece, call.ranks)) {
          const auto extents = spec::extents_of(GetParam().contract, call, term.rank);
          ASSERT_TRUE(inside_one(extents.send, term.offset, piece.count));
        }
      }
    }
  }
}

TEST_P(EveryCollectiveTest, ReducesExactlyWhereItsContractSaysSo) {
  for (const Call& call : calls_of(GetParam().contract)) {
    for (const Piece& piece : pieces_of(GetParam(), call, call.root)) {
      ASSERT_EQ(piece.source < 0, collective(GetParam().contract).reduces);
    }
  }
}

TEST_P(EveryCollectiveTest, HasBuffersThatFitInPlace) {
  const spec::Contract& contract = GetParam().contract;
  for (Call call : calls_of(contract)) {
    spec::mirror_counts(contract, call.ranks, call.counts);
    for (int rank = 0; rank < call.ranks; ++rank) {
      const auto extents = spec::extents_of(contract, call, rank);
      if (extents.send.empty() || extents.recv.empty()) continue;
      const auto own = spec::to_size(rank);
      if (contract.in_place == spec::InPlace::same) {
        ASSERT_EQ(extents.send_size, extents.recv_size);
      } else if (contract.in_place == spec::InPlace::send_within_recv) {
        ASSERT_EQ(extents.send.at(0).count, extents.recv.at(own).count);
      } else if (contract.in_place == spec::InPlace::recv_within_send) {
        ASSERT_EQ(extents.recv.at(0).count, extents.send.at(own).count);
      }
    }
  }
}

TEST_P(EveryCollectiveTest, SaysWhatItMeans) {
  EXPECT_FALSE(GetParam().contract.summary.empty());
  EXPECT_FALSE(GetParam().contract.formula.empty());
  EXPECT_FALSE(GetParam().contract.source.empty());
}

}  // namespace
}  // namespace rankcheck::tests
