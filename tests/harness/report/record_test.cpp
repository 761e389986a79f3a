#include "harness/report/record.hpp"

#include <gtest/gtest.h>

#include "harness/case/fields.hpp"
#include "harness/check/finding_json.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::harness {
namespace {

/// A run of two units.
struct RecordTest : testing::Test {
  static JournalHeader header() {
    JournalHeader header;
    header.run = {{"seed", 7}};
    header.units = {sample_unit("all_reduce"), sample_unit("broadcast")};
    header.environment = {{"session", 1}};
    return header;
  }

  void add(Finding finding, int round = 0) {
    record.add({.round = round, .finding = std::move(finding)});
  }
  void add_part(Finding finding) {
    record.add({.round = 0, .finding = std::move(finding), .whole = false});
  }
  void end(const std::string& ending, int rounds = 1) {
    record.end({.ending = ending, .rounds = rounds, .finished = "then", .duration_s = 2});
  }
  /// Returns the finding of a round that covered nothing.
  static Finding vacuous() {
    Finding finding = passed("all_reduce");
    finding.cells.clear();
    judge_coverage(finding);
    return finding;
  }

  Record record{header()};
};

TEST_F(RecordTest, RunWithoutAnEndWasKilled) {
  add(sample_failure());
  const Report report = record.report();
  EXPECT_EQ(report.ending, "killed");
  EXPECT_EQ(report.not_run, 1);
  EXPECT_EQ(report.environment.dump(), R"({"session":1})");
}

/// Units that are checked at the same time may be recorded in another order.
TEST_F(RecordTest, ASessionLastedUntilItsLatestFinding) {
  record.add({.finding = passed("broadcast"), .at_s = 5});
  record.add({.finding = sample_failure(), .at_s = 3});
  EXPECT_EQ(record.spent_s(), 5);
}

/// The first session takes 2 s, the second 5 s until it is killed, the third 1 s so far.
TEST_F(RecordTest, SessionsSpendTimeUntilTheirEndOrTheirLastFinding) {
  EXPECT_EQ(record.spent_s(), 0);
  record.add({.finding = sample_failure(), .at_s = 3});
  end("interrupted");
  EXPECT_EQ(record.spent_s(), 2) << "what the end says counts";
  record.resume({});
  for (const int round : {1, 2}) {
    record.add({.round = round, .finding = sample_failure(), .at_s = 3.0 + round});
  }
  record.resume({});
  record.add({.round = 3, .finding = sample_failure(), .at_s = 1});
  EXPECT_EQ(record.spent_s(), 2 + 5 + 1);
}

TEST_F(RecordTest, EndTellsWhyAndWhen) {
  end("interrupted");
  const Report report = record.report();
  EXPECT_EQ(report.ending, "interrupted");
  EXPECT_EQ(report.environment.dump(),
            R"({"session":1,"finished":"then","duration_s":2.0,"rounds":1})");
}

TEST_F(RecordTest, RoundsOfAUnitAddUp) {
  add(passed("all_reduce"), 0);
  add(passed("all_reduce"), 1);
  EXPECT_EQ(record.finding(0)->cases, 20);
  EXPECT_EQ(record.tally().cases, 20);
  EXPECT_TRUE(record.is_done(1, 0));
}

TEST_F(RecordTest, OnlyTheEndOfABackendComesOnTop) {
  add(passed("all_reduce"));
  EXPECT_THROW(add(passed("all_reduce")), BadInput);
  EXPECT_THROW(add(sample_finding("all_reduce", Verdict::crashed)), BadInput);
  Finding end = sample_finding("all_reduce", Verdict::crashed);
  end.cases = 0;
  add(end);
  EXPECT_EQ(record.finding(0)->verdict, Verdict::crashed);
  EXPECT_EQ(record.finding(0)->cases, 10);
}

TEST_F(RecordTest, WhatTheTimeDidNotSufficeForOrWasInterruptedIsNotRun) {
  for (const char* ending : {"time_over", "interrupted"}) {
    record = Record(header());
    add(passed("broadcast"));
    end(ending);
    const Report report = record.report();
    EXPECT_EQ(report.not_run, 1) << ending;
    EXPECT_EQ(report.findings.size(), 1U) << ending;
    EXPECT_EQ(exit_status(report), 2) << ending;
  }
}

TEST_F(RecordTest, PartOfAUnitIsReportedAndNotDone) {
  add_part(passed("all_reduce"));
  EXPECT_FALSE(record.is_done(0, 0));
  EXPECT_FALSE(record.finding(0));
  EXPECT_EQ(record.report().findings.size(), 1U);
  EXPECT_EQ(record.tally().cases, 10);
}

TEST_F(RecordTest, NextSessionForgetsThePartAndTheEnd) {
  add_part(passed("all_reduce"));
  add(passed("broadcast"));
  end("time_over");
  record.resume({{"session", 2}});
  Report report = record.report();
  EXPECT_EQ(report.ending, "killed");
  EXPECT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.environment.dump(), R"({"session":2})");
  add(passed("all_reduce"));
  report = record.report();
  EXPECT_EQ(report.findings[0].cases, 10);
}

TEST_F(RecordTest, ProblemAtTheEndOutlivesThePart) {
  // The worker crashes when it is told to end.
  add_part(passed("all_reduce"));
  add(sample_finding("all_reduce", Verdict::crashed));
  EXPECT_EQ(record.report().findings[0].verdict, Verdict::crashed);
  record.resume({});
  EXPECT_EQ(record.report().findings[0].verdict, Verdict::crashed);
}

TEST_F(RecordTest, RoundsAreToldWhereARunThatRepeatsItselfLacksCoverage) {
  JournalHeader repeated = header();
  repeated.cycles = true;
  record = Record(repeated);
  add(vacuous());
  end("completed", 3);
  EXPECT_EQ(record.report().findings[0].reason,
            "nothing was compared in 10 cases: the run ended in round 3");
}

TEST_F(RecordTest, FindingOfAnUnknownUnitIsRefused) {
  EXPECT_THROW(add(passed("gather")), BadInput);
}

using RecordDeathTest = RecordTest;

TEST_F(RecordDeathTest, HasFindingsOfItsUnitsOnly) {
  EXPECT_DEATH(static_cast<void>(record.finding(2)),
               "record\\.hpp:[0-9]+: this invariant does not hold: index < findings_");
}

TEST_F(RecordDeathTest, HasRoundsFromZeroOnOfItsUnitsOnly) {
  EXPECT_DEATH(static_cast<void>(record.is_done(0, 2)), "index < findings_\\.size\\(\\)");
  EXPECT_DEATH(static_cast<void>(record.is_done(-1, 0)), "round >= 0");
}

}  // namespace
}  // namespace rankcheck::harness
