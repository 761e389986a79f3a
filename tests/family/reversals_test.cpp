#include "tests/family/reversals.hpp"

#include <string>

#include <gtest/gtest.h>

#include "harness/search/engine.hpp"

namespace rankcheck::reversals {
namespace {

using harness::Case;

harness::Unit unit() {
  harness::Unit unit;
  unit.operation = "reverse";
  unit.algorithm = "copy";
  unit.backend = "sim";
  unit.property = "agrees_with_reference";
  return unit;
}

TEST(ReversalsTest, AreCheckedWithoutAnyOtherFamily) {
  const harness::Finding finding =
      run_unit(catalogue(), *open_backend(false), unit(), harness::RunLimits());
  EXPECT_EQ(finding.verdict, harness::Verdict::passed) << finding.reason;
  EXPECT_EQ(finding.cases, 100);
  EXPECT_GT(finding.compared_bytes, 1000);
  EXPECT_TRUE(finding.cells.contains("uint8/none"));
  EXPECT_TRUE(finding.missing_cells.empty());
}

TEST(ReversalsTest, FailuresShrinkInTheFamilysOwnField) {
  const harness::Finding finding =
      run_unit(catalogue(), *open_backend(true), unit(), harness::RunLimits());
  EXPECT_EQ(finding.verdict, harness::Verdict::falsified);
  ASSERT_TRUE(finding.minimal);
  EXPECT_EQ(finding.minimal->ranks, 1);
  EXPECT_EQ(finding.minimal->count, 2);
  EXPECT_EQ(finding.minimal->part.get<ReversalCase>().kept, 1);
}

TEST(ReversalsTest, CasesHaveTheFieldInTheirText) {
  const std::string text =
      R"({"operation":"reverse","backend":"sim","ranks":2,"count":4,"kept":3,"type":"uint8"})";
  const Case c = harness::case_from_text(text);
  EXPECT_EQ(c.part.get<ReversalCase>().kept, 3);
  EXPECT_EQ(to_text(c), text);
  EXPECT_EQ(why_invalid(catalogue(), c), "");
}

TEST(ReversalsTest, FieldsOfOtherFamiliesAreUnknown) {
  try {
    static_cast<void>(harness::case_from_text(R"({"operation":"reverse","ranks":2,"op":"sum"})"));
    FAIL();
  } catch (const harness::BadInput& bad) {
    EXPECT_EQ(std::string(bad.what()), "case: op: unknown field; did you mean operation?");
  }
}

TEST(ReversalsTest, InvalidFieldsAreNamed) {
  const Case c = harness::case_from_text(
      R"({"operation":"reverse","ranks":1,"count":1,"kept":2,"type":"uint8"})");
  EXPECT_EQ(why_invalid(catalogue(), c), "kept: expected 0..1");
}

}  // namespace
}  // namespace rankcheck::reversals
