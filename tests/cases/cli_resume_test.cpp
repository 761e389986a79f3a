#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

/// Changes and resumes a run in the folder r.
class CliResumeTest : public tests::CliTest {
 protected:
  /// Expects that `rankcheck report` restores the run's reports byte by byte.
  void expect_same_reports() {
    std::map<std::string, std::string> before;
    for (const char* each : {"report.json", "junit.xml", "summary.md", "report.html"}) {
      const std::string name = std::string("r/") + each;
      before[name] = text_of(name);
      fs::remove(path_to(name));
    }
    const Outcome outcome = rankcheck("report r");
    EXPECT_EQ(outcome.status, report("r")["exit_status"]) << outcome.err;
    for (const auto& [name, text] : before) EXPECT_EQ(text_of(name), text) << name;
  }

  /// Writes a suite with some work on sim. `fields` are further JSON fields of its entry.
  void write_work(int cases, const std::string& fields = "") {
    write_suite(R"("operation":"b*","require_all_cells":false,"cases":)" + std::to_string(cases) +
                fields);
  }
  /// Makes a short run in the folder r.
  void run_work() {
    write_work(5);
    passes("run s.json --report r");
  }

  Outcome clocked(const std::string& arguments, int status) {
    Outcome outcome = CliTest::clocked(case_s, arguments);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return outcome;
  }

  /// A hundred cases are one second of a time budget.
  static constexpr double case_s = 0.01;
};

/// A suite that repeats itself.
const std::string deep =
    "run deep --operation broadcast --algorithm binomial --backend sim --cases 10 --time-budget 3 ";

TEST_F(CliResumeTest, ReportOfACompletedRunIsThatOfTheRun) {
  write_work(20);
  passes("run s.json --report r");
  EXPECT_EQ(report("r")["ending"], "completed");
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfARunOutOfTimeIsThatOfTheRun) {
  write_work(1000);
  clocked("run s.json --time-budget 1 --report r", 2);
  const json before = report("r");
  EXPECT_EQ(before["ending"], "time_over");
  EXPECT_EQ(before["exit_status"], 2);
  EXPECT_GT(before["total"]["cases"], 0);
  EXPECT_GT(before["not_run"], 0);
  EXPECT_EQ(before["total"]["verdicts"]["vacuous"], 0);
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfARunThatRepeatsItselfIsThatOfTheRun) {
  clocked(deep + "--report r", 0);
  EXPECT_EQ(report("r")["ending"], "completed");
  EXPECT_GT(report("r")["environment"]["rounds"], 1);
  expect_same_reports();
}

/// Rounds grow up to any number of cases, and what the last one has done counts.
TEST_F(CliResumeTest, CasesOfALaterRoundThatTheTimeEndsCount) {
  clocked(
      "run deep --operation broadcast --algorithm binomial --property is_deterministic "
      "--backend sim --cases 9000000 --time-budget 9 --report r",
      0);
  EXPECT_GE(report("r")["total"]["cases"], 800);
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfAnInterruptedRunIsThatOfTheRun) {
  write_work(1000000);
  const Outcome outcome = interrupt_when_it_says("report in r\n", "run s.json --report r");
  EXPECT_TRUE(has(outcome.out, "rankcheck run --resume r"));
  EXPECT_EQ(report("r")["ending"], "interrupted");
  expect_same_reports();
}

const std::string faulty =
    R"({"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
    R"("type":"f32","op":"sum","input":"coded","fault":"flip:1"})";

TEST_F(CliResumeTest, ReportOfARunThatFailedFastIsThatOfTheRun) {
  install();
  pin("collectives/all_reduce", "flipped_bit", faulty);
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":60)");
  fails("run s.json --fail-fast --report r");
  EXPECT_EQ(report("r")["ending"], "failed_fast");
  EXPECT_GT(report("r")["not_run"], 0);
  expect_same_reports();
}

TEST_F(CliResumeTest, OnlyAJournalWithoutItsEndIsThatOfAKilledRun) {
  run_work();
  const json whole = findings("r");
  forget_lines("r");
  passes("report r");
  EXPECT_EQ(report("r")["ending"], "killed");
  EXPECT_FALSE(report("r")["environment"].contains("finished"));
  EXPECT_EQ(findings("r"), whole);
}

TEST_F(CliResumeTest, FiltersMayStandInAnyOrder) {
  const std::string run = "run all --backend sim --cases 2 ";
  passes(run + "--operation barrier,broadcast --type f32,f64 --report r");
  forget_lines("r");
  expect_unable("run --resume r --operation barrier",
                R"(expected operation to be ["barrier","broadcast"], as when the run began)");
  passes("run --resume r --type f64 --operation broadcast --type f32 --operation barrier");
}

TEST_F(CliResumeTest, RunOutOfTimeResumesToWhatAWholeOneReports) {
  write_work(100);
  passes("run s.json --report whole");
  clocked("run s.json --time-budget 1.5 --report r", 2);
  EXPECT_GT(report("r")["total"]["cases"], 0);
  passes("run --resume r --time-budget 1000");
  expect_same_reports();
  EXPECT_EQ(results("whole"), results("r"));
}

TEST_F(CliResumeTest, RunWhoseTimeIsOverNeedsMore) {
  write_work(1000);
  const Outcome outcome = clocked("run s.json --time-budget 0.5 --report r", 2);
  EXPECT_TRUE(has(outcome.out, "to continue: " + clocked_ + " run --resume r --time-budget "));
  const std::string journal = text_of("r/journal.jsonl");
  const std::string complaint =
      "--resume: r: the run's time is over: --time-budget is 0.5 s, expected more than the 1 s "
      "that it has taken";
  expect_unable("run --resume r", complaint);
  expect_unable("run --resume r --time-budget 0.5", complaint);
  EXPECT_EQ(text_of("r/journal.jsonl"), journal);
}

TEST_F(CliResumeTest, SessionHasWhatIsLeftOfTheTime) {
  write_work(1000);
  clocked("run s.json --time-budget 0.5 --report r", 2);
  change_journal("r/journal.jsonl", R"("duration_s":)", R"("duration_s":1000,"before":)");
  clocked("run --resume r --time-budget 1000.5", 2);
  EXPECT_EQ(report("r")["ending"], "time_over");
}

TEST_F(CliResumeTest, TimeBudgetTimeoutAndReplaysAreThoseOfTheBeginning) {
  clocked(deep + "--timeout 7 --replays 3 --report r", 0);
  forget_lines("r");
  clocked("run --resume r", 0);
  EXPECT_EQ(report("r")["environment"]["time_budget_s"], 3);
  EXPECT_EQ(report("r")["environment"]["timeout_s"], 7);
  EXPECT_EQ(report("r")["environment"]["replays"], 3);
}

TEST_F(CliResumeTest, SuiteThatHasChangedIsRefused) {
  run_work();
  const std::string journal = text_of("r/journal.jsonl");
  write_work(6);
  expect_unable("run --resume r",
                "--resume: r: barrier/central/sim/groups_at_once: got 6, expected cases "
                "to be 5, as "
                "when the run began: suites, ");
  write_work(5, R"(,"ranks":[1,4])");
  expect_unable("run --resume r", "got [1,4], expected ranks to be [1,8], as when the run began");
  write_work(5, R"(,"types":["f32"])");
  expect_unable("run --resume r",
                "got [\"f32\"], expected types to be left out, as when the run began");
  write_work(5, R"(,"property":"agrees_with_reference")");
  expect_unable("run --resume r", "expected unit 0 to be \"barrier/");
  EXPECT_EQ(text_of("r/journal.jsonl"), journal);
}

TEST_F(CliResumeTest, PinnedCaseThatHasChangedIsRefused) {
  install();
  pin("collectives/all_reduce", "flipped_bit", faulty);
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":60)");
  fails("run s.json --report r");
  json changed = json::parse(faulty);
  changed["count"] = 5;
  pin("collectives/all_reduce", "flipped_bit", changed.dump());
  expect_unable("run --resume r",
                "/flipped_bit: got 5, expected case.count to be 4, as when the run began: suites, "
                "pinned cases or backends have changed");
}

TEST_F(CliResumeTest, RunOfAnotherVersionIsRefused) {
  run_work();
  change_journal("r/journal.jsonl", R"("rankcheck":)", R"("rankcheck":"0.0","before":)");
  expect_unable("run --resume r", R"(, expected rankcheck to be "0.0", as when the run began)");
}

TEST_F(CliResumeTest, JournalWithoutChecksumsIsOnlyReported) {
  run_work();
  const std::string journal = harness::without_checksums(text_of("r/journal.jsonl"));
  harness::write_file(path_to("r/journal.jsonl"), journal);
  expect_same_reports();
  expect_unable("run --resume r", "--resume: r: journal.jsonl: line 1: has no checksum, crc32");
  EXPECT_EQ(text_of("r/journal.jsonl"), journal);
}

TEST_F(CliResumeTest, SuiteByARelativePathIsFoundFromAnywhere) {
  run_work();
  EXPECT_EQ(report("r")["run"]["suites"], json::array({"s.json"}));
  fs::create_directory(path_to("elsewhere"));
  shell("cd elsewhere && " + program_ + " run --resume ../r", 0);
  shell("cd elsewhere && " + program_ + " run ../s.json --resume ../r", 0);
  EXPECT_EQ(report("r")["run"]["suites"], json::array({"s.json"}));
  // A suite of the same name elsewhere is another one.
  fs::copy(path_to("s.json"), path_to("elsewhere/s.json"));
  expect_one_line(shell("cd elsewhere && " + program_ + " run s.json --resume ../r", 2),
                  "expected suites to be");
}

}  // namespace
}  // namespace rankcheck
