#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

/// Runs and measurements on the backend mpi, as users start them.
namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

/// Fields of a suite that repeats itself.
const std::string cycling = R"("cycles":true,"time_limit_s":60,)";

/// An installed MPI library whose launcher fails.
class MpiBrokenTest : public tests::CliTest {
 protected:
  MpiBrokenTest() { surroundings_ = "RANKCHECK_MPIEXEC=/bin/false "; }
};

TEST_F(MpiBrokenTest, IsErroredInEveryReport) {
  const Outcome outcome = rankcheck("run smoke --operation barrier --cases 2 --report r", 2);
  EXPECT_TRUE(has(outcome.out, "backend mpi could not be opened: "));
  EXPECT_TRUE(has(outcome.last_line(), ", 1 errored")) << outcome.out;
  int errored = 0;
  for (const json& finding : findings("r")) {
    if (finding["verdict"] != "errored") continue;
    ++errored;
    EXPECT_EQ(finding["unit"]["backend"], "mpi");
    EXPECT_TRUE(begins(std::string(finding["reason"]), "the backend could not be opened: "));
  }
  EXPECT_EQ(errored, 1);
  for (const std::string name : {"journal.jsonl", "junit.xml", "summary.md"}) {
    EXPECT_TRUE(has(text_of("r/" + name), "the backend could not be opened: ")) << name;
  }
}

TEST_F(MpiBrokenTest, EndsACyclingSuiteWhereNothingIsLeftToCheck) {
  write_entries({R"("backends":["mpi"],"operation":"barrier")"}, cycling);
  rankcheck("run s.json --report r", 2);
  EXPECT_EQ(report("r")["environment"]["rounds"], 1);
}

TEST_F(MpiBrokenTest, IsOneClearLineWhereItWasNamed) {
  expect_unable("run smoke --backend mpi --operation barrier", "rankcheck: backend mpi: ");
}

/// To the launcher of another MPI library, the ranks are programs that have nothing to do with each
/// other.
TEST_F(MpiBrokenTest, NamesALauncherOfAnotherLibrary) {
  write_script("launch.sh", "shift 2\n\"$@\" &\n\"$@\" &\nwait\n");
  surroundings_ = "RANKCHECK_MPIEXEC=$PWD/launch.sh ";
  const Outcome outcome =
      rankcheck("run smoke --backend mpi --operation barrier --ranks 2..2 --report r", 2);
  EXPECT_TRUE(has(outcome.out + outcome.err, "the launcher is that of another MPI library"));
}

/// A worker and a launcher in a folder of their own, as `./verify worker` leaves them.
class MpiFolderTest : public tests::CliTest {
 protected:
  MpiFolderTest() {
    std::filesystem::create_directory(path_to("theirs"));
    std::filesystem::create_symlink(RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi",
                                    path_to("theirs/rankcheck-worker-mpi"));
    write_script("theirs/mpiexec", "exec mpiexec \"$@\"\n");
  }
  const std::string run_ =
      "run ci --backend mpi:theirs --operation barrier --ranks 1..2 --algorithm blocking "
      "--report r ";
};

TEST_F(MpiFolderTest, HasTheEntriesAndTheNameOfTheBuiltInBackend) {
  passes(run_ + "--cases 2");
  for (const json& finding : findings("r")) {
    EXPECT_EQ(finding["unit"]["backend"], "mpi:theirs");
    EXPECT_EQ(finding["unit"]["subject"], "mpi");
  }
  EXPECT_TRUE(report("r")["environment"]["backends"]["mpi"]["versions"].contains("mpi"));
}

TEST_F(MpiFolderTest, RunsThePinnedCasesOfTheBuiltInBackend) {
  passes(
      "run ci --backend mpi,mpi:theirs --operation all_to_all --algorithm blocking --ranks 3..3 "
      "--property agrees_with_reference --cases 1 --report r");
  std::set<std::string> pinned;
  for (const json& each : findings("r")) {
    if (each["unit"].contains("pinned")) pinned.insert(each["id"].get<std::string>());
  }
  const std::string name = "/agrees_with_reference:all_to_all/in_place";
  EXPECT_EQ(pinned,
            (std::set{"all_to_all/blocking/mpi" + name, "all_to_all/blocking/mpi-2" + name}));
}

TEST_F(MpiFolderTest, HasANameOfItsOwnBesideTheBuiltInBackend) {
  passes(run_ + "--backend mpi --cases 1");
  std::map<std::string, int> units;
  for (const json& each : findings("r")) {
    ++units[each["unit"].value("subject", each["unit"]["backend"].get<std::string>())];
  }
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units["mpi"], units["mpi-2"]);
}

TEST_F(MpiFolderTest, WithoutAWorkerSaysHowToMakeOne) {
  const Outcome outcome = rankcheck("run smoke --backend mpi:absent --report r", 2);
  EXPECT_TRUE(begins(outcome.err, "rankcheck: backend: mpi:absent: cannot run here: "));
  EXPECT_TRUE(outcome.err.ends_with(
      "absent/rankcheck-worker-mpi is missing: make it with ./verify worker --mpicc MPICC "
      "--output absent\n"))
      << outcome.err;
}

/// Open MPI has a single algorithm for all_to_all in place, so none of the forced algorithms takes
/// it.
class MpiRefusalsTest : public tests::CliTest {};

TEST_F(MpiRefusalsTest, AreSkippedChecks) {
  // Nothing that the user asked for could be run.
  const Outcome outcome = rankcheck(
      "run --backend mpi --operation all_to_all --algorithm tuned_pairwise --ranks 2 --cases 3 "
      "--property in_place_equals_out_of_place --report r",
      2);
  EXPECT_TRUE(has(outcome.last_line(), " 1 skipped (1 not_supported)")) << outcome.out;
  EXPECT_FALSE(has(outcome.out, "left out"));
}

TEST_F(MpiRefusalsTest, EndACyclingSuiteWhereNothingIsLeftToCheck) {
  write_entries({R"("backends":["mpi"],"operation":"all_to_all","algorithm":"tuned_pairwise",)"
                 R"("ranks":[2,2],"property":"in_place_equals_out_of_place")"},
                cycling);
  rankcheck("run s.json --report r", 2);
  EXPECT_EQ(report("r")["environment"]["rounds"], 1);
}

/// Without a launcher, MPI's worker is a world of one rank that speaks the protocol on its standard
/// streams. rankcheck treats it as a user's own worker.
class MpiSelectionTest : public tests::CliTest {
 protected:
  const std::string own_ = "command:" RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi";
  const std::string run_ = "run smoke --backend " + harness::shell_quoted(own_) +
                           " --operation broadcast --algorithm blocking --cases 5 --report ";
};

TEST_F(MpiSelectionTest, SuitesRunOnABackendOfTheUsersOwn) {
  passes(run_ + "r --ranks 1");
  ASSERT_FALSE(findings("r").empty());
  for (const json& finding : findings("r")) EXPECT_EQ(finding["unit"]["backend"], own_);
}

TEST_F(MpiSelectionTest, RanksThatNobodyHostsAreVacuous) {
  for (const auto& [ranks, expected] :
       {std::pair<std::string, std::string>{"", "2"}, {" --ranks 1..8", "8"}}) {
    EXPECT_TRUE(has(fails(run_ + "r" + expected + ranks).out,
                    "no case had more than 1 rank, expected one of " + expected + " ranks"));
  }
}

TEST_F(MpiSelectionTest, WhatSmokeHasNothingOfIsSelectedFromAll) {
  passes(
      "run --backend mpi --operation broadcast --algorithm nonblocking --property splits --cases 1 "
      "--report r");
  EXPECT_EQ(report("r")["run"]["suites"], json({"all"}));
}

class MpiBenchTest : public tests::CliTest {
 protected:
  json measure(const std::string& arguments) {
    passes("bench --min-time 0.01 --json bench.json " + arguments);
    return json::parse(text_of("bench.json"))["benchmarks"];
  }
  void expect_ratios(const json& all) {
    for (const json& each : all) EXPECT_GT(each.value("floor_ratio", 0.0), 0) << each;
  }
};

/// The MPI library alone takes about 10 MB in each of the 4 processes.
TEST_F(MpiBenchTest, CountsTheMemoryOfAllProcesses) {
  const json all = measure("--backend mpi --filter 'cases/*'");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GT(all[0].value("cases_per_second", 0.0), 0);
  EXPECT_GT(all[0].value("peak_memory_bytes", 0.0), 40e6);
}

/// The processes of `mpi`, which is measured later, take several times as much memory. What the
/// system loads of the same program varies by a third.
TEST_F(MpiBenchTest, LeavesOtherBackendsOut) {
  for (const std::string filter : {"cases/sim", "large/sim/all_gather/ring/*"}) {
    const auto memory = [&](const std::string& backends) {
      return measure("--bytes 65536 --filter " + filter + " --backend " + backends)
          .at(0)
          .value("peak_memory_bytes", 0.0);
    };
    EXPECT_LT(memory("sim,mpi"), 2 * memory("sim")) << filter;
  }
}

TEST_F(MpiBenchTest, MeasuresLargeCallsAgainstTheCopyFloor) {
  const json all =
      measure("--backend mpi --bytes 65536 --filter 'large/mpi/all_gather/*blocking/*'");
  EXPECT_GE(all.size(), 1U);
  expect_ratios(all);
}

TEST_F(MpiBenchTest, MeasuresGradientsOnOneAndOnTwoProcesses) {
  const json all =
      measure("--backend mpi --frames 4 --filter 'frames/mpi/gaussian_gradients/batched/*'");
  EXPECT_EQ(all.size(), 2U);
  expect_ratios(all);
}

}  // namespace
}  // namespace rankcheck
