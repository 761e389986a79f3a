#include "harness/report/report.hpp"

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "harness/base/table.hpp"
#include "harness/report/text_style.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/schema.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

nlohmann::json sample_json() {
  Report report = sample_report();
  report.environment = {{"rankcheck", "0"},
                        {"started", "now"},
                        {"host", "h"},
                        {"system", "s"},
                        {"kernel", "k"},
                        {"processor", "p"},
                        {"cores", 2},
                        {"memory_gib", 4},
                        {"built_with", "g++"},
                        {"jobs", 1},
                        {"fail_fast", false},
                        {"unavailable_backends", nlohmann::json::object()}};
  return to_json(report);
}

TEST(ReportJsonTest, FollowsTheSchema) {
  EXPECT_EQ(complaints(sample_json()), "");
}

TEST(ReportStatusTest, IncompleteRunIsNotSuccess) {
  Report report = report_of({passed("broadcast")});
  EXPECT_EQ(exit_status(report), 0);
  report.not_run = 1;
  EXPECT_EQ(exit_status(report), 2);
  report.findings.push_back(sample_failure());
  EXPECT_EQ(exit_status(report), 1);
}

TEST(ReportStatusTest, RunThatWasCutOffIsNotSuccess) {
  Report report = report_of({passed("broadcast")});
  report.ending = "time_over";
  EXPECT_EQ(exit_status(report), 2) << "a unit that passed had fewer cases";
  report.ending = "completed";
  report.findings.push_back(sample_finding("broadcast", Verdict::skipped));
  report.findings.back().reason = "time_over";
  EXPECT_EQ(exit_status(report), 2);
  report.findings.emplace_back().verdict = Verdict::vacuous;
  EXPECT_EQ(exit_status(report), 1);
}

TEST(ReportMarkdownTest, CountsWhatMayBeAnyInput) {
  Report report = report_of({passed("broadcast")});
  EXPECT_FALSE(has(to_markdown(report), "any input"));
  report.findings[0].power.any_input = 1;
  EXPECT_TRUE(has(to_markdown(report), "- 1 element of min and max may be NaN or any input: "));
}

TEST(ReportMarkdownTest, NamesWhatWasCutShort) {
  Report report;
  report.ending = "time_over";
  report.not_run = 4;
  EXPECT_TRUE(has(to_markdown(report), "Ended early (time_over): 4 units were not run.\n"));
  report.findings.push_back(sample_finding("broadcast", Verdict::skipped));
  report.findings.back().reason = "time_over";
  const std::string id = report.findings.back().unit.id();
  EXPECT_TRUE(
      has(to_markdown(report), ", 1 ended before they covered all that is required (" + id));
}

TEST(ReportMarkdownTest, SaysWhyBackendsRefused) {
  Report report;
  report.findings.assign(3, sample_finding("broadcast", Verdict::skipped));
  report.findings[0].refusal = "type: f8 is not there";
  report.findings[1].refusal = report.findings[2].refusal = "hosts: they share a device";
  EXPECT_TRUE(has(to_markdown(report),
                  "\n- 2 units were skipped: hosts: they share a device\n"
                  "- 1 unit was skipped: type: f8 is not there\n"));
}

TEST(SummaryTest, LeavesOutRareReasonsOfRefusals) {
  Tally tally;
  tally.refusals = {{"a", 1}, {"b", 5}, {"c", 2}};
  const std::vector<std::string> expected{"5 units were skipped: b",
                                          "and 2 more reasons, which report.json names"};
  EXPECT_EQ(refusal_sentences(tally, 1), expected);
}

TEST(ReportStatusTest, WhatIsRequiredBeyondFindingsCountsToo) {
  Report report = report_of({passed("broadcast")});
  report.status_beyond_findings = 2;
  EXPECT_EQ(exit_status(report), 2);
  EXPECT_EQ(to_json(report)["exit_status"], 2);
  report.status_beyond_findings = 1;
  EXPECT_EQ(exit_status(report), 1);
  report.findings.emplace_back().verdict = Verdict::errored;
  EXPECT_EQ(exit_status(report), 1);
  report.status_beyond_findings = 0;
  EXPECT_EQ(exit_status(report), 2);
}

TEST(ReportJsonTest, LaterStagesAndWhatIsComparedAreInTheSchemaAndReadBack) {
  Finding finding = sample_failure();
  finding.wrong[0].error = 0;
  finding.wrong[0].compared_with = first_call;
  finding.wrong[0].stage = 1;
  finding.wrong[0].group = {1, 0, 2};
  nlohmann::json report = sample_json();
  report["findings"][4] = to_json(finding);
  EXPECT_EQ(complaints(report), "");
  EXPECT_EQ(finding_from_json(report["findings"][4]).wrong, finding.wrong);
}

TEST(ReportTextTest, LaterStagesNameTheirGroup) {
  Finding finding = sample_failure();
  EXPECT_FALSE(has(to_table(finding.wrong).text(), "stage"));
  finding.wrong.push_back(finding.wrong[0]);
  finding.wrong[1].stage = 1;
  finding.wrong[1].group = {1, 0, 2};
  EXPECT_EQ(to_table(finding.wrong).text(),
            "stage  group           rank  element  expected  got  error  bound  decoded\n"
            "    0  as in the case     1        2         3  nan    nan      0  rank 2 missing\n"
            "    1  1,0,2              1        2         3  nan    nan      0  rank 2 missing\n");
  EXPECT_TRUE(has(explain(finding, "rankcheck"), "    1  1,0,2 "));
}

TEST(ReportTextTest, BitsThatDifferHaveNoError) {
  Finding finding = sample_failure();
  finding.wrong[0].error = 0;
  finding.wrong[0].compared_with = rank_0;
  EXPECT_EQ(to_table(finding.wrong).text(),
            "rank  element  rank 0 has  got  decoded\n"
            "   1        2           3  nan  rank 2 missing\n");
  finding.wrong[0].expected = std::string(90, '3');
  EXPECT_FALSE(has(explain(finding, "rankcheck"), "error"));
}

TEST(ReportTextTest, AFailureThatDidNotComeBackHasNoSmallestCase) {
  Finding finding = sample_failure();
  finding.replays_failed = finding.shrinks = 0;
  EXPECT_TRUE(has(explain(finding, "rankcheck"),
                  "  the first case, which failed in 0 of 5 replays, after 0 shrinks:\n"));
}

TEST(ReportJsonTest, SchemaRefusesUnknownFieldsAndReasonsAndTheProcessEnvironment) {
  for (const char* place : {"/findings/0/colour", "/findings/2/reason", "/environment/PATH"}) {
    nlohmann::json report = sample_json();
    report[nlohmann::json::json_pointer(place)] = "as one likes";
    EXPECT_NE(complaints(report), "") << place;
  }
}

TEST(ReportJsonTest, CountsEveryVerdict) {
  EXPECT_EQ(sample_json()["total"]["verdicts"].dump(),
            R"({"crashed":0,"errored":1,"falsified":1,"flaky":1,"hung":0,"passed":1,)"
            R"("skipped":1,"vacuous":0})");
}

TEST(SummaryTest, OutcomeLineCountsEverythingWithReasons) {
  EXPECT_EQ(
      outcome_line(summarise(sample_report().findings).total),
      "5 findings: 1 passed, 1 falsified, 1 flaky, 1 skipped (1 backend_unavailable), 1 errored");
  EXPECT_EQ(outcome_line({}), "0 findings: none");
}

TEST(ExitStatusTest, IsTheWorstOfTheVerdicts) {
  const auto status_of = [](std::initializer_list<Verdict> verdicts) {
    Tally total;
    for (const Verdict each : verdicts) total.add(sample_finding("broadcast", each));
    return exit_status(total);
  };
  EXPECT_EQ(status_of({Verdict::passed, Verdict::skipped}), 0);
  EXPECT_EQ(status_of({}), 2);
  EXPECT_EQ(status_of({Verdict::skipped}), 2);
  EXPECT_EQ(status_of({Verdict::passed, Verdict::errored}), 2);
  EXPECT_EQ(status_of({Verdict::errored, Verdict::falsified}), 1);
  for (const Verdict red :
       {Verdict::falsified, Verdict::flaky, Verdict::hung, Verdict::crashed, Verdict::vacuous}) {
    EXPECT_EQ(status_of({Verdict::passed, red}), 1) << name(red);
  }
}

TEST(ExplainTest, GivesALineToPaste) {
  EXPECT_TRUE(has(explain(sample_failure(), shell_quoted("./my build/rankcheck")),
                  "'./my build/rankcheck' replay '{\"operation\":\"all_reduce\""));
}

TEST(ExplainTest, LongValuesStandBelowOneAnother) {
  Finding finding = sample_failure();
  finding.wrong.front().expected = "(" + std::string(22, '1') + "," + std::string(23, '2') + ")";
  finding.wrong.front().got = "(" + std::string(22, '3') + "," + std::string(23, '4') + ")";
  const std::string text = explain(finding, "rankcheck");
  EXPECT_TRUE(has(text, "    rank ", ":\n      expected  (111", "\n      got       (333"));
  EXPECT_LE(widest_line(text), text_columns_max) << text;
}

TEST(ExplainTest, NamesOpenCellsOnlyIfNothingFailed) {
  EXPECT_FALSE(has(explain(sample_failure(), "rankcheck"), "never covered"))
      << "the unit ended at its failure";
  Finding open = sample_finding("broadcast", Verdict::vacuous);
  for (int i = 0; i < 40; ++i) open.missing_cells.push_back("f32/reduction_" + std::to_string(i));
  const std::string text = explain(open, "rankcheck");
  EXPECT_TRUE(begins(text, "  never covered: f32/reduction_0, "));
  EXPECT_TRUE(has(text, "and 28 more\n"));
  EXPECT_LE(widest_line(text), text_columns_max);
}

TEST(MarkdownTest, NamesTheFailures) {
  const std::string text = to_markdown(sample_report());
  EXPECT_TRUE(has(text, "## falsified all_reduce/ring/sim/agrees_with_reference"));
  EXPECT_TRUE(has(text, "## errored"));
  EXPECT_FALSE(has(text, "## passed"));
}

class JUnitTest : public testing::Test {
 protected:
  JUnitTest() {
    report_.findings.back().reason = "control \x01 and <angle> & \xff";
    read();
  }

  /// Reads the report's JUnit.
  void read() { ASSERT_TRUE(document_.load_string(to_junit(report_).c_str())); }
  [[nodiscard]] std::size_t count(const char* path) const {
    return document_.select_nodes(path).size();
  }
  [[nodiscard]] std::string value(const std::string& path, const char* attribute) const {
    return document_.select_node(path.c_str()).node().attribute(attribute).value();
  }

  Report report_ = sample_report();
  pugi::xml_document document_;
};

TEST_F(JUnitTest, IsXmlWhateverTheReasonHolds) {
  EXPECT_EQ(value("//failure", "message"), "control ? and <angle> & ?");
}

TEST_F(JUnitTest, CountsAreThoseOfTheCases) {
  EXPECT_EQ(value("/testsuites", "tests"), "5");
  EXPECT_EQ(value("/testsuites", "failures"), "1");
  EXPECT_EQ(value("/testsuites", "errors"), "1");
  EXPECT_EQ(value("/testsuites", "skipped"), "1");
  EXPECT_EQ(count("//testcase"), 5U);
}

TEST_F(JUnitTest, FlakyIsAFlakyFailureAndSkippedHasItsReason) {
  EXPECT_EQ(count("//flakyFailure[@type='flaky']"), 1U);
  EXPECT_EQ(count("//skipped[@message='backend_unavailable']"), 1U);
}

TEST_F(JUnitTest, TimeIsThatOfTheUnit) {
  report_ = report_of({passed("all_reduce"), passed("broadcast")});
  report_.environment["durations_s"][report_.findings.front().unit.id()] = 0.25;
  read();
  EXPECT_EQ(count("//testcase[@time='0.250000']"), 1U);
  EXPECT_EQ(count("//testcase[@time]"), 1U) << "no time is better than a wrong one";
}

TEST_F(JUnitTest, VersionsAreThoseOfRankcheckAndOfTheCodeUnderTest) {
  report_ = report_of({passed("all_reduce")});
  report_.environment = {{"rankcheck", "1.2"},
                         {"backends",
                          {{"sim", {{"versions", {{"driver", "535"}, {"devices", {"A", "B"}}}}}},
                           {"mpi", {{"versions", {{"library", "MPICH"}}}}}}}};
  read();
  const auto version = [&](const std::string& of) {
    return value("//testsuite/properties/property[@name='" + of + "']", "value");
  };
  EXPECT_EQ(version("rankcheck"), "1.2");
  EXPECT_EQ(version("driver"), "535");
  EXPECT_EQ(version("devices.1"), "B");
  EXPECT_EQ(count("//property"), 4U) << "none of another backend";
  report_.environment.clear();
  read();
  EXPECT_EQ(count("//properties"), 0U);
}

TEST_F(JUnitTest, AFailureNamesTheCauseThatItShares) {
  report_ = report_of({sample_failure(), sample_failure(), sample_failure()});
  report_.findings[1].unit.operation = "reduce";
  report_.findings[2].unit.subject = "mine";
  read();
  EXPECT_EQ(count("//failure[contains(., 'probably one of 2 units with this cause: all_reduce, "
                  "algorithm')]"),
            2U);
  EXPECT_EQ(count("//failure"), 3U);
}

}  // namespace
}  // namespace rankcheck::harness
