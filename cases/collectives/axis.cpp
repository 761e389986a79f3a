#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cases/collectives/composition.hpp"
#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;

/// Strip a begins at index a * index_stride in all calls, so that each call takes the same inputs.
void call_strip_by_strip(const spec::Contract& /*contract*/,
                         const Case& c,
                         std::vector<Case>& stages) {
  stages.assign(1, c);
  std::int64_t longest = 1;
  for (const std::int64_t count : c.counts) {
    longest = std::max(longest, count * collective(c).inner);
  }
  collective(stages[0]).index_stride = longest;
  for (std::int64_t a = 0; a < collective(c).outer; ++a) {
    Case& call = stages.emplace_back(stage_of(c, c.operation));
    collective(call).outer = 1;
    collective(call).first_index += a * longest;
  }
}

void compare_with_strips(const Evidence& evidence, Judgement& judgement) {
  expect_stages_equal_blocks(
      evidence, "the result differs from the call for one index before the axis", judgement);
}

/// Writes the case, and the call without an axis that must give the same result.
void gather_blocks(const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
  stages = {c, stage_of(c, collective(contract).rooted ? "gather_v" : "all_gather_v")};
  for (std::int64_t& count : stages[1].counts) count *= collective(c).inner;
  collective(stages[1]).inner = 1;
}

void reduce_one_row(const spec::Contract& /*contract*/, const Case& c, std::vector<Case>& stages) {
  stages = {c, stage_of(c, "reduce")};
  stages[1].counts.clear();
  stages[1].count = collective(c).outer * collective(c).inner;
  collective(stages[1]).outer = collective(stages[1]).inner = 1;
}

}  // namespace

harness::Property equals_calls_strip_by_strip() {
  return {
      .name = "equals_calls_strip_by_strip",
      .summary = "A call along an axis equals one call for each index before the axis.",
      .applies = applies_exact,
      .adapt = adapt_exact,
      .program = call_strip_by_strip,
      .check = compare_with_strips,
  };
}

harness::Property equals_gather_of_blocks() {
  return {
      .name = "equals_gather_of_blocks",
      .summary = "With outer = 1, a gather along an axis is a gather of blocks.",
      .applies = [](const spec::Contract&, const Case& c) { return collective(c).outer == 1; },
      .adapt = [](const spec::Contract&, Case& c) { collective(c).outer = 1; },
      .program = gather_blocks,
      .check = expect_last_equals_first,
  };
}

harness::Property equals_reduce_of_one_row() {
  return {
      .name = "equals_reduce_of_one_row",
      .summary = "If every rank has one row, a reduction along an axis is a plain reduction.",
      .applies =
          [](const spec::Contract&, const Case& c) {
            return has_one_result(c) &&
                   std::all_of(
                       c.counts.begin(), c.counts.end(), [](auto count) { return count == 1; });
          },
      .adapt =
          [](const spec::Contract&, Case& c) {
            std::fill(c.counts.begin(), c.counts.end(), 1);
            use_exact_inputs(c);
          },
      .program = reduce_one_row,
      .check = expect_last_equals_first,
  };
}

}  // namespace rankcheck::cases
