#include "harness/page/causes.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::page {
namespace {

std::string words_for(const std::string& decoded) {
  return in_words({.expected = "", .got = "", .decoded = decoded});
}

TEST(CausesTest, DecodedTextBecomesASentence) {
  EXPECT_EQ(words_for("rank 2 missing"), "The contribution of rank 2 is missing.");
  EXPECT_EQ(words_for("rank 1 missing, rank 2 twice"),
            "The contribution of rank 1 is missing. The contribution of rank 2 was added twice.");
  EXPECT_EQ(words_for("rank 1 shows 3 for 1"),
            "The contribution of rank 1 is wrong: it shows 3 for 1.");
  EXPECT_EQ(words_for("element 4 of rank 1"), "The value is element 4 of rank 1.");
  EXPECT_EQ(words_for("no input of any rank"), "The value is not in the input of any rank.");
  EXPECT_EQ(words_for("pixel (1, 2)"), "At pixel (1, 2).");
  EXPECT_EQ(words_for(""), "");
}

TEST(CausesTest, FindingsOfOneCauseAreOneGroup) {
  Finding other = sample_failure();
  other.unit.property = "splits";
  other.wrong[0].decoded = "rank 1 missing";
  Finding different = sample_failure();
  different.wrong[0].decoded = "rank 1 twice";
  const std::vector<Finding> all{sample_failure(), other, different};
  const auto groups = group_failures(all);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].findings.size(), 2U);
}

TEST(CausesTest, OtherBackendsAndVerdictsAreOtherGroups) {
  Finding other = sample_failure();
  other.unit.backend = "mpi";
  Finding flaky = sample_failure();
  flaky.verdict = Verdict::flaky;
  const std::vector<Finding> all{flaky, other, sample_failure()};
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

TEST(CausesTest, PassedAndSkippedNeedNoCard) {
  EXPECT_FALSE(needs_card(sample_finding("broadcast", Verdict::passed)));
  EXPECT_FALSE(needs_card(sample_finding("broadcast", Verdict::skipped)));
  EXPECT_TRUE(needs_card(sample_finding("broadcast", Verdict::vacuous)));
  EXPECT_TRUE(needs_card(sample_finding("broadcast", Verdict::errored)));
}

}  // namespace
}  // namespace rankcheck::harness::page
