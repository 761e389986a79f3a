#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using harness::read_file;
using nlohmann::json;
using tests::Outcome;
using tests::quick;

/// `rankcheck run`, its reports, and how a run is resumed.
class CliRunTest : public tests::CliTest {};

TEST_F(CliRunTest, RunStartsWithItsSeedAndEndsWithTheOutcomes) {
  const Outcome outcome = rankcheck(quick + "--seed 42");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.first_line(), "seed 42");
  EXPECT_EQ(outcome.last_line(), "1 finding: 1 passed");
}

TEST_F(CliRunTest, VerdictComesFirstAtTheEndThenFailuresThenTheTable) {
  write_suite(
      R"("operation":"broadcast","algorithm":"binomial","property":"agrees_with_reference",)"
      R"("cases":2,"require_all_cells":true)");
  const Outcome outcome = rankcheck("run s.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const std::size_t verdict = outcome.out.find("\nFailed: 1 failed (1 vacuous), of 1 unit.\n");
  const std::size_t failure =
      outcome.out.find("\nvacuous broadcast/binomial/sim/agrees_with_reference\n");
  const std::size_t table = outcome.out.find("\noperation  backend  cases");
  EXPECT_LT(verdict, failure) << outcome.out;
  EXPECT_LT(failure, table) << outcome.out;
  EXPECT_LT(table, outcome.out.size()) << outcome.out;
  EXPECT_LE(harness::widest_line(outcome.out), 100U) << outcome.out;
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "colours are for terminals";
}

TEST_F(CliRunTest, QuietPrintsTheVerdictAndTheFailures) {
  const Outcome outcome = rankcheck(quick + "--quiet");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Everything passed: 1 passed, of 1 unit.\n");
  write_suite(
      R"("operation":"broadcast","algorithm":"binomial","property":"agrees_with_reference",)"
      R"("cases":2,"require_all_cells":true)");
  const Outcome failed = rankcheck("run s.json --quiet");
  EXPECT_EQ(failed.first_line(), "Failed: 1 failed (1 vacuous), of 1 unit.");
  EXPECT_NE(failed.out.find("\nvacuous broadcast/"), std::string::npos) << failed.out;
  EXPECT_EQ(failed.out.find("seed "), std::string::npos) << failed.out;
}

TEST_F(CliRunTest, EveryRunHasAFolderOfItsOwn) {
  ASSERT_EQ(rankcheck(quick).status, 0);
  ASSERT_EQ(rankcheck(quick).status, 0);
  int reports = 0;
  for (const auto& folder : fs::directory_iterator(path_to("rankcheck-report"))) {
    reports += fs::exists(folder.path() / "junit.xml") ? 1 : 0;
  }
  EXPECT_EQ(reports, 2);
}

TEST_F(CliRunTest, FolderThatHoldsARunIsLeftAlone) {
  ASSERT_EQ(rankcheck(quick + "--report r --seed 1").status, 0);
  const std::string before = text_of("r/journal.jsonl");
  expect_unable(quick + "--report r --seed 2", "r: contains a run: use --resume or choose another");
  EXPECT_EQ(text_of("r/journal.jsonl"), before);
  EXPECT_EQ(report("r")["run"]["seed"], 1);
}

TEST_F(CliRunTest, FolderThatHoldsARunIsReplacedOnRequest) {
  const std::string again = quick + "--report r --overwrite --seed ";
  ASSERT_EQ(rankcheck(again + "1").status, 0) << "there is nothing to replace";
  harness::write_file(path_to("r/summary.md.1.tmp"), "half of a summary");
  harness::write_file(path_to("r/bench.json"), "measurements of the run that is replaced");
  ASSERT_EQ(rankcheck(again + "2").status, 0);
  EXPECT_EQ(report("r")["run"]["seed"], 2);
  EXPECT_FALSE(exists("r/summary.md.1.tmp"));
  EXPECT_FALSE(exists("r/bench.json"));
  harness::write_file(path_to("r/thesis.md"), "years of work");
  expect_unable(again + "3",
                "--overwrite: r: found thesis.md, expected a folder that holds the report of a run "
                "and nothing else");
  EXPECT_EQ(report("r")["run"]["seed"], 2);
  EXPECT_EQ(text_of("r/thesis.md"), "years of work");
  expect_unable(quick + "--overwrite", "--overwrite: there is no --report DIR");
  expect_unable("run hardware --report r --overwrite",
                "--overwrite: a gate may have taken hours, so its report is not replaced: "
                "expected a new folder for --report, or --quick");
}

TEST_F(CliRunTest, FewerCasesThanCellsAreEnoughWhereTheyWereAskedFor) {
  const Outcome outcome = rankcheck(
      "run --operation all_reduce --algorithm ring "
      "--property agrees_with_reference --cases 2");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(CliRunTest, ReportOfARunFollowsTheSchema) {
  ASSERT_EQ(rankcheck(quick + "--timeout 7 --report r").status, 0);
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(report("r")["environment"]["timeout_s"], 7);
}

TEST_F(CliRunTest, FailureIsReplayedAsOftenAsToldTo) {
  const std::string wrong =
      "run --operation all_reduce --property agrees_with_reference --type int32 --ranks 2 "
      "--cases 20 --backend 'command:" RANKCHECK_BINARY_DIR
      "/subjects/every_operation --bug last_element' ";
  const Outcome outcome = rankcheck(wrong + "--replays 2 --report r");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(outcome.says("the smallest case, which failed in 2 of 2 replays")) << outcome.out;
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(report("r")["environment"]["replays"], 2);
  EXPECT_EQ(report("r")["findings"][0]["replays"], 2);
  EXPECT_EQ(report("r")["findings"][0]["replays_failed"], 2);
  EXPECT_EQ(rankcheck(wrong + "--report s").status, 1);
  EXPECT_FALSE(report("s")["environment"].contains("replays"));
  EXPECT_EQ(report("s")["findings"][0]["replays"], 5);
}

TEST_F(CliRunTest, InterruptedRunLeavesAReportThatCanBeResumed) {
  const Outcome outcome = interrupt_when_it_says(
      "report in r\n", "run --backend sim --cases 1000000 --operation 'all_*' --report r");
  EXPECT_EQ(outcome.status, 130) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("rankcheck run --resume r"), std::string::npos) << outcome.out;
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CliRunTest, CyclingSuiteRunsUntilItsTimeIsOver) {
  const std::string arguments =
      "run deep --operation broadcast --algorithm binomial --backend sim --cases 10 ";
  const Outcome outcome = clocked(0.01, arguments + "--time-budget 3 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_GT(report("r")["environment"]["rounds"], 1);
}

TEST_F(CliRunTest, CyclingSuiteReachesEveryUnitBeforeItGoesIntoDepth) {
  const Outcome outcome =
      clocked(0.01,
              "run deep --operation all_reduce --property agrees_with_reference --backend sim "
              "--time-budget 5 --report r");
  const json findings = report("r")["findings"];
  EXPECT_FALSE(findings.empty());
  for (const json& finding : findings) {
    EXPECT_GT(finding["cases"], 0) << finding["id"] << outcome.out;
  }
}

TEST_F(CliRunTest, ChecksThatNoCaseExistsOfAreLeftOutAndNamed) {
  const Outcome outcome =
      rankcheck("run --backend sim --operation 'b*' --ranks 1 --type int8 --cases 3 --report r");
  EXPECT_TRUE(outcome.says("left out, because no such case exists: b")) << outcome.out;
}

TEST_F(CliRunTest, TimeThatIsOverIsNeitherRedNorGreen) {
  const Outcome outcome = rankcheck(quick + "--time-budget 0.000001");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.out.find("ended early (time_over), 1 unit was not run"), std::string::npos)
      << outcome.out;
  const std::size_t hint = outcome.out.find("to continue: " + program_ + " run --resume");
  ASSERT_NE(hint, std::string::npos) << outcome.out;
  const std::string option = " --time-budget ";
  const std::size_t number = outcome.out.find(option, hint) + option.size();
  EXPECT_GE(std::atoi(outcome.out.c_str() + number), 1) << "can be pasted: " << outcome.out;
}

TEST_F(CliRunTest, TwoRunsOfOneSeedDifferInTheEnvironmentAlone) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(rankcheck(arguments + "--report a --jobs 1").status, 0);
  ASSERT_EQ(rankcheck(arguments + "--report b --jobs 2").status, 0);
  json a = report("a");
  json b = report("b");
  EXPECT_NE(a["environment"], b["environment"]);
  a.erase("environment");
  b.erase("environment");
  EXPECT_EQ(a, b);
}

TEST_F(CliRunTest, ChoosesTheNumberOfJobsUnlessTold) {
  const std::string arguments = "run --operation barrier --cases 3 --require-ranks 1 ";
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  ASSERT_EQ(rankcheck(arguments + "--backend sim --report a").status, 0);
  EXPECT_EQ(report("a")["environment"]["jobs"], std::clamp(processors, 1, 4));
  ASSERT_EQ(rankcheck(arguments + "--backend sim --jobs 3 --report b").status, 0);
  EXPECT_EQ(report("b")["environment"]["jobs"], 3);
  const std::string command = "--backend command:" RANKCHECK_BINARY_DIR "/subjects/threads ";
  ASSERT_EQ(rankcheck(arguments + command + "--report c").status, 0);
  EXPECT_EQ(report("c")["environment"]["jobs"], 1) << "a program of the user is started once";
}

TEST_F(CliRunTest, ResumedRunReportsWhatAnUninterruptedOneDoes) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(once(arguments + "--report whole", "whole").status, 0);
  json whole = report("whole");
  // Keeps half of the journal and a line that the kill cut off.
  const std::string journal = text_of("whole/journal.jsonl");
  const std::size_t half = journal.find('\n', journal.size() / 2);
  fs::create_directory(path_to("killed"));
  harness::write_file(path_to("killed/journal.jsonl"), journal.substr(0, half + 20));
  ASSERT_EQ(rankcheck("run --resume killed").status, 0);
  json resumed = report("killed");
  EXPECT_EQ(resumed["environment"]["resumed"], true);
  whole.erase("environment");
  resumed.erase("environment");
  EXPECT_EQ(whole, resumed);
}

TEST_F(CliRunTest, KilledRunResumesToWhatAnUninterruptedOneReports) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(once(arguments + "--report whole", "whole").status, 0);
  json whole = report("whole");
  // The program reads its clock about four times for each unit.
  const Outcome killed =
      shell("RANKCHECK_TESTS_READINGS_MAX=20 " + clocked_ + ' ' + arguments + "--report r");
  ASSERT_EQ(killed.status, 128 + 9) << killed.out << killed.err;
  ASSERT_FALSE(exists("r/report.json"));
  const std::string journal = text_of("r/journal.jsonl");
  EXPECT_GE(std::count(journal.begin(), journal.end(), '\n'), 3) << "the header and two findings";
  ASSERT_EQ(rankcheck("run --resume r").status, 0);
  json resumed = report("r");
  whole.erase("environment");
  resumed.erase("environment");
  EXPECT_EQ(whole, resumed);
}

TEST_F(CliRunTest, DiskThatFillsIsOneClearLineAndTheRunResumes) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(once(arguments + "--report whole", "whole").status, 0);
  json whole = report("whole");
  // The block of `ulimit -f` is 512 or 1024 bytes, depending on the shell.
  const Outcome full = shell("(ulimit -f 60; exec " + program_ + ' ' + arguments + "--report r)");
  EXPECT_EQ(full.status, 2) << full.out;
  EXPECT_NE(full.err.find("rankcheck: cannot write: r/journal.jsonl: "), std::string::npos)
      << full.err;
  EXPECT_EQ(std::count(full.err.begin(), full.err.end(), '\n'), 1) << full.err;
  ASSERT_EQ(rankcheck("run --resume r").status, 0);
  json resumed = report("r");
  whole.erase("environment");
  resumed.erase("environment");
  EXPECT_EQ(whole, resumed);
}

TEST_F(CliRunTest, ResumeWithOtherOptionsIsRefused) {
  ASSERT_EQ(rankcheck(quick + "--report r").status, 0);
  expect_unable("run --resume r --cases 61", "expected cases to be 60");
}

/// Devices are hidden from the program, if the machine has any.
TEST_F(CliRunTest, GateForHardwareRefusesToBeginWithoutADevice) {
  const Outcome outcome =
      shell("CUDA_VISIBLE_DEVICES= " + program_ + " run hardware --time-budget 1 --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find("rankcheck: gate hardware: backend cuda: "), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliRunTest, CellsOfABackendThatIsNotThereAreSkippedWithTheReason) {
  harness::write_file(
      path_to("both.json"),
      R"({"name": "both", "summary": "", "entries": [{"operation": "broadcast", "cases": 5,
          "algorithm": "binomial", "property": "agrees_with_reference", "backends": ["sim"],
          "require_all_cells": false}, {"operation": "broadcast", "backends": ["cuda"]}]})");
  const std::string hidden = "CUDA_VISIBLE_DEVICES= " + program_ + " run both.json ";
  const Outcome outcome = shell(hidden + "--report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("backend cuda is skipped: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\ncuda did not run (1 unit skipped): "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.last_line().find("1 skipped (1 backend_unavailable)"), std::string::npos);
  EXPECT_NE(report("r")["environment"]["unavailable_backends"]["cuda"], "");
  // A backend that the user names must be available.
  const Outcome named = shell(hidden + "--backend cuda");
  EXPECT_EQ(named.status, 2);
  EXPECT_TRUE(named.err.starts_with("rankcheck: backend: cuda: cannot run here"));
  EXPECT_EQ(std::count(named.err.begin(), named.err.end(), '\n'), 1) << named.err;
}

TEST_F(CliRunTest, ReportOfAnIncompleteRunIsNotSuccess) {
  ASSERT_EQ(rankcheck("run --backend sim --operation 'b*' --cases 5 --report r").status, 0);
  const fs::path path = path_to("r/journal.jsonl");
  const std::string journal = read_file(path);
  // Removes the end and the last finding.
  const std::size_t end = journal.rfind('\n', journal.size() - 2);
  harness::write_file(path, journal.substr(0, journal.rfind('\n', end - 1) + 1));
  expect_unable(
      "report r",
      "r: ended early (killed), 1 unit was not run; to continue: " + program_ + " run --resume r");
  EXPECT_EQ(report("r")["exit_status"], 2);
}

TEST_F(CliRunTest, EntryOfASuiteThatSelectsNothingIsNamed) {
  harness::write_file(path_to("s.json"),
                      R"({"name":"s","summary":"s","entries":[{"backends":["sim"]},)"
                      R"({"backends":["sim"],"operation":"nope"}]})");
  expect_unable("run s.json", "suite: s.json: entries[1]: matches no check");
}

TEST_F(CliRunTest, EntryForAlgorithmsThatALibraryMayLackMaySelectNothing) {
  harness::write_file(path_to("s.json"),
                      R"({"name":"s","summary":"s","entries":[{"backends":["sim"],)"
                      R"("operation":"gather","cases":5,"require_all_cells":false},)"
                      R"({"backends":["sim"],"algorithm":"nope_*"}]})");
  EXPECT_EQ(rankcheck("run s.json --report r").status, 0);
}

TEST_F(CliRunTest, EntryWithoutCasesLeavesUnitsOut) {
  const std::string some = R"("cases":5,"require_all_cells":false,"backends":["sim"],)";
  harness::write_file(path_to("s.json"),
                      R"({"name":"s","summary":"s","entries":[{)" + some +
                          R"("operation":"gather"},{)" + some +
                          R"("operation":"broadcast"},)"
                          R"({"backends":["sim"],"operation":"b*t","cases":0}]})");
  EXPECT_EQ(rankcheck("run s.json --report r").status, 0);
  const nlohmann::json findings = report("r").at("findings");
  for (const nlohmann::json& each : findings)
    EXPECT_EQ(each.at("unit").at("operation"), "gather") << each;
  // A number of cases for the whole run does not bring them back.
  EXPECT_EQ(rankcheck("run s.json --operation broadcast --cases 5 --report other").status, 2);
}

TEST_F(CliRunTest, DamagedJournalIsNamedWithItsLine) {
  ASSERT_EQ(rankcheck(quick + "--report r").status, 0);
  const fs::path path = path_to("r/journal.jsonl");
  const std::string journal = read_file(path);
  const auto damage = [&](const std::string& from, const std::string& to) {
    harness::write_file(path, journal);
    change_journal("r/journal.jsonl", from, to);
  };
  damage(R"("verdict":"passed")", R"("verdict":"past")");
  expect_unable("report r", "r/journal.jsonl: line 2: ");
  damage(R"("cases":60)", R"("cases":[])");
  expect_unable("run --resume r", "--resume: r: journal.jsonl: line 1: ");
}

TEST_F(CliRunTest, UnwritableReportIsOneClearLine) {
  expect_unable(quick + "--report /dev/null/report", "cannot create the folder");
}

TEST_F(CliRunTest, CommitIsASeed) {
  // The test brings its own git, because the machine may have none.
  const Outcome outcome = shell(
      "printf '#!/bin/sh\\necho 0123456789abcdef0123456789abcdef01234567\\n' > git && "
      "chmod +x git && PATH=$PWD:$PATH && " +
      program_ + ' ' + quick + "--seed commit");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.first_line(), "seed " + std::to_string(0x0123456789ab));
}

TEST_F(CliRunTest, CommitOutsideOfGitIsOneClearLine) {
  expect_unable("run --seed commit", "--seed commit: ");
}

}  // namespace
}  // namespace rankcheck
