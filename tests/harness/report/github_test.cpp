#include "harness/report/github.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::github {
namespace {

std::ptrdiff_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

Report with_failures(int count) {
  Report report =
      report_of(std::vector<Finding>(static_cast<std::size_t>(count), sample_failure()));
  report.run = {{"suites", {"smoke"}}};
  return report;
}

/// The escapes are those of actions/toolkit: only properties escape colons and commas.
TEST(GithubCommandsTest, EscapeWhatWouldEndACommand) {
  EXPECT_EQ(to_commands({{.title = "a: 5%, b", .message = "50 %\r\n::error::x, y"}}),
            "::error title=a%3A 5%25%2C b::50 %25%0D%0A::error::x, y\n");
}

/// A title has no line breaks, whatever the name of a subject is.
TEST(GithubCommandsTest, HaveShortTitlesOfOneLine) {
  const std::string text = to_commands({{.title = "t\n" + std::string(1000, 'x'), .message = "m"}});
  EXPECT_EQ(lines_of(text), 1);
  EXPECT_LE(text.size(), 230U) << text;
}

TEST(GithubCommandsTest, AreAsManyAsGitHubShows) {
  const std::vector<Annotation> ten(10, {.title = "t", .message = "m"});
  EXPECT_EQ(lines_of(to_commands(ten)), 10);
  EXPECT_FALSE(has(to_commands(ten), "more"));
  const std::vector<Annotation> many(14, {.title = "t", .message = "m"});
  const std::string text = to_commands(many);
  EXPECT_EQ(lines_of(text), 10);
  EXPECT_TRUE(ends(text, "::5 more need attention, see the report\n"));
  EXPECT_EQ(to_commands({}), "");
}

TEST(GithubAnnotationsTest, SayWhatFailedAndHowToRunItAgain) {
  const std::vector<Annotation> all = annotations_of(sample_report());
  // A falsified, a flaky and an errored finding.
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].title, "rankcheck: falsified: all_reduce/ring/sim/agrees_with_reference");
  EXPECT_TRUE(
      begins(all[0].message,
             "agrees_with_reference of all_reduce by ring on sim failed: differs from "
             "the reference\n1 wrong element, the first: rank 1, element 2, expected 3, got nan "
             "(rank 2 missing)\nrankcheck replay '{\"operation\":\"all_reduce\""));
}

TEST(GithubAnnotationsTest, SayWhichRankHasWhat) {
  Report report = with_failures(1);
  report.findings[0].wrong[0].compared_with = rank_0;
  EXPECT_TRUE(
      has(annotations_of(report).at(0).message, "rank 1, element 2, rank 0 has 3, got nan"));
}

TEST(GithubAnnotationsTest, AreOneForEachCause) {
  const std::vector<Annotation> all = annotations_of(with_failures(3));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].message.ends_with("\n2 more units, probably with this cause"));
}

/// A part of a case replays nothing.
TEST(GithubAnnotationsTest, LeaveOutALongCase) {
  Report report = with_failures(1);
  report.findings[0].minimal->algorithm = std::string(3000, 'x');
  EXPECT_FALSE(has(annotations_of(report)[0].message, "replay"));
}

TEST(GithubAnnotationsTest, HaveOneForEachExitStatusButZero) {
  Report report = report_of({passed("broadcast")});
  EXPECT_TRUE(annotations_of(report).empty());
  report.not_run = 3;
  ASSERT_EQ(annotations_of(report).size(), 1U);
  EXPECT_EQ(annotations_of(report)[0].message,
            "Not everything was checked: 3 not run, 1 passed, of 4 units.");
  Finding closed = sample_finding("broadcast", Verdict::errored);
  closed.reason = std::string(backend_not_opened) + "no cable";
  report.findings = {closed, closed};
  ASSERT_EQ(annotations_of(report).size(), 1U);
  EXPECT_EQ(annotations_of(report)[0].message,
            "sim did not run (2 units errored): the backend could not be opened: no cable");
}

TEST(StepSummaryTest, HasTheVerdictTheFailuresAndTheTable) {
  const std::string text = to_markdown(with_failures(1));
  EXPECT_TRUE(begins(text,
                     "# rankcheck\n\n**Failed: 1 failed (1 falsified), of 1 unit.**\n\n"
                     "Run: `{\"suites\":[\"smoke\"]}`\n\n"
                     "- **falsified** `all_reduce/ring/sim/agrees_with_reference`: "
                     "agrees_with_reference of all_reduce by ring on sim failed: differs "
                     "from the reference  \n  `rankcheck replay '{"));
  EXPECT_TRUE(has(text, "| all_reduce | sim | 10 | "));
}

/// 100 failures of 100 operations, 30 remarks.
TEST(StepSummaryTest, HasAtMostSixtyLines) {
  Report report = with_failures(100);
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    report.findings[i].unit.operation = "operation_" + std::to_string(i);
    report.findings[i].unit.subject = std::to_string(i);
  }
  const std::string text =
      to_step_summary(to_markdown(report, {.remarks = std::vector<std::string>(30, "a remark")}));
  EXPECT_EQ(lines_of(text), 60);
  EXPECT_TRUE(has(text, "- and 92 more that need attention\n\n- a remark\n", "| operation_"));
  EXPECT_TRUE(text.ends_with(" more lines\n")) << text;
  // GitHub takes comments of up to 65,536 characters.
  EXPECT_LT(text.size(), 60'000U);
}

TEST(StepSummaryTest, ShowsRowsThatFailFirst) {
  Report report = with_failures(1);
  report.findings[0].unit.operation = "zzz";
  for (int i = 0; i < 100; ++i) {
    report.findings.push_back(passed("a" + std::to_string(i)));
  }
  const std::string text = to_markdown(report);
  EXPECT_LT(text.find("| zzz |"), text.find("| a0 |")) << text;
}

TEST(StepSummaryTest, NamesBackendsThatDidNotRun) {
  Report report = report_of({sample_finding("broadcast", Verdict::skipped)});
  report.findings[0].unit.backend = "cuda";
  report.environment["unavailable_backends"]["cuda"] = "no driver";
  EXPECT_TRUE(has(to_markdown(report), "- cuda did not run (1 unit skipped): no driver\n"));
}

TEST(StepSummaryTest, OfAPageIsItsBeginning) {
  EXPECT_EQ(to_step_summary("one\ntwo\n"), "one\ntwo\n");
  std::string sixty;
  for (int i = 0; i < 60; ++i) sixty += "line\n";
  EXPECT_EQ(to_step_summary(sixty), sixty);
  const std::string text = to_step_summary(sixty + sixty);
  EXPECT_EQ(lines_of(text), 60);
  EXPECT_TRUE(ends(text, "line\n\nand 62 more lines\n"));
}

/// What a subject says must not become a picture, a link or a table of the page.
TEST(InMarkdownTest, ShowsTextAsItIs) {
  EXPECT_EQ(in_markdown("a_b <img> [x](y) |\n*z*"), "a_b \\<img\\> \\[x\\](y) \\| \\*z\\*");
  EXPECT_EQ(code_in_markdown("plain"), "`plain`");
  EXPECT_EQ(code_in_markdown("a `b` ``c"), "``` a `b` ``c ```");
}

}  // namespace
}  // namespace rankcheck::harness::github
