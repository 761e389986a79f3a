#include "tests/cases/cli.hpp"

#include <filesystem>
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
  write_script("bin/rankcheck-worker-cuda", "echo libcufft.so.12: cannot open it >&2\nexit 127\n");
  expect_unable(
      "run smoke --backend cuda",
      "does not run (libcufft.so.12: cannot open it): install the libraries that it needs");
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
  const Outcome outcome = passes("--version");
  rankcheck(quick + "--report r");
  const json environment = report("r")["environment"];
  EXPECT_EQ(outcome.first_line(),
            "rankcheck " + environment["rankcheck"].get<std::string>() + " (commit " +
                environment["commit"].get<std::string>() + ')');
  EXPECT_TRUE(has(outcome.out, "\nbackends    sim, cuda\n"));
  for (const char* each :
       {"\nbuilt with  ", "\ncuda        ", "\nnccl        ", "\nreconstruct ", "\nsanitizers  "}) {
    EXPECT_TRUE(has(outcome.out, each)) << each;
  }
  // Every line has something to say.
  EXPECT_TRUE(has(outcome.out, environment["built_with"].get<std::string>() + ", "));
  for (const char* nothing : {"  \n", ", \n"}) {
    EXPECT_FALSE(has(outcome.out, nothing));
  }
}

TEST_F(CommandLineTest, VersionIsTheLatestInTheListOfChanges) {
  const std::string changes = harness::read_file(RANKCHECK_SOURCE_DIR "/CHANGELOG.md");
  const std::size_t latest = changes.find("\n## ") + 4;
  const std::string version = changes.substr(latest, changes.find(' ', latest) - latest);
  EXPECT_TRUE(begins(rankcheck("--version").out, "rankcheck " + version + ' '));
}

TEST_F(CommandLineTest, HelpNamesTheSubcommands) {
  const Outcome outcome = passes("--help");
  for (const char* each :
       {"list", "run", "replay", "export", "audit", "report", "doctor", "bench", "simulate"}) {
    EXPECT_TRUE(has(outcome.out, each)) << each;
  }
}

TEST_F(CommandLineTest, HelpOfACommandHasTheOptionsOfTheProgram) {
  const Outcome outcome = passes("run --help");
  EXPECT_TRUE(outcome.says("If no suite is named, they restrict smoke"));
  EXPECT_TRUE(outcome.says("Options of every command: --"));
  EXPECT_TRUE(outcome.says("--start-timeout S"));
}

TEST_F(CommandLineTest, ListIsJsonOnRequest) {
  const json listing = json_of("list --json");
  EXPECT_EQ(listing["backends"][0]["name"], "sim");
  EXPECT_GE(listing["operations"].size(), 15U);
  EXPECT_EQ(listing["suites"].size(), 6U);
}

/// The front page quotes the score.
TEST_F(CommandLineTest, AuditFindsThePublishedDefectsThatArePlanted) {
  const json score = json_of("audit --published --json");
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
  const int in_stand_in = 4;
  const std::string quoted = "plants " + std::to_string(score["expected"].get<int>()) +
                             " published defects and finds " +
                             std::to_string(found + missing - in_stand_in) + ", or " +
                             std::to_string(found + missing) + " with the stand-in for NCCL";
  EXPECT_TRUE(has(harness::read_file(RANKCHECK_SOURCE_DIR "/README.md"), quoted)) << quoted;
}

TEST_F(CommandLineTest, ListShowsWhatFitsAllFilters) {
  const json listing = json_of(
      "list --json --backend sim --operation 'all_*' --operation barrier --algorithm ring,central "
      "--property agrees_with_reference,separates_ranks");
  const json& operations = listing["operations"];
  EXPECT_FALSE(with_name("barrier", operations).is_null());
  EXPECT_TRUE(with_name("broadcast", operations).is_null());
  const json sum = with_name("all_reduce", operations);
  ASSERT_EQ(sum["algorithms"].size(), 1U);
  ASSERT_EQ(sum["algorithms"]["sim"].size(), 1U);
  EXPECT_EQ(sum["algorithms"]["sim"][0]["name"], "ring");
  EXPECT_EQ(sum["properties"], json({"agrees_with_reference"}));
  ASSERT_EQ(listing["backends"].size(), 1U);
  EXPECT_EQ(listing["backends"][0]["name"], "sim");
}

TEST_F(CommandLineTest, ListLeavesOutOperationsAndSuitesWithoutAType) {
  const json operations = json_of("list --json --backend sim --type f8e4m3")["operations"];
  EXPECT_FALSE(with_name("broadcast", operations).is_null());
  EXPECT_TRUE(with_name("reduce", operations).is_null()) << "eight-bit floats cannot be reduced";
  EXPECT_TRUE(with_name("crop", operations).is_null());
}

TEST_F(CommandLineTest, DoctorDescribesTheMachine) {
  const json said = json_of("doctor --json");
  for (const char* each : {"system", "processor", "cxx", "nvcc", "mpirun", "cuda"}) {
    EXPECT_TRUE(said.contains(each)) << each;
  }
}

TEST_F(CommandLineTest, DoctorSaysOfAProgramThatFailsThatThereIsNone) {
  write_script("c++", "echo broken; exit 1\n");
  const Outcome outcome = with("PATH=.:$PATH", "doctor --json");
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
  EXPECT_TRUE(has(rankcheck("doctor").out, "no    no driver\n", "  no cuFFT\n"));
  const json nccl = doctor("nccl");
  EXPECT_FALSE(nccl.at("available"));
  EXPECT_NE(nccl.at("why_unavailable"), "");
}

TEST_F(CommandLineTest, DoctorHearsASignalWhileItWaitsForAWorker) {
  install();
  write_silent_worker("TERM");
  std::filesystem::create_directory(path_to("t"));
  const Outcome outcome = with("TMPDIR=$PWD/t", "doctor", 143);
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before all backends answered\n");
  EXPECT_TRUE(std::filesystem::is_empty(path_to("t")));
}

/// In a folder without sources, so that nothing can be built.
TEST_F(CommandLineTest, VerifyAnswersBeforeItBuilds) {
  std::filesystem::copy(RANKCHECK_SOURCE_DIR "/verify", path_to("verify"));
  const Outcome help = shell("./verify --help", 0);
  EXPECT_TRUE(begins(help.out, "./verify [ARGS] "));
  EXPECT_TRUE(begins(help.last_line(), "The exit status is ")) << help.out;
  const Outcome unknown = shell("./verify bundel", 2);
  EXPECT_TRUE(begins(unknown.err, "verify: bundel: expected test, bundle, "));
  const Outcome misspelt = shell("./verify --opration=crop", 2);
  EXPECT_TRUE(begins(misspelt.err, "verify: --opration=crop: no such option, "));
  for (const char* each : {"cases", "harness"}) {
    std::filesystem::create_directory_symlink(std::string(RANKCHECK_SOURCE_DIR "/") + each,
                                              path_to(each));
  }
  const Outcome known = shell("./verify --archive=a.zip --require='*' --quiet --opration=crop", 2);
  EXPECT_TRUE(begins(known.err, "verify: --opration=crop: no such option, ")) << known.err;
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
  EXPECT_EQ(passes("audit --operation barrier").last_line(), "4 of 4 planted bugs caught");
}

TEST_F(CommandLineTest, AuditTakesSeveralOperations) {
  const json bugs = json_of("audit --operation barrier,crop --json")["bugs"];
  EXPECT_EQ(bugs, json_of("audit --operation crop --operation barrier --json")["bugs"]);
  EXPECT_EQ(bugs.front()["operation"], "barrier");
  EXPECT_EQ(bugs.back()["operation"], "crop");
}

TEST_F(CommandLineTest, AuditTellsWhereTheBugIsAndWhosePropertyCatchesIt) {
  EXPECT_EQ(json_of("audit --operation crop --json")["bugs"][0]["property"], "has_adjoint_pad");
  EXPECT_EQ(json_of("audit --operation shift_back --json")["bugs"][0]["planted_in"], "shift");
}

TEST_F(CommandLineTest, AuditFailsWhereABugSurvives) {
  const json audit = json_of("audit --operation scatter --cases 1 --json", 1);
  EXPECT_LT(audit["caught"], audit["planted"]);
  EXPECT_EQ(audit["bugs"].size(), audit["planted"]);
}

TEST_F(CommandLineTest, SimulateIsAFunctionOfItsSeed) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  const std::string scan = "simulate --positions 4 --detector 8 --noise poisson --modes 2 ";
  EXPECT_EQ(rankcheck(scan + "a.cxi --seed 5").first_line(), "seed 5");
  passes(scan + "b.cxi --seed 5");
  passes(scan + "c.cxi --seed 6");
  const std::string bytes = text_of("a.cxi");
  EXPECT_EQ(text_of("b.cxi"), bytes);
  EXPECT_NE(text_of("c.cxi"), bytes);
}

}  // namespace
}  // namespace rankcheck
