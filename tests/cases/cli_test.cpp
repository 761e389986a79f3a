#include "tests/cases/cli.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;
using tests::quick;

class CommandLineTest : public tests::CliTest {};

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
                "are missing, expected the folder " + folder + "/bin/share/rankcheck or " + folder +
                    "/share/rankcheck");
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

TEST_F(CommandLineTest, HelpOfACommandHasTheOptionsOfTheProgram) {
  const Outcome outcome = rankcheck("run --help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.says("Options of every command: --")) << outcome.out;
  EXPECT_TRUE(outcome.says("--start-timeout S")) << outcome.out;
}

TEST_F(CommandLineTest, ListIsJsonOnRequest) {
  const Outcome outcome = rankcheck("list --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json listing = json::parse(outcome.out);
  EXPECT_EQ(listing["backends"][0]["name"], "sim");
  EXPECT_GE(listing["operations"].size(), 15U);
  EXPECT_EQ(listing["suites"].size(), 6U);
}

/// The front page quotes the score.
TEST_F(CommandLineTest, AuditFindsThePublishedDefectsThatArePlanted) {
  const Outcome outcome = rankcheck("audit --published --json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json score = json::parse(outcome.out);
  int found = 0;
  // The stand-in is missing if the tests of NCCL were not built.
  int missing = 0;
  for (const json& each : score["published"]) {
    missing += each["result"] == "stand-in" ? 1 : 0;
    if (each["result"] != "found") continue;
    ++found;
    EXPECT_TRUE(each.contains("minimal")) << each;
    EXPECT_TRUE(each.contains("suite")) << each;
  }
  EXPECT_EQ(score["found"], found);
  const std::string page =
      harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / "README.md");
  const int in_stand_in = 4;
  const std::string quoted = "of " + std::to_string(score["expected"].get<int>()) +
                             " published defects, finds " +
                             std::to_string(found + missing - in_stand_in) + "; " +
                             std::to_string(found + missing) + " with the stand-in for NCCL";
  EXPECT_NE(page.find(quoted), std::string::npos) << quoted;
}

TEST_F(CommandLineTest, ListShowsWhatFitsAllFilters) {
  const Outcome outcome = rankcheck(
      "list --json --backend sim --operation 'all_*' --operation barrier --algorithm ring,central "
      "--property agrees_with_reference,separates_ranks");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json listing = json::parse(outcome.out);
  std::map<std::string, json> operations;
  for (const json& each : listing["operations"]) operations[each["name"]] = each;
  ASSERT_TRUE(operations.contains("barrier")) << outcome.out;
  ASSERT_TRUE(operations.contains("all_reduce"));
  EXPECT_FALSE(operations.contains("broadcast"));
  const json& algorithms = operations["all_reduce"]["algorithms"];
  ASSERT_EQ(algorithms.size(), 1U);
  ASSERT_EQ(algorithms["sim"].size(), 1U);
  EXPECT_EQ(algorithms["sim"][0]["name"], "ring");
  EXPECT_EQ(operations["all_reduce"]["properties"], json({"agrees_with_reference"}));
  ASSERT_EQ(listing["backends"].size(), 1U);
  EXPECT_EQ(listing["backends"][0]["name"], "sim");
}

TEST_F(CommandLineTest, ListLeavesOutOperationsAndSuitesWithoutAType) {
  const json listing = json::parse(rankcheck("list --json --backend sim --type f8e4m3").out);
  const auto has = [&](const char* name) {
    const json& all = listing["operations"];
    return std::any_of(
        all.begin(), all.end(), [&](const json& each) { return each["name"] == name; });
  };
  EXPECT_TRUE(has("broadcast"));
  EXPECT_FALSE(has("reduce")) << "eight-bit floats cannot be reduced";
  EXPECT_FALSE(has("crop"));
}

TEST_F(CommandLineTest, BadFiltersOfListAreOneClearLine) {
  expect_unable("list --operation nope", "--operation nope: matches no operation");
  expect_unable("list --algorithm rnig",
                "--algorithm rnig: matches no algorithm that 'rankcheck list' shows; did you mean "
                "ring?");
  expect_unable("list --backend mip", "did you mean mpi?");
  expect_unable("list --operation crop --type f8e4m3",
                R"(filters: no operation fits all of {"operation":"crop")");
  expect_unable("list --subjects --operation crop", "command line: ");
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
  install();
  write_silent_worker("TERM");
  std::filesystem::create_directory(path_to("t"));
  const Outcome outcome = shell("TMPDIR=$PWD/t " + program_ + " doctor");
  EXPECT_EQ(outcome.status, 143) << outcome.out;
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before all backends answered\n");
  EXPECT_TRUE(std::filesystem::is_empty(path_to("t")));
}

TEST_F(CommandLineTest, BadArgumentsAreOneClearLine) {
  expect_unable("run --seed x", "--seed: x: expected a whole number below 2^64, or commit");
  expect_unable("run --ranks 4..2", "--ranks: 4..2: expected A..B or N");
  expect_unable("run --type f31", "--type: f31: is no element type, expected some of int8, ");
  expect_unable("run --cases 0", "--cases: 0: expected a number above 0");
  expect_unable("run --jobs 0", "--jobs: 0: expected a number above 0");
  expect_unable("run --jobs 257", "--jobs: 257: expected at most 256");
  expect_unable("run --replays 0", "--replays: 0: expected a number above 0");
  expect_unable("run --replays 1001", "--replays: 1001: expected at most 1000");
  expect_unable("run nonsense", "suite: nonsense: expected the path of a .json file or a suite of");
  expect_unable("run --backend abacus",
                "backend: abacus: is unknown, expected mpi:FOLDER, command:LINE, python:FILE, "
                "listen:ADDRESS, or a backend of");
  expect_unable("run --operation nope",
                "--operation nope: matches no operation that 'rankcheck list' shows");
  expect_unable("run --algorithm nope",
                "--algorithm nope: matches no algorithm that 'rankcheck list' shows");
  expect_unable("run --property nope",
                "--property nope: matches no property that 'rankcheck list' shows");
  expect_unable("run --operation barrier --property agrees_with_reference",
                "selects no check, expected at least one");
  expect_unable("run --operation all_reduce --type f8e4m3",
                "no case can be generated for any of its ");
  expect_unable("run --property rank_permutation --ranks 1",
                "no case can be generated for any of its ");
  expect_unable("run --no-such-option",
                "command line: --no-such-option: there is no such option (");
  expect_unable("report r more", "command line: more: is a word too many (see --help)");
  for (const char* option : {"--backend", "--report", "--ranks", "--type", "--seed", "--resume"}) {
    expect_unable(quick + option + " ''", option + std::string(": got nothing, expected a value"));
  }
  expect_unable("report ''", "folder: got nothing, expected a value");
  expect_unable("bench --min-time nan", "--min-time: got nan, expected a decimal number");
  if (tests::reconstructs) {
    expect_unable("simulate s.cxi --step -NaN", "--step: got -NaN, expected a decimal number");
  }
  expect_unable("report", "command line: folder is required (see --help)");
  expect_unable("run --jobs 1 --jobs 2", "--jobs: got it 2 times, expected it at most once");
  expect_unable("run --seed", "--seed: got nothing, expected N|commit");
  expect_unable("compare --speed-factor abc a b", "--speed-factor: got abc, expected a decimal");
  expect_unable("", "command: got none, expected one of list, run, ");
  expect_unable("''", "command: got an empty word, expected one of list, run, ");
  const std::string rnu = "command: rnu: there is no such command, expected one of list, run, ";
  expect_unable("rnu", rnu);
  expect_unable("rnu --jobs 2", rnu);
  // The command relay is for `listen:` only.
  EXPECT_EQ(rankcheck("rnu").err.find("relay"), std::string::npos);
}

/// In a folder without sources, so that nothing can be built.
TEST_F(CommandLineTest, VerifyAnswersBeforeItBuilds) {
  std::filesystem::copy(RANKCHECK_SOURCE_DIR "/verify", path_to("verify"));
  const Outcome help = shell("./verify --help");
  EXPECT_EQ(help.status, 0) << help.err;
  EXPECT_EQ(help.out.find("./verify [ARGS] "), 0U) << help.out;
  EXPECT_EQ(help.last_line().find("The exit status is "), 0U) << help.out;
  const Outcome unknown = shell("./verify bundel");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err.find("verify: bundel: expected test, bundle, "), 0U) << unknown.err;
  const Outcome misspelt = shell("./verify --opration=crop");
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err.find("verify: --opration=crop: no such option, "), 0U) << misspelt.err;
}

TEST_F(CommandLineTest, BadCasesAreOneClearLine) {
  expect_unable("replay no-such-file",
                "case: no-such-file: there is no such file, expected JSON text or a file");
  expect_unable("replay " + std::string(9000, 'x'),
                "case: " + std::string(80, 'x') + ": there is no");
  expect_unable("replay ''", "case: got nothing, expected a value");
  expect_unable("replay ' '", "case: got nothing, expected JSON text or the path of a file");
  expect_unable("replay /dev/zero", "cannot read: /dev/zero: found a device, expected a file");
  expect_unable("replay '{'", "case: not JSON");
  expect_unable("replay '[1,2]'", "case: got [1,2], expected a JSON object");
  expect_unable("replay '" + std::string(60000, '[') + std::string(60000, ']') + "'",
                "deep nesting");
  expect_unable(R"(replay '{"operation":"all_reduce","ranks":2,"ranks":3}')",
                "case: ranks: stands there twice, expected once");
  expect_unable(R"(replay '{"operation":"barrier","ranks":2,"property":"x"}')",
                "case: property: x: expected a property that barrier claims");
  expect_unable(R"(replay '{"operation":"all_reduce","ranks":2,"tpye":"f32"}')", "tpye");
  expect_unable(R"(replay '{"operation":"fold_paper","ranks":2}')", "fold_paper");
  expect_unable(R"(replay '{"operation":"broadcast","ranks":2,"algorithm":"ringo"}')",
                "algorithm: got \"ringo\", expected one that 'rankcheck list' shows for broadcast");
  expect_unable(R"(replay '{"operation":"broadcast","ranks":2,"fault":"gone:1"}')",
                "fault: got \"gone:1\", expected one of flip, lost, duplicate, late, dead_rank, "
                "stale, overrun");
  expect_unable(R"(replay '{"operation":"broadcast","algorithm":"binomial","ranks":2,"chunk":1}')",
                "chunk: the algorithm has no chunks");
}

TEST_F(CommandLineTest, FullStandardOutputIsNotSuccess) {
  EXPECT_EQ(rankcheck("list >/dev/full").status, 2);
}

/// As `head` ends when it has read enough, under a parent that ignores the signal.
TEST_F(CommandLineTest, AClosedPipeIsNoComplaint) {
  const Outcome outcome =
      shell("mkfifo p; trap '' PIPE; (: < p) & exec 3> p; wait; " + program_ + " list >&3");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CommandLineTest, AuditCountsThePlantedBugs) {
  const Outcome outcome = rankcheck("audit --operation barrier");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.last_line(), "4 of 4 planted bugs caught");
}

TEST_F(CommandLineTest, AuditTakesSeveralOperations) {
  const json all = json::parse(rankcheck("audit --operation barrier,crop --json").out);
  const json again =
      json::parse(rankcheck("audit --operation crop --operation barrier --json").out);
  EXPECT_EQ(all["bugs"], again["bugs"]);
  EXPECT_EQ(all["bugs"].front()["operation"], "barrier");
  EXPECT_EQ(all["bugs"].back()["operation"], "crop");
}

TEST_F(CommandLineTest, AuditTellsWhereTheBugIsAndWhosePropertyCatchesIt) {
  const Outcome outcome = rankcheck("audit --operation crop --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["bugs"][0]["property"], "has_adjoint_pad");
  const Outcome elsewhere = rankcheck("audit --operation shift_back --json");
  EXPECT_EQ(json::parse(elsewhere.out)["bugs"][0]["planted_in"], "shift");
}

TEST_F(CommandLineTest, AuditFailsWhereABugSurvives) {
  const Outcome outcome = rankcheck("audit --operation scatter --cases 1 --json");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json audit = json::parse(outcome.out);
  EXPECT_LT(audit["caught"], audit["planted"]);
  EXPECT_EQ(audit["bugs"].size(), audit["planted"]);
}

TEST_F(CommandLineTest, BadArgumentsOfAuditAreOneClearLine) {
  expect_unable("audit --operation barrier,fold_paper",
                "--operation fold_paper: matches no operation that 'rankcheck list' shows");
  expect_unable("audit --cases 0", "--cases: 0: expected");
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
  expect_unable("simulate a.cxi --detector 8 --probe-size 9",
                "--probe-size: got 9, expected at most");
  expect_unable("simulate a.cxi --object-size 20", "--object-size: got 20, expected at least");
  expect_unable("simulate a.cxi --step 3 --overlap 0.5", "command line: ");
  expect_unable("simulate none/a.cxi --positions 1 --detector 4",
                "none/a.cxi: found no folder none, expected");
  EXPECT_FALSE(exists("a.cxi"));
}

}  // namespace
}  // namespace rankcheck
