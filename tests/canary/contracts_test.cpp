#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "harness/search/engine.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/suites/catalogue.hpp"

/// The checks that every case undergoes can fail, whatever its property is about.
namespace rankcheck::cases::audit {
namespace {

using harness::Case;
using harness::Judgement;
using harness::Verdict;

Bug bug_named(std::string_view name) {
  const std::vector<Bug> all = catalogue();
  return *std::find_if(all.begin(), all.end(), [&](const Bug& bug) { return bug.name == name; });
}

/// Returns the judgement of a case in which rank 1's result differs in its lowest bit.
Judgement judge_low_bit_flipped(const std::string& property) {
  const harness::Catalogue operations = make_catalogue();
  Planted backend(bug_named("low_bit_flipped"));
  const Case c = harness::case_from_text(R"({"operation":"all_reduce","algorithm":"ring",)"
                                         R"("ranks":4,"count":5,"op":"sum","data_seed":7,)"
                                         R"("property":")" +
                                         property + R"("})");
  Judgement judgement;
  harness::Examiner(operations, backend).examine(c, judgement);
  return judgement;
}

/// Each rank's result is within the bound. Only the comparison with other ranks shows the wrong
/// one.
TEST(RanksAgreeTest, IsCheckedWhereResultsAreComparedWithTheReference) {
  const Judgement judgement = judge_low_bit_flipped("agrees_with_reference");
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason, "differs from rank 0");
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].rank, 1);
}

/// Both runs have the same wrong bit, so they agree with each other.
TEST(RanksAgreeTest, IsCheckedWhereRunsAreComparedWithOneAnother) {
  const Judgement judgement = judge_low_bit_flipped("is_deterministic");
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
  EXPECT_EQ(judgement.reason, "differs from rank 0");
}

/// Returns a catalogue in which every check of one operation skips the last rank.
harness::Catalogue forgetful(const std::string& operation) {
  std::vector<harness::Operation> all = make_catalogue().operations();
  for (harness::Operation& each : all) {
    if (each.contract.name != operation) continue;
    for (harness::Property& property : each.properties) {
      property.check = [](const harness::Evidence& evidence, Judgement& judgement) {
        for (int r = 0; r + 1 < group_size(evidence.stages[0]); ++r) {
          expect_same_output(evidence, 0, r, "differs from itself", judgement);
        }
      };
    }
  }
  return harness::Catalogue(std::move(all));
}

TEST(PowerTest, ACheckThatForgetsARankIsVacuous) {
  const harness::Catalogue operations = forgetful("reduce_scatter");
  SimBackend backend(gpu::implementations());
  const Case c = harness::case_from_text(
      R"({"operation":"reduce_scatter","ranks":3,"count":2,"op":"sum","data_seed":7})");
  Judgement judgement;
  harness::Examiner(operations, backend).examine(c, judgement);
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_EQ(judgement.reason, "nothing was compared of the output of rank 2");
}

TEST(PowerTest, AUnitWhoseCheckForgetsARankCoversNothing) {
  const harness::Catalogue operations = forgetful("reduce_scatter");
  SimBackend backend(gpu::implementations());
  harness::Unit unit;
  unit.operation = "reduce_scatter";
  unit.algorithm = "ring";
  unit.backend = "sim";
  unit.property = "agrees_with_reference";
  unit.cases = 50;
  unit.require_all_cells = false;
  EXPECT_EQ(run_unit(operations, backend, unit, {}).verdict, Verdict::vacuous);
}

}  // namespace
}  // namespace rankcheck::cases::audit
