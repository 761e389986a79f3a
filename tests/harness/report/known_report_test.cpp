#include "harness/report/known_report.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/report/report.hpp"
#include "harness/report/report_text.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/schema.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using nlohmann::json;

struct KnownReportTest : testing::Test {
  /// Returns the status of an entry with these fields, after a run from 2026-06-15 on.
  KnownStatus status(const std::string& fields, bool is_whole = true) {
    const json file = json::parse(R"({"known_version":1,"defects":[{"id":"one","reason":"why",)" +
                                  fields + "}]}");
    report.known =
        known_statuses(known_from_json(file, "here"), environment, report.findings, is_whole);
    return report.known.at(0);
  }
  KnownStatus status() { return status(R"("operation":"all_reduce")"); }

  /// Adds a finding with the counts of the entry.
  void add(std::int64_t covered, std::int64_t failed) {
    Finding finding = passed("all_reduce");
    if (covered > 0) finding.known = {{.id = "one", .covered = covered, .failed = failed}};
    if (failed > 0) {
      finding.known[0].verdict = Verdict::falsified;
      finding.known[0].reason = "wrong";
      finding.known[0].minimal.emplace();
      finding.known[0].minimal->operation = "all_reduce";
    }
    judge_coverage(finding);
    report.findings.push_back(finding);
  }

  nlohmann::ordered_json environment{{"started", "2026-06-15T10:00:00Z"},
                                     {"backends", {{"sim", {{"versions", {{"lib", "Lib 2.0"}}}}}}}};
  Report report;
};

TEST_F(KnownReportTest, SumsUpWhatFailed) {
  add(10, 4);
  add(10, 0);
  const KnownStatus known = status();
  EXPECT_EQ(known.state, KnownState::failing);
  EXPECT_EQ(known.units, 1);
  EXPECT_EQ(known.covered, 20);
  EXPECT_EQ(known.failed, 4);
  EXPECT_FALSE(known.is_stale());
  EXPECT_EQ(to_text(known), "known one: failed in 4 of 20 cases (1 unit): why");
}

TEST_F(KnownReportTest, AnEntryWhoseCasesPassIsStale) {
  add(10, 0);
  EXPECT_EQ(status().state, KnownState::passing);
  EXPECT_TRUE(status().is_stale());
  EXPECT_EQ(to_text(status()),
            "known one: passed in all 10 cases that it covers; it may be mended: why");
}

TEST_F(KnownReportTest, AnEntryThatCoversNoCaseIsStale) {
  add(0, 0);
  EXPECT_EQ(status().state, KnownState::unmatched);
  EXPECT_TRUE(status().is_stale());
  EXPECT_EQ(status(R"("operation":"barrier")").state, KnownState::unmatched);
}

TEST_F(KnownReportTest, AnEntryForAnotherVersionIsNotAppliedAndNotStale) {
  add(0, 0);
  const KnownStatus known = status(R"("library":{"name":"Lib","versions":"<2"})");
  EXPECT_EQ(known.state, KnownState::not_applied);
  EXPECT_FALSE(known.is_stale());
  EXPECT_EQ(to_text(known), "known one: is not applied; sim has Lib 2.0, which is not in <2: why");
}

TEST_F(KnownReportTest, NothingIsSaidOfUnitsThatWereNotRun) {
  report.findings.push_back(sample_finding("all_reduce", Verdict::skipped));
  report.findings.back().cases = 0;
  EXPECT_EQ(status().state, KnownState::not_checked);
  EXPECT_FALSE(status().is_stale());
}

TEST_F(KnownReportTest, ARunThatEndedEarlyDoesNotSayThatSomethingPasses) {
  add(10, 0);
  EXPECT_EQ(status(R"("operation":"*")", false).state, KnownState::not_checked);
}

/// A unit ends at its first failure that is not known.
TEST_F(KnownReportTest, AUnitThatEndedByAnotherFailureDoesNotSayThatSomethingPasses) {
  add(10, 0);
  report.findings.push_back(sample_failure());
  const KnownStatus known = status();
  EXPECT_EQ(known.state, KnownState::not_checked);
  EXPECT_EQ(to_text(known),
            "known one: passed in 10 cases, but not all of its units were run to their end: why");
  add(10, 4);
  EXPECT_EQ(status().state, KnownState::failing);
}

TEST_F(KnownReportTest, AnEntryExpiresAfterItsDay) {
  add(10, 4);
  EXPECT_FALSE(status(R"("expires":"2026-06-15")").is_expired);
  const KnownStatus known = status(R"("expires":"2026-06-14")");
  EXPECT_TRUE(known.is_expired);
  EXPECT_TRUE(known.is_stale());
  EXPECT_EQ(known.state, KnownState::failing) << "it is applied all the same";
}

TEST_F(KnownReportTest, KnownFailuresDoNotChangeTheExitStatus) {
  add(10, 4);
  add(0, 0);
  (void)status();
  EXPECT_EQ(exit_status(report), 0);
  report.findings.push_back(sample_failure());
  EXPECT_EQ(exit_status(report), 1);
}

TEST_F(KnownReportTest, StaleEntriesMatterOnlyIfTheRunIsStrict) {
  add(10, 0);
  (void)status();
  EXPECT_EQ(exit_status(report), 0);
  report.is_strict = true;
  EXPECT_EQ(exit_status(report), 1);
  EXPECT_TRUE(
      begins(verdict_sentence(report), "Failed, because 1 known defect is stale: 1 passed"));
  report.findings.push_back(sample_failure());
  EXPECT_EQ(verdict_sentence(report),
            "Failed: 1 failed (1 falsified), 1 passed, of 2 units. 1 known defect is stale.");
}

TEST_F(KnownReportTest, KnownFailuresStayVisibleEverywhere) {
  add(10, 4);
  report.run = {{"seed", 1}};
  report.environment = environment;
  (void)status(R"("operation":"*","link":"https://example.org/1")");
  const json written = to_json(report);
  EXPECT_EQ(written["findings"][0]["verdict"], "falsified");
  EXPECT_EQ(written["findings"][0]["is_known"], true);
  EXPECT_EQ(written["total"]["known_findings"], 1);
  EXPECT_EQ(written["known"][0]["state"], "failing");
  EXPECT_EQ(written["exit_status"], 0);
  const std::string failed = "known one: failed in 4 of 10 cases";
  for (const std::string& part : {"\n- " + failed,
                                  std::string("\n## falsified as known all_reduce/"),
                                  std::string("1 falsified (1 known)")}) {
    EXPECT_TRUE(has(to_markdown(report), part));
  }
  EXPECT_TRUE(has(verdict_and_failures(report, {}), "1 failed only as known", failed));
}

TEST_F(KnownReportTest, JUnitSkipsAKnownFailureAndNamesTheDefect) {
  add(10, 4);
  (void)status();
  const std::string junit = to_junit(report);
  EXPECT_TRUE(has(junit, R"(failures="0" errors="0" skipped="1")"));
  EXPECT_FALSE(has(junit, "<failure"));
  EXPECT_TRUE(has(junit, R"(<property name="known_defect" value="one" />)"));
  EXPECT_TRUE(has(junit,
                  R"(<skipped type="known" message="known one (4 of 10 cases failed): )"
                  R"(falsified: wrong" />)"));
  EXPECT_TRUE(has(junit, "<system-out>"));
}

TEST_F(KnownReportTest, FollowsTheSchema) {
  add(10, 4);
  const KnownStatus known =
      status(R"("library":{"name":"Lib","versions":"2.0"},"expires":"2026-01-01","link":"l")");
  EXPECT_EQ(known.state, KnownState::failing);
  report.run = {{"seed", 1}, {"strict_known", true}};
  const json written = json::parse(to_json(report).dump());
  EXPECT_FALSE(has(complaints(written), "known"));
}

}  // namespace
}  // namespace rankcheck::harness
