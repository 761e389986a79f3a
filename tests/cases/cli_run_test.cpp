#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;
using tests::quick;

/// `rankcheck run`, its reports, and how a run is resumed.
class CliRunTest : public tests::CliTest {
 protected:
  /// A run with several units, so that there is something to resume.
  const std::string long_run_ = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";

  /// Expects that a resumed run reports what an uninterrupted one does.
  void expect_resumes_to_whole(const std::string& folder) {
    passes("run --resume " + folder);
    EXPECT_EQ(report(folder)["environment"]["resumed"], true);
    if (!exists("whole")) once(long_run_ + "--report whole", "whole");
    EXPECT_EQ(results(folder), results("whole"));
  }

  /// Writes a suite whose only unit covers too few of the required cells.
  void write_vacuous_suite() {
    write_suite(
        R"("operation":"broadcast","algorithm":"binomial","property":"agrees_with_reference",)"
        R"("cases":2,"require_all_cells":true)");
  }
};

TEST_F(CliRunTest, RunStartsWithItsSeedAndEndsWithTheOutcomes) {
  const Outcome outcome = passes(quick + "--seed 42 --timeout 7 --report r");
  EXPECT_EQ(outcome.first_line(), "seed 42");
  EXPECT_EQ(outcome.last_line(), "1 finding: 1 passed");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(report("r")["environment"]["timeout_s"], 7);
}

TEST_F(CliRunTest, VerdictComesFirstAtTheEndThenFailuresThenTheTable) {
  write_vacuous_suite();
  const Outcome outcome = fails("run s.json");
  const std::size_t verdict = outcome.out.find("\nFailed: 1 failed (1 vacuous), of 1 unit.\n");
  const std::size_t failure =
      outcome.out.find("\nvacuous broadcast/binomial/sim/agrees_with_reference\n");
  const std::size_t table = outcome.out.find("\noperation  backend  cases");
  EXPECT_LT(verdict, failure) << outcome.out;
  EXPECT_LT(failure, table) << outcome.out;
  EXPECT_LT(table, outcome.out.size()) << outcome.out;
  EXPECT_LE(harness::widest_line(outcome.out), 100U) << outcome.out;
  EXPECT_FALSE(has(outcome.out, "\x1b")) << "colours are for terminals";
}

TEST_F(CliRunTest, QuietPrintsTheVerdictAndTheFailures) {
  EXPECT_EQ(passes(quick + "--quiet").out, "Everything passed: 1 passed, of 1 unit.\n");
  write_vacuous_suite();
  const Outcome failed = rankcheck("run s.json --quiet");
  EXPECT_EQ(failed.first_line(), "Failed: 1 failed (1 vacuous), of 1 unit.");
  EXPECT_TRUE(has(failed.out, "\nvacuous broadcast/"));
  EXPECT_FALSE(has(failed.out, "seed "));
}

TEST_F(CliRunTest, EveryRunHasAFolderOfItsOwn) {
  passes(quick);
  passes(quick);
  int reports = 0;
  for (const auto& folder : fs::directory_iterator(path_to("rankcheck-report"))) {
    reports += fs::exists(folder.path() / "junit.xml") ? 1 : 0;
  }
  EXPECT_EQ(reports, 2);
}

TEST_F(CliRunTest, FolderThatHoldsARunIsLeftAlone) {
  passes(quick + "--report r --seed 1");
  const std::string before = text_of("r/journal.jsonl");
  expect_unable(quick + "--report r --seed 2", "r: contains a run: use --resume or choose another");
  expect_unable("run --resume r --cases 61", "expected cases to be 60");
  EXPECT_EQ(text_of("r/journal.jsonl"), before);
  EXPECT_EQ(report("r")["run"]["seed"], 1);
}

TEST_F(CliRunTest, FolderThatHoldsARunIsReplacedOnRequest) {
  const std::string again = quick + "--report r --overwrite --seed ";
  passes(again + "1");  // there is nothing to replace
  harness::write_file(path_to("r/summary.md.1.tmp"), "half of a summary");
  harness::write_file(path_to("r/bench.json"), "measurements of the run that is replaced");
  passes(again + "2");
  EXPECT_EQ(report("r")["run"]["seed"], 2);
  EXPECT_FALSE(exists("r/summary.md.1.tmp"));
  EXPECT_FALSE(exists("r/bench.json"));
  harness::write_file(path_to("r/thesis.md"), "years of work");
  expect_unable(again + "3",
                "--overwrite: r: found thesis.md, expected a folder that holds the report of a run "
                "and nothing else");
  EXPECT_EQ(report("r")["run"]["seed"], 2);
  EXPECT_EQ(text_of("r/thesis.md"), "years of work");
}

TEST_F(CliRunTest, FailureIsReplayedAsOftenAsToldTo) {
  const std::string wrong = "run --type int32 " + tests::with_bug;
  const Outcome outcome = fails(wrong + "--replays 2 --report r");
  EXPECT_TRUE(outcome.says("the smallest case, which failed in 2 of 2 replays"));
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(report("r")["environment"]["replays"], 2);
  EXPECT_EQ(report("r")["findings"][0]["replays"], 2);
  EXPECT_EQ(report("r")["findings"][0]["replays_failed"], 2);
  fails(wrong + "--report s");
  EXPECT_FALSE(report("s")["environment"].contains("replays"));
  EXPECT_EQ(report("s")["findings"][0]["replays"], 5);
}

TEST_F(CliRunTest, CyclingSuiteReachesEveryUnitBeforeItGoesIntoDepth) {
  const Outcome outcome =
      clocked(0.01,
              "run deep --operation all_reduce --property agrees_with_reference --backend sim "
              "--time-budget 5 --report r");
  EXPECT_FALSE(findings("r").empty());
  for (const json& finding : findings("r")) {
    EXPECT_GT(finding["cases"], 0) << finding["id"] << outcome.out;
  }
}

TEST_F(CliRunTest, ChecksThatNoCaseExistsOfAreLeftOutAndNamed) {
  const Outcome outcome =
      rankcheck("run --backend sim --operation 'b*' --ranks 1 --type int8 --cases 3 --report r");
  EXPECT_TRUE(outcome.says("left out, because no such case exists: b"));
}

TEST_F(CliRunTest, TimeThatIsOverIsNeitherRedNorGreen) {
  const Outcome outcome = rankcheck(quick + "--time-budget 0.000001", 2);
  EXPECT_TRUE(has(outcome.out, "ended early (time_over), 1 unit was not run"));
  const std::size_t hint = outcome.out.find("to continue: " + program_ + " run --resume");
  ASSERT_NE(hint, std::string::npos) << outcome.out;
  const std::string option = " --time-budget ";
  const std::size_t number = outcome.out.find(option, hint) + option.size();
  EXPECT_GE(std::atoi(outcome.out.c_str() + number), 1) << "can be pasted: " << outcome.out;
}

TEST_F(CliRunTest, TwoRunsOfOneSeedDifferInTheEnvironmentAlone) {
  passes(long_run_ + "--report a --jobs 1");
  passes(long_run_ + "--report b --jobs 2");
  EXPECT_NE(report("a")["environment"], report("b")["environment"]);
  EXPECT_EQ(results("a"), results("b"));
}

TEST_F(CliRunTest, ChoosesTheNumberOfJobsUnlessTold) {
  const std::string arguments = "run --operation barrier --cases 3 --require-ranks 1 ";
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  passes(arguments + "--backend sim --report a");
  EXPECT_EQ(report("a")["environment"]["jobs"], std::clamp(processors, 1, 4));
  passes(arguments + "--backend sim --jobs 3 --report b");
  EXPECT_EQ(report("b")["environment"]["jobs"], 3);
  const std::string command = "--backend command:" RANKCHECK_BINARY_DIR "/subjects/threads ";
  passes(arguments + command + "--report c");
  EXPECT_EQ(report("c")["environment"]["jobs"], 1) << "a program of the user is started once";
}

TEST_F(CliRunTest, KilledRunResumesToWhatAnUninterruptedOneReports) {
  // The program reads its clock about four times for each unit.
  shell("RANKCHECK_TESTS_READINGS_MAX=20 " + clocked_ + ' ' + long_run_ + "--report r", 128 + 9);
  ASSERT_FALSE(exists("r/report.json"));
  const std::string journal = text_of("r/journal.jsonl");
  EXPECT_GE(std::count(journal.begin(), journal.end(), '\n'), 3) << "the header and two findings";
  expect_resumes_to_whole("r");
}

#ifndef __SANITIZE_THREAD__
// The thread sanitizer itself writes a file of half a megabyte when it starts.
TEST_F(CliRunTest, DiskThatFillsIsOneClearLineAndTheRunResumes) {
  // The block of `ulimit -f` is 512 or 1024 bytes, depending on the shell.
  expect_one_line(shell("(ulimit -f 60; exec " + program_ + ' ' + long_run_ + "--report r)", 2),
                  "rankcheck: cannot write: r/journal.jsonl: ");
  expect_resumes_to_whole("r");
}
#endif

TEST_F(CliRunTest, CellsOfABackendThatIsNotThereAreSkippedWithTheReason) {
  write_entries({R"("operation":"broadcast","algorithm":"binomial","backends":["sim"],"cases":5,)"
                 R"("property":"agrees_with_reference","require_all_cells":false)",
                 R"("operation":"broadcast","backends":["cuda"])"});
  surroundings_ = "CUDA_VISIBLE_DEVICES= ";
  const Outcome outcome = passes("run s.json --report r");
  EXPECT_TRUE(
      has(outcome.out, "backend cuda is skipped: ", "\ncuda did not run (1 unit skipped): "));
  EXPECT_TRUE(has(outcome.last_line(), "1 skipped (1 backend_unavailable)"));
  EXPECT_NE(report("r")["environment"]["unavailable_backends"]["cuda"], "");
  // A backend that the user names must be available.
  expect_unable("run s.json --backend cuda", "rankcheck: backend: cuda: cannot run here");
}

TEST_F(CliRunTest, ReportOfAnIncompleteRunIsNotSuccess) {
  passes("run --backend sim --operation 'b*' --cases 5 --report r");
  // The end and the last finding.
  forget_lines("r", 2);
  expect_unable(
      "report r",
      "r: ended early (killed), 1 unit was not run; to continue: " + program_ + " run --resume r");
  EXPECT_EQ(report("r")["exit_status"], 2);
}

TEST_F(CliRunTest, EntryOfASuiteThatSelectsNothingIsNamed) {
  write_entries({R"("backends":["sim"])", R"("backends":["sim"],"operation":"nope")"});
  expect_unable("run s.json", "suite: s.json: entries[1]: matches no check");
}

TEST_F(CliRunTest, EntryForAlgorithmsThatALibraryMayLackMaySelectNothing) {
  write_entries({R"("backends":["sim"],"operation":"gather","cases":5,"require_all_cells":false)",
                 R"("backends":["sim"],"algorithm":"nope_*")"});
  passes("run s.json --report r");
}

TEST_F(CliRunTest, EntryWithoutCasesLeavesUnitsOut) {
  const std::string some = R"("cases":5,"require_all_cells":false,"backends":["sim"],"operation":)";
  write_entries({some + R"("gather")",
                 some + R"("broadcast")",
                 R"("backends":["sim"],"operation":"b*t","cases":0)"});
  passes("run s.json --report r");
  for (const json& each : findings("r")) {
    EXPECT_EQ(each.at("unit").at("operation"), "gather") << each;
  }
  // A number of cases for the whole run does not bring them back.
  EXPECT_EQ(rankcheck("run s.json --operation broadcast --cases 5 --report other").status, 2);
}

TEST_F(CliRunTest, DamagedJournalIsNamedWithItsLine) {
  passes(quick + "--report r");
  const std::string journal = text_of("r/journal.jsonl");
  const auto damage = [&](const std::string& from, const std::string& to) {
    harness::write_file(path_to("r/journal.jsonl"), journal);
    change_journal("r/journal.jsonl", from, to);
  };
  damage(R"("verdict":"passed")", R"("verdict":"past")");
  expect_unable("report r", "r/journal.jsonl: line 2: ");
  damage(R"("cases":60)", R"("cases":[])");
  expect_unable("run --resume r", "--resume: r: journal.jsonl: line 1: ");
}

TEST_F(CliRunTest, RunsThatCouldNotBeMadeSayWhyOnStderr) {
  passes("run --backend sim --operation barrier --cases 5 --report run");
  change_journal("run/journal.jsonl",
                 R"("verdict":"passed")",
                 R"("verdict":"errored","reason":"no such thing")");
  expect_unable("report run", "run: could not be checked: barrier/");
}

TEST_F(CliRunTest, CommitIsASeed) {
  // The test brings its own git, because the machine may have none.
  const Outcome outcome = shell(
      "printf '#!/bin/sh\\necho 0123456789abcdef0123456789abcdef01234567\\n' > git && "
      "chmod +x git && PATH=$PWD:$PATH && " +
          program_ + ' ' + quick + "--seed commit",
      0);
  EXPECT_EQ(outcome.first_line(), "seed " + std::to_string(0x0123456789ab));
}

/// How `rankcheck run` selects suites and units, and how options and pinned cases narrow them.
class CliSelectionTest : public tests::CliTest {
 protected:
  std::set<std::string> backends_of(const std::string& folder) {
    std::set<std::string> all;
    for (const json& finding : findings(folder)) all.insert(finding["unit"]["backend"]);
    return all;
  }
};

TEST_F(CliSelectionTest, OptionsWithoutASuiteNarrowSmoke) {
  // The run reports smoke's backends, whether or not they are available here.
  (void)rankcheck("run --operation barrier --cases 1 --report r");
  EXPECT_EQ(report("r")["run"]["suites"], json({"smoke"}));
  EXPECT_EQ(backends_of("r"), (std::set<std::string>{"cuda", "mpi", "nccl", "sim"}));
}

TEST_F(CliSelectionTest, SecondLineNamesSuiteAndBackends) {
  const Outcome outcome =
      rankcheck("run --operation barrier --algorithm central --cases 1 --backend sim");
  EXPECT_TRUE(
      begins(outcome.out, outcome.first_line() + "\nsuite smoke: 3 units on sim, at most 3 cases"));
}

TEST_F(CliSelectionTest, AllIsEveryCheckOnSim) {
  passes("run all --operation barrier --cases 1 --report r");
  EXPECT_EQ(backends_of("r"), std::set<std::string>{"sim"});
}

TEST_F(CliSelectionTest, SeveralPatternsAreAListInTheReport) {
  (void)rankcheck(
      "run --operation barrier,broadcast --algorithm 'c*' --backend sim --cases 1 "
      "--report r");
  EXPECT_EQ(report("r")["run"]["operation"], json({"barrier", "broadcast"}));
  EXPECT_EQ(report("r")["run"]["algorithm"], "c*");
  EXPECT_EQ(harness::complaints(report("r")), "");
}

TEST_F(CliSelectionTest, TimeLimitOfASuiteIsNotForOtherNumbersOfCases) {
  write_entries({R"("backends":["sim"],"operation":"barrier")"}, R"("time_limit_s":1e-6,)");
  EXPECT_EQ(rankcheck("run s.json").status, 2);
  passes("run s.json --cases 1");
}

TEST_F(CliSelectionTest, NothingIsOpenedForWhatOptionsLeaveOut) {
  // Smoke has no such algorithm for mpi, so its launcher, which would fail, is not started.
  with("RANKCHECK_MPIEXEC=/bin/false", "run --operation barrier --algorithm central --cases 1", 0);
}

TEST_F(CliSelectionTest, WhatIsRequiredAndNotOfferedIsVacuous) {
  write_suite(R"("operation":"barrier","cases":30)");
  passes("run s.json --require 'barrier/*' --report offered");
  const Outcome outcome =
      fails("run s.json --require 'barrier/*' --require 'broadcast/f32/*' --report r");
  EXPECT_TRUE(has(outcome.last_line(), "1 vacuous")) << outcome.out;
  const json all = findings("r");
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& each) {
    return each.at("id") == "broadcast/*/sim/*";
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->at("reason"), "required, and the backend does not have the operation");
  EXPECT_EQ(harness::complaints(report("r")), "");
  fails("report r");
}

TEST_F(CliSelectionTest, RequiredCellsAreCoveredByEveryUnit) {
  write_suite(R"("operation":"broadcast","algorithm":"chain","cases":200)");
  passes("run s.json --require 'broadcast/site/chunked' --report chain");
  write_suite(R"("operation":"broadcast","algorithm":"binomial","cases":200)");
  const Outcome outcome = fails("run s.json --require 'broadcast/site/chunked' --report binomial");
  EXPECT_TRUE(outcome.says("first site/chunked, which is not offered"));
  // Refused cells are reported without --require, too.
  EXPECT_TRUE(rankcheck("run s.json --report r").says("not offered by their backends"));
  passes("report r");
}

TEST_F(CliSelectionTest, UnitsAreListedAndSelected) {
  const std::string run = "run --operation barrier --algorithm central --backend sim ";
  const json units = json_of(run + "--require-ranks 3 --list-units");
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[0]["ranks_required"], 3);
  EXPECT_FALSE(exists("reports"));
  const std::string id = units[1]["id"];
  for (const std::string& selected : {id, "*/" + std::string(units[1]["property"])}) {
    passes(run + "--cases 5 --unit '" + selected + "' --overwrite --report r");
    ASSERT_EQ(findings("r").size(), 1U);
    EXPECT_EQ(findings("r")[0]["id"], id);
    EXPECT_EQ(harness::complaints(report("r")), "");
  }
}

TEST_F(CliSelectionTest, RanksThatAreRequiredMustBeReached) {
  fails(
      "run --operation barrier --backend sim --cases 5 --ranks 1..2 --require-ranks 3 --report r");
  EXPECT_EQ(report("r")["findings"][0]["verdict"], "vacuous");
}

/// Pinned cases of an installed program that has no other cases.
class CliPinnedTest : public tests::CliTest {
 protected:
  CliPinnedTest() { install(); }

  /// Returns the names of the pinned cases that a run reports.
  std::set<std::string> pinned_in(const std::string& folder) {
    std::set<std::string> names;
    for (const json& finding : findings(folder)) {
      if (finding["unit"].contains("pinned")) names.insert(finding["unit"]["pinned"]);
    }
    return names;
  }
};

const std::string sum_of_two =
    R"({"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":2,"count":4,)"
    R"("type":"f32","op":"sum"})";

const std::string padding =
    R"({"operation":"pad","algorithm":"pixelwise","backend":"sim","ranks":2,"counts":[1,2],)"
    R"("rows":5,"cols":4,"window":2,"detector":3,"input":"exact"})";

TEST_F(CliPinnedTest, CasesOfOperatorsAreRun) {
  pin("ptycho/pad", "two_frames", padding);
  write_suite(R"("operation":"pad","cases":2,"require_all_cells":false)");
  passes("run s.json --report r");
  EXPECT_EQ(pinned_in("r"), std::set<std::string>{"pad/two_frames"});
}

TEST_F(CliPinnedTest, CasesThatCannotBeReadAreAnErrorAndNotNone) {
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  fs::remove_all(cases());
  expect_unable("run s.json --report r", "cannot read: ");
  expect_unable("run smoke", "cannot read: ");
}

TEST_F(CliPinnedTest, CasesOfOtherOperationsRanksAndTypesAreLeftOut) {
  pin("collectives/all_reduce", "sum_of_two", sum_of_two);
  write_suite(R"("operation":"b*","algorithm":"binomial","cases":2,"require_all_cells":false)");
  passes("run s.json --report other");
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":2,"require_all_cells":false)");
  passes("run s.json --ranks 3..3 --report three");
  passes("run s.json --type f64 --report f64");
  for (const char* folder : {"other", "three", "f64"}) {
    EXPECT_EQ(pinned_in(folder), std::set<std::string>{}) << folder;
  }
  passes("run s.json --ranks 2..3 --report two");
  EXPECT_EQ(pinned_in("two"), std::set<std::string>{"all_reduce/sum_of_two"});
}

TEST_F(CliPinnedTest, BrokenCaseIsNamed) {
  pin("collectives/all_reduce", "torn", "{");
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  expect_unable("run s.json", "pinned/torn.json: ");
}

}  // namespace
}  // namespace rankcheck
