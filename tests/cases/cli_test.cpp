#include "tests/cases/cli.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/files.hpp"
#include "harness/table.hpp"

#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using harness::read_file;
using nlohmann::json;
using tests::Outcome;

class CommandLineTest : public tests::CliTest {};

/// One quick unit; tests append their own options.
const std::string quick =
    "run --backend sim --operation broadcast --algorithm binomial "
    "--property agrees_with_reference --cases 60 ";

TEST_F(CommandLineTest, TellsWhatAWorkerComplainsOfThatDoesNotRun) {
  install();
  const std::filesystem::path started = folder_.path() / "bin" / "rankcheck-worker-cuda";
  harness::write_file(started, "#!/bin/sh\necho libcufft.so.12: cannot open it >&2\nexit 127\n");
  std::filesystem::permissions(started, std::filesystem::perms::owner_all);
  const Outcome outcome = shell(program_ + " run smoke --backend cuda");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(
      outcome.err.find(
          "does not run (libcufft.so.12: cannot open it): install the libraries that it needs"),
      std::string::npos)
      << outcome.err;
}

TEST_F(CommandLineTest, SaysWhereItLooksForItsSuites) {
  install();
  std::filesystem::remove_all(path_to("share"));
  const std::string folder = std::filesystem::canonical(folder_.path());
  expect_unable("run smoke",
                "expected the folder " + folder + "/bin/share/rankcheck or " + folder +
                    "/share/rankcheck, found neither");
}

TEST_F(CommandLineTest, PrefersTheDataBesideItself) {
  install();
  const std::filesystem::path suites = path_to("bin/share/rankcheck/cases/suites");
  std::filesystem::create_directories(suites);
  std::filesystem::copy(cases() / "suites" / "ci.json", suites);
  expect_unable("run smoke", "suite: smoke: expected the path of a .json file or a suite of");
}

TEST_F(CommandLineTest, VersionSaysWhatIsBuiltIn) {
  install();
  write_script("bin/rankcheck-worker-cuda", "");
  const Outcome outcome = rankcheck("--version");
  EXPECT_EQ(outcome.status, 0);
  rankcheck(quick + "--report r");
  const json environment = report("r")["environment"];
  EXPECT_EQ(outcome.first_line(),
            "rankcheck " + environment["rankcheck"].get<std::string>() + " (commit " +
                environment["commit"].get<std::string>() + ')');
  EXPECT_NE(outcome.out.find("\nbackends    sim, cuda\n"), std::string::npos) << outcome.out;
  for (const char* each :
       {"\nbuilt with  ", "\ncuda        ", "\nnccl        ", "\nreconstruct ", "\nsanitizers  "}) {
    EXPECT_NE(outcome.out.find(each), std::string::npos) << each;
  }
  // Every line has something to say.
  EXPECT_NE(outcome.out.find(environment["built_with"].get<std::string>() + ", "),
            std::string::npos)
      << outcome.out;
  for (const char* nothing : {"  \n", ", \n"}) {
    EXPECT_EQ(outcome.out.find(nothing), std::string::npos) << outcome.out;
  }
}

TEST_F(CommandLineTest, VersionIsTheLatestInTheListOfChanges) {
  const std::string changes =
      harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / "CHANGELOG.md");
  const std::size_t latest = changes.find("\n## ") + 4;
  const std::string version = changes.substr(latest, changes.find(' ', latest) - latest);
  const std::string first_line = rankcheck("--version").first_line();
  EXPECT_EQ(first_line.find("rankcheck " + version + ' '), 0U) << first_line;
}

TEST_F(CommandLineTest, HelpNamesTheSubcommands) {
  const Outcome outcome = rankcheck("--help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* each :
       {"list", "run", "replay", "export", "audit", "report", "doctor", "bench", "simulate"}) {
    EXPECT_NE(outcome.out.find(each), std::string::npos) << each;
  }
}

TEST_F(CommandLineTest, ListIsJsonOnRequest) {
  const Outcome outcome = rankcheck("list --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json listing = json::parse(outcome.out);
  EXPECT_EQ(listing["backends"][0]["name"], "sim");
  EXPECT_GE(listing["operations"].size(), 15U);
  EXPECT_EQ(listing["suites"].size(), 5U);
}

TEST_F(CommandLineTest, DoctorDescribesTheMachine) {
  const Outcome outcome = rankcheck("doctor --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json said = json::parse(outcome.out);
  for (const char* each : {"system", "processor", "cxx", "nvcc", "mpirun", "cuda"}) {
    EXPECT_TRUE(said.contains(each)) << each;
  }
}

TEST_F(CommandLineTest, DoctorSaysOfAProgramThatFailsThatThereIsNone) {
  write_script("c++", "echo broken; exit 1\n");
  const Outcome outcome = shell("PATH=.:$PATH " + program_ + " doctor --json");
  EXPECT_EQ(json::parse(outcome.out).at("cxx"), "none");
}

TEST_F(CommandLineTest, DoctorHasALineForWhateverABackendLacks) {
  install();
  const std::string algorithms =
      R"("algorithms":[{"operation":"barrier","name":"central","summary":""}])";
  write_script("bin/rankcheck-worker-cuda",
               R"(echo '{"unavailable":"no driver","notes":["no cuFFT"],)" + algorithms + "}'\n");
  // It seems to be ready, and does not start.
  write_script(
      "bin/rankcheck-worker-nccl",
      R"([ "$1" != --describe ] || echo '{"unavailable":"",)" + algorithms + "}'\nexit 1\n");
  const Outcome outcome = rankcheck("doctor");
  EXPECT_NE(outcome.out.find("no    no driver\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("  no cuFFT\n"), std::string::npos) << outcome.out;
  const json said = json::parse(rankcheck("doctor --json").out);
  for (const json& each : said.at("backends")) {
    if (each.at("name") != "nccl") continue;
    EXPECT_FALSE(each.at("available"));
    EXPECT_NE(each.at("why_unavailable"), "");
  }
}

TEST_F(CommandLineTest, DoctorHearsASignalWhileItWaitsForAWorker) {
  install_silent_worker();
  std::filesystem::create_directory(path_to("t"));
  const Outcome outcome =
      shell("TMPDIR=$PWD/t timeout --preserve-status -s TERM 1 " + program_ + " doctor");
  EXPECT_EQ(outcome.status, 143) << outcome.out;
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before all backends answered\n");
  EXPECT_TRUE(std::filesystem::is_empty(path_to("t")));
}

TEST_F(CommandLineTest, RunStartsWithItsSeedAndEndsWithTheOutcomes) {
  const Outcome outcome = rankcheck(quick + "--seed 42");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.first_line(), "seed 42");
  EXPECT_EQ(outcome.last_line(),
            "1 findings: 1 passed, 0 falsified, 0 flaky, 0 hung, 0 crashed, 0 vacuous, 0 skipped, "
            "0 errored");
}

TEST_F(CommandLineTest, EveryRunHasAFolderOfItsOwn) {
  ASSERT_EQ(rankcheck(quick).status, 0);
  ASSERT_EQ(rankcheck(quick).status, 0);
  int reports = 0;
  for (const auto& folder : fs::directory_iterator(path_to("rankcheck-report"))) {
    reports += fs::exists(folder.path() / "junit.xml") ? 1 : 0;
  }
  EXPECT_EQ(reports, 2);
}

TEST_F(CommandLineTest, FolderThatHoldsARunIsLeftAlone) {
  ASSERT_EQ(rankcheck(quick + "--report r --seed 1").status, 0);
  const std::string before = text_of("r/journal.jsonl");
  expect_unable(quick + "--report r --seed 2", "r: contains a run: use --resume or choose another");
  EXPECT_EQ(text_of("r/journal.jsonl"), before);
  EXPECT_EQ(report("r")["run"]["seed"], 1);
}

TEST_F(CommandLineTest, FewerCasesThanCellsAreEnoughWhereTheyWereAskedFor) {
  const Outcome outcome = rankcheck(
      "run --operation all_reduce --algorithm ring "
      "--property agrees_with_reference --cases 2");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(CommandLineTest, ReportOfARunFollowsTheSchema) {
  ASSERT_EQ(rankcheck(quick + "--timeout 7 --report r").status, 0);
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(report("r")["environment"]["timeout_s"], 7);
}

TEST_F(CommandLineTest, InterruptedRunLeavesAReportThatCanBeResumed) {
  const Outcome outcome =
      interrupt_after_1_s("run --backend sim --cases 100000 --operation 'all_*' --report r");
  EXPECT_EQ(outcome.status, 130) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("rankcheck run --resume r"), std::string::npos) << outcome.out;
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CommandLineTest, CyclingSuiteRunsUntilItsTimeIsOver) {
  const std::string arguments = "run deep --operation broadcast --backend sim --cases 60 ";
  const Outcome outcome = rankcheck(arguments + "--time-budget 1 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_GT(report("r")["environment"]["rounds"], 1);
}

TEST_F(CommandLineTest, CyclingSuiteReachesEveryUnitBeforeItGoesIntoDepth) {
  const Outcome outcome =
      rankcheck("run deep --operation 'all_reduce' --backend sim --time-budget 5 --report r");
  const json findings = report("r")["findings"];
  EXPECT_FALSE(findings.empty());
  for (const json& finding : findings) {
    EXPECT_GT(finding["cases"], 0) << finding["id"] << outcome.out;
  }
}

TEST_F(CommandLineTest, ChecksThatNoCaseExistsOfAreLeftOutAndNamed) {
  const Outcome outcome =
      rankcheck("run --backend sim --operation 'b*' --ranks 1 --type int8 --cases 3 --report r");
  EXPECT_NE(outcome.out.find("left out, because no such case exists: b"), std::string::npos)
      << outcome.out;
}

TEST_F(CommandLineTest, TimeThatIsOverIsNeitherRedNorGreen) {
  const Outcome outcome = rankcheck(quick + "--time-budget 0.000001");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.out.find("ended early (time_over), 1 units were not run"), std::string::npos)
      << outcome.out;
  const std::size_t hint = outcome.out.find("to continue: " + program_ + " run --resume");
  ASSERT_NE(hint, std::string::npos) << outcome.out;
  const std::string option = " --time-budget ";
  const std::size_t number = outcome.out.find(option, hint) + option.size();
  EXPECT_GE(std::atoi(outcome.out.c_str() + number), 1) << "can be pasted: " << outcome.out;
}

TEST_F(CommandLineTest, TwoRunsOfOneSeedDifferInTheEnvironmentAlone) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(rankcheck(arguments + "--report a").status, 0);
  ASSERT_EQ(rankcheck(arguments + "--report b --jobs 2").status, 0);
  json a = report("a");
  json b = report("b");
  EXPECT_NE(a["environment"], b["environment"]);
  a.erase("environment");
  b.erase("environment");
  EXPECT_EQ(a, b);
}

TEST_F(CommandLineTest, ResumedRunReportsWhatAnUninterruptedOneDoes) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(rankcheck(arguments + "--report whole").status, 0);
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

/// A run of twenty units that takes a while.
const std::string lengthy = "run --backend sim --operation 'b*' --cases 1000 --seed 3 ";

TEST_F(CommandLineTest, KilledRunResumesToWhatAnUninterruptedOneReports) {
  ASSERT_EQ(rankcheck(lengthy + "--report whole").status, 0);
  json whole = report("whole");
  // The run is killed as soon as its journal has a few findings.
  const Outcome killed =
      shell("(" + program_ + ' ' + lengthy + "--report r >/dev/null & pid=$!; " +
            "for i in $(seq 2000); do sleep 0.01; " +
            "[ $(cat r/journal.jsonl 2>/dev/null | wc -l) -ge 4 ] && break; done; " +
            "kill -9 $pid; wait $pid)");
  ASSERT_EQ(killed.status, 128 + 9) << killed.out << killed.err;
  ASSERT_FALSE(exists("r/report.json"));
  ASSERT_EQ(rankcheck("run --resume r").status, 0);
  json resumed = report("r");
  whole.erase("environment");
  resumed.erase("environment");
  EXPECT_EQ(whole, resumed);
}

TEST_F(CommandLineTest, DiskThatFillsIsOneClearLineAndTheRunResumes) {
  const std::string arguments = "run --backend sim --operation 'b*' --cases 60 --seed 3 ";
  ASSERT_EQ(rankcheck(arguments + "--report whole").status, 0);
  json whole = report("whole");
  // The block of `ulimit -f` is 512 or 1024 bytes, depending on the shell.
  const Outcome full = shell("(ulimit -f 20; exec " + program_ + ' ' + arguments + "--report r)");
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

TEST_F(CommandLineTest, ResumeWithOtherOptionsIsRefused) {
  ASSERT_EQ(rankcheck(quick + "--report r").status, 0);
  expect_unable("run --resume r --cases 61", "--resume: r: expected cases to be 60");
}

/// Devices are hidden from the program, if the machine has any.
TEST_F(CommandLineTest, GateForHardwareRefusesToBeginWithoutADevice) {
  const Outcome outcome =
      shell("CUDA_VISIBLE_DEVICES= " + program_ + " run hardware --time-budget 1 --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find("rankcheck: gate hardware: backend cuda: "), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_FALSE(exists("r"));
}

TEST_F(CommandLineTest, CellsOfABackendThatIsNotThereAreSkippedWithTheReason) {
  harness::write_file(
      path_to("both.json"),
      R"({"name": "both", "summary": "", "entries": [{"operation": "broadcast", "cases": 5,
          "algorithm": "binomial", "property": "agrees_with_reference", "backends": ["sim"],
          "require_all_cells": false}, {"operation": "broadcast", "backends": ["cuda"]}]})");
  const std::string hidden = "CUDA_VISIBLE_DEVICES= " + program_ + " run both.json ";
  const Outcome outcome = shell(hidden + "--report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("backend cuda is skipped: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.last_line().find("1 skipped (1 backend_unavailable)"), std::string::npos);
  EXPECT_NE(report("r")["environment"]["unavailable_backends"]["cuda"], "");
  // A backend that the user names must be available.
  const Outcome named = shell(hidden + "--backend cuda");
  EXPECT_EQ(named.status, 2);
  EXPECT_TRUE(named.err.starts_with("rankcheck: backend: cuda: expected one that can run here"));
  EXPECT_EQ(std::count(named.err.begin(), named.err.end(), '\n'), 1) << named.err;
}

TEST_F(CommandLineTest, ReportOfAnIncompleteRunIsNotSuccess) {
  ASSERT_EQ(rankcheck("run --backend sim --operation 'b*' --cases 5 --report r").status, 0);
  const fs::path path = path_to("r/journal.jsonl");
  const std::string journal = read_file(path);
  // Removes the end and the last finding.
  const std::size_t end = journal.rfind('\n', journal.size() - 2);
  harness::write_file(path, journal.substr(0, journal.rfind('\n', end - 1) + 1));
  expect_unable("report r",
                "r: ended early (killed), 1 units were not run; to continue: " + program_ +
                    " run --resume r");
  EXPECT_EQ(report("r")["exit_status"], 2);
}

const std::string sum_of_three =
    R"('{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
    R"("type":"f32","op":"sum","input":"coded"}' )";

TEST_F(CommandLineTest, ReplayOfACaseThatHolds) {
  const Outcome outcome = rankcheck("replay " + sum_of_three);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("ran ring"), std::string::npos) << outcome.out;
}

TEST_F(CommandLineTest, ReplayOfAFaultIsRedAndShowsWhatIsWrong) {
  const Outcome outcome = rankcheck(
      R"(replay '{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
      R"("type":"f32","op":"sum","input":"coded","fault":"flip:1"}')");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("verdict    falsified"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("5 of 5 failed"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("rank  element"), std::string::npos) << outcome.out;
}

TEST_F(CommandLineTest, ReplayOfAFaultThatChangesNothingIsVacuous) {
  // The first message of a ring carries an input, which the call has not changed. So the stale
  // value is the same.
  const Outcome outcome = rankcheck(
      R"(replay '{"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":3,"count":4,)"
      R"("type":"f32","op":"sum","input":"coded","fault":"stale:0"}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("vacuous: the fault stale:0 fired and changed nothing"),
            std::string::npos)
      << outcome.out;
}

TEST_F(CommandLineTest, CaseWithoutAPropertyHasOneThatItsOperationClaims) {
  const Outcome outcome = rankcheck(R"(replay '{"operation":"barrier","ranks":2}' --times 1)");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("property   separates_ranks"), std::string::npos) << outcome.out;
}

TEST_F(CommandLineTest, ReplayReadsFiles) {
  const Outcome outcome =
      shell("echo " + sum_of_three + " > case.json && " + program_ + " replay case.json --times 1");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 of 1 failed"), std::string::npos) << outcome.out;
}

TEST_F(CommandLineTest, ExportWritesArraysOfWhatWasExpectedAndGot) {
  ASSERT_EQ(rankcheck("export " + sum_of_three + "--output arrays").status, 0);
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-rank2-expected.npy"),
            read_file(arrays / "stage0-rank2-actual.npy"));
  EXPECT_EQ(json::parse(read_file(arrays / "manifest.json"))["files"].size(), 9U);
}

TEST_F(CommandLineTest, ExportHasADefaultFolder) {
  ASSERT_EQ(rankcheck("export " + sum_of_three).status, 0);
  EXPECT_TRUE(exists("rankcheck-export/manifest.json"));
}

TEST_F(CommandLineTest, ExportWritesWholeArraysOfOperators) {
  const Outcome outcome = rankcheck(
      R"(export --output arrays '{"operation":"insert","ranks":2,"counts":[1,2],"rows":5,"cols":4,)"
      R"("window":2,"detector":3,"input":"exact"}')");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const fs::path arrays = path_to("arrays");
  EXPECT_EQ(read_file(arrays / "stage0-object-expected.npy"),
            read_file(arrays / "stage0-object-actual.npy"));
  const json files = json::parse(read_file(arrays / "manifest.json"))["files"];
  // One file each for patches and positions, three for the object.
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(files.back()["elements"], 20);
  EXPECT_EQ(files.back()["shape"], json::array({1, 5, 4}));
  const std::string patches = read_file(arrays / "stage0-patches-input.npy");
  EXPECT_NE(patches.find("'shape': (3, 3, 3,), }"), std::string::npos) << patches.substr(0, 80);
}

TEST_F(CommandLineTest, EntryOfASuiteThatSelectsNothingIsNamed) {
  harness::write_file(path_to("s.json"),
                      R"({"name":"s","summary":"s","entries":[{"backends":["sim"]},)"
                      R"({"backends":["sim"],"operation":"nope"}]})");
  expect_unable("run s.json", "suite: s.json: entries[1]: matches no check");
}

TEST_F(CommandLineTest, BadArgumentsAreOneClearLine) {
  expect_unable("run --seed x", "--seed: x: expected a whole number or commit");
  expect_unable("run --ranks 4..2", "--ranks: 4..2: expected A..B or N");
  expect_unable("run --type f31", "--type: expected one of int8");
  expect_unable("run --cases 0", "--cases: 0: expected a number above 0");
  expect_unable("run --jobs 0", "--jobs: 0: expected a number above 0");
  expect_unable("run --jobs 257", "--jobs: 257: expected at most 256");
  expect_unable("run nonsense", "suite: nonsense: expected the path of a .json file or a suite of");
  expect_unable("run --backend abacus", "backend: abacus: expected command:PATH or a backend of");
  expect_unable("run --operation nope",
                "--operation nope: matches no operation that 'rankcheck list' shows");
  expect_unable("run --algorithm nope",
                "--algorithm nope: matches no algorithm that 'rankcheck list' shows");
  expect_unable("run --property nope",
                "--property nope: matches no property that 'rankcheck list' shows");
  expect_unable("run --operation barrier --property agrees_with_reference",
                "expected at least one check");
  expect_unable("run --operation all_reduce --type f8e4m3",
                "no case can be generated for any of its ");
  expect_unable("run --property rank_permutation --ranks 1",
                "no case can be generated for any of its ");
  expect_unable("run --no-such-option", "command line: ");
  for (const char* option : {"--backend", "--report", "--ranks", "--type", "--seed", "--resume"}) {
    expect_unable(quick + option + " ''", option + std::string(": expected a value, got nothing"));
  }
  expect_unable("report ''", "folder: expected a value, got nothing");
  expect_unable("bench --min-time nan", "--min-time: expected a decimal number, got nan");
  if (tests::reconstructs) {
    expect_unable("simulate s.cxi --step -NaN", "--step: expected a decimal number, got -NaN");
  }
  expect_unable("report", "command line: folder is required (see --help)");
  expect_unable("", "command: none: expected one of list, run, ");
  expect_unable("rnu", "command: rnu: expected one of list, run, replay, ");
  expect_unable("rnu --jobs 2", "command: rnu: expected one of list, run, replay, ");
  expect_unable("''", "command: : expected one of list, run, ");
}

TEST_F(CommandLineTest, BadCasesAreOneClearLine) {
  expect_unable("replay no-such-file", "case: no-such-file: expected JSON text or a file");
  expect_unable("replay " + std::string(9000, 'x'), "case: " + std::string(80, 'x') + ": expected");
  expect_unable("replay ''", "case: expected a value, got nothing");
  expect_unable("replay ' '", "case: expected JSON text or the path of a file, got nothing");
  expect_unable("replay /dev/zero", "cannot read: /dev/zero: expected a file, found a device");
  expect_unable("replay '{'", "case: not JSON");
  expect_unable("replay '[1,2]'", "case: expected a JSON object, got [1,2]");
  expect_unable("replay '" + std::string(60000, '[') + std::string(60000, ']') + "'",
                "deep nesting");
  expect_unable(R"(replay '{"operation":"all_reduce","ranks":2,"ranks":3}')",
                "case: ranks: expected once, got it twice");
  expect_unable(R"(replay '{"operation":"barrier","ranks":2,"property":"x"}')",
                "case: property: x: expected a property that barrier claims");
  expect_unable(R"(replay '{"operation":"all_reduce","ranks":2,"tpye":"f32"}')", "tpye");
  expect_unable(R"(replay '{"operation":"fold_paper","ranks":2}')", "fold_paper");
  expect_unable(R"(replay '{"operation":"broadcast","ranks":2,"algorithm":"ringo"}')",
                "algorithm: expected one that 'rankcheck list' shows for broadcast, got \"ringo\"");
  expect_unable(
      R"(replay '{"operation":"broadcast","ranks":2,"fault":"gone:1"}')",
      "fault: expected one of flip, lost, duplicate, late, dead_rank, stale, overrun with a");
  expect_unable(R"(replay '{"operation":"broadcast","algorithm":"binomial","ranks":2,"chunk":1}')",
                "chunk: the algorithm has no chunks");
}

TEST_F(CommandLineTest, DamagedJournalIsNamedWithItsLine) {
  ASSERT_EQ(rankcheck(quick + "--report r").status, 0);
  const fs::path path = path_to("r/journal.jsonl");
  const std::string journal = read_file(path);
  const auto damage = [&](const std::string& from, const std::string& to) {
    harness::write_file(path, journal);
    change_journal("r/journal.jsonl", from, to);
  };
  damage("\"verdict\":\"passed\"", "\"verdict\":\"past\"");
  expect_unable("report r", "r/journal.jsonl: line 2: ");
  damage("\"cases\":60", "\"cases\":[]");
  expect_unable("run --resume r", "--resume: r: journal.jsonl: line 1: ");
}

TEST_F(CommandLineTest, CaseThatIsTooLargeForTheMachineIsOneClearLine) {
  const std::string huge =
      R"('{"operation":"all_reduce","ranks":2,"count":70368744177664,"type":"f32","op":"sum"}')";
  expect_unable("replay " + huge, "the buffers of 2 ranks take 1048576.0 GiB: expected at most");
  expect_unable("export " + huge, "a quarter of this machine's memory");
  expect_unable(R"(replay '{"operation":"broadcast","ranks":2000000000}')", "GiB: expected");
}

TEST_F(CommandLineTest, UnwritableReportIsOneClearLine) {
  expect_unable(quick + "--report /dev/null/report", "cannot create the folder");
}

TEST_F(CommandLineTest, FullStandardOutputIsNotSuccess) {
  EXPECT_EQ(rankcheck("list >/dev/full").status, 2);
}

TEST_F(CommandLineTest, AuditCountsThePlantedBugs) {
  const Outcome outcome = rankcheck("audit --operation barrier");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.last_line(), "3 of 3 planted bugs caught");
}

TEST_F(CommandLineTest, AuditTellsWhereTheBugIsAndWhoseLawCatchesIt) {
  const Outcome outcome = rankcheck("audit --operation crop --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["bugs"][0]["property"], "has_adjoint_pad");
  const Outcome elsewhere = rankcheck("audit --operation shift_back --json");
  EXPECT_EQ(json::parse(elsewhere.out)["bugs"][0]["planted_in"], "shift");
}

TEST_F(CommandLineTest, AuditFailsWhereABugSurvives) {
  const Outcome outcome = rankcheck("audit --operation all_reduce --cases 1 --json");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json audit = json::parse(outcome.out);
  EXPECT_LT(audit["caught"], audit["planted"]);
  EXPECT_EQ(audit["bugs"].size(), audit["planted"]);
}

TEST_F(CommandLineTest, BadArgumentsOfAuditAreOneClearLine) {
  expect_unable("audit --operation fold_paper", "--operation: fold_paper: expected");
  expect_unable("audit --cases 0", "--cases: 0: expected");
}

TEST_F(CommandLineTest, CommitIsASeed) {
  // The test brings its own git, because the machine may have none.
  const Outcome outcome = shell(
      "printf '#!/bin/sh\\necho 0123456789abcdef0123456789abcdef01234567\\n' > git && "
      "chmod +x git && PATH=$PWD:$PATH && " +
      program_ + ' ' + quick + "--seed commit");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.first_line(), "seed " + std::to_string(0x0123456789ab));
}

TEST_F(CommandLineTest, CommitOutsideOfGitIsOneClearLine) {
  expect_unable("run --seed commit", "--seed commit: ");
}

TEST_F(CommandLineTest, SimulateIsAFunctionOfItsSeed) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  const std::string scan = "simulate --positions 4 --detector 8 --noise poisson --modes 2 ";
  EXPECT_EQ(rankcheck(scan + "a.cxi --seed 5").first_line(), "seed 5");
  EXPECT_EQ(rankcheck(scan + "b.cxi --seed 5").status, 0);
  EXPECT_EQ(rankcheck(scan + "c.cxi --seed 6").status, 0);
  const std::string bytes = text_of("a.cxi");
  EXPECT_EQ(text_of("b.cxi"), bytes);
  EXPECT_NE(text_of("c.cxi"), bytes);
}

TEST_F(CommandLineTest, SaysWhatReconstructionsLack) {
  if (tests::reconstructs) GTEST_SKIP() << "this build has HDF5 and Cairo";
  expect_unable("reconstruct scan.cxi --ranks 2", "reconstruct: this build has no HDF5 and Cairo");
  expect_unable("simulate scan.cxi", "simulate: this build has no HDF5 and Cairo");
  expect_unable("simulate", "simulate: this build has no HDF5 and Cairo");
}

TEST_F(CommandLineTest, SimulateRejectsWhatDoesNotFit) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  expect_unable("simulate a.cxi --detector 8 --probe-size 9", "--probe-size: expected at most");
  expect_unable("simulate a.cxi --object-size 20", "--object-size: expected at least");
  expect_unable("simulate a.cxi --step 3 --overlap 0.5", "command line: ");
  expect_unable("simulate none/a.cxi --positions 1 --detector 4", "none/a.cxi: expected a file in");
  EXPECT_FALSE(exists("a.cxi"));
}

}  // namespace
}  // namespace rankcheck
