#include "harness/report/causes.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness {
namespace {

std::string words_for(const std::string& decoded) {
  return in_words({}, {.expected = "", .got = "", .decoded = decoded});
}

TEST(CausesTest, DecodedTextBecomesASentence) {
  EXPECT_EQ(words_for("rank 2 missing"), "The contribution of rank 2 is missing.");
  EXPECT_EQ(words_for("rank 1 missing, rank 2 twice"),
            "The contribution of rank 1 is missing. The contribution of rank 2 was added twice.");
  EXPECT_EQ(words_for("rank 1 shows 3 for 1"),
            "The contribution of rank 1 is wrong: it shows 3 for 1.");
  EXPECT_EQ(words_for("element 4 of rank 1"),
            "The value belongs elsewhere: it is element 4 of rank 1.");
  EXPECT_EQ(words_for("no input of any rank"), "The value is not in the input of any rank.");
  EXPECT_EQ(words_for("pixel (1, 2)"), "At pixel (1, 2).");
  EXPECT_EQ(words_for("result of call 1 of rank 2"),
            "The value is the result of call 1 of rank 2.");
  EXPECT_EQ(words_for(nan_dropped), "A NaN was dropped.");
  EXPECT_EQ(words_for(subnormal_flushed), "A subnormal number became 0.");
  EXPECT_EQ(words_for(""), "");
}

/// Returns the sample failure in another unit, and perhaps of another cause.
Finding failure_in(const std::string& unit, const std::string& decoded = "rank 2 missing") {
  Finding out = sample_failure();
  out.unit = unit_named(unit);
  out.minimal->operation = out.unit.operation;
  out.wrong[0].decoded = decoded;
  return out;
}

constexpr const char* permuted = "all_reduce/ring/sim/rank_permutation";
constexpr const char* by_tree = "all_reduce/tree/sim/agrees_with_reference";
constexpr const char* reduce_ring = "reduce/ring/sim/agrees_with_reference";

TEST(CausesTest, FindingsOfOneCauseAreOneGroup) {
  const std::vector<Finding> all{sample_failure(),
                                 failure_in("all_reduce/ring/sim/splits", "rank 1 missing"),
                                 failure_in(sample_unit("all_reduce").id(), "rank 1 twice")};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].findings.size(), 2U);
}

TEST(CausesTest, AFailureAgainstTheReferenceExplainsRelativeOnes) {
  Finding relative = failure_in(permuted, "");
  relative.reason = "the reordered group gives another result";
  const std::vector<Finding> alone{relative};
  EXPECT_EQ(group_failures(alone).size(), 1U);
  Finding elsewhere = relative;
  elsewhere.unit.algorithm = "tree";
  const std::vector<Finding> all{relative, elsewhere, sample_failure()};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].findings.size(), 2U);
  EXPECT_EQ(groups[0].findings[0]->unit.property, "agrees_with_reference");
  EXPECT_EQ(groups[1].findings[0]->unit.algorithm, "tree");
}

/// Returns the sample failure without wrong elements, for this reason.
Finding failure_without_values(const std::string& operation, const std::string& reason) {
  Finding out = sample_failure();
  out.unit.operation = operation;
  out.reason = reason;
  out.wrong.clear();
  out.wrong_count = 0;
  return out;
}

TEST(CausesTest, AReasonIsSaidOnce) {
  Finding failure = failure_without_values("all_reduce", "no route");
  failure.unit.algorithm = failure.unit.backend;
  EXPECT_EQ(line_of_cause({{&failure}, {}}), "all_reduce, on sim, failed: no route");
  failure.unit.algorithm = "copy";
  failure.unit.variant = "1_to_0";
  EXPECT_EQ(line_of_cause({{&failure}, {}}),
            "all_reduce, algorithm copy, on sim (1_to_0), failed: no route");
  EXPECT_EQ(line_of_cause({{&failure}, "f64/avg"}),
            "all_reduce of f64/avg, algorithm copy, on sim (1_to_0), failed: no route");
}

TEST(CausesTest, OneUnusualCellIsOneCauseInAllOperations) {
  const auto failure = [](const std::string& operation, const std::string& op) {
    Finding out = failure_in(sample_unit(operation).id());
    out.minimal = case_from_text(R"({"operation":")" + operation +
                                 R"(","ranks":2,"type":"uint8","op":")" + op + "\"}");
    return out;
  };
  const std::vector<Finding> all{
      failure("all_reduce", "max"), failure("reduce", "max"), failure("reduce", "min")};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].cell, "uint8/max");
  EXPECT_EQ(groups[0].findings.size(), 2U);
  EXPECT_EQ(groups[1].cell, "uint8/min");
}

TEST(CausesTest, ThePlainestCellIsNoCause) {
  const std::vector<Finding> all{sample_failure(), failure_in(by_tree)};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].cell, "");
}

TEST(CausesTest, OneCauseOverOperationsIsOneGroup) {
  // The relative failure of an operation goes where its failure against the reference goes.
  const std::vector<Finding> all{sample_failure(),
                                 failure_in("reduce/ring/sim/rank_permutation", ""),
                                 failure_in(reduce_ring)};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(extent_of(groups[0]), "3 units of 2 operations: all_reduce, reduce");
  EXPECT_EQ(groups[0].findings[0]->unit.property, "agrees_with_reference");
  EXPECT_EQ(extent_of({{&all[0], &all[0]}, {}}), "2 units");
  EXPECT_EQ(extent_of({{&all[0]}, {}}), "");
  const Finding tree = failure_in("reduce/tree/sim/agrees_with_reference");
  EXPECT_EQ(extent_of({{&all[0], &tree}, {}}),
            "2 units of 2 algorithms and 2 operations: all_reduce, reduce");
}

TEST(CausesTest, OneReasonOverOperationsIsOneGroupIfNoValueIsWrong) {
  std::vector<Finding> all{failure_without_values("all_reduce", "ended by signal 11"),
                           failure_without_values("reduce", "ended by signal 11"),
                           failure_without_values("gather", "ended with status 3")};
  for (Finding& each : all) each.verdict = Verdict::crashed;
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(extent_of(groups[0]), "2 units of 2 operations: all_reduce, reduce");
}

/// Each of these says only that something is wrong, or why something else is.
TEST(CausesTest, OperationsStayApartIfNothingSaysThatTheirCauseIsOne) {
  const auto groups = [](const Finding& one, const Finding& other) {
    const std::vector<Finding> both{one, other};
    return group_failures(both).size();
  };
  const Finding failure = sample_failure();
  EXPECT_EQ(groups(failure, failure_in(reduce_ring, "rank 1 twice")), 2U)
      << "another decoded cause";
  EXPECT_EQ(groups(failure, failure_in("reduce/tree/sim/agrees_with_reference")), 2U)
      << "another algorithm";
  EXPECT_EQ(groups(failure_in(failure.unit.id(), ""), failure_in(reduce_ring, "")), 2U)
      << "values without a decoded cause";
  const Finding vacuous = sample_finding("gather", Verdict::vacuous);
  EXPECT_EQ(groups(vacuous, sample_finding("reduce", Verdict::vacuous)), 2U)
      << "cells of each operation";
}

TEST(CausesTest, OtherBackendsAndVerdictsAreOtherGroups) {
  Finding flaky = sample_failure();
  flaky.verdict = Verdict::flaky;
  const std::vector<Finding> all{
      flaky, failure_in("all_reduce/ring/mpi/agrees_with_reference"), sample_failure()};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[2].findings[0]->verdict, Verdict::flaky) << "the most severe come first";
}

TEST(CausesTest, TheSmallestCaseOfAGroupIsFirst) {
  Finding small = sample_failure();
  small.minimal->ranks = 2;
  const std::vector<Finding> all{sample_failure(), small};
  EXPECT_EQ(group_failures(all).at(0).findings[0]->minimal->ranks, 2);
}

TEST(CausesTest, AnElementThatWasNotWrittenIsNoWrongValue) {
  Finding finding = sample_failure();
  EXPECT_EQ(cause_of(finding, finding.wrong[0]), Cause::missing);
  // The element is number 2 of rank 1.
  finding.marks = {"...", "..u", "..."};
  EXPECT_EQ(in_words(finding, finding.wrong[0]),
            "The element was not written: it holds what was there before the call.");
  finding.wrong[0].stage = 1;
  EXPECT_EQ(cause_of(finding, finding.wrong[0]), Cause::missing) << "the picture is of stage 0";
  // Large results have no picture.
  finding.marks.clear();
  finding.wrong[0].decoded = not_written;
  EXPECT_EQ(cause_of(finding, finding.wrong[0]), Cause::unwritten);
}

TEST(CausesTest, PassedSkippedAndKnownNeedNoCard) {
  const auto groups = [](Verdict verdict, bool is_known = false) {
    std::vector<Finding> one{sample_finding("broadcast", verdict)};
    one[0].is_known = is_known;
    return group_failures(one).size();
  };
  EXPECT_EQ(groups(Verdict::passed), 0U);
  EXPECT_EQ(groups(Verdict::skipped), 0U);
  EXPECT_EQ(groups(Verdict::falsified, true), 0U);
  EXPECT_EQ(groups(Verdict::vacuous), 1U);
  EXPECT_EQ(groups(Verdict::errored), 1U);
}

}  // namespace
}  // namespace rankcheck::harness
