#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::group_size;

using harness::Case;
using harness::ImageLayout;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;

/// A property on one case: the stages whose outputs it compares, and its reason for a wrong output.
struct Claim {
  std::string property;
  std::string fields;
  std::vector<std::size_t> stages;
  std::string reason;

  [[nodiscard]] std::string text() const {
    return R"({"property":")" + property + R"(","data_seed":7,)" + fields + "}";
  }

  friend void PrintTo(const Claim& each, std::ostream* out) { *out << each.text(); }
};

class ClaimTest : public testing::TestWithParam<Claim> {};

TEST_P(ClaimTest, HoldsForRightResults) {
  const Judgement judgement = examine(GetParam().text());
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
  EXPECT_GT(judgement.compared_bytes, 0);
}

/// Returns rank and byte offset of every output byte of one stage.
std::vector<std::pair<std::size_t, std::int64_t>> output_bytes(const Case& c) {
  std::vector<std::pair<std::size_t, std::int64_t>> all;
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (int rank = 0; rank < group_size(c); ++rank) {
    const ImageLayout layout = layout_of(c, rank);
    for (const spec::Block& block : layout.extents.recv) {
      for (std::int64_t i = 0; i < block.count * bytes; ++i) {
        all.emplace_back(spec::to_size(rank), layout.recv + block.offset * bytes + i);
      }
    }
  }
  return all;
}

/// One flipped bit in any byte of any compared output of any rank is found.
TEST_P(ClaimTest, BreaksWithEveryWrongByte) {
  for (const std::size_t stage : GetParam().stages) {
    std::size_t places = 1;
    for (std::size_t i = 0; i < places; ++i) {
      const Judgement judgement =
          examine(GetParam().text(), [&](std::span<const Case> stages, Observation& observation) {
            const auto bytes = output_bytes(stages[stage]);
            places = bytes.size();
            const auto& [rank, at] = bytes[i];
            observation.stages[stage].images[rank][spec::to_size(at)] ^= std::byte{1};
          });
      ASSERT_EQ(judgement.verdict, Verdict::falsified) << "stage " << stage << " place " << i;
      ASSERT_TRUE(judgement.reason.starts_with(GetParam().reason)) << judgement.reason;
      ASSERT_GE(judgement.wrong_count, 1);
      ASSERT_EQ(judgement.wrong.size(), spec::to_size(judgement.wrong_count));
    }
  }
}

/// Changes the lowest bytes of the first element on these ranks, each in another way.
Judgement examine_changed(const std::string& fields, const std::vector<int>& ranks, int bit) {
  const auto change = [&](std::span<const Case> stages, Observation& observation) {
    for (const int rank : ranks) {
      const ImageLayout layout = layout_of(stages[0], rank);
      observation.stages[0].images[spec::to_size(rank)][spec::to_size(layout.recv)] ^=
          static_cast<std::byte>((rank + 1) << bit);
    }
  };
  return examine("{" + fields + R"(,"operation":"all_reduce","count":1,"op":"sum"})", change);
}

TEST(DifferingRanksTest, SayWhichOneTheReferenceCallsWrong) {
  const auto decoded_with = [](const std::vector<int>& ranks) {
    const Judgement judgement = examine_changed(R"("property":"ranks_agree_bitwise","ranks":2,)"
                                                R"("type":"int32")",
                                                ranks,
                                                3);
    EXPECT_EQ(judgement.wrong.at(0).compared_with, harness::rank_0);
    return judgement.wrong.at(0).decoded;
  };
  EXPECT_EQ(decoded_with({0}), "rank 0 is wrong");
  EXPECT_EQ(decoded_with({1}), "this rank is wrong");
  EXPECT_EQ(decoded_with({0, 1}), "both are wrong");
}

TEST(DifferingRanksTest, MayBothBeWithinTheBound) {
  const Judgement judgement = examine_changed(R"("ranks":8,"type":"f32","data_seed":7)", {0}, 0);
  EXPECT_EQ(judgement.reason, "differs from rank 0");
  EXPECT_EQ(judgement.wrong.at(0).decoded, "the reference admits both");
}

TEST(DifferingRanksTest, MayHaveOtherBitsInTheNaNOfASum) {
  const std::string nan =
      R"("ranks":2,"type":"f32","input":"special","data_seed":25,"first_index":3)";
  EXPECT_EQ(examine_changed(nan, {1}, 0).verdict, Verdict::passed);
}

TEST(DifferingCallsTest, AreComparedWithTheFirstOne) {
  const Judgement judgement =
      examine_changed(R"("property":"is_deterministic","ranks":2,"type":"int32")", {0, 1}, 3);
  EXPECT_EQ(judgement.wrong.at(0).compared_with, harness::first_call);
}

const std::vector<Claim> claims = [] {
  const std::string sum = R"("ranks":3,"count":3,"op":"sum","input":"exact",)";
  const std::string move = R"("ranks":3,"count":3,)";
  const std::string composed = "the composition gives another result";
  const std::string returned = "the data did not come back unchanged";
  const std::string split = "the whole differs from its ";
  const std::string in_place = "in place differs from out of place";
  const std::string reordered = "the reordered group gives another result";
  const std::string reference = "differs from the reference";
  const std::string linear = "f(2a + b) differs from 2 f(a) + f(b)";
  const std::string calls = "the list's result differs from the call for one array";
  const std::string strips = "the result differs from the call for one index before the axis";
  return std::vector<Claim>{
      {"agrees_with_reference", sum + R"("operation":"all_reduce")", {0}, reference},
      {"agrees_with_reference",
       R"("operation":"gather_v","ranks":3,"counts":[2,0,3],"gap":1,"root":2,"type":"uint8")",
       {0},
       reference},
      {"repeats_with_other_data", sum + R"("operation":"all_reduce")", {0, 1, 2}, reference},
      {"repeats_with_other_data",
       R"("operation":"all_gather_v","ranks":3,"counts":[2,0,3],"gap":1,"type":"uint8","repeat":2)",
       {0, 1},
       reference},
      {"keeps_groups_apart",
       R"("operation":"broadcast","ranks":3,"group":[0,2],"count":3,"root":1)",
       {0, 1, 2},
       reference},
      {"keeps_groups_apart",
       R"("operation":"reduce","ranks":2,"count":3,"op":"sum","input":"exact")",
       {0, 1, 2},
       reference},
      {"is_deterministic", move + R"("operation":"scatter")", {0, 1}, "the second run differs"},
      {"in_place_equals_out_of_place",
       sum + R"("operation":"reduce_scatter","in_place":true)",
       {0, 1},
       in_place},
      {"in_place_equals_out_of_place",
       move + R"("operation":"all_gather","in_place":true)",
       {0, 1},
       in_place},
      {"ranks_agree_bitwise", move + R"("operation":"broadcast")", {0}, "differs from rank 0"},
      {"rank_permutation", sum + R"("operation":"all_reduce")", {0, 1}, reordered},
      {"rank_permutation", move + R"("operation":"all_gather")", {0, 1}, reordered},
      {"splits", sum + R"("operation":"reduce_scatter","type":"bf16")", {0, 1, 2}, split},
      {"splits", move + R"("operation":"all_gather","type":"int8")", {0, 1, 2}, split},
      {"splits",
       R"("operation":"all_to_all_v","ranks":2,"counts":[3,0,1,2],"gap":1,"type":"f16")",
       {0, 1, 2},
       split},
      {"is_linear", sum + R"("operation":"all_reduce","type":"int32")", {0, 1, 2}, linear},
      {"is_linear", sum + R"("operation":"reduce","type":"complex64","root":1)", {0, 1, 2}, linear},
      {"equals_reduce_then_broadcast", sum + R"("operation":"all_reduce")", {0, 2}, composed},
      {"equals_reduce_scatter_then_all_gather",
       sum + R"("operation":"all_reduce")",
       {0, 2},
       composed},
      {"equals_reduce_then_scatter", sum + R"("operation":"reduce_scatter")", {0, 2}, composed},
      {"equals_gather_then_broadcast", move + R"("operation":"all_gather")", {0, 2}, composed},
      {"equals_scatter_then_all_gather", move + R"("operation":"broadcast")", {0, 2}, composed},
      {"is_an_involution", move + R"("operation":"all_to_all")", {1}, returned},
      {"returns_by_the_reverse", move + R"("operation":"send_recv")", {1}, returned},
      {"returns_by_the_transpose",
       R"("operation":"all_to_all_v","ranks":2,"counts":[3,0,1,2],"gap":1)",
       {1},
       returned},
      {"inverts_scatter", move + R"("operation":"gather","root":1)", {1}, returned},
      {"inverts_scatter",
       R"("operation":"gather_v","ranks":3,"counts":[2,0,3],"gap":1)",
       {1},
       returned},
      {"equals_calls_one_by_one",
       R"("operation":"all_reduce_list","ranks":3,"counts":[2,3],"gap":1,"op":"max")",
       {0, 1, 2},
       calls},
      {"equals_calls_one_by_one",
       R"("operation":"broadcast_list","ranks":2,"counts":[2,1],"type":"int8")",
       {0, 1, 2},
       calls},
      {"is_independent_of_packing",
       R"("operation":"reduce_list","ranks":3,"counts":[2,0,3],"gap":1,"op":"min")",
       {0, 1, 2, 3},
       "the result depends on how the list is packed"},
      {"equals_calls_strip_by_strip",
       R"("operation":"all_gather_axis","ranks":2,"counts":[2,1],"outer":2,"inner":2)",
       {0, 1, 2},
       strips},
      {"equals_calls_strip_by_strip",
       R"("operation":"reduce_axis","ranks":2,"counts":[1,2],"outer":2,"inner":2,"op":"max")",
       {0, 1, 2},
       strips},
      {"equals_gather_of_blocks",
       R"("operation":"gather_axis","ranks":2,"counts":[2,1],"inner":2,"type":"int8")",
       {0, 1},
       composed},
      {"equals_reduce_of_one_row",
       R"("operation":"reduce_axis","ranks":2,"counts":[1,1],"outer":2,"inner":2,"op":"min")",
       {0, 1},
       composed},
      {"groups_at_once",
       R"("operation":"all_reduce","ranks":3,"count":3,"op":"sum","input":"exact")",
       {0, 1, 2},
       reference},
      {"groups_at_once",
       R"("operation":"gather_v","ranks":4,"counts":[2,1,3,1],"gap":1,"root":2,"type":"uint8")",
       {0, 1, 2, 3, 4},
       reference},
      {"is_independent_of_history",
       R"("operation":"all_reduce","ranks":2,"count":1,"op":"sum","earlier":[)"
       R"({"operation":"broadcast","count":2,"group":[1]},{"operation":"scatter","count":1}])",
       {0, 1, 2},
       reference},
  };
}();

std::string claim_name(const testing::TestParamInfo<Claim>& instance) {
  const std::string operation = harness::case_from_text(instance.param.text()).operation;
  return instance.param.property + "_of_" + operation;
}

INSTANTIATE_TEST_SUITE_P(Claim, ClaimTest, testing::ValuesIn(claims), claim_name);

TEST(ClaimsTest, EveryPropertyIsTried) {
  std::set<std::string> tried{"separates_ranks"};
  for (const Claim& claim : claims) tried.insert(claim.property);
  std::set<std::string> claimed;
  for (const harness::Operation& operation : all_operations().operations()) {
    if (family(operation.contract) != "collectives") continue;
    for (const harness::Property& each : operation.properties) claimed.emplace(each.name);
  }
  EXPECT_EQ(claimed, tried);
}

TEST(ClaimsTest, EveryOperationClaimsEachOfItsPropertiesOnce) {
  for (const harness::Operation& operation : all_operations().operations()) {
    EXPECT_FALSE(operation.properties.empty()) << operation.contract.name;
    std::set<std::string_view> names;
    for (const harness::Property& each : operation.properties) {
      EXPECT_TRUE(names.insert(each.name).second) << operation.contract.name << ": " << each.name;
    }
  }
}

// --- a barrier: times instead of values

const std::string barrier = R"({"operation":"barrier","property":"separates_ranks","ranks":3})";

/// In every round, rank r enters at time r and leaves at time 10.
void stamp(Observation& observation) {
  for (harness::StageOutcome& stage : observation.stages) {
    for (std::size_t r = 0; r < stage.stamps.size(); ++r) {
      stage.stamps[r] = {.entered = static_cast<std::int64_t>(r), .left = 10};
    }
  }
}

TEST(SeparatesRanksTest, HoldsWhereAllEnterBeforeAnyLeaves) {
  const Judgement judgement =
      examine(barrier, [](std::span<const Case>, Observation& seen) { stamp(seen); });
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
}

TEST(SeparatesRanksTest, BreaksWithEveryRankThatLeavesEarly) {
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const Judgement judgement = examine(barrier, [&](std::span<const Case>, Observation& seen) {
        stamp(seen);
        seen.stages[round].stamps[rank].left = 1;
      });
      EXPECT_EQ(judgement.verdict, Verdict::falsified);
      EXPECT_EQ(judgement.reason,
                "round " + std::to_string(round) + ": rank " + std::to_string(rank) +
                    " left before rank 2 entered");
    }
  }
}

}  // namespace
}  // namespace rankcheck::cases
