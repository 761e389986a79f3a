#include "reference/spec/collective.hpp"

#include <gtest/gtest.h>

#include "reference/collectives/all_gather_v/contract.hpp"
#include "reference/collectives/all_reduce/contract.hpp"
#include "reference/collectives/all_to_all_v/contract.hpp"
#include "reference/collectives/broadcast/contract.hpp"
#include "reference/collectives/gather_axis/contract.hpp"
#include "reference/collectives/reduce_axis/contract.hpp"
#include "reference/ptycho/multislice/contract.hpp"
#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::tests {
namespace {

using spec::Call;
using spec::ReduceOp;
using spec::Type;

/// Returns why the call is illegal, or "legal".
std::string verdict(const spec::Contract& contract, const Call& call) {
  return spec::why_invalid(contract, call).value_or("legal");
}

TEST(WhyInvalidTest, AcceptsNothingToDo) {
  EXPECT_EQ(verdict(reference::broadcast::contract(), {.count = 0}), "legal");
  EXPECT_EQ(verdict(reference::all_gather_v::contract(), {.ranks = 2, .counts = {0, 0}}), "legal");
}

TEST(WhyInvalidTest, NamesTheFieldAndWhatWasExpected) {
  const auto broadcast = reference::broadcast::contract();
  EXPECT_EQ(verdict(broadcast, {.ranks = 0}), "ranks: got 0, expected at least 1");
  EXPECT_EQ(verdict(broadcast, {.ranks = 2, .root = 2}), "root: got 2, expected 0..1");
  EXPECT_EQ(verdict(broadcast, {.ranks = 2, .root = -1}), "root: got -1, expected 0..1");
  EXPECT_EQ(verdict(broadcast, {.count = -1}), "count: out of range, got -1");
  EXPECT_EQ(verdict(broadcast, {.counts = {1}}), "counts: got a list of 1, expected 0 values");
  EXPECT_EQ(verdict(broadcast, {.count = std::int64_t{1} << 60}),
            "count: got 1152921504606846976, expected at most 281474976710656");
  EXPECT_EQ(verdict(broadcast, {.gap = 1}), "gap: only counts have gaps");
  EXPECT_EQ(verdict(broadcast, {.op = ReduceOp::sum}),
            "op: got sum, this operation does not reduce");
  const auto gather = reference::all_gather_v::contract();
  EXPECT_EQ(verdict(gather, {.ranks = 2, .counts = {1}}),
            "counts: got a list of 1, expected 2 values");
  EXPECT_EQ(verdict(gather, {.ranks = 1, .counts = {-3}}),
            "counts: got -3, expected no negative value");
  EXPECT_EQ(verdict(gather, {.ranks = 1, .count = 4, .counts = {4}}),
            "count: not a size of this operation");
  EXPECT_EQ(verdict(reference::all_to_all_v::contract(), {.ranks = 2, .counts = {1, 1}}),
            "counts: got a list of 2, expected 4 values");
}

TEST(WhyInvalidTest, JudgesShapesOfArrays) {
  const auto gather = reference::gather_axis::contract();
  const auto broadcast = reference::broadcast::contract();
  EXPECT_EQ(verdict(gather, {.ranks = 2, .counts = {0, 2}, .outer = 3, .inner = 0}), "legal");
  EXPECT_EQ(verdict(gather, {.ranks = 2, .counts = {1}}),
            "counts: got a list of 1, expected 2 values");
  EXPECT_EQ(verdict(gather, {.counts = {2}, .outer = -1}), "outer: got -1, expected 0..16777216");
  EXPECT_EQ(verdict(gather, {.counts = {1}, .outer = 4, .inner = std::int64_t{1} << 47}),
            "inner: got 140737488355328, expected 0..70368744177664");
  // Strips take memory though they have no elements.
  EXPECT_EQ(verdict(gather, {.ranks = 2, .counts = {0, 0}, .outer = std::int64_t{1} << 32}),
            "outer: got 4294967296, expected 0..8388608");
  EXPECT_EQ(verdict(gather, {.counts = {1}, .gap = 1}), "gap: only counts have gaps");
  EXPECT_EQ(verdict(broadcast, {.outer = 2}), "outer: not a size of this operation");
  EXPECT_EQ(verdict(broadcast, {.inner = 0}), "inner: not a size of this operation");
}

TEST(WhyInvalidTest, AReductionAlongAnAxisNeedsARow) {
  const auto reduce = reference::reduce_axis::contract();
  EXPECT_EQ(verdict(reduce, {.ranks = 2, .op = ReduceOp::sum, .counts = {0, 1}}), "legal");
  EXPECT_EQ(verdict(reduce, {.ranks = 2, .op = ReduceOp::sum, .counts = {0, 0}}),
            "counts: got a sum of 0, expected 1..16777216");
  EXPECT_EQ(verdict(reduce, {.op = ReduceOp::sum, .counts = {2000000000}, .inner = 0}),
            "counts: got a sum of 2000000000, expected 1..16777216");
}

TEST(WhyInvalidTest, RejectsReductionsWithoutMeaning) {
  const auto all_reduce = reference::all_reduce::contract();
  EXPECT_EQ(verdict(all_reduce, {}), "op: got none, expected one, as in {\"op\":\"sum\"}");
  EXPECT_EQ(verdict(all_reduce, {.type = Type::complex64, .op = ReduceOp::max}),
            "op: max is not defined for type complex64");
  EXPECT_EQ(verdict(all_reduce, {.type = Type::f8e4m3, .op = ReduceOp::sum}),
            "op: sum is not defined for type f8e4m3");
  EXPECT_EQ(verdict(all_reduce, {.type = Type::complex64, .op = ReduceOp::sum}), "legal");
}

TEST(WhyInvalidTest, FreeSpaceLiesBetweenSlices) {
  const auto why = [](int slices, double wavelength) {
    const spec::Scene scene{.rows = 1,
                            .cols = 1,
                            .window = 1,
                            .detector = 1,
                            .slices = slices,
                            .wavelength = wavelength};
    return spec::why_invalid(reference::multislice::contract(),
                             spec::OperatorCall{.counts = {1}, .scene = scene})
        .value_or("legal");
  };
  EXPECT_EQ(why(1, 0), "legal");
  EXPECT_EQ(why(1, 2), "wavelength, distance: one slice has no free space behind it");
  EXPECT_EQ(why(2, 2), "legal");
  EXPECT_EQ(why(2, 0), "wavelength: got 0.000000, expected 1/1024..1024");
}

TEST(ShapesTest, OffsetsAreThoseOfTheBlocks) {
  const std::vector<Call> calls{{.ranks = 3, .count = 4},
                                {.ranks = 3, .counts = {2, 0, 5}, .gap = 3}};
  for (const Call& call : calls) {
    std::vector<spec::Block> blocks;
    spec::append_all_blocks(blocks, call);
    for (int rank = 0; rank < 3; ++rank) {
      const spec::Block& block = blocks[spec::to_size(rank)];
      EXPECT_EQ(block.offset, spec::block_offset(call, rank));
      EXPECT_EQ(block.count, spec::block_count(call, rank));
    }
  }
}

TEST(SendRecvTest, OneWayHasNoDestinationOffTheEvenRanksAndNoOriginOffTheOddOnes) {
  for (int n = 1; n <= 6; ++n) {
    const Call call{.ranks = n, .pattern = spec::Pattern::one_way};
    for (int rank = 0; rank < n; ++rank) {
      const bool sends = rank % 2 == 0 && rank < n - 1;
      EXPECT_EQ(spec::destination(call, rank), sends ? rank + 1 : spec::nobody);
      EXPECT_EQ(spec::origin(call, rank), rank % 2 == 1 ? rank - 1 : spec::nobody);
    }
  }
}

TEST(SendRecvTest, OriginIsTheInverseOfDestination) {
  for (const spec::Pattern pattern :
       {spec::Pattern::ring, spec::Pattern::pairs, spec::Pattern::self}) {
    for (int n = 1; n <= 6; ++n) {
      for (int shift = -7; shift <= 7; ++shift) {
        const Call call{.ranks = n, .pattern = pattern, .shift = shift};
        for (int rank = 0; rank < n; ++rank) {
          ASSERT_EQ(spec::origin(call, spec::destination(call, rank)), rank);
        }
      }
    }
  }
}

TEST(MirrorCountsTest, CountsAreTheSameBothWays) {
  std::vector<std::int64_t> counts{1, 2, 3, 9, 4, 5, 9, 9, 6};
  mirror_counts(reference::all_to_all_v::contract(), 3, counts);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
}

}  // namespace
}  // namespace rankcheck::tests
