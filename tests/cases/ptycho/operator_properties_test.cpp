#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"
#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/cases/ptycho/small_case.hpp"

/// Every property that an operator claims holds for right results and fails for wrong results.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::ImageLayout;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;

std::vector<std::string> operators() {
  std::vector<std::string> all;
  for (const harness::Operation& each : all_operations().operations()) {
    if (family(each.contract) == "ptycho") all.emplace_back(each.contract.name);
  }
  return all;
}

Case case_of(const harness::Operation& operation, const harness::Property& property) {
  Case c = small_case_of(operation.contract);
  c.property = property.name;
  c.ranks = 3;
  c.counts = {2, 1, 2};
  if (property.adapt != nullptr) property.adapt(operation.contract, c);
  return c;
}

/// Replaces the outputs of a rank. Replicated outputs become wrong in the same way on all ranks,
/// except for the property ranks_agree_bitwise. So other properties must see more than a difference
/// between ranks, which every case checks anyway.
bool spoil_outputs(const Case& c, int rank, harness::StageOutcome& outcome) {
  const bool only_here = c.property == "ranks_agree_bitwise";
  const std::int64_t bytes = spec::info(c.type).bytes;
  bool has_any = false;
  for (int other = 0; other < group_size(c); ++other) {
    const ImageLayout layout = layout_of(c, other);
    std::byte* const recv = outcome.images[spec::to_size(other)].data() + layout.recv;
    for (const spec::Block& block : layout.extents.recv) {
      const bool is_here = other == rank;
      if (!is_here && (only_here || !spec::is_replicated(ptycho(c).scene, block.array))) continue;
      for (std::int64_t i = 0; i < block.count; ++i) {
        numerics::from_double(
            c.type, static_cast<double>(1000 + i), recv + (block.offset + i) * bytes);
        has_any = true;
      }
    }
  }
  return has_any;
}

class OperatorClaimTest : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const harness::Operation& operation() const {
    return *all_operations().find(GetParam());
  }
};

TEST_P(OperatorClaimTest, HoldsForRightResults) {
  for (const harness::Property& property : operation().properties) {
    const Judgement judgement = examine(harness::to_text(case_of(operation(), property)));
    EXPECT_EQ(judgement.verdict, Verdict::passed) << property.name << ": " << judgement.reason;
    EXPECT_GT(judgement.compared_bytes, 0) << property.name;
  }
}

TEST_P(OperatorClaimTest, BreaksWithWrongResultsOfAnyRank) {
  for (const harness::Property& property : operation().properties) {
    const Case c = case_of(operation(), property);
    for (int rank = 0; rank < c.ranks; ++rank) {
      bool spoiled = false;
      const Judgement judgement =
          examine(harness::to_text(c), [&](std::span<const Case> stages, Observation& observation) {
            spoiled = spoil_outputs(stages.back(), rank, observation.stages.back());
          });
      EXPECT_TRUE(spoiled) << property.name;
      EXPECT_EQ(judgement.verdict, Verdict::falsified) << property.name << " of rank " << rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators,
                         OperatorClaimTest,
                         testing::ValuesIn(operators()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace rankcheck::cases
