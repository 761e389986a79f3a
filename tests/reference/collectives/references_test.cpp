#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/registry.hpp"
#include "reference/registry.hpp"
#include "reference/spec/collective.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/print.hpp"
#include "tests/reference/collectives/calls.hpp"

/// What the references of all collectives have in common, and collectives carried out on integers
/// that a reader can follow.
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
using spec::Pattern;

/// The elements of each rank's buffer, in rank order.
using Buffers = std::vector<std::vector<int>>;

/// The value of an element that no rank may write.
constexpr int untouched = -1;

/// A buffer of `size` elements that no rank may write.
std::vector<int> idle(std::size_t size) {
  return std::vector<int>(size, untouched);
}

struct Title {
  std::string_view operation;
  std::string_view shows;
};

/// A call worked out by hand: what ranks send, and what they have received behind it.
struct Exchange {
  /// A reduction is a sum.
  Call call;
  Buffers in;
  Buffers out;
};

struct Example {
  Title title;
  Exchange exchange;

  friend void PrintTo(const Example& each, std::ostream* out) {
    *out << each.title.operation << ": " << each.title.shows;
  }
};

const std::vector<Example> examples{
    {{"all_gather", "every rank gets all blocks in rank order"},
     {{.ranks = 3, .count = 2},
      {{1, 2}, {3, 4}, {5, 6}},
      {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}}},
    // Rank 0 has [1 2; 3 4], rank 1 has no column, and rank 2 has [5; 6].
    {{"all_gather_axis", "joins rows of matrices side by side"},
     {{.ranks = 3, .counts = {2, 0, 1}, .outer = 2},
      {{1, 2, 3, 4}, {}, {5, 6}},
      {{1, 2, 5, 3, 4, 6}, {1, 2, 5, 3, 4, 6}, {1, 2, 5, 3, 4, 6}}}},
    // The shapes are (2, 1, 2) and (2, 2, 2).
    {{"all_gather_axis", "keeps the elements behind the axis together"},
     {{.ranks = 2, .counts = {1, 2}, .outer = 2, .inner = 2},
      {{1, 2, 3, 4}, {11, 12, 13, 14, 15, 16, 17, 18}},
      {{1, 2, 11, 12, 13, 14, 3, 4, 15, 16, 17, 18},
       {1, 2, 11, 12, 13, 14, 3, 4, 15, 16, 17, 18}}}},
    {{"all_gather_axis", "arrays may have no row"},
     {{.ranks = 2, .counts = {1, 2}, .outer = 0}, {{}, {}}, {{}, {}}}},
    {{"all_gather_axis", "rows may have no element"},
     {{.ranks = 2, .counts = {1, 2}, .inner = 0}, {{}, {}}, {{}, {}}}},
    {{"all_gather_v", "blocks may be empty"},
     {{.ranks = 3, .counts = {1, 0, 2}}, {{1}, {}, {2, 3}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}},
    {{"all_gather_v", "gaps behind blocks stay untouched"},
     {{.ranks = 2, .counts = {1, 2}, .gap = 1},
      {{1}, {2, 3}},
      {{1, untouched, 2, 3, untouched}, {1, untouched, 2, 3, untouched}}}},
    {{"all_reduce", "every rank gets the sum"},
     {{.ranks = 3, .count = 2},
      {{1, 2}, {10, 20}, {100, 200}},
      {{111, 222}, {111, 222}, {111, 222}}}},
    {{"all_reduce_list", "every array is summed over the ranks"},
     {{.ranks = 2, .counts = {2, 0, 1}}, {{1, 2, 3}, {10, 20, 30}}, {{11, 22, 33}, {11, 22, 33}}}},
    {{"all_reduce_list", "gaps behind arrays stay untouched"},
     {{.ranks = 2, .counts = {2, 0, 1}, .gap = 1},
      {{1, 2, 7, 7, 3, 7}, {10, 20, 7, 7, 30, 7}},
      {{11, 22, untouched, untouched, 33, untouched},
       {11, 22, untouched, untouched, 33, untouched}}}},
    {{"all_reduce_list", "a list may have no array"}, {{.ranks = 2}, {{}, {}}, {{}, {}}}},
    {{"all_to_all", "blocks are transposed"},
     {{.ranks = 2, .count = 2}, {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{1, 2, 5, 6}, {3, 4, 7, 8}}}},
    // Rank 0 sends one element to itself and two to rank 1. Rank 1 sends none to rank 0 and one to
    // itself.
    {{"all_to_all_v", "blocks of any sizes are transposed"},
     {{.ranks = 2, .counts = {1, 2, 0, 1}}, {{1, 2, 3}, {4}}, {{1}, {2, 3, 4}}}},
    {{"all_to_all_v", "gaps behind blocks are skipped and stay untouched"},
     {{.ranks = 2, .counts = {1, 1, 1, 1}, .gap = 1},
      {{1, 91, 2, 92}, {3, 93, 4, 94}},
      {{1, untouched, 3, untouched}, {2, untouched, 4, untouched}}}},
    {{"barrier", "moves nothing"}, {{.ranks = 2}, {{}, {}}, {{}, {}}}},
    {{"broadcast", "every rank gets the root's elements"},
     {{.ranks = 3, .root = 1, .count = 2}, {{}, {7, 8}, {}}, {{7, 8}, {7, 8}, {7, 8}}}},
    {{"broadcast_list", "every rank gets the root's arrays"},
     {{.ranks = 3, .root = 2, .counts = {1, 0, 2}},
      {{}, {}, {1, 2, 3}},
      {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}},
    {{"broadcast_list", "gaps behind arrays stay untouched"},
     {{.ranks = 2, .counts = {1, 2}, .gap = 2},
      {{1, 7, 7, 2, 3, 7, 7}, {}},
      {{1, untouched, untouched, 2, 3, untouched, untouched},
       {1, untouched, untouched, 2, 3, untouched, untouched}}}},
    {{"broadcast_list", "a list may have no array"}, {{.ranks = 2}, {{}, {}}, {{}, {}}}},
    {{"gather", "the root alone gets all blocks"},
     {{.ranks = 3, .root = 1, .count = 1}, {{1}, {2}, {3}}, {idle(3), {1, 2, 3}, idle(3)}}},
    // Rank 0 has [1; 2], and rank 1 has [3 4; 5 6].
    {{"gather_axis", "the root alone gets the joined array"},
     {{.ranks = 2, .root = 1, .counts = {1, 2}, .outer = 2},
      {{1, 2}, {3, 4, 5, 6}},
      {idle(6), {1, 3, 4, 2, 5, 6}}}},
    {{"gather_v", "the root alone gets all blocks and keeps its gaps"},
     {{.ranks = 2, .root = 1, .counts = {1, 2}, .gap = 1},
      {{1}, {2, 3}},
      {idle(5), {1, untouched, 2, 3, untouched}}}},
    {{"reduce", "the root alone gets the sum"},
     {{.ranks = 3, .root = 2, .count = 2},
      {{1, 2}, {10, 20}, {100, 200}},
      {idle(2), idle(2), {111, 222}}}},
    // The shapes are (2, 2, 2), (2, 0, 2) and (2, 1, 2).
    {{"reduce_axis", "the root gets the sum of all rows"},
     {{.ranks = 3, .root = 2, .counts = {2, 0, 1}, .outer = 2, .inner = 2},
      {{1, 2, 10, 20, 3, 4, 30, 40}, {}, {100, 200, 300, 400}},
      {idle(4), idle(4), {111, 222, 333, 444}}}},
    {{"reduce_axis", "one rank combines its own rows"},
     {{.counts = {3}, .inner = 2}, {{1, 2, 10, 20, 100, 200}}, {{111, 222}}}},
    {{"reduce_list", "the root alone gets the sums"},
     {{.ranks = 3, .root = 1, .counts = {1, 2}, .gap = 1},
      {{1, 7, 2, 3, 7}, {10, 7, 20, 30, 7}, {100, 7, 200, 300, 7}},
      {idle(5), {111, untouched, 222, 333, untouched}, idle(5)}}},
    {{"reduce_list", "a list may have no array"}, {{.ranks = 2}, {{}, {}}, {{}, {}}}},
    {{"reduce_scatter", "a rank gets the sum of its blocks"},
     {{.ranks = 2, .count = 2}, {{1, 2, 3, 4}, {10, 20, 30, 40}}, {{11, 22}, {33, 44}}}},
    {{"reduce_scatter_v", "a rank gets the sum of its blocks"},
     {{.ranks = 2, .counts = {1, 2}}, {{1, 2, 3}, {10, 20, 30}}, {{11}, {22, 33}}}},
    {{"reduce_scatter_v", "gaps behind blocks are skipped"},
     {{.ranks = 2, .counts = {1, 1}, .gap = 1}, {{1, 91, 2, 92}, {10, 93, 20, 94}}, {{11}, {22}}}},
    {{"scatter", "a rank gets its block of the root's"},
     {{.ranks = 3, .root = 1, .count = 2}, {{}, {1, 2, 3, 4, 5, 6}, {}}, {{1, 2}, {3, 4}, {5, 6}}}},
    // The gap behind the empty block of rank 1 counts, too.
    {{"scatter_v", "a rank gets its block without the gap"},
     {{.ranks = 3, .root = 0, .counts = {1, 0, 2}, .gap = 1},
      {{1, 91, 92, 2, 3, 93}, {}, {}},
      {{1}, {}, {2, 3}}}},
    {{"send_recv", "a ring passes its elements on"},
     {{.ranks = 3, .count = 1, .shift = 1}, {{1}, {2}, {3}}, {{3}, {1}, {2}}}},
    {{"send_recv", "a ring turns back with a negative shift"},
     {{.ranks = 3, .count = 1, .shift = -1}, {{1}, {2}, {3}}, {{2}, {3}, {1}}}},
    {{"send_recv", "pairs exchange and the last rank keeps its own"},
     {{.ranks = 3, .count = 1, .pattern = Pattern::pairs}, {{1}, {2}, {3}}, {{2}, {1}, {3}}}},
    {{"send_recv", "a rank may send to itself"},
     {{.ranks = 2, .count = 1, .pattern = Pattern::self}, {{1}, {2}}, {{1}, {2}}}},
    {{"send_recv", "one way, even ranks send and odd ranks receive"},
     {{.ranks = 5, .count = 1, .pattern = Pattern::one_way},
      {{1}, {}, {3}, {}, {}},
      {idle(1), {1}, idle(1), {3}, idle(1)}}},
    {{"send_recv", "one way, a lone rank does nothing"},
     {{.ranks = 1, .count = 1, .pattern = Pattern::one_way}, {{}}, {idle(1)}}}};

std::vector<Piece> pieces_of(const Collective& which, const Call& call, int rank) {
  std::vector<Piece> pieces;
  which.reference(call, rank, pieces);
  return pieces;
}

/// The elements that `rank` receives.
std::vector<int> received(const Collective& by, const Call& call, const Buffers& in, int rank) {
  std::vector<int> recv = idle(spec::to_size(extents_of(by.contract, call, rank).recv_size));
  for (const Piece& piece : pieces_of(by, call, rank)) {
    for (std::int64_t i = 0; i < piece.count; ++i) {
      int value = 0;
      for (const reference::Term& term : terms_of(piece, call.ranks)) {
        value += in.at(spec::to_size(term.rank)).at(spec::to_size(term.offset + i));
      }
      recv.at(spec::to_size(piece.recv_offset + i)) = value;
    }
  }
  return recv;
}

class CollectiveByHandTest : public testing::TestWithParam<Example> {};

INSTANTIATE_TEST_SUITE_P(All, CollectiveByHandTest, testing::ValuesIn(examples), printed_name);

TEST_P(CollectiveByHandTest, LeavesTheseElements) {
  const Collective& by = collective_named(GetParam().title.operation);
  auto [call, in, out] = GetParam().exchange;
  if (collective(by.contract).reduces) call.op = spec::ReduceOp::sum;
  ASSERT_EQ(spec::why_invalid(by.contract, call), std::nullopt);
  Buffers got;
  for (int rank = 0; rank < call.ranks; ++rank) {
    const auto sent = extents_of(by.contract, call, rank).send_size;
    ASSERT_EQ(spec::to_size(sent), in.at(spec::to_size(rank)).size())
        << "the send buffer of rank " << rank;
    got.push_back(received(by, call, in, rank));
  }
  EXPECT_EQ(got, out);
}

TEST(CollectivesByHandTest, AreAllCollectives) {
  EXPECT_GE(reference::collectives().size(), 15U);
  for (const Collective& each : reference::collectives()) {
    EXPECT_TRUE(std::any_of(examples.begin(), examples.end(), [&](const Example& example) {
      return example.title.operation == each.contract.name;
    })) << each.contract.name;
  }
}

TEST(CollectivesByHandTest, CountRowsForTheAverageAlongAnAxis) {
  EXPECT_EQ(
      spec::terms(reference::contract_named("reduce_axis"), {.ranks = 3, .counts = {2, 0, 5}}), 7);
}

class EveryCollectiveTest : public testing::TestWithParam<Collective> {};

INSTANTIATE_TEST_SUITE_P(All,
                         EveryCollectiveTest,
                         testing::ValuesIn(reference::collectives()),
                         printed_name);

/// Returns legal calls of one to five ranks with empty blocks, gaps and every root. Before an axis,
/// there are zero to two elements.
std::vector<Call> calls_of(const spec::Contract& contract) {
  std::vector<Call> calls;
  for (int n = 1; n <= 5; ++n) {
    for (const std::int64_t size : {0, 1, 2, 4, 5}) {
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
  const spec::Contract& contract = GetParam().contract;
  for (const Call& call : calls_of(contract)) {
    for (const Piece& piece : pieces_of(GetParam(), call, call.root)) {
      ASSERT_EQ(piece.source < 0, collective(contract).reduces);
      if (piece.source >= 0) continue;
      ASSERT_EQ(terms_of(piece, call.ranks).size(), spec::to_size(spec::terms(contract, call)))
          << "spec::terms() is the number of terms of every result: bounds are for this number";
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
