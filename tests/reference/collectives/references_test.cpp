#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/registry.hpp"

#include "tests/print.hpp"

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
using Buffers = std::vector<std::vector<int>>;

/// The value of an element that no rank may write.
constexpr int untouched = -1;

const Collective& collective(std::string_view name) {
  const auto& all = reference::collectives();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Collective& each) { return each.contract.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

std::vector<Piece> pieces_of(const Collective& which, const Call& call, int rank) {
  std::vector<Piece> pieces;
  which.reference(call, rank, pieces);
  return pieces;
}

/// Executes the pieces on small integers. Reductions are sums.
Buffers carried_out(const Collective& which, const Call& call, const Buffers& in) {
  Buffers out;
  for (int rank = 0; rank < call.ranks; ++rank) {
    const auto size = spec::extents_of(which.contract, call, rank).recv_size;
    std::vector<int> recv(static_cast<std::size_t>(size), untouched);
    for (const Piece& piece : pieces_of(which, call, rank)) {
      for (std::int64_t i = 0; i < piece.count; ++i) {
        int value = 0;
        for (int q = 0; q < call.ranks; ++q) {
          if (piece.source != reference::every_rank && piece.source != q) continue;
          value += in.at(static_cast<std::size_t>(q))
                       .at(static_cast<std::size_t>(piece.send_offset + i));
        }
        recv.at(static_cast<std::size_t>(piece.recv_offset + i)) = value;
      }
    }
    out.push_back(std::move(recv));
  }
  return out;
}

struct ByHand {
  std::string name;
  Call call;
  Buffers in;
  Buffers out;
};

void PrintTo(const ByHand& each, std::ostream* out) {
  *out << each.name;
}

constexpr spec::ReduceOp sum = spec::ReduceOp::sum;
constexpr int gap = untouched;

const std::vector<ByHand> values_by_hand{
    {"barrier", {.ranks = 2}, {{}, {}}, {{}, {}}},
    {"broadcast", {.ranks = 3, .root = 1, .count = 2}, {{}, {7, 8}, {}}, {{7, 8}, {7, 8}, {7, 8}}},
    {"reduce",
     {.ranks = 3, .root = 2, .op = sum, .count = 2},
     {{1, 2}, {10, 20}, {100, 200}},
     {{untouched, untouched}, {untouched, untouched}, {111, 222}}},
    {"all_reduce", {.ranks = 2, .op = sum, .count = 2}, {{1, 2}, {10, 20}}, {{11, 22}, {11, 22}}},
    {"reduce_scatter",
     {.ranks = 2, .op = sum, .count = 2},
     {{1, 2, 3, 4}, {10, 20, 30, 40}},
     {{11, 22}, {33, 44}}},
    {"all_gather", {.ranks = 2, .count = 2}, {{1, 2}, {3, 4}}, {{1, 2, 3, 4}, {1, 2, 3, 4}}},
    {"gather",
     {.ranks = 3, .root = 1, .count = 1},
     {{1}, {2}, {3}},
     {{untouched, untouched, untouched}, {1, 2, 3}, {untouched, untouched, untouched}}},
    {"scatter", {.ranks = 2, .root = 1, .count = 2}, {{}, {1, 2, 3, 4}}, {{1, 2}, {3, 4}}},
    {"all_to_all",
     {.ranks = 2, .count = 2},
     {{1, 2, 3, 4}, {5, 6, 7, 8}},
     {{1, 2, 5, 6}, {3, 4, 7, 8}}},
    {"send_recv", {.ranks = 3, .count = 1, .shift = 1}, {{1}, {2}, {3}}, {{3}, {1}, {2}}},
    {"send_recv", {.ranks = 3, .count = 1, .shift = -1}, {{1}, {2}, {3}}, {{2}, {3}, {1}}},
    {"send_recv",
     {.ranks = 3, .count = 1, .pattern = spec::Pattern::pairs},
     {{1}, {2}, {3}},
     {{2}, {1}, {3}}},
    {"send_recv", {.ranks = 2, .count = 1, .pattern = spec::Pattern::self}, {{1}, {2}}, {{1}, {2}}},
    {"all_gather_v",
     {.ranks = 3, .counts = {1, 0, 2}},
     {{1}, {}, {2, 3}},
     {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}},
    {"all_gather_v",
     {.ranks = 2, .counts = {1, 2}, .gap = 1},
     {{1}, {2, 3}},
     {{1, gap, 2, 3, gap}, {1, gap, 2, 3, gap}}},
    {"gather_v",
     {.ranks = 2, .root = 1, .counts = {1, 2}, .gap = 1},
     {{1}, {2, 3}},
     {{untouched, untouched, untouched, untouched, untouched}, {1, gap, 2, 3, gap}}},
    {"scatter_v",
     {.ranks = 2, .root = 0, .counts = {1, 2}, .gap = 1},
     {{1, 91, 2, 3, 92}, {}},
     {{1}, {2, 3}}},
    {"reduce_scatter_v",
     {.ranks = 2, .op = sum, .counts = {1, 2}},
     {{1, 2, 3}, {10, 20, 30}},
     {{11}, {22, 33}}},
    {"reduce_scatter_v",
     {.ranks = 2, .op = sum, .counts = {1, 1}, .gap = 1},
     {{1, 91, 2, 92}, {10, 93, 20, 94}},
     {{11}, {22}}},
    // Rank 0 sends one element to itself and two to rank 1. Rank 1 sends none to rank 0 and one to
    // itself.
    {"all_to_all_v", {.ranks = 2, .counts = {1, 2, 0, 1}}, {{1, 2, 3}, {4}}, {{1}, {2, 3, 4}}},
    {"all_to_all_v",
     {.ranks = 2, .counts = {1, 1, 1, 1}, .gap = 1},
     {{1, 91, 2, 92}, {3, 93, 4, 94}},
     {{1, gap, 3, gap}, {2, gap, 4, gap}}},
};

class References : public testing::TestWithParam<ByHand> {};

INSTANTIATE_TEST_SUITE_P(ByHand,
                         References,
                         testing::ValuesIn(values_by_hand),
                         [](const auto& each) {
                           return each.param.name + "_" + std::to_string(each.index);
                         });

TEST_P(References, GiveTheseValues) {
  const Collective& which = collective(GetParam().name);
  EXPECT_EQ(spec::why_invalid(which.contract, GetParam().call), std::nullopt);
  EXPECT_EQ(carried_out(which, GetParam().call, GetParam().in), GetParam().out);
}

TEST_P(References, TakeInputsOfTheseSizes) {
  const Collective& which = collective(GetParam().name);
  for (int rank = 0; rank < GetParam().call.ranks; ++rank) {
    const auto extents = spec::extents_of(which.contract, GetParam().call, rank);
    EXPECT_EQ(static_cast<std::size_t>(extents.send_size),
              GetParam().in[static_cast<std::size_t>(rank)].size());
  }
}

// --- what holds for every collective ---

class EveryCollective : public testing::TestWithParam<Collective> {};

INSTANTIATE_TEST_SUITE_P(All,
                         EveryCollective,
                         testing::ValuesIn(reference::collectives()),
                         printed_name);

/// Returns legal calls of one to five ranks with empty blocks, gaps and every root.
std::vector<Call> calls_of(const spec::Contract& contract) {
  std::vector<Call> calls;
  for (int n = 1; n <= 5; ++n) {
    for (int root = 0; root < (contract.rooted ? n : 1); ++root) {
      for (int variant = 0; variant < 3; ++variant) {
        Call call{.ranks = n, .root = root};
        call.op = contract.reduces ? sum : spec::ReduceOp::none;
        if (contract.sizes == spec::Sizes::count) call.count = variant;
        int blocks = 0;
        if (contract.sizes == spec::Sizes::counts_per_rank) blocks = n;
        if (contract.sizes == spec::Sizes::counts_per_pair) blocks = n * n;
        for (int b = 0; b < blocks; ++b) call.counts.push_back((b * 7 + variant) % 4);
        if (blocks > 0) call.gap = variant;
        calls.push_back(call);
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

TEST_P(EveryCollective, FillsEveryReceivedBlockOnceAndNothingElse) {
  for (const Call& call : calls_of(GetParam().contract)) {
    ASSERT_EQ(spec::why_invalid(GetParam().contract, call), std::nullopt);
    for (int rank = 0; rank < call.ranks; ++rank) {
      const auto extents = spec::extents_of(GetParam().contract, call, rank);
      std::vector<int> expected(static_cast<std::size_t>(extents.recv_size), 0);
      for (const spec::Block& block : extents.recv) {
        for (std::int64_t i = 0; i < block.count; ++i) {
          ++expected.at(static_cast<std::size_t>(block.offset + i));
        }
      }
      std::vector<int> written(expected.size(), 0);
      for (const Piece& piece : pieces_of(GetParam(), call, rank)) {
        for (std::int64_t i = 0; i < piece.count; ++i) {
          ++written.at(static_cast<std::size_t>(piece.recv_offset + i));
        }
      }
      ASSERT_EQ(written, expected);
    }
  }
}

TEST_P(EveryCollective, ReadsSentBlocksOnly) {
  for (const Call& call : calls_of(GetParam().contract)) {
    for (int rank = 0; rank < call.ranks; ++rank) {
      for (const Piece& piece : pieces_of(GetParam(), call, rank)) {
        for (int q = 0; q < call.ranks; ++q) {
          if (piece.source != reference::every_rank && piece.source != q) continue;
          const auto extents = spec::extents_of(GetParam().contract, call, q);
          ASSERT_TRUE(inside_one(extents.send, piece.send_offset, piece.count));
        }
      }
    }
  }
}

TEST_P(EveryCollective, ReducesExactlyWhereItsContractSaysSo) {
  for (const Call& call : calls_of(GetParam().contract)) {
    for (const Piece& piece : pieces_of(GetParam(), call, call.root)) {
      ASSERT_EQ(piece.source == reference::every_rank, GetParam().contract.reduces);
    }
  }
}

TEST_P(EveryCollective, HasBuffersThatFitInPlace) {
  const spec::Contract& contract = GetParam().contract;
  for (const Call& call : calls_of(contract)) {
    for (int rank = 0; rank < call.ranks; ++rank) {
      const auto extents = spec::extents_of(contract, call, rank);
      if (extents.send.empty() || extents.recv.empty()) continue;
      const auto own = static_cast<std::size_t>(rank);
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

TEST_P(EveryCollective, SaysWhatItMeans) {
  EXPECT_FALSE(GetParam().contract.summary.empty());
  EXPECT_FALSE(GetParam().contract.formula.empty());
  EXPECT_FALSE(GetParam().contract.source.empty());
}

}  // namespace
}  // namespace rankcheck::tests
