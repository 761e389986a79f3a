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
  /// Removes the journal's last line, as if the run had been killed before its end.
  void forget_end() {
    const std::string journal = text_of("r/journal.jsonl");
    harness::write_file(path_to("r/journal.jsonl"),
                        journal.substr(0, journal.rfind('\n', journal.size() - 2) + 1));
  }

  /// Expects that `rankcheck report` restores the run's reports byte by byte.
  void expect_same_reports() {
    std::map<std::string, std::string> before;
    for (const char* each : {"report.json", "junit.xml", "summary.md", "report.html"}) {
      const std::string name = std::string("r/") + each;
      before[name] = text_of(name);
      fs::remove(path_to(name));
    }
    const Outcome outcome = rankcheck("report r");
    EXPECT_EQ(outcome.status, report("r")["exit_status"]);
    for (const auto& [name, text] : before) EXPECT_EQ(text_of(name), text) << name;
  }

  /// Writes a suite with some work on sim. `fields` are further JSON fields of its entry.
  void write_work(int cases, const std::string& fields = "") {
    write_suite(R"("operation":"b*","require_all_cells":false,"cases":)" + std::to_string(cases) +
                fields);
  }
};

/// A suite that repeats itself.
const std::string deep =
    "run deep --operation broadcast --algorithm binomial --backend sim --cases 10 --time-budget 3 ";

/// A hundred cases are one second of a time budget.
constexpr double case_s = 0.01;

TEST_F(CliResumeTest, ReportOfACompletedRunIsThatOfTheRun) {
  write_work(20);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  EXPECT_EQ(report("r")["ending"], "completed");
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfARunOutOfTimeIsThatOfTheRun) {
  write_work(1000);
  ASSERT_EQ(clocked(case_s, "run s.json --time-budget 1 --report r").status, 2);
  const json before = report("r");
  EXPECT_EQ(before["ending"], "time_over");
  EXPECT_EQ(before["exit_status"], 2);
  EXPECT_GT(before["total"]["cases"], 0);
  EXPECT_GT(before["not_run"], 0);
  EXPECT_EQ(before["total"]["verdicts"]["vacuous"], 0);
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfARunThatRepeatsItselfIsThatOfTheRun) {
  ASSERT_EQ(clocked(case_s, deep + "--report r").status, 0);
  EXPECT_EQ(report("r")["ending"], "completed");
  expect_same_reports();
}

TEST_F(CliResumeTest, ReportOfAnInterruptedRunIsThatOfTheRun) {
  write_work(1000000);
  const Outcome outcome = interrupt_when_it_says("report in r\n", "run s.json --report r");
  ASSERT_EQ(outcome.status, 130) << outcome.out << outcome.err;
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
  ASSERT_EQ(rankcheck("run s.json --fail-fast --report r").status, 1);
  EXPECT_EQ(report("r")["ending"], "failed_fast");
  EXPECT_GT(report("r")["not_run"], 0);
  expect_same_reports();
}

TEST_F(CliResumeTest, OnlyAJournalWithoutItsEndIsThatOfAKilledRun) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  const json whole = report("r");
  forget_end();
  ASSERT_EQ(rankcheck("report r").status, 0);
  json killed = report("r");
  EXPECT_EQ(killed["ending"], "killed");
  EXPECT_FALSE(killed["environment"].contains("finished"));
  EXPECT_EQ(killed["findings"], whole["findings"]);
}

TEST_F(CliResumeTest, FiltersMayStandInAnyOrder) {
  const std::string run = "run all --backend sim --cases 2 ";
  ASSERT_EQ(rankcheck(run + "--operation barrier,broadcast --type f32,f64 --report r").status, 0);
  forget_end();
  expect_unable("run --resume r --operation barrier",
                R"(expected operation to be ["barrier","broadcast"], as when the run began)");
  const Outcome outcome =
      rankcheck("run --resume r --type f64 --operation broadcast --type f32 --operation barrier");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(CliResumeTest, RunOutOfTimeResumesToWhatAWholeOneReports) {
  write_work(100);
  ASSERT_EQ(rankcheck("run s.json --report whole").status, 0);
  json whole = report("whole");
  ASSERT_EQ(clocked(case_s, "run s.json --time-budget 1.5 --report r").status, 2);
  EXPECT_GT(report("r")["total"]["cases"], 0);
  ASSERT_EQ(rankcheck("run --resume r --time-budget 1000").status, 0);
  json resumed = report("r");
  expect_same_reports();
  whole.erase("environment");
  resumed.erase("environment");
  EXPECT_EQ(whole, resumed);
}

TEST_F(CliResumeTest, RunWhoseTimeIsOverNeedsMore) {
  write_work(1000);
  const Outcome outcome = clocked(case_s, "run s.json --time-budget 0.5 --report r");
  ASSERT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.out.find("to continue: " + clocked_ + " run --resume r --time-budget "),
            std::string::npos)
      << outcome.out;
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
  ASSERT_EQ(clocked(case_s, "run s.json --time-budget 0.5 --report r").status, 2);
  change_journal("r/journal.jsonl", R"("duration_s":)", R"("duration_s":1000,"before":)");
  const Outcome outcome = clocked(case_s, "run --resume r --time-budget 1000.5");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["ending"], "time_over");
}

TEST_F(CliResumeTest, TimeBudgetTimeoutAndReplaysAreThoseOfTheBeginning) {
  ASSERT_EQ(clocked(case_s, deep + "--timeout 7 --replays 3 --report r").status, 0);
  forget_end();
  const Outcome outcome = clocked(case_s, "run --resume r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["environment"]["time_budget_s"], 3);
  EXPECT_EQ(report("r")["environment"]["timeout_s"], 7);
  EXPECT_EQ(report("r")["environment"]["replays"], 3);
}

TEST_F(CliResumeTest, SuiteThatHasChangedIsRefused) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  const std::string journal = text_of("r/journal.jsonl");
  write_work(6);
  expect_unable(
      "run --resume r",
      "--resume: r: barrier/central/sim/groups_at_once: got 6, expected cases to be 5, as "
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
  ASSERT_EQ(rankcheck("run s.json --report r").status, 1);
  pin("collectives/all_reduce",
      "flipped_bit",
      json::parse(faulty)
          .patch(json::parse(R"([{"op":"replace","path":"/count","value":5}])"))
          .dump());
  expect_unable("run --resume r",
                "/flipped_bit: got 5, expected case.count to be 4, as when the run began: suites, "
                "pinned cases or backends have changed");
}

TEST_F(CliResumeTest, RunOfAnotherVersionIsRefused) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  change_journal("r/journal.jsonl", R"("rankcheck":)", R"("rankcheck":"0.0","before":)");
  expect_unable("run --resume r", R"(, expected rankcheck to be "0.0", as when the run began)");
}

TEST_F(CliResumeTest, JournalWithoutChecksumsIsOnlyReported) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  const std::string journal = harness::without_checksums(text_of("r/journal.jsonl"));
  harness::write_file(path_to("r/journal.jsonl"), journal);
  expect_same_reports();
  expect_unable("run --resume r", "--resume: r: journal.jsonl: line 1: has no checksum, crc32");
  EXPECT_EQ(text_of("r/journal.jsonl"), journal);
}

TEST_F(CliResumeTest, LineThatChangedIsRefused) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  std::string journal = text_of("r/journal.jsonl");
  const std::size_t digit = journal.find(R"("compared_bytes":)") + 17;
  journal[digit] = static_cast<char>(journal[digit] ^ 1);
  harness::write_file(path_to("r/journal.jsonl"), journal);
  for (const char* command : {"run --resume r", "report r"}) {
    expect_unable(command, "r/journal.jsonl: line 2: crc32: got \"");
  }
  EXPECT_EQ(text_of("r/journal.jsonl"), journal);
}

TEST_F(CliResumeTest, SuiteByARelativePathIsFoundFromAnywhere) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  EXPECT_EQ(report("r")["run"]["suites"], json::array({"s.json"}));
  fs::create_directory(path_to("elsewhere"));
  Outcome outcome = shell("cd elsewhere && " + program_ + " run --resume ../r");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = shell("cd elsewhere && " + program_ + " run ../s.json --resume ../r");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report("r")["run"]["suites"], json::array({"s.json"}));
}

TEST_F(CliResumeTest, SuiteOfTheSameNameElsewhereIsRefused) {
  write_work(5);
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  fs::create_directory(path_to("elsewhere"));
  fs::copy(path_to("s.json"), path_to("elsewhere/s.json"));
  const Outcome outcome = shell("cd elsewhere && " + program_ + " run s.json --resume ../r");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("expected suites to be"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace rankcheck
