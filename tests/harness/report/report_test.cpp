#include "harness/report/report.hpp"

#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "harness/base/table.hpp"
#include "harness/report/text_style.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/schema.hpp"

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
  Report report;
  report.findings.emplace_back().verdict = Verdict::passed;
  EXPECT_EQ(exit_status(report), 0);
  report.not_run = 1;
  EXPECT_EQ(exit_status(report), 2);
  report.findings.emplace_back().verdict = Verdict::falsified;
  EXPECT_EQ(exit_status(report), 1);
}

TEST(ReportStatusTest, RunThatWasCutOffIsNotSuccess) {
  Report report;
  report.findings.emplace_back().verdict = Verdict::passed;
  report.ending = "time_over";
  EXPECT_EQ(exit_status(report), 2) << "a unit that passed had fewer cases";
  report.ending = "completed";
  report.findings.push_back(sample_finding("broadcast", Verdict::skipped));
  report.findings.back().reason = "time_over";
  EXPECT_EQ(exit_status(report), 2);
  report.findings.emplace_back().verdict = Verdict::vacuous;
  EXPECT_EQ(exit_status(report), 1);
}

TEST(ReportMarkdownTest, NamesWhatWasCutShort) {
  Report report;
  report.ending = "time_over";
  report.not_run = 4;
  EXPECT_NE(to_markdown(report).find("Ended early (time_over): 4 units were not run.\n"),
            std::string::npos);
  report.findings.push_back(sample_finding("broadcast", Verdict::skipped));
  report.findings.back().reason = "time_over";
  const std::string id = report.findings.back().unit.id();
  EXPECT_NE(to_markdown(report).find(", 1 ended before they covered all that is required (" + id),
            std::string::npos)
      << to_markdown(report);
}

TEST(ReportMarkdownTest, SaysWhyBackendsRefused) {
  Report report;
  report.findings.assign(3, sample_finding("broadcast", Verdict::skipped));
  report.findings[0].refusal = "type: f8 is not there";
  report.findings[1].refusal = report.findings[2].refusal = "hosts: they share a device";
  const std::string text = to_markdown(report);
  EXPECT_NE(text.find("\n- 2 units were skipped: hosts: they share a device\n"
                      "- 1 unit was skipped: type: f8 is not there\n"),
            std::string::npos)
      << text;
}

TEST(SummaryTest, LeavesOutRareReasonsOfRefusals) {
  Tally tally;
  tally.refusals = {{"a", 1}, {"b", 5}, {"c", 2}};
  const std::vector<std::string> expected{"5 units were skipped: b",
                                          "and 2 more reasons, which report.json names"};
  EXPECT_EQ(refusal_sentences(tally, 1), expected);
}

TEST(ReportStatusTest, WhatIsRequiredBeyondFindingsCountsToo) {
  Report report;
  report.findings.emplace_back().verdict = Verdict::passed;
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

TEST(ReportJsonTest, LaterStagesAreInTheSchemaAndReadBack) {
  nlohmann::json report = sample_json();
  report["findings"][4]["wrong"][0]["stage"] = 1;
  report["findings"][4]["wrong"][0]["group"] = {1, 0, 2};
  EXPECT_EQ(complaints(report), "");
  Finding finding = sample_failure();
  finding.wrong[0].stage = 1;
  finding.wrong[0].group = {1, 0, 2};
  const Finding read = finding_from_json(nlohmann::json(to_json(finding)));
  EXPECT_EQ(read.wrong.at(0).stage, 1U);
  EXPECT_EQ(read.wrong.at(0).group, (std::vector<int>{1, 0, 2}));
}

TEST(ReportTextTest, LaterStagesNameTheirGroup) {
  Finding finding = sample_failure();
  EXPECT_EQ(to_table(finding.wrong).text().find("stage"), std::string::npos);
  finding.wrong.push_back(finding.wrong[0]);
  finding.wrong[1].stage = 1;
  finding.wrong[1].group = {1, 0, 2};
  EXPECT_EQ(to_table(finding.wrong).text(),
            "stage  group           rank  element  expected  got  error  bound  decoded\n"
            "    0  as in the case     1        2         3  nan    nan      0  rank 2 missing\n"
            "    1  1,0,2              1        2         3  nan    nan      0  rank 2 missing\n");
  EXPECT_NE(explain(finding, "rankcheck").find("    1  1,0,2 "), std::string::npos);
}

TEST(ReportTextTest, BitsThatDifferHaveNoError) {
  Finding finding = sample_failure();
  finding.wrong[0].error = 0;
  finding.wrong[0].compared_with = rank_0;
  EXPECT_EQ(to_table(finding.wrong).text(),
            "rank  element  rank 0 has  got  decoded\n"
            "   1        2           3  nan  rank 2 missing\n");
  finding.wrong[0].expected = std::string(90, '3');
  EXPECT_EQ(explain(finding, "rankcheck").find("error"), std::string::npos);
}

TEST(ReportJsonTest, WhatRanksAreComparedWithIsInTheSchemaAndReadsBack) {
  Finding finding = sample_failure();
  finding.wrong[0].error = 0;
  finding.wrong[0].compared_with = first_call;
  nlohmann::json report = sample_json();
  report["findings"][4] = to_json(finding);
  EXPECT_EQ(complaints(report), "");
  EXPECT_EQ(finding_from_json(report["findings"][4]).wrong, finding.wrong);
}

TEST(ReportTextTest, AFailureThatDidNotComeBackHasNoSmallestCase) {
  Finding finding = sample_failure();
  finding.replays_failed = finding.shrinks = 0;
  EXPECT_NE(explain(finding, "rankcheck")
                .find("  the first case, which failed in 0 of 5 replays, after 0 shrinks:\n"),
            std::string::npos);
}

TEST(ReportJsonTest, SchemaRefusesUnknownFields) {
  nlohmann::json report = sample_json();
  report["findings"][0]["colour"] = "green";
  EXPECT_NE(complaints(report), "");
}

TEST(ReportJsonTest, SchemaRefusesUnknownSkipReasons) {
  nlohmann::json report = sample_json();
  report["findings"][2]["reason"] = "felt like it";
  EXPECT_NE(complaints(report), "");
}

TEST(ReportJsonTest, SchemaRefusesTheProcessEnvironment) {
  nlohmann::json report = sample_json();
  report["environment"]["PATH"] = "/bin";
  EXPECT_NE(complaints(report), "");
}

TEST(ReportJsonTest, CountsEveryVerdict) {
  const nlohmann::json verdicts = sample_json()["total"]["verdicts"];
  EXPECT_EQ(verdicts.dump(),
            R"({"crashed":0,"errored":1,"falsified":1,"flaky":1,"hung":0,"passed":1,)"
            R"("skipped":1,"vacuous":0})");
}

TEST(SummaryTest, OutcomeLineCountsEverythingWithReasons) {
  EXPECT_EQ(
      outcome_line(summarise(sample_report().findings).total),
      "5 findings: 1 passed, 1 falsified, 1 flaky, 1 skipped (1 backend_unavailable), 1 errored");
  EXPECT_EQ(outcome_line({}), "0 findings: none");
}

int status_of(std::initializer_list<Verdict> verdicts) {
  Tally total;
  for (const Verdict each : verdicts) total.add(sample_finding("broadcast", each));
  return exit_status(total);
}

TEST(ExitStatusTest, PassedIsZero) {
  EXPECT_EQ(status_of({Verdict::passed, Verdict::skipped}), 0);
}
TEST(ExitStatusTest, NothingIsTwo) {
  EXPECT_EQ(status_of({}), 2);
}
TEST(ExitStatusTest, OnlySkippedIsTwo) {
  EXPECT_EQ(status_of({Verdict::skipped}), 2);
}
TEST(ExitStatusTest, ErroredIsTwo) {
  EXPECT_EQ(status_of({Verdict::passed, Verdict::errored}), 2);
}
TEST(ExitStatusTest, FailureOutweighsErrored) {
  EXPECT_EQ(status_of({Verdict::errored, Verdict::falsified}), 1);
}
TEST(ExitStatusTest, EveryRedVerdictIsOne) {
  for (const Verdict red :
       {Verdict::falsified, Verdict::flaky, Verdict::hung, Verdict::crashed, Verdict::vacuous}) {
    EXPECT_EQ(status_of({Verdict::passed, red}), 1) << name(red);
  }
}

TEST(ExplainTest, GivesALineToPaste) {
  EXPECT_NE(explain(sample_failure(), shell_quoted("./my build/rankcheck"))
                .find("'./my build/rankcheck' replay '{\"operation\":\"all_reduce\""),
            std::string::npos);
}

TEST(ExplainTest, LongValuesStandBelowOneAnother) {
  Finding finding = sample_failure();
  finding.wrong.front().expected = "(" + std::string(22, '1') + "," + std::string(23, '2') + ")";
  finding.wrong.front().got = "(" + std::string(22, '3') + "," + std::string(23, '4') + ")";
  const std::string text = explain(finding, "rankcheck");
  EXPECT_NE(text.find("    rank "), std::string::npos) << text;
  EXPECT_NE(text.find(":\n      expected  (111"), std::string::npos) << text;
  EXPECT_NE(text.find("\n      got       (333"), std::string::npos) << text;
  EXPECT_LE(widest_line(text), text_columns_max) << text;
}

TEST(ExplainTest, NamesOpenCellsOnlyIfNothingFailed) {
  EXPECT_EQ(explain(sample_failure(), "rankcheck").find("never covered"), std::string::npos)
      << "the unit ended at its failure";
  Finding open = sample_finding("broadcast", Verdict::vacuous);
  for (int i = 0; i < 40; ++i) open.missing_cells.push_back("f32/reduction_" + std::to_string(i));
  const std::string text = explain(open, "rankcheck");
  EXPECT_EQ(text.find("  never covered: f32/reduction_0, "), 0U) << text;
  EXPECT_NE(text.find("and 28 more\n"), std::string::npos) << text;
  EXPECT_LE(widest_line(text), text_columns_max);
}

TEST(MarkdownTest, NamesTheFailures) {
  const std::string text = to_markdown(sample_report());
  EXPECT_NE(text.find("## falsified all_reduce/ring/sim/agrees_with_reference"), std::string::npos);
  EXPECT_NE(text.find("## errored"), std::string::npos);
  EXPECT_EQ(text.find("## passed"), std::string::npos);
}

class JUnitTest : public testing::Test {
 protected:
  JUnitTest() {
    Report report = sample_report();
    report.findings.back().reason = "control \x01 and <angle> & \xff";
    is_parsed_ = document_.load_string(to_junit(report).c_str());
  }

  pugi::xml_document document_;
  bool is_parsed_ = false;
};

TEST_F(JUnitTest, IsXmlWhateverTheReasonHolds) {
  ASSERT_TRUE(is_parsed_);
  const auto failure = document_.select_node("//failure").node();
  EXPECT_STREQ(failure.attribute("message").value(), "control ? and <angle> & ?");
}

TEST_F(JUnitTest, CountsAreThoseOfTheCases) {
  const auto root = document_.child("testsuites");
  EXPECT_EQ(root.attribute("tests").as_int(), 5);
  EXPECT_EQ(root.attribute("failures").as_int(), 1);
  EXPECT_EQ(root.attribute("errors").as_int(), 1);
  EXPECT_EQ(root.attribute("skipped").as_int(), 1);
  EXPECT_EQ(document_.select_nodes("//testcase").size(), 5U);
}

TEST(JUnitTimeTest, IsTheTimeThatTheUnitTook) {
  Report report;
  report.findings = {sample_finding("all_reduce", Verdict::passed),
                     sample_finding("broadcast", Verdict::passed)};
  report.environment["durations_s"][report.findings.front().unit.id()] = 0.25;
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(to_junit(report).c_str()));
  EXPECT_EQ(document.select_nodes("//testcase[@time='0.250000']").size(), 1U);
  EXPECT_EQ(document.select_nodes("//testcase[@time]").size(), 1U)
      << "no time is better than a wrong one";
}

TEST(JUnitVersionsTest, AreThoseOfRankcheckAndOfTheCodeUnderTest) {
  Report report;
  report.findings = {sample_finding("all_reduce", Verdict::passed)};
  report.environment = {{"rankcheck", "1.2"},
                        {"backends",
                         {{"sim", {{"versions", {{"driver", "535"}, {"devices", {"A", "B"}}}}}},
                          {"mpi", {{"versions", {{"library", "MPICH"}}}}}}}};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(to_junit(report).c_str()));
  const auto value_of = [&](const std::string& name) {
    const std::string path = "//testsuite/properties/property[@name='" + name + "']";
    return std::string(document.select_node(path.c_str()).node().attribute("value").value());
  };
  EXPECT_EQ(value_of("rankcheck"), "1.2");
  EXPECT_EQ(value_of("driver"), "535");
  EXPECT_EQ(value_of("devices.1"), "B");
  EXPECT_EQ(document.select_nodes("//property").size(), 4U) << "none of another backend";
  report.environment.clear();
  ASSERT_TRUE(document.load_string(to_junit(report).c_str()));
  EXPECT_EQ(document.select_nodes("//properties").size(), 0U);
}

TEST(JUnitCausesTest, AFailureNamesTheCauseThatItShares) {
  Report report;
  report.findings = {sample_failure(), sample_failure(), sample_failure()};
  report.findings[1].unit.operation = "reduce";
  report.findings[2].unit.subject = "mine";
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(to_junit(report).c_str()));
  const std::string shared =
      "//failure[contains(., 'probably one of 2 units with this cause: all_reduce, algorithm')]";
  EXPECT_EQ(document.select_nodes(shared.c_str()).size(), 2U);
  EXPECT_EQ(document.select_nodes("//failure").size(), 3U);
}

TEST_F(JUnitTest, FlakyIsAFlakyFailureAndSkippedHasItsReason) {
  EXPECT_EQ(document_.select_nodes("//flakyFailure[@type='flaky']").size(), 1U);
  EXPECT_EQ(document_.select_nodes("//skipped[@message='backend_unavailable']").size(), 1U);
}

}  // namespace
}  // namespace rankcheck::harness
